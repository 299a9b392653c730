"""Where a path may be cut, and where it is cut (A15 to A18, B4, B5)."""

from __future__ import annotations

from itertools import compress
from typing import NamedTuple

from explorer.compaction.path_view import CONTEXT_MASK, METADATA_MASK, TURN_MASK, PathView
from explorer.compaction.profile import Profile
from explorer.session.kinds import MESSAGE_KINDS, Kind, selector

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
_TALK_MASK = selector({Kind.USER, Kind.ASSISTANT})
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
    mask = kinds.translate(_CUT_MASK if profile.valid_cuts == "messages" else _TALK_MASK)
    if profile.cut_guard == "by-kind":
        return mask
    guarded = bytearray(mask)
    # Between a call and its result there is no cut, whatever was written there.
    shape = kinds.translate(_SHAPE)
    found = shape.find(b"or")
    while found >= 0:
        start = max(shape.rfind(b"a", 0, found), shape.rfind(b"r", 0, found)) + 1
        guarded[start : found + 1] = bytes(found + 1 - start)
        found = shape.find(b"or", found + 2)
    return bytes(guarded)


def _turn_start(kinds: bytes, start: int, position: int) -> int:
    found = kinds[start : position + 1].translate(TURN_MASK).rfind(1)
    return start + found if found >= 0 else -1


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
