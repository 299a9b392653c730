"""Where a path is cut when rounds are kept, not tokens (A49)."""

from __future__ import annotations

from explorer.compaction.cut import Cut, Cuts
from explorer.compaction.path_view import TURN_MASK
from explorer.session.kinds import Kind, selector

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
        is_first = turn >= 0 and replies.find(1, turn, reply) < 0
        at, left = turn if is_first else reply, left - 1
    return at
