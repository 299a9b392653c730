"""A tree of a walk: the track as far as it was walked, and what the policy added to it.

The engine's functions work on it as on any session. The recorded session is not touched.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct, field

from explorer.audit.simulation.track import Track
from explorer.session.columns import SessionColumns
from explorer.session.describe import CompactionFacts
from explorer.session.edit_entries import PrunedResult, PruneFacts
from explorer.session.kinds import Flag, Kind
from explorer.session.tree import SessionTree

_PRUNING = int(Flag.PRUNING)


class MadeCompaction(NamedTuple):
    """A compaction of a walk. Positions are the track's."""

    position: int
    """Where it stands: before the entry there."""
    kept: int
    """The first kept position; the compaction's position where none is kept."""
    summary: int
    """Tokens."""
    user_tokens: int
    """Up to how many tokens of the user's messages its profile keeps word for word."""


class MadePrune(NamedTuple):
    """A prune of a walk."""

    position: int
    results: Mapping[int, tuple[int, str, int]]
    """By position of each pruned result: its tokens, the note, and the note's tokens."""


class AddedEntries(Struct):
    """What a policy added in a walk, in order."""

    all: list[MadeCompaction | MadePrune] = field(default_factory=list)

    def since(self, start: int) -> list[MadeCompaction | MadePrune]:
        """What stands behind a position; right at it the last compaction, which kept nothing."""
        first = bisect_right(self.all, start, key=lambda one: one.position)
        newer = any(isinstance(one, MadeCompaction) for one in self.all[first:])
        at = first
        while not newer and at and self.all[at - 1].position == start:
            at -= 1
            if isinstance(self.all[at], MadeCompaction):
                return [self.all[at], *self.all[first:]]
        return self.all[first:]


class _Chain(SessionTree):
    """A tree of one chain, made at once."""

    def __init__(
        self, columns: SessionColumns, source: Sequence[int], entries: Sequence[int]
    ) -> None:
        """``source``: of each entry the position, or -1; ``entries``: the recorded ones by
        position."""
        super().__init__()
        count = len(columns.kind)
        columns.parent = array("i", range(-1, count - 1))
        self.columns = columns
        self.named: dict[str, int] = {}
        """The entries that another one names; no other is looked up by its id."""
        self.notes: dict[int, dict[int, PrunedResult]] = {}
        self._source, self._entries = source, entries
        self._run = array("i", bytes(4 * count))
        self._starts = [0]
        self._below = {-1: [0]}

    def index_of(self, entry_id: str) -> int:
        return self.named.get(entry_id, -1)

    def index_above(self, entry_id: str, below: int) -> int:
        return self.named.get(entry_id, -1)

    def prune_results(self, prune: int) -> dict[int, PrunedResult]:
        return self.notes[prune]

    def number(self, index: int) -> int:
        position = self._source[index]
        return self._entries[position] if position >= 0 else -1


class Overlay:
    """The tree at one moment of a walk. Positions are the track's; entries of the tree here are
    named by ``leaf`` and the like."""

    def __init__(
        self,
        track: Track,
        start: int,
        end: int,
        made: AddedEntries,
        *,
        weights: array[int] | None = None,
        usage: Mapping[int, int],
        besides: Collection[int] = (),
    ) -> None:
        """Of the positions from ``start`` to before ``end``, what is before them left away.

        ``weights``: the token column by position, where a tokenizer counted. ``usage``: what
        providers reported in this walk, by position. ``besides``: positions before ``start`` that
        are looked at all the same.
        """
        self.track = track
        self._start, self._end = start, end
        self._besides = sorted(at for at in besides if at < start)
        self._added = made.since(start)
        self._places = [one.position for one in self._added]
        self.source = array("i", self._besides)
        """By entry here: the position, or -1 for what was added."""
        for lower, upper in self._parts():
            self.source.extend(range(lower, upper))
            self.source.append(-1)
        self.source.pop()
        self.weights: array[int] | None = None
        if weights is not None:
            added = [one.summary if isinstance(one, MadeCompaction) else 0 for one in self._added]
            self.weights = self._column(weights, added)
        self.tree = _Chain(self._columns(usage), self.source, track.entries)
        self._add_rare()
        self._tell_made()
        if track.shapes:
            self._tell_shapes()

    @property
    def leaf(self) -> int:
        return len(self.source) - 1

    def entry_of(self, position: int) -> int:
        """The entry here of a position, or -1."""
        if not self._start <= position < self._end:
            index = bisect_left(self._besides, position)
            is_there = index < len(self._besides) and self._besides[index] == position
            return index if is_there else -1
        newer = bisect_right(self._places, position)
        return len(self._besides) + position - self._start + newer

    def position_from(self, entry: int) -> int:
        """The position of an entry here, or of the next that is the track's."""
        while entry < len(self.source) and self.source[entry] < 0:
            entry += 1
        return self.source[entry] if entry < len(self.source) else self._end

    # what is in it -----------------------------------------------------------------------------

    def _parts(self) -> list[tuple[int, int]]:
        """The stretches of positions between what was added."""
        return list(pairwise([self._start, *self._places, self._end]))

    def _column(self, values: array[int], added: Sequence[int]) -> array[int]:
        column = array(values.typecode, [values[at] for at in self._besides])
        parts = self._parts()
        for (lower, upper), value in zip(parts, added, strict=False):
            column.extend(values[lower:upper])
            column.append(value)
        column.extend(values[parts[-1][0] : parts[-1][1]])
        return column

    def _columns(self, usage: Mapping[int, int]) -> SessionColumns:
        track, known, count = self.track, self.track.tree.columns, len(self.source)
        is_compaction = [isinstance(one, MadeCompaction) for one in self._added]
        summaries = [one.summary if isinstance(one, MadeCompaction) else 0 for one in self._added]
        kinds = [int(Kind.COMPACTION if one else Kind.CUSTOM) for one in is_compaction]
        flags = [0 if one else _PRUNING for one in is_compaction]
        columns = SessionColumns(
            ids=[""] * count,
            kind=bytearray(self._column(array("B", track.kinds), kinds)),
            flags=self._column(track.flags, flags),
            time=array("d", bytes(8 * count)),
            estimate=self._column(track.estimate, summaries),
            usage=array("q", b"\xff" * (8 * count)),
            model=array("H", bytes(2 * count)),
            models=known.models,
            tool=self._column(track.tool, [0] * len(kinds)),
            tools=known.tools,
        )
        for position, tokens in usage.items():
            entry = self.entry_of(position)
            if entry >= 0:
                columns.usage[entry] = tokens
        return columns

    def _add_rare(self) -> None:
        columns, rare = self.tree.columns, self.track.rare
        for position, images in rare.user_images.items():
            if (entry := self.entry_of(position)) >= 0:
                columns.user_images[entry] = images
        for position, branch in rare.branches.items():
            if (entry := self.entry_of(position)) >= 0:
                columns.branches[entry] = branch

    def _tell_made(self) -> None:
        tree, columns = self.tree, self.tree.columns
        for number, one in enumerate(self._added):
            entry = len(self._besides) + one.position - self._start + number
            if isinstance(one, MadeCompaction):
                name = ""
                if one.kept < one.position:
                    name = f"kept {number}"
                    tree.named[name] = self.entry_of(one.kept)
                columns.compactions[entry] = CompactionFacts(
                    name, 0, (), (), False, user_tokens=one.user_tokens
                )
                continue
            columns.prunes[entry] = PruneFacts((), 0, "", "")
            tree.notes[entry] = {
                here: PrunedResult(tokens, note, entry, taken)
                for at, (tokens, note, taken) in one.results.items()
                if (here := self.entry_of(at)) >= 0
            }

    def _tell_shapes(self) -> None:
        """The user's edits, and the ids by which they name entries."""
        tree, ids = self.tree, self.track.tree.columns.ids
        for position, facts in self.track.shapes.items():
            if (entry := self.entry_of(position)) >= 0:
                tree.columns.shapes[entry] = facts
                tree.columns.ids[entry] = ids[self.track.entries[position]]
        for name, position in self.track.named.items():
            if (entry := self.entry_of(position)) >= 0:
                tree.named[name] = entry
