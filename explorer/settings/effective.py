"""A profile with what a person set, and what a session chose over that: pure functions from values
to rules.

``values`` holds the settings that are set, by name; for what is not in it the profile's value is
used. Of a session's choices only what differs is kept, value by value: everything else goes on
following the settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from explorer.compaction.profile import (
    BASES,
    PROFILES,
    Profile,
    Settings,
    profile_values,
    read_profile,
)
from explorer.compaction.profile.rules import Pruning
from explorer.settings.keys import KEYS, profile_default

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


_SIZES = Settings.__struct_fields__


class Chosen(Struct, frozen=True):
    """The choices of a session. ``rules`` are a profile's plain values, ``sizes`` tokens."""

    profile: str = ""
    """Name of the profile; empty where the session follows the settings."""
    rules: Mapping[str, Any] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As it is kept with the session."""
        return {"profile": self.profile, "rules": dict(self.rules), "sizes": dict(self.sizes)}

    def by_key(self, rules: Rules) -> dict[str, Any]:
        """The choices that a setting stands for, by its name. ``rules``: what came of them."""
        values: dict[str, Any] = {"compaction.profile": self.profile} if self.profile else {}
        for key in KEYS.values():
            if key.field in self.sizes:
                values[key.name] = self.sizes[key.field]
            elif key.field in self.rules:
                values[key.name] = self.rules[key.field]
            elif key.name.partition(".")[0] == "pruning" and "pruning" in self.rules:
                values[key.name] = profile_default(key, rules.profile)
        if "branch_summaries" in self.rules:
            values["branchSummary.enabled"] = self.rules["branch_summaries"] != "off"
        return values


class Rules(NamedTuple):
    """What a session follows, and which of its choices could not be used, in sentences."""

    profile: Profile
    settings: Settings
    mistakes: tuple[str, ...] = ()


WINDOW_KEY = "compaction.contextWindow"


def with_window(values: Values, recorded: int | None) -> Values:
    """The settings, with the window that a session recorded (in tokens; 0 and None: none) where a
    person has set no other."""
    return {WINDOW_KEY: recorded, **values} if recorded else values


class Ground(Struct, frozen=True):
    """What a session's choices stand on."""

    values: Values = field(default_factory=dict)
    """The settings that are set, by name."""
    otherwise: str = "explorer"
    """The profile where neither the session nor a setting names one."""
    profiles: Mapping[str, Profile] = field(default_factory=lambda: BASES)
    """All there are, the user's included."""


def rules_of(chosen: Chosen, ground: Ground) -> Rules:
    """The rules of a session: its choices, over the settings that are set, over the profile."""
    values, profiles = ground.values, ground.profiles
    base = profiles.get(chosen.profile) or profile_named(values, ground.otherwise, profiles)
    read = read_profile(chosen.rules, effective(base, values))
    sizes = {name: size for name, size in chosen.sizes.items() if name in _SIZES}
    settings = replace(Settings.of(read.profile), **sizes)
    return Rules(read.profile, settings, tuple(str(mistake) for mistake in read.mistakes))


def with_profile(chosen: Chosen, name: str) -> Chosen:
    """The choices under another profile, without rules and sizes chosen under the last one."""
    return Chosen(profile=name)


def with_rules(chosen: Chosen, profile: Profile, ground: Ground) -> Chosen:
    """The choices after a person changed rules of the profile that was shown.

    What is as it would be without a choice is none; the profile's rules, restored, are none
    either.
    """
    if profile == ground.profiles.get(profile.name):
        return replace(chosen, rules={})
    now = profile_values(rules_of(chosen, ground).profile)
    without = profile_values(rules_of(replace(chosen, rules={}), ground).profile)
    rules = dict(chosen.rules)
    for name, value in profile_values(profile).items():
        if value != now.get(name):
            rules[name] = value
            if value == without.get(name):
                del rules[name]
    return replace(chosen, rules=rules)


def with_sizes(chosen: Chosen, settings: Settings, ground: Ground) -> Chosen:
    """The choices after a person moved a size; one put back where it comes from is none."""
    now = asdict(rules_of(chosen, ground).settings)
    without = asdict(rules_of(replace(chosen, sizes={}), ground).settings)
    sizes = dict(chosen.sizes)
    for name, size in asdict(settings).items():
        if size != now[name]:
            sizes[name] = size
            if size == without[name]:
                del sizes[name]
    return replace(chosen, sizes=sizes)


def without_key(chosen: Chosen, name: str) -> Chosen:
    """The choices without the choice of one setting."""
    if name == "compaction.profile":
        # Rules and sizes were changed under the profile that goes.
        return Chosen()
    gone = {KEYS[name].field}
    if name.startswith("pruning."):
        gone = {"pruning"}
    elif name.startswith("chat."):
        gone = {"prompt_budget", "background", "enabled"}
    elif name == "branchSummary.enabled":
        gone = {"branch_summaries"}
    return replace(
        chosen,
        rules={key: value for key, value in chosen.rules.items() if key not in gone},
        sizes={key: value for key, value in chosen.sizes.items() if key not in gone},
    )


def chosen_from(kept: Any) -> Chosen:
    """What was kept with a session; nothing where it is none of ours. Raises ValueError when it
    is of a kind that is not known here."""
    if not isinstance(kept, dict):
        return Chosen()
    profile, rules, sizes = (kept.get(name) for name in ("profile", "rules", "sizes"))
    if isinstance(profile, dict):
        return _from_whole(profile, kept.get("settings"))
    if not (isinstance(profile, str) and isinstance(rules, dict) and isinstance(sizes, dict)):
        raise ValueError("The rules kept with this session are not known here.")
    return Chosen(profile, rules, _whole_numbers(sizes))


def _from_whole(profile: Mapping[str, Any], settings: Any) -> Chosen:
    """Version 0.1.0 kept all rules and all sizes: those that differ from the profile's."""
    name = str(profile.get("name", ""))
    base = BASES.get(name) or BASES["explorer"]
    defaults = profile_values(base)
    rules = {
        key: value for key, value in profile.items() if key in defaults and value != defaults[key]
    }
    kept = settings if isinstance(settings, dict) else {}
    sizes = _whole_numbers(kept)
    default_sizes = asdict(Settings.of(base))
    changed = {key: size for key, size in sizes.items() if size != default_sizes.get(key)}
    rules.pop("name", None), rules.pop("title", None)
    return Chosen(base.name, rules, changed)


def _whole_numbers(sizes: Mapping[str, Any]) -> dict[str, int]:
    return {key: size for key, size in sizes.items() if type(size) is int and size >= 0}
