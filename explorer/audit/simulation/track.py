"""A recorded path as events: messages, requests, results, and where turns end.

Positions count along the track. It is read once and walked under any number of policies.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple, TypeVar

from explorer.session.describe import BranchFacts
from explorer.session.edit_entries import ShapeFacts
from explorer.session.kinds import (
    CONTEXT_KINDS,
    Flag,
    Kind,
    selector,
    turn_starts,
)
from explorer.session.partly_compared import PartlyCompared
from explorer.session.tree import SessionTree

REPLIES = frozenset({Kind.ASSISTANT})
_OPENINGS = selector(CONTEXT_KINDS - REPLIES - {Kind.TOOL_RESULT})
_CONTEXT = selector(CONTEXT_KINDS)
_RESETS = selector({Kind.RESET_BOUNDARY})
_FAILED, _CALLS = int(Flag.ERROR | Flag.ABORTED), int(Flag.HAS_TOOL_CALL)
_ABORTED = int(Flag.ABORTED)

# What a position of the track is to the walk.
PASSED, ANSWERED_USER, ANSWERED_OTHER, ASKED, UNASKED = range(5)
"""``ANSWERED_USER``: a user message that is answered; ``ANSWERED_OTHER``: another entry that is;
``ASKED``: a reply; ``UNASKED``: a reply after the end of its turn; ``PASSED``: all else."""


_Value = TypeVar("_Value")


class Rare(NamedTuple):
    """What few entries have, by position."""

    user_images: Mapping[int, int]
    branches: Mapping[int, BranchFacts]


class Track(PartlyCompared, frozen=True):
    """The walked entries of a path as columns, by position."""

    UNCOMPARED = frozenset({"rare"})

    tree: SessionTree
    leaf: int
    entries: array[int]
    kinds: bytes
    flags: array[int]
    estimate: array[int]
    usage: array[int]
    """As providers reported it; -1 where none did."""
    tool: array[int]
    acts: bytes
    ends: bytes
    """1 where a turn of the agent ends, after what is there."""
    unlooked: bytes
    """1 at a reply whose request follows another with no message in between: those before which
    only some profiles look at the context."""
    events: array[int]
    """The positions at which something happens; at all others the context only grows."""
    requests: array[int]
    """The positions of all replies that were asked for, those that were aborted among them."""
    turn: array[int]
    """The number of the turn that a position is in, from 1; 0 before the first."""
    messages: array[int]
    """How many messages lie before a position; one value more than there are positions."""
    changed: int
    """The first recorded entry that changed the context otherwise than by growing: a compaction, a
    prune, a reset, a pin or an omission; beyond the last entry where none did."""
    rare: Rare
    shapes: Mapping[int, ShapeFacts]
    """What a person pinned, omitted or wished to be kept, by the position of the entry."""
    named: Mapping[str, int]
    """The positions of the entries that ``shapes`` name."""
    shaping: frozenset[int]
    """Positions after which something else may be pinned or omitted: those of ``shapes``, and of
    results whose call may have been omitted before they were there."""

    def __len__(self) -> int:
        return len(self.entries)

    def time_ms(self, position: int) -> float:
        """When it was recorded."""
        return self.tree.columns.time[self.entries[position]]

    def position(self, entry: int) -> int:
        """The position of a recorded entry, or of the next one that is walked."""
        return bisect_left(self.entries, entry)


Leaves = Callable[[int], bool]
"""Whether an entry is left out of a walk."""


def decided_anew(tree: SessionTree) -> Leaves:
    """What a walk leaves out: what its policy decides, compactions and prunes."""
    kinds, prunes = tree.columns.kind, tree.columns.prunes
    return lambda entry: kinds[entry] == Kind.COMPACTION or entry in prunes


def track_of(tree: SessionTree, leaf: int, leaves_out: Leaves | None = None) -> Track:
    """The path to ``leaf`` without what ``leaves_out`` says, by default ``decided_anew``."""
    columns = tree.columns
    out = decided_anew(tree) if leaves_out is None else leaves_out
    entries = array("i", (at for at in tree.path(leaf) if not out(at)))
    kinds = bytes(columns.kind[at] for at in entries)
    flags = array("I", (columns.flags[at] for at in entries))
    acts, ends = _acts(kinds, flags)
    requests = array("i", (at for at in range(len(kinds)) if _is_request(acts, kinds, flags, at)))
    where = dict(zip(entries, range(len(entries)), strict=True))
    shapes = _by_position(where, columns.shapes)
    shaping = _shaping(kinds, shapes)
    return Track(
        tree=tree,
        leaf=leaf,
        entries=entries,
        kinds=kinds,
        flags=flags,
        estimate=array("i", (columns.estimate[at] for at in entries)),
        usage=array(
            "i", (-1 if columns.is_counted_here(at) else columns.usage[at] for at in entries)
        ),
        tool=array("H", (columns.tool[at] for at in entries)),
        acts=acts,
        ends=ends,
        unlooked=_unlooked(acts),
        events=_events(acts, ends, kinds, {*requests, *shaping}),
        requests=requests,
        turn=array("i", accumulate(turn_starts(kinds, flags))),
        messages=array("i", accumulate(kinds.translate(_CONTEXT), initial=0)),
        changed=first_change(tree, leaf),
        rare=Rare(
            _by_position(where, columns.user_images),
            _by_position(where, columns.branches),
        ),
        shapes=shapes,
        named=_named(tree, where, shapes),
        shaping=shaping,
    )


def _is_request(acts: bytes, kinds: bytes, flags: Sequence[int], at: int) -> bool:
    if acts[at] in (ASKED, UNASKED):
        return True
    return kinds[at] == Kind.ASSISTANT and bool(flags[at] & _ABORTED)


def _events(acts: bytes, ends: bytes, kinds: bytes, others: Collection[int]) -> array[int]:
    starts = kinds.translate(_RESETS)
    return array(
        "i",
        (at for at in range(len(kinds)) if acts[at] or ends[at] or starts[at] or at in others),
    )


def _by_position(where: Mapping[int, int], values: Mapping[int, _Value]) -> dict[int, _Value]:
    return {where[entry]: values[entry] for entry in sorted(values) if entry in where}


def _named(
    tree: SessionTree, where: Mapping[int, int], shapes: Mapping[int, ShapeFacts]
) -> dict[str, int]:
    names = {name for facts in shapes.values() for name, _tokens in facts.entries}
    names.update(name for facts in shapes.values() for name in facts.lifts)
    named = ((name, where.get(tree.index_of(name), -1)) for name in names)
    return {name: position for name, position in named if position >= 0}


def _shaping(kinds: bytes, shapes: Mapping[int, ShapeFacts]) -> frozenset[int]:
    entries = set(shapes)
    for shape in shapes:
        for at in range(shape + 1, len(kinds)):
            if kinds[at] == Kind.ASSISTANT:
                break
            if kinds[at] == Kind.TOOL_RESULT:
                entries.add(at)
    return frozenset(entries)


def _unlooked(acts: bytes) -> bytes:
    found, looked = bytearray(len(acts)), False
    for at, act in enumerate(acts):
        if act in (ANSWERED_USER, ANSWERED_OTHER):
            looked = True
        elif act == ASKED:
            found[at], looked = not looked, False
    return bytes(found)


def _acts(kinds: bytes, flags: Sequence[int]) -> tuple[bytes, bytes]:
    acts, ends = bytearray(len(kinds)), bytearray(len(kinds))
    openings, messages = kinds.translate(_OPENINGS), kinds.translate(_CONTEXT)
    # An opening that nothing answered before the next is only appended.
    opening, last, over = -1, -1, False
    for at, kind in enumerate(kinds):
        if openings[at]:
            if last >= 0 and not over:
                ends[_before(messages, at)] = 1
            opening, last, over = at, -1, False
        elif kind == Kind.ASSISTANT and not flags[at] & _FAILED:
            if opening >= 0:
                acts[opening] = ANSWERED_USER if kinds[opening] == Kind.USER else ANSWERED_OTHER
                opening = -1
            acts[at] = UNASKED if over else ASKED
            last = at
            if not over and not flags[at] & _CALLS:
                ends[at], over = 1, True
    if last >= 0 and not over and len(kinds):
        ends[len(kinds) - 1] = 1
    return bytes(acts), bytes(ends)


def _before(messages: bytes, at: int) -> int:
    """The last message before an opening: metadata between the two belongs to neither."""
    at -= 1
    while at > 0 and not messages[at]:
        at -= 1
    return at


def first_change(tree: SessionTree, leaf: int) -> int:
    """The first entry of a path that changed the context otherwise than by growing, see ``Track``;
    beyond the last entry where none did."""
    kinds, columns = tree.columns.kind, tree.columns
    marked = selector({Kind.COMPACTION, Kind.RESET_BOUNDARY})
    path = tree.path(leaf)
    first = path.select(kinds, marked)[:1]
    first += [at for rare in (columns.prunes, columns.shapes) for at in rare if at in path]
    return min(first, default=len(kinds))
