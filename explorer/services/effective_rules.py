"""The rules that hold for a session at the moment of a decision, and where they come from (A12)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from explorer.audit.provenance import Known, Provenance
from explorer.audit.source_agent import SourceAgent, source_agent
from explorer.compaction.profile import BASES, Profile, Settings
from explorer.compaction.triggers import ContextLimits, fitted, limits_of
from explorer.models.catalogue import cannot_summarize
from explorer.models.client import EXTRACTIVE
from explorer.prompting.agent_prompt import message_budget
from explorer.services.open_session import OpenedSession
from explorer.settings.effective import summary_models


def same_model(model: str) -> tuple[str, ...]:
    """Every model summarizes the conversations that it leads."""
    return (model,)


def summarizer_of(model: str) -> str:
    """The model that summarizes for a model by default: the model itself,
    or for one that only follows rules or a script the offline summarizer."""
    return EXTRACTIVE if cannot_summarize(model) else model


class EffectiveRules(Struct, frozen=True):
    """Read anew for every decision, so that a change of settings counts at once."""

    profile: Profile
    settings: Settings
    """Sizes in tokens. A model's window, where smaller, counts instead of the one set here."""
    summary_model: str
    enabled: bool = True
    """Off, nothing is compacted automatically, and of a prompt that does not fit the oldest history
    is dropped by priority; compacting by hand still works."""
    auto_continue: bool = False
    ask_first: bool = False
    """Each automatic compaction waits for the user's confirmation, where a user is present."""
    instructions: str = ""
    fallbacks: tuple[str, ...] = ()
    """Models that are asked for the summary in turn when the one before failed for good (A43)."""
    summary_models: Callable[[str], Sequence[str]] = same_model
    """For prompts rendered to a budget: the models to ask for summaries of conversations with a
    model, the first choice first (A54)."""
    ahead: bool = True
    """Off, no summary of a prompt is begun: the user postponed it."""

    @classmethod
    def of(
        cls, profile: Profile, summary_model: str, settings: Settings | None = None
    ) -> EffectiveRules:
        """The profile's defaults."""
        return cls(
            profile,
            settings or Settings.of(profile),
            summary_model,
            profile.enabled,
            profile.auto_continue,
        )

    @classmethod
    def from_settings(
        cls,
        profile: Profile,
        values: Mapping[str, Any],
        model: str,
        summarizers: Sequence[str] = (),
    ) -> EffectiveRules:
        """The rules where no window rules. ``profile``: with its settings applied; ``values``: the
        settings by name; ``model``: the agent's; ``summarizers``: the models chosen for summaries
        instead of those of the settings, in turn."""

        def for_prompts(asked: str) -> tuple[str, ...]:
            return tuple(summarizers) or summary_models(values, asked, asked)

        first, *fallbacks = for_prompts(model)
        return cls(
            profile,
            Settings.of(profile),
            summarizer_of(first),
            profile.enabled,
            profile.auto_continue,
            fallbacks=tuple(fallbacks),
            summary_models=for_prompts,
        )

    def limits(self, model_window: int | None) -> ContextLimits:
        """Window and threshold in tokens for a model with this window (None: not known)."""
        return limits_of(self.profile, self.settings, model_window)

    def sizes(self, model_window: int | None) -> Settings:
        """The sizes of a compaction for a model with this window, in tokens."""
        return fitted(self.profile, self.settings, model_window)

    def prompt_summary_model(self, model: str) -> str:
        """Which model summarizes a conversation with ``model``; the model itself by default (A50,
        A54)."""
        return summarizer_of(next(iter(self.summary_models(model)), model))


class NextCompaction(NamedTuple):
    """Where a growing context is compacted next."""

    tokens: int
    about: bool
    """Not the same place each time."""


def next_mark(profile: Profile, settings: Settings, model_window: int | None) -> NextCompaction:
    """The threshold; where summaries are made ahead, the middle of the range in which they are
    begun with a warm cache (A47)."""
    limits = limits_of(profile, settings, model_window)
    budget, ahead = profile.prompt_budget, profile.background
    if budget is None:
        return NextCompaction(limits.threshold, False)
    try:
        base = message_budget(limits.window, threshold=budget.threshold).base
    except ValueError:
        # An invalid threshold is reported where it is set.
        base = limits.window
    if ahead is None:
        return NextCompaction(base, False)
    return NextCompaction(round(base * (ahead.warm_low + ahead.warm_high) / 2), True)


_BEGUN_HERE = (
    "The session was begun in this program: what each of its compactions was asked is recorded."
)


def recorded_rules(opened: OpenedSession) -> SourceAgent:
    """The rules of the agent that recorded a session, and how they are known."""
    if not len(opened.tree) or opened.writer.made_here(0):
        return SourceAgent(BASES["explorer"], Known(Provenance.EXACT, _BEGUN_HERE))
    return source_agent(opened.tree, opened.header.format, opened.header.version)
