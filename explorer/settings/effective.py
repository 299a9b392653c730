"""A profile with a person's settings applied: pure functions from values to rules.

``values`` holds the settings that are set, by name; for what is not in it the profile's value is
used.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from msgspec.structs import replace

from explorer.compaction.profile import BASES, PROFILES, Profile
from explorer.compaction.profile.rules import Pruning
from explorer.settings.keys import KEYS

Values = Mapping[str, Any]


def effective(profile: Profile, values: Values) -> Profile:
    """The rules that a profile's name stands for, under these settings (A12)."""
    changes: dict[str, Any] = {
        key.field: values[key.name]
        for key in KEYS.values()
        if key.field and key.name in values and key.has_effect(profile)
    }
    if "branchSummary.enabled" in values:
        changes["branch_summaries"] = _branches(profile, values["branchSummary.enabled"])
    changes["pruning"] = _pruning(profile.pruning, values)
    if profile.prompt_budget is not None:
        changes |= _copilot(profile, values, changes.get("enabled", profile.enabled))
    return replace(profile, **changes)


def _branches(profile: Profile, enabled: bool) -> str:
    if not enabled:
        return "off"
    return "asked" if profile.branch_summaries == "off" else profile.branch_summaries


def _pruning(pruning: Pruning | None, values: Values) -> Pruning | None:
    if not values.get("pruning.enabled", pruning is not None):
        return None
    policy = pruning or Pruning()
    return replace(
        policy,
        protect_tokens=values.get("pruning.protectTokens", policy.protect_tokens),
        minimum_savings=values.get("pruning.minimumSavings", policy.minimum_savings),
        protected_tools=tuple(values.get("pruning.protectedTools", policy.protected_tools)),
        superseded_first=values.get("pruning.supersededFirst", policy.superseded_first),
        useless=values.get("pruning.useless", policy.useless),
    )


def _copilot(profile: Profile, values: Values, enabled: bool) -> dict[str, Any]:
    budget = profile.prompt_budget
    assert budget is not None
    budget = replace(
        budget,
        threshold=values.get(
            "chat.advanced.summarizeAgentConversationHistoryThreshold", budget.threshold
        ),
        mode=values.get("chat.advanced.agentHistorySummarizationMode", budget.mode),
    )
    on = values.get("chat.summarizeAgentConversationHistory.enabled", True) and enabled
    return {
        "prompt_budget": budget,
        "enabled": on,
        # The master switch rules what happens ahead of time too.
        "background": profile.background if on else None,
    }


def profile_named(
    values: Values, otherwise: str = "explorer", profiles: Mapping[str, Profile] = BASES
) -> Profile:
    """The profile that the settings name, without them applied; ``otherwise`` where they name none
    of ``profiles``."""
    name = values.get("compaction.profile", otherwise)
    return profiles.get(name) or profiles.get(otherwise) or PROFILES["explorer"]


def extension_limit_s(values: Values, otherwise: float) -> float:
    """Seconds that one handler of an extension may take."""
    limit_ms = values.get("extensions.timeoutMs")
    return otherwise if limit_ms is None else limit_ms / 1000


def pace_of(percent: int | None, otherwise: float = 1.0) -> float:
    """How fast scripted runs play: 1 as they are written, 0 all at once. ``percent``: what the
    settings say, None where they say nothing."""
    return otherwise if percent is None else percent / 100


def summary_models(values: Values, chosen: str, agent_model: str | None = None) -> tuple[str, ...]:
    """The models to ask for a summary, in order (A43, A54).

    ``chosen`` is what holds where the settings name none. ``agent_model`` is the model of the
    conversation; where the settings' models do not serve it, it summarizes its conversation itself.
    """
    named = values.get("compaction.model")
    if not named:
        return (chosen,)
    served = values.get("compaction.servedModels")
    if served is not None and agent_model is not None:
        bare = agent_model.partition("/")[2]
        if not any(fnmatchcase(agent_model, one) or fnmatchcase(bare, one) for one in served):
            return (agent_model,)
    return tuple(named)
