"""A tree of a walk: the track as far as it was walked, and what the policy added to it.

The engine's own functions look at it as at any session. The recorded session is not touched.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping
from typing import Any

from explorer.audit.simulation.track import Track
from explorer.compaction.pruning import PruningPlan
from explorer.session.columns import SessionColumns
from explorer.session.describe import CompactionFacts
from explorer.session.kinds import Flag, Kind
from explorer.session.pruned import PruneFacts
from explorer.session.tree import SessionTree


class _Chain(SessionTree):
    """A tree of one chain that grows by many entries at once."""

    def __init__(self) -> None:
        super().__init__(SessionColumns())
        self.named: dict[str, int] = {}
        """The entries that another one names; nobody asks for any other by its id."""
        self._starts = [0]
        self._below = {-1: [0]}

    def grew(self) -> None:
        """Take note of what was put into the columns."""
        columns = self.columns
        count = len(columns.kind) - len(self._run)
        columns.parent.extend(range(len(self._run) - 1, len(self._run) - 1 + count))
        self._run.extend(array("i", [0]) * count)

    def renumber(self, where: Mapping[int, int]) -> None:
        """Entries were dropped and the others numbered anew."""
        count = len(self.columns.kind)
        self.columns.parent = array("i", range(-1, count - 1))
        self._run = array("i", [0]) * count
        self._pruned.clear()
        self.named = {name: where[at] for name, at in self.named.items() if at in where}

    def index_of(self, entry_id: str) -> int:
        return self.named.get(entry_id, -1)

    def index_above(self, entry_id: str, below: int) -> int:
        return self.named.get(entry_id, -1)


class Overlay:
    """Positions are the track's; entries of the tree here are named by ``leaf`` and the like."""

    def __init__(self, track: Track, weights: array[int] | None) -> None:
        """``weights``: the token column by position, where a tokenizer counted."""
        self.track = track
        self.tree = _Chain()
        self.source = array("i")
        """By entry here: the position, or -1 for what was added."""
        self.weights: array[int] | None = None if weights is None else array("i")
        self._measured = weights
        self._walked = 0
        self._operation = 0
        self._open: list[tuple[int, int]] = []
        """Rows of operations whose result is further on, and its position."""
        self._added: list[int] = []
        """Before which positions something was added, ascending."""
        columns, known = self.tree.columns, track.tree.columns
        columns.models, columns.tools = known.models, known.tools
        columns.ops.paths, columns.ops.parts = track.operations.paths, track.operations.parts
        self._rare: list[tuple[dict[int, Any], list[tuple[int, Any]]]] = [
            (mine, _by_position(track, theirs))
            for mine, theirs in (
                (columns.user_images, known.user_images),
                (columns.errors, known.errors),
                (columns.branches, known.branches),
                (columns.thinking, known.thinking),
            )
        ]

    @property
    def leaf(self) -> int:
        return len(self.source) - 1

    def entry_of(self, position: int) -> int:
        """The entry here of a position that was walked."""
        newer = len(self._added) - bisect_right(self._added, position)
        return len(self.source) - (self._walked - position) - newer

    def position_from(self, entry: int) -> int:
        """The position of an entry here, or of the next that is the track's."""
        while entry < len(self.source) and self.source[entry] < 0:
            entry += 1
        return self.source[entry] if entry < len(self.source) else self._walked

    # growing -----------------------------------------------------------------------------------

    def upto(self, stop: int, usage: array[int]) -> None:
        """Take in the positions before ``stop``. ``usage``: what providers told in this walk."""
        start, track, columns = self._walked, self.track, self.tree.columns
        if stop <= start:
            return
        here = len(self.source)
        known, part = track.tree.columns, track.entries[start:stop]
        columns.ids.extend([""] * (stop - start))
        columns.kind.extend(track.kinds[start:stop])
        columns.flags.extend(track.flags[start:stop])
        columns.estimate.extend(track.estimate[start:stop])
        columns.usage.extend(usage[start:stop])
        columns.time.extend(array("d", bytes(8 * (stop - start))))
        columns.model.extend(array("H", [known.model[at] for at in part]))
        columns.tool.extend(array("H", [known.tool[at] for at in part]))
        if self.weights is not None and self._measured is not None:
            self.weights.extend(self._measured[start:stop])
        self.source.extend(range(start, stop))
        for mine, theirs in self._rare:
            first = bisect_left(theirs, start, key=lambda found: found[0])
            for position, value in theirs[first:]:
                if position >= stop:
                    break
                mine[here + position - start] = value
        self._walked = stop
        self.tree.grew()
        self._operations(start, stop, here)

    def _operations(self, start: int, stop: int, here: int) -> None:
        theirs, mine = self.track.operations, self.tree.columns.ops
        for row, position in self._open:
            if position < stop:
                mine.result[row] = here + position - start
        self._open = [(row, position) for row, position in self._open if position >= stop]
        first = self._operation
        last = bisect_left(theirs.entry, stop, first)
        for row in range(first, last):
            mine.entry.append(here + theirs.entry[row] - start)
            result = theirs.result[row]
            if result >= stop:
                self._open.append((len(mine.result), result))
            mine.result.append(here + result - start if 0 <= result < stop else -1)
        mine.kind.extend(theirs.kind[first:last])
        mine.path.extend(theirs.path[first:last])
        mine.failed.extend(theirs.failed[first:last])
        mine.part.extend(theirs.part[first:last])
        mine.known.extend(theirs.known[first:last])
        mine.wide.extend(theirs.wide[first:last])
        self._operation = last

    # forgetting --------------------------------------------------------------------------------

    def forget(self, start: int, besides: Collection[int] = ()) -> None:
        """Drop what no decision looks at any more: the entries here before ``start``, but for
        those of the positions ``besides``. All later ones are numbered anew."""
        stay = set(besides)
        kept = [at for at in range(start) if self.source[at] in stay] if stay else []
        order = [*kept, *range(start, len(self.source))]
        where = {entry: at for at, entry in enumerate(order)}
        tree, columns = self.tree, self.tree.columns
        columns.ids = [columns.ids[at] for at in order]
        columns.kind = bytearray(columns.kind[at] for at in order)
        for name in ("flags", "time", "estimate", "usage", "model", "tool"):
            column = getattr(columns, name)
            setattr(columns, name, array(column.typecode, (column[at] for at in order)))
        for rare in (*(mine for mine, _theirs in self._rare), columns.prunes, columns.compactions):
            still = [(where[at], value) for at, value in rare.items() if at in where]
            rare.clear()
            rare.update(still)
        if self.weights is not None:
            self.weights = array("i", (self.weights[at] for at in order))
        self.source = array("i", (self.source[at] for at in order))
        tree.renumber(where)
        self._forget_operations(start, where)

    def _forget_operations(self, start: int, where: Mapping[int, int]) -> None:
        ops = self.tree.columns.ops
        first = bisect_left(ops.entry, start)
        for name in ("entry", "kind", "path", "failed", "result", "part", "known", "wide"):
            del getattr(ops, name)[:first]
        for row, entry in enumerate(ops.entry):
            ops.entry[row] = where[entry]
            ops.result[row] = where.get(ops.result[row], -1)
        self._open = [(row - first, position) for row, position in self._open if row >= first]

    # what a policy adds ------------------------------------------------------------------------

    def compact(
        self,
        summary: int,
        first_kept: int,
        read: tuple[str, ...] = (),
        modified: tuple[str, ...] = (),
    ) -> None:
        """Add a compaction with a summary of so many tokens. ``first_kept``: the entry here from
        which on entries are kept; -1: none is."""
        facts = CompactionFacts(self._name(first_kept), 0, read, modified, False)
        self.tree.columns.compactions[len(self.source)] = facts
        self._add(Kind.COMPACTION, 0, summary)

    def prune(self, plan: PruningPlan) -> None:
        """Add what a plan says."""
        results = tuple((self._name(one.entry), one.tokens, one.note) for one in plan.results)
        facts = PruneFacts(results, plan.saved, plan.reason, "")
        self.tree.columns.prunes[len(self.source)] = facts
        self._add(Kind.CUSTOM, int(Flag.PRUNING), 0)

    def _name(self, entry: int) -> str:
        if entry < 0:
            return ""
        name = str(entry)
        self.tree.named[name] = entry
        self.tree.columns.ids[entry] = name
        return name

    def _add(self, kind: Kind, flags: int, tokens: int) -> None:
        columns = self.tree.columns
        columns.ids.append("")
        columns.kind.append(kind)
        columns.flags.append(flags)
        columns.estimate.append(tokens)
        columns.usage.append(-1)
        columns.time.append(0.0)
        columns.model.append(0)
        columns.tool.append(0)
        if self.weights is not None:
            self.weights.append(tokens)
        self.source.append(-1)
        self._added.append(self._walked)
        self.tree.grew()


def _by_position(track: Track, values: Mapping[int, Any]) -> list[tuple[int, Any]]:
    found = []
    for entry in sorted(values):
        position = track.position(entry)
        if position < len(track) and track.entries[position] == entry:
            found.append((position, values[entry]))
    return found
