"""The rules that automatic compaction follows, as they stand at the moment of a decision (A12)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from explorer.compaction.profile import Profile, Settings
from explorer.compaction.threshold import limit_of


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


class Limits(NamedTuple):
    """Tokens that a context may take."""

    window: int
    threshold: int
    """Above it the context is compacted."""


def limits(rules: AutomaticRules, model_window: int | None) -> Limits:
    """See ``limits_of``."""
    return limits_of(rules.profile, rules.settings, model_window)


def limits_of(profile: Profile, settings: Settings, model_window: int | None) -> Limits:
    """The limits for a model: its own window, where it is known and smaller than the one set."""
    window = min(settings.context_window, model_window or settings.context_window)
    threshold = limit_of(profile, replace(settings, context_window=window))
    return Limits(window, max(0, threshold))
