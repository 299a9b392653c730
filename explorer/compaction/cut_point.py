"""Where a path may be cut, and where it is cut: by tokens or by rounds
(A15 to A18, A49, B4, B5)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import compress
from typing import NamedTuple

from explorer.compaction.context_size import last_report
from explorer.compaction.path_view import CONTEXT_MASK, METADATA_MASK, TURN_MASK, PathView, marked
from explorer.compaction.profile import Profile, Settings
from explorer.session.kinds import MESSAGE_KINDS, Kind, selector
from explorer.session.tree import SessionTree

PromptReader = Callable[[int], int]
"""Tokens of the prompt that the provider reported with a reply (an entry); -1 for none."""

_BRANCHES = selector({Kind.BRANCH_SUMMARY})


class Keep(NamedTuple):
    """How much of the newest part is kept."""

    tokens: int
    """Counted as the entries are."""
    ratio: float
    """What the provider counted for each token of the estimate; 1 where nothing was scaled."""


def kept_tokens(
    tree: SessionTree,
    view: PathView,
    profile: Profile,
    settings: Settings,
    prompt_of: PromptReader | None = None,
) -> Keep:
    """The tokens to keep; fewer where the provider counts more than the estimate does.

    Without ``prompt_of`` the whole report of the last reply stands in, its answer included.
    """
    keep = settings.keep_recent_tokens
    if profile.keep_recent_scale == "none":
        return Keep(keep, 1.0)
    reply = last_report(tree, view.path, 0, counted_here=True)
    if reply < 0:
        return Keep(keep, 1.0)
    reported = tree.columns.usage[reply] if prompt_of is None else prompt_of(reply)
    counted = _counted(tree, view, profile)
    if counted <= 0 or reported <= counted:
        return Keep(keep, 1.0)
    ratio = reported / counted
    return Keep(max(1, int(keep / ratio)), ratio)


def _counted(tree: SessionTree, view: PathView, profile: Profile) -> int:
    """The estimate of all that the next compaction looks at."""
    total = view.weight(view.boundary, len(view))
    if profile.weights != "sent":
        # The walk leaves them out; the estimate of the whole does not.
        for position in marked(view.kinds[view.boundary :], _BRANCHES):
            total += tree.columns.estimate[view.path[view.boundary + position]]
    return total


_REPLIES = selector({Kind.ASSISTANT})


def find_by_rounds(cuts: Cuts, start: int, stop: int, rounds: int) -> Cut:
    """The cut of the positions ``start`` to ``stop`` (exclusive) that keeps the newest rounds.

    A round is a reply with its tool results; the first of a turn brings what it answers along. A
    newest turn that nothing answered yet counts as a round. Where there are no more rounds than
    are kept, the cut is the first, and nothing lies before it.
    """
    first = cuts.mask.find(1, start, stop)
    if first < 0:
        return Cut(start, -1, -1, False, -1)
    reached = _reached(cuts.view.kinds, start, stop, max(1, rounds))
    if reached < 0:
        return cuts.at(start, first)
    point = cuts.mask.find(1, reached, stop)
    if point < 0:
        point = cuts.mask.rfind(1, start, stop)
    return cuts.at(start, point, reached)


def _reached(kinds: bytes, start: int, stop: int, rounds: int) -> int:
    """The position from which so many rounds are kept, or -1 when there are fewer."""
    replies, turns = kinds.translate(_REPLIES), kinds.translate(TURN_MASK)
    at, left = stop, rounds
    newest_turn = turns.rfind(1, start, stop)
    if newest_turn > replies.rfind(1, start, stop):
        at, left = newest_turn, left - 1
    while left:
        reply = replies.rfind(1, start, at)
        if reply < 0:
            return -1
        turn = turns.rfind(1, start, reply)
        is_first = turn >= 0 and not replies.count(1, turn, reply)
        at, left = turn if is_first else reply, left - 1
    return at


_CUT_KINDS = frozenset(
    {
        Kind.USER,
        Kind.ASSISTANT,
        Kind.BASH_EXECUTION,
        Kind.CUSTOM_ROLE,
        Kind.BRANCH_SUMMARY_ROLE,
        Kind.COMPACTION_SUMMARY_ROLE,
        Kind.CUSTOM_MESSAGE,
        Kind.BRANCH_SUMMARY,
    }
)
_CUT_MASK = selector(_CUT_KINDS)
_DIALOGUE_MASK = selector({Kind.USER, Kind.ASSISTANT})
_NOT_MESSAGE_MASK = selector(frozenset(Kind) - MESSAGE_KINDS - {Kind.COMPACTION})

# Replies, results and all else, to find results that follow something else than their call.
_SHAPE = bytes(
    ord("a") if value == Kind.ASSISTANT else ord("r") if value == Kind.TOOL_RESULT else ord("o")
    for value in range(256)
)

_BLOCK = 512


class Cut(NamedTuple):
    """Where a stretch of a path is cut. Positions; -1 is none."""

    first_kept: int
    """The first kept position, metadata before the cut point included (A17)."""
    point: int
    """The valid cut point itself; -1 when the stretch has none."""
    turn_start: int
    """Where the turn that the cut falls into starts; -1 when it falls between turns."""
    is_split_turn: bool
    reached: int
    """Where the walk had kept enough; -1 when it never had."""


class Cuts:
    """The valid cuts of one path under one profile, and which of them a rule picks."""

    __slots__ = ("mask", "profile", "view")

    def __init__(self, view: PathView, profile: Profile) -> None:
        self.view = view
        self.profile = profile
        self.mask = _valid_mask(view.kinds, profile)
        """1 at every position where the path may be cut (A16)."""

    def between(self, start: int, stop: int) -> list[int]:
        """The valid cut positions from ``start`` to ``stop`` (exclusive), ascending."""
        return list(compress(range(start, stop), self.mask[start:stop]))

    def before(self, position: int, start: int) -> int:
        """The next valid cut up from a position, not before ``start``; -1 for none."""
        return self.mask.rfind(1, start, max(position, start))

    def find(self, start: int, stop: int, keep: int) -> Cut:
        """The cut of the positions ``start`` to ``stop`` (exclusive) that keeps ``keep`` tokens.

        Without any valid cut point everything is kept.
        """
        mask = self.mask
        point = mask.find(1, start, stop)
        if point < 0:
            return Cut(start, -1, -1, False, -1)
        reached = walk_back(self.view, start, stop, keep)
        if reached >= 0:
            after = mask.find(1, reached, stop)
            if after >= 0:
                point = after
            elif self.profile.oversized_tail == "last-cut":
                point = mask.rfind(1, start, stop)
        return self.at(start, point, reached)

    def at(self, start: int, point: int, reached: int = -1) -> Cut:
        """The cut at a valid cut point: metadata pulled over, the turn judged (A17, A18)."""
        kinds, profile = self.view.kinds, self.profile
        movable = METADATA_MASK if profile.pull_back == "metadata" else _NOT_MESSAGE_MASK
        first_kept = start + len(kinds[start:point].translate(movable).rstrip(b"\x01"))
        if profile.turn_judgement == "before-pull":
            starts_turn = bool(TURN_MASK[kinds[point]])
            turn_start = -1 if starts_turn else _turn_start(kinds, start, point)
        else:
            is_user = kinds[first_kept] == Kind.USER
            turn_start = -1 if is_user else _turn_start(kinds, start, first_kept)
        return Cut(first_kept, point, turn_start, turn_start >= 0, reached)

    def chosen(self, start: int, position: int) -> Cut | None:
        """The cut at a position chosen by hand; metadata before a valid cut stands for that cut.

        None when it may not be cut there.
        """
        if not start <= position < len(self.view):
            return None
        point = self.mask.find(1, position)
        if point < 0 or not all(self.view.kinds[position:point].translate(METADATA_MASK)):
            return None
        return self.at(start, point)


def _valid_mask(kinds: bytes, profile: Profile) -> bytes:
    mask = kinds.translate(_CUT_MASK if profile.valid_cuts == "messages" else _DIALOGUE_MASK)
    if profile.cut_guard == "by-kind":
        return mask
    guarded = bytearray(mask)
    # Between a call and its result there is no cut, whatever was written there.
    shape = kinds.translate(_SHAPE)
    position = shape.find(b"or")
    while position >= 0:
        start = max(shape.rfind(b"a", 0, position), shape.rfind(b"r", 0, position)) + 1
        guarded[start : position + 1] = bytes(position + 1 - start)
        position = shape.find(b"or", position + 2)
    return bytes(guarded)


def _turn_start(kinds: bytes, start: int, position: int) -> int:
    start_offset = kinds[start : position + 1].translate(TURN_MASK).rfind(1)
    return start + start_offset if start_offset >= 0 else -1


def walk_back(view: PathView, start: int, stop: int, keep: int) -> int:
    """The newest position from which at least ``keep`` tokens are kept, or -1 (A15)."""
    if keep <= 0:
        newest = view.kinds[start:stop].translate(CONTEXT_MASK).rfind(1)
        return start + newest if newest >= 0 else -1
    weights, total, upper = view.weights, 0, stop
    while upper > start:
        lower = max(start, upper - _BLOCK)
        block = sum(weights[lower:upper])
        if total + block >= keep:
            for position in range(upper - 1, lower - 1, -1):
                total += weights[position]
                if total >= keep:
                    return position
        total += block
        upper = lower
    return -1
