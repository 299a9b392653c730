"""What a compaction at a leaf would do, without a model and without payloads (A14 to A18, A28)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from explorer.compaction import reasons
from explorer.compaction.context_size import ContextSize, context_size
from explorer.compaction.cut_point import Cut, Cuts, Keep, PromptReader, find_by_rounds, kept_tokens
from explorer.compaction.file_ops import FileChange, FileOperations
from explorer.compaction.path_view import CONTEXT_MASK, PathView, view_of
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.triggers import fitted
from explorer.session.context import context_at
from explorer.session.edit_entries import Reinserted, UserBudget
from explorer.session.edits import again
from explorer.session.kinds import Kind, selector
from explorer.session.partly_compared import PartlyCompared
from explorer.session.tree import Path, SessionTree

_BRANCHES = selector({Kind.BRANCH_SUMMARY})


class Preparation(PartlyCompared, frozen=True):
    """A compaction that can be done. Positions count on ``path``, entries are indices."""

    UNCOMPARED = frozenset({"cuts"})

    leaf: int
    path: Path
    boundary: int
    """Position where the work starts: before it, everything was summarized earlier."""
    cut: int
    """Position of the first kept entry."""
    cut_point: int
    """Position of the valid cut; metadata between ``cut`` and it is kept too (A17)."""
    turn_start: int
    """Position where the split turn starts, or -1."""
    is_split_turn: bool
    first_kept: int
    previous_compaction: int
    """The compaction entry in force at the leaf, or -1."""
    history: list[int]
    """Entries to summarize."""
    turn_prefix: list[int]
    """Entries of the split turn before the cut, summarized separately."""
    again: Mapping[int, Reinserted]
    """Entries from before the cut that are repeated after the summary, word for word."""
    keep: Keep
    """How many tokens were to be kept, as the entries are counted."""
    size: ContextSize
    """Of the context at the leaf."""
    read_files: tuple[str, ...]
    modified_files: tuple[str, ...]
    failed_files: tuple[str, ...]
    """Files that were only named by calls that failed (B17)."""
    file_changes: tuple[FileChange, ...]
    """What became of each modified file, and how that is known (A28)."""
    profile: Profile
    settings: Settings
    reason: str
    """Why the cut falls here, in sentences."""
    cuts: Cuts
    by_hand: bool = False
    """The cut was chosen, and does not follow from the sizes."""

    @property
    def tokens_before(self) -> int:
        """The number that is tested against the threshold."""
        return self.size.tokens

    @property
    def tokens_source(self) -> str:
        """The counter of these tokens, in words."""
        return self.size.source


class PreparationRefusal(PartlyCompared, frozen=True):
    """Why there is nothing to compact."""

    UNCOMPARED = frozenset({"cuts"})

    leaf: int
    path: Path
    code: str
    """``empty``, ``just-compacted``, ``no-cut``, ``fits``, ``nothing-before``, ``all-pinned`` or
    ``not-a-cut``."""
    reason: str
    """A sentence for a person."""
    boundary: int
    size: ContextSize
    profile: Profile
    settings: Settings
    cuts: Cuts

    @property
    def tokens_before(self) -> int:
        """The number that is tested against the threshold."""
        return self.size.tokens

    @property
    def tokens_source(self) -> str:
        """The counter of these tokens, in words."""
        return self.size.source


def prepare(
    tree: SessionTree,
    leaf: int,
    profile: Profile,
    settings: Settings,
    *,
    weights: Sequence[int] | None = None,
    cut: int | None = None,
    prompt_of: PromptReader | None = None,
) -> Preparation | PreparationRefusal:
    """Prepare a compaction at ``leaf``; never raises for what a session holds.

    ``weights``: tokens by entry index to use instead of the estimate; negative is not counted yet.
    ``cut``: a position chosen by hand; one that is no valid cut gives a ``PreparationRefusal``.
    ``prompt_of``: reads the prompt tokens of a reply, for profiles that scale by them (B18).
    """
    settings = fitted(profile, settings)
    cuts = Cuts(view_of(tree, leaf, profile, weights), profile)
    view = cuts.view
    size = context_size(tree, context_at(tree, leaf), profile, weights)
    keep = kept_tokens(tree, view, profile, settings, prompt_of)
    plan = _plan(cuts, settings, keep, cut)
    if isinstance(plan, _No):
        return _refusal(leaf, cuts, plan, size, settings)
    found = plan.cut
    files = _files(tree, cuts, found.first_kept)
    by_hand = cut is not None
    return Preparation(
        leaf=leaf,
        path=view.path,
        boundary=view.boundary,
        cut=found.first_kept,
        cut_point=found.point,
        turn_start=found.turn_start,
        is_split_turn=found.is_split_turn,
        first_kept=view.path[found.first_kept],
        previous_compaction=view.path[view.compaction] if view.compaction >= 0 else -1,
        history=plan.history,
        turn_prefix=plan.prefix,
        again=_reinserted(tree, cuts, found.first_kept),
        keep=keep,
        size=size,
        read_files=files.read,
        modified_files=files.modified,
        failed_files=files.failed,
        file_changes=files.changes,
        profile=profile,
        settings=settings,
        reason=reasons.cut_reason(cuts, found, settings, keep, len(plan.prefix), by_hand=by_hand),
        cuts=cuts,
        by_hand=by_hand,
    )


def _reinserted(tree: SessionTree, cuts: Cuts, cut: int) -> Mapping[int, Reinserted]:
    """The entries that are repeated after the summary, by index: pins and users' messages."""
    view = cuts.view
    budget = view.shape.user_budget or user_budget_of(cuts.profile)
    if not view.shape.pinned and budget is None:
        return {}
    return again(tree, view.path, view.shape, cut, view.reset, budget)


def user_budget_of(profile: Profile) -> UserBudget | None:
    """How a profile keeps the user's messages, where the session has no rule."""
    tokens = profile.keep_user_tokens
    return UserBudget(tokens, -1) if tokens > 0 else None


def _refusal(
    leaf: int, cuts: Cuts, no: _No, size: ContextSize, settings: Settings
) -> PreparationRefusal:
    return PreparationRefusal(
        leaf=leaf,
        path=cuts.view.path,
        code=no.code,
        reason=no.reason,
        boundary=cuts.view.boundary,
        size=size,
        profile=cuts.profile,
        settings=settings,
        cuts=cuts,
    )


class _Plan(NamedTuple):
    cut: Cut
    history: list[int]
    prefix: list[int]


class _No(NamedTuple):
    code: str
    reason: str


def _plan(cuts: Cuts, settings: Settings, keep: Keep, chosen: int | None) -> _Plan | _No:
    """The cut and what lies before it, or why there is none."""
    view = cuts.view
    if not len(view):
        return _No("empty", reasons.EMPTY)
    if view.kinds[-1] == Kind.COMPACTION:
        return _No("just-compacted", reasons.JUST_COMPACTED)
    if chosen is None:
        cut = _found(cuts, settings, keep)
    else:
        by_hand = cuts.chosen(view.boundary, chosen)
        if by_hand is None:
            return _No("not-a-cut", reasons.not_a_cut(view, chosen))
        cut = by_hand
    refuses = cuts.profile.empty_input != "prepare"
    if cut.first_kept >= len(view) or (cut.point < 0 and refuses):
        return _No("no-cut", reasons.NO_CUT)
    history, prefix = _to_summarize(cuts, cut)
    if refuses and not history and not prefix:
        if chosen is not None:
            return _No("nothing-before", reasons.NOTHING_BEFORE)
        return _No("fits", reasons.everything_fits(cuts, settings, keep))
    if refuses and view.shape.pinned.keys() >= {*history, *prefix}:
        return _No("all-pinned", reasons.ALL_PINNED)
    # What the record of the last compaction holds again goes with its summary.
    recorded = [entry for entry, copy in view.again.items() if copy.why == "recorded"]
    return _Plan(cut, [*recorded, *history], prefix)


def _found(cuts: Cuts, settings: Settings, keep: Keep) -> Cut:
    view = cuts.view
    if cuts.profile.cut_unit == "rounds":
        return find_by_rounds(cuts, view.boundary, len(view), settings.keep_rounds)
    return cuts.find(view.boundary, len(view), keep.tokens)


def _to_summarize(cuts: Cuts, cut: Cut) -> tuple[list[int], list[int]]:
    view, profile = cuts.view, cuts.profile
    only_sent = profile.empty_input == "refuse"
    mask = view.sent if only_sent else _tellable(view)
    if not cut.is_split_turn or profile.split == "one-summary":
        return view.entries(view.boundary, cut.first_kept, mask), []
    history = view.entries(view.boundary, cut.turn_start, mask)
    return history, view.entries(cut.turn_start, cut.first_kept, mask)


def _tellable(view: PathView) -> bytes:
    """All that may be summarized, for rules that also check what is never sent."""
    mask = view.kinds.translate(CONTEXT_MASK)
    if not view.shape.omitted:
        return mask
    left = bytearray(mask)
    for entry in view.shape.omitted:
        left[view.path.position(entry)] = 0
    return bytes(left)


def _files(tree: SessionTree, cuts: Cuts, first_kept: int) -> FileOperations:
    view, columns = cuts.view, tree.columns
    files = FileOperations()
    if view.compaction >= 0:
        files.add_summary(columns.compactions[view.path[view.compaction]])
    part = view.path[view.boundary : first_kept]
    if cuts.profile.branch_details == "counted" and columns.branches:
        for entry in part.select(columns.kind, _BRANCHES):
            files.add_summary(columns.branches[entry])
    files.add_calls(tree, part.ranges, cuts.profile, view.shape.omitted)
    return files
