"""The same place of a session under several profiles, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from explorer.compaction.cut_point import PromptReader
from explorer.compaction.partition import Partition, Verdict, partition
from explorer.compaction.preparation import Preparation, prepare
from explorer.compaction.profile import SIZES, SWITCHES, Profile, Settings
from explorer.compaction.triggers import limit_of, should_compact
from explorer.session.tree import SessionTree

WeightsOf = Callable[[Profile], Sequence[int] | None]
"""The token column that a profile counts with; None is the estimate."""

_SIZES = ("keep_recent_tokens", "keep_rounds")


class ProfileOutcome(Struct, frozen=True):
    """What a compaction at one place would do under one profile. Entries are indices, sizes
    tokens, and -1 is none."""

    profile: Profile
    settings: Settings
    shown: Partition
    """Every entry's verdict, for the map and the ledger."""
    compacts: bool
    """False when there is nothing to compact; ``reason`` says why."""
    reason: str
    first_kept: int
    is_split_turn: bool
    messages: int
    """Messages that are summarized, the split turn's among them."""
    turn_prefix: int
    """Those of them that get a separate summary."""
    kept: int
    """Entries that stay as they are."""
    lost: int
    """Entries that are neither kept nor covered by any summary."""
    tokens_before: int
    tokens_source: str
    context_tokens: int
    """Tokens of the context's entries, counted as ``tokens_after`` is."""
    tokens_after: int
    whole_before: int
    """Tokens of the whole context, as the gauge has them."""
    whole_after: int
    """As the compaction's preview has them; counted here where the provider counts less."""
    limit: int
    """Tokens above which the profile compacts automatically."""
    is_due: bool
    """Whether it would do so here."""

    @property
    def retells_summary(self) -> bool:
        """Whether the summary in force is summarized anew."""
        at = self.shown.preparation.cuts.view.compaction
        return at >= 0 and self.shown.verdicts[at] == Verdict.TO_SUMMARIZE


def compare_profiles(
    tree: SessionTree,
    leaf: int,
    profiles: Iterable[Profile],
    *,
    context_window: int | None = None,
    weights_of: WeightsOf | None = None,
    prompt_of: PromptReader | None = None,
) -> list[ProfileOutcome]:
    """What a compaction at ``leaf`` would do under each profile with its own sizes, in order.

    ``context_window``: one window for all of them, as one model has; default is the one of each
    profile.
    """
    found = []
    for profile in profiles:
        settings = Settings.of(profile)
        if context_window is not None:
            settings = replace(settings, context_window=context_window)
        found.append(outcome(tree, leaf, profile, settings, weights_of, prompt_of))
    return found


def outcome(
    tree: SessionTree,
    leaf: int,
    profile: Profile,
    settings: Settings,
    weights_of: WeightsOf | None = None,
    prompt_of: PromptReader | None = None,
) -> ProfileOutcome:
    """What a compaction at ``leaf`` would do under one profile."""
    weights = weights_of(profile) if weights_of is not None else None
    prepared = prepare(tree, leaf, profile, settings, weights=weights, prompt_of=prompt_of)
    shown = partition(prepared)
    made = prepared if isinstance(prepared, Preparation) else None
    # A prompt within a budget is measured by its own count, whatever a provider reported.
    is_budgeted = profile.prompt_budget is not None
    return ProfileOutcome(
        profile=profile,
        settings=prepared.settings,
        shown=shown,
        compacts=made is not None,
        reason=prepared.reason,
        first_kept=made.first_kept if made else -1,
        is_split_turn=made is not None and made.is_split_turn,
        messages=len(made.history) + len(made.turn_prefix) if made else 0,
        turn_prefix=len(made.turn_prefix) if made else 0,
        kept=shown.verdicts.count(Verdict.KEPT),
        lost=shown.verdicts.count(Verdict.LOST),
        tokens_before=prepared.tokens_before,
        tokens_source=prepared.tokens_source,
        context_tokens=shown.context_estimate,
        tokens_after=shown.tokens_after_estimate,
        whole_before=shown.context_estimate if is_budgeted else prepared.size.shown,
        whole_after=shown.tokens_after_estimate if is_budgeted else shown.whole_after,
        limit=max(0, limit_of(profile, settings)),
        is_due=should_compact(prepared.tokens_before, profile, settings),
    )


class Cause(Struct, frozen=True):
    """A rule that makes a profile decide otherwise than another one here."""

    key: str
    """The field of the profile."""
    title: str
    says: str
    """What the rule does, in this profile's words."""
    instead_of: str
    """What the other profile's rule does."""


def causes(
    tree: SessionTree,
    leaf: int,
    profile: Profile,
    reference: Profile,
    *,
    weights_of: WeightsOf | None = None,
    prompt_of: PromptReader | None = None,
) -> list[Cause]:
    """The rules of a profile that tell here: with the reference's rule in place of one of them,
    another entry would be the first kept, others would be summarized, or the count would differ.

    Rules that only tell together are not found. One preparation per rule that differs.
    """

    def deciding(tried: Profile) -> tuple[object, ...]:
        result = outcome(tree, leaf, tried, Settings.of(tried), weights_of, prompt_of)
        return (result.first_kept, result.messages, result.turn_prefix, result.tokens_before,
                result.shown.verdicts, _files(result))  # fmt: skip

    now = deciding(profile)
    result = []
    for key in (*_SIZES, *SWITCHES):
        value, other = getattr(profile, key), getattr(reference, key)
        if value == other:
            continue
        changed: dict[str, object] = {key: other}
        if deciding(replace(profile, **changed)) != now:
            result.append(_cause(key, value, other))
    return result


def _files(found: ProfileOutcome) -> tuple[object, ...]:
    prepared = found.shown.preparation
    if not isinstance(prepared, Preparation):
        return ()
    return (prepared.read_files, prepared.modified_files, prepared.failed_files)


def _cause(key: str, value: object, other: object) -> Cause:
    if key in _SIZES:
        size = SIZES[key]
        return Cause(key, size.title, f"{value:,} {size.unit}", f"{other:,} {size.unit}")
    switch = SWITCHES[key]
    return Cause(key, switch.title, switch.values[value], switch.values[other])  # type: ignore[index]
