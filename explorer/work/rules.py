"""The rules that automatic compaction follows, as they stand at the moment of a decision (A12)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from explorer.compaction.profile import Profile, Settings
from explorer.compaction.triggers import Limits, limits_of
from explorer.prompting.agent_prompt import message_budget

__all__ = ["AutomaticRules", "Limits", "Mark", "limits", "limits_of", "mark_of"]


@dataclass(frozen=True, slots=True)
class AutomaticRules:
    """Read anew for every decision: what changed meanwhile counts at once."""

    profile: Profile
    settings: Settings
    summary_model: str
    enabled: bool = True
    """Off stops everything that happens by itself; compacting by hand still works."""
    auto_continue: bool = False
    ask_first: bool = False
    """Each compaction that happens by itself waits for the person's word, where one attends."""
    instructions: str = ""
    fallbacks: tuple[str, ...] = ()
    """Models that are asked for the summary in turn when the one before failed for good (A43)."""
    summary_models: Callable[[str], Sequence[str]] | None = None
    """Where prompts are kept within a budget: whom to ask for summaries of conversations with a
    model, the first choice first (A54); None leaves them to the model itself."""

    @classmethod
    def of(
        cls, profile: Profile, summary_model: str, settings: Settings | None = None
    ) -> AutomaticRules:
        """The profile's own defaults."""
        return cls(
            profile,
            settings or Settings.of(profile),
            summary_model,
            profile.enabled,
            profile.auto_continue,
        )


def limits(rules: AutomaticRules, model_window: int | None) -> Limits:
    """See ``limits_of``."""
    return limits_of(rules.profile, rules.settings, model_window)


class Mark(NamedTuple):
    """Where a context that grows is compacted next."""

    tokens: int
    about: bool
    """Not the same place each time."""


def mark_of(profile: Profile, settings: Settings, model_window: int | None) -> Mark:
    """The threshold; where summaries are made ahead, the middle of the line at which they are begun
    with a warm cache (A47)."""
    found = limits_of(profile, settings, model_window)
    budget, ahead = profile.prompt_budget, profile.background
    if budget is None:
        return Mark(found.threshold, False)
    try:
        base = message_budget(found.window, threshold=budget.threshold).base
    except ValueError:
        # A threshold that means nothing is told where it is set.
        base = found.window
    if ahead is None:
        return Mark(base, False)
    return Mark(round(base * (ahead.warm_low + ahead.warm_high) / 2), True)
