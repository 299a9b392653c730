"""The session tree: paths, ancestors, children and branches over columns.

Recorded sessions are long chains with few forks, so the tree keeps for every entry where its
*run* starts: the longest stretch of entries above it whose parents are their direct predecessors.
A path is then a short list of ranges, and ancestors are found run by run, not entry by entry.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import compress, pairwise
from operator import ne
from typing import overload

from explorer.session.columns import ColumnBuilder, SessionColumns
from explorer.session.describe import Facts
from explorer.session.edit_entries import PrunedResult, Shape, note_tokens
from explorer.session.kinds import Kind, turn_starts

_IDS_AT_ONCE = 8_192
_NEAR_ROWS = 1_000
_MANY = 30
"""Where fewer than one entry of so many is meant, they are found one by one."""


class Path:
    """The entries from a root down to a leaf, stored as ranges of indices.

    Positions count from 0 at the root. Iterating yields entry indices.
    """

    __slots__ = ("_starts", "ranges")

    def __init__(self, ranges: list[range]) -> None:
        self.ranges = ranges
        """Ascending, not empty, not touching."""
        self._starts: list[int] = []
        total = 0
        for part in ranges:
            self._starts.append(total)
            total += len(part)
        self._starts.append(total)

    def __len__(self) -> int:
        return self._starts[-1]

    def __iter__(self) -> Iterator[int]:
        for part in self.ranges:
            yield from part

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> Path: ...
    def __getitem__(self, at: int | slice) -> int | Path:
        if isinstance(at, slice):
            start, stop, step = at.indices(len(self))
            if step != 1:
                raise ValueError("a path is only sliced in steps of one")
            return self._slice(start, stop)
        position = at + len(self) if at < 0 else at
        if not 0 <= position < len(self):
            raise IndexError(f"position {at} is not on a path of {len(self)} entries")
        row = bisect_right(self._starts, position) - 1
        return self.ranges[row][position - self._starts[row]]

    def _slice(self, start: int, stop: int) -> Path:
        if start >= stop:
            return Path([])
        first = bisect_right(self._starts, start) - 1
        last = bisect_right(self._starts, stop - 1) - 1
        parts = self.ranges[first : last + 1]
        parts[-1] = parts[-1][: stop - self._starts[last]]
        parts[0] = parts[0][start - self._starts[first] :]
        return Path(parts)

    def position(self, entry: int) -> int:
        """The position of an entry, or -1 when it is not on this path."""
        row = bisect_right(self.ranges, entry, key=lambda part: part.start) - 1
        if row < 0 or entry not in self.ranges[row]:
            return -1
        return self._starts[row] + entry - self.ranges[row].start

    def __contains__(self, entry: object) -> bool:
        return isinstance(entry, int) and self.position(entry) >= 0

    def indices(self) -> list[int]:
        """All entries, as a list."""
        out: list[int] = []
        for part in self.ranges:
            out.extend(part)
        return out

    def select(self, kinds: bytes | bytearray, selector: bytes) -> list[int]:
        """The entries whose kind the selector (see ``kinds.selector``) marks, in order."""
        out: list[int] = []
        for part in self.ranges:
            marks = kinds[part.start : part.stop].translate(selector)
            if _MANY * marks.count(1) > len(marks):
                out.extend(compress(part, marks))
                continue
            at = marks.find(1)
            while at >= 0:
                out.append(part.start + at)
                at = marks.find(1, at + 1)
        return out

    def gather(self, column: bytes | bytearray) -> bytes:
        """The values of a byte column along the path."""
        return b"".join(bytes(column[part.start : part.stop]) for part in self.ranges)

    def turn_starts(self, columns: SessionColumns) -> bytes:
        """1 at every position at which a turn begins, as people count them."""
        flags = array("I")
        for part in self.ranges:
            flags += columns.flags[part.start : part.stop]
        return turn_starts(self.gather(columns.kind), flags)


class SessionTree:
    """The tree of one session's entries. Grows by ``append``; an entry changes only while its own
    agent is still writing it."""

    def __init__(self, columns: SessionColumns | None = None) -> None:
        self._builder = ColumnBuilder(columns)
        self.columns = self._builder.columns
        self._by_id: dict[str, int] | None = None
        self._run = array("i")
        """The start of the run that each entry is in."""
        self._starts: list[int] = []
        self._below: dict[int, list[int]] = {}
        """The runs that start below an entry, or below none (-1)."""
        self._pruned: dict[int, dict[int, PrunedResult]] = {}
        self._labels: tuple[int, Mapping[int, str]] = (0, {})
        """The labelled entries, as of so many labels."""
        self.shapes_known: dict[int, Shape] = {}
        """What holds at some leaves, as far as it was asked for; see ``shape_on``."""
        self._find_runs()

    def __len__(self) -> int:
        return len(self.columns.parent)

    def append(self, entry_id: str, parent: int, facts: Facts, estimate: int) -> int:
        """Add an entry below ``parent`` (-1: as a root); see ``ColumnBuilder.append``.

        Raises ValueError when the id is taken already.
        """
        by_id = self._ids()
        if entry_id in by_id:
            raise ValueError(f"entry id {entry_id!r} exists already")
        index = self._builder.append(entry_id, parent, facts, estimate)
        by_id[entry_id] = index
        self._extend_runs(index)
        return index

    def replace(self, index: int, facts: Facts, estimate: int) -> None:
        """Say an entry anew, in its place; see ``ColumnBuilder.replace``."""
        self._builder.replace(index, facts, estimate)
        self._pruned.clear()
        self._labels = (0, {})
        self.shapes_known.clear()

    # names ---------------------------------------------------------------------------------

    def _ids(self) -> dict[str, int]:
        if self._by_id is None:
            ids = self.columns.ids
            found: dict[str, int] = {}
            # In parts, so that another thread gets its turn: all of it takes 40 ms.
            for start in range(0, len(ids), _IDS_AT_ONCE):
                part = ids[start : start + _IDS_AT_ONCE]
                found.update(zip(part, range(start, start + len(part)), strict=True))
            if self._by_id is None:  # another thread may have been quicker
                self._by_id = found
        return self._by_id

    def index_of(self, entry_id: str) -> int:
        """The index of an entry id, or -1. The first call makes the table of ids."""
        return self._ids().get(entry_id, -1)

    def index_above(self, entry_id: str, below: int) -> int:
        """The index of an id that probably lies a little above the entry ``below``, or -1.

        Finds it there without the table of all ids.
        """
        if not entry_id:
            return -1
        if self._by_id is None:
            with suppress(ValueError):
                return self.columns.ids.index(entry_id, max(0, below - _NEAR_ROWS), below)
        return self.index_of(entry_id)

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._ids()

    def kind(self, index: int) -> Kind:
        return Kind(self.columns.kind[index])

    def number(self, index: int) -> int:
        """The number by which an entry is shown to a model."""
        return index

    # shape ---------------------------------------------------------------------------------

    # Only the first entry of a run can be one of several children of its parent, so that the
    # runs' starts tell the children of all entries.

    def _find_runs(self) -> None:
        parent, count = self.columns.parent, len(self)
        breaks = compress(range(1, count), map(ne, parent[1:], range(count)))
        starts = [0, *breaks] if count else []
        for start, stop in pairwise([*starts, count]):
            self._run.extend(array("i", [start]) * (stop - start))
            self._below.setdefault(parent[start], []).append(start)
        self._starts = starts

    def _extend_runs(self, index: int) -> None:
        above = self.columns.parent[index]
        if above == index - 1 and above >= 0:
            self._run.append(self._run[above])
            return
        self._run.append(index)
        self._starts.append(index)
        self._below.setdefault(above, []).append(index)

    def run_start(self, index: int) -> int:
        """Where the unbroken run of parents that ends at this entry starts."""
        return self._run[index]

    def path(self, leaf: int) -> Path:
        """The path from a root to ``leaf``; empty for -1."""
        ranges: list[range] = []
        run, parent = self._run, self.columns.parent
        while leaf >= 0:
            start = run[leaf]
            above = parent[start]
            ranges.append(range(start, leaf + 1))
            leaf = above
        ranges.reverse()
        return Path(ranges)

    def common_ancestor(self, a: int, b: int) -> int:
        """The deepest entry on both paths (A31), or -1 when there is none."""
        run, parent = self._run, self.columns.parent
        while a >= 0 and b >= 0 and a != b:
            if a < b:
                a, b = b, a
            start = run[a]
            if start <= b:
                return b
            a = parent[start]
        return a if a == b else -1

    def is_ancestor(self, ancestor: int, entry: int) -> bool:
        """Whether ``ancestor`` is on the path to ``entry`` (an entry is an ancestor of itself)."""
        return ancestor >= 0 and self.common_ancestor(ancestor, entry) == ancestor

    def children(self, index: int) -> list[int]:
        """The children of an entry (-1: the roots) by time, then by order in the file."""
        below = list(self._below.get(max(index, -1), ()))
        if index >= 0 and self._goes_on(index):
            below.insert(0, index + 1)
        if len(below) > 1:
            times = self.columns.time
            below.sort(key=lambda child: (times[child], child))
        return below

    def roots(self) -> list[int]:
        """Entries without a parent, by time."""
        return self.children(-1)

    def _goes_on(self, index: int) -> bool:
        """Whether the entry after this one is its child."""
        run = self._run
        return index + 1 < len(run) and run[index + 1] == run[index]

    def leaves(self) -> list[int]:
        """Entries without children, in index order."""
        ends = [start - 1 for start in self._starts[1:]]
        if self._starts:
            ends.append(len(self) - 1)
        return [end for end in ends if end not in self._below]

    def is_undone(self, index: int, leaf: int) -> bool:
        """Whether an entry is a compaction that the leaf was taken back from: nothing follows it,
        and it is not the leaf."""
        is_compaction = self.columns.kind[index] == Kind.COMPACTION
        return is_compaction and index != leaf and not self.children(index)

    def branch_ends(self, leaf: int) -> list[int]:
        """The ends of branches, in index order: the leaves, as if compactions that were undone were
        not there, so that their parent is an end where nothing else follows it. Those of a tree
        that has nothing else count."""
        ends, parent, kinds = self.leaves(), self.columns.parent, self.columns.kind
        undone = {at for at in ends if kinds[at] == Kind.COMPACTION and at != leaf}
        if not undone:
            return ends
        above = {parent[at] for at in undone} - {-1}
        found = [at for at in above if undone.issuperset(self.children(at))]
        found += (at for at in ends if at not in undone)
        return sorted(found) or ends

    def branch_points(self) -> list[int]:
        """Entries with two or more children, in index order."""
        return sorted(
            at
            for at, starts in self._below.items()
            if at >= 0 and (len(starts) > 1 or self._goes_on(at))
        )

    def deepest_leaf(self, index: int) -> int:
        """The newest leaf below an entry: the one reached by always taking the latest child."""
        while children := self.children(index):
            index = children[-1]
        return index

    # rare facts ------------------------------------------------------------------------------

    def labels(self) -> Mapping[int, str]:
        """Labelled entries; the last label of an entry wins, an empty one clears it."""
        given = self.columns.labels
        if self._labels[0] != len(given):
            found: dict[int, str] = {}
            for at, (target_id, label) in given.items():
                target = self.index_above(target_id, at)
                if target >= 0:
                    found[target] = label
            self._labels = len(given), {at: label for at, label in found.items() if label}
        return self._labels[1]

    def prune_results(self, prune: int) -> dict[int, PrunedResult]:
        """What a prune entry prunes: tool results above it, by index. Do not change it."""
        results = self._pruned.get(prune)
        if results is None:
            kinds, path, results = self.columns.kind, self.path(prune), {}
            for entry_id, tokens, text in self.columns.prunes[prune].results:
                at = self.index_above(entry_id, prune)
                if 0 <= at < prune and kinds[at] == Kind.TOOL_RESULT and at in path:
                    results[at] = PrunedResult(tokens, text, prune, note_tokens(text))
            self._pruned[prune] = results
        return results

    def name(self) -> str:
        """The session's latest name, or an empty text."""
        names = self.columns.names
        return names[max(names)] if names else ""
