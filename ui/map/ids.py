"""Finding entries by id near where they must be, without a dictionary of all ids.

A dictionary of 200,000 ids takes 50 ms to build, too long between two frames; what a compaction
kept or a branch summary tells of lies a little above it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from explorer.session.columns import SessionColumns
from explorer.session.kinds import Kind
from explorer.session.tree import Path, SessionTree

_BLOCK = 2_048
"""Ids looked at with one call, from the end upwards."""


def find_above(ids: Sequence[str], wanted: str, low: int, high: int) -> int:
    """The last index from ``low`` to before ``high`` whose id is ``wanted``, -1 for none."""
    while high > low:
        start = max(low, high - _BLOCK)
        part = ids[start:high]
        if wanted in part:
            return start + part.index(wanted)
        high = start
    return -1


def parts_above(tree: SessionTree, entry: int) -> Iterator[range]:
    """The path to an entry as ranges of entries, from the entry upwards."""
    parent = tree.columns.parent
    while entry >= 0:
        start = tree.run_start(entry)
        yield range(start, entry + 1)
        entry = parent[start]


def find_on_path(tree: SessionTree, entry: int, wanted: str) -> int:
    """The entry with an id on the path to ``entry``, that one included; -1 for none."""
    found = find_above(tree.columns.ids, wanted, 0, entry + 1)
    if found < 0:
        return -1
    # Walk no farther than the entry lies: one that is beside the path is passed soon.
    for part in parts_above(tree, entry):
        if part.start <= found:
            return found if found in part else -1
    return -1


def latest_above(tree: SessionTree, entry: int, kind: Kind) -> int:
    """The last entry of a kind on the path to ``entry``, -1 for none."""
    kinds = tree.columns.kind
    for part in parts_above(tree, entry):
        found = kinds.rfind(kind, part.start, part.stop)
        if found >= 0:
            return found
    return -1


def stretch(tree: SessionTree, entry: int, first: int, stop: int) -> Path:
    """The part of the path to ``entry`` from the entry ``first`` to before ``stop``."""
    parts = []
    for part in parts_above(tree, entry):
        cut = range(max(part.start, first), min(part.stop, stop))
        if cut:
            parts.append(cut)
        if part.start <= first:
            break
    return Path(parts[::-1])


class PathPlaces:
    """Positions on one path, asked for once per pixel: the ranges of the path as plain lists."""

    __slots__ = ("_firsts", "_starts", "_stops")

    def __init__(self, path: Path) -> None:
        self._starts = [part.start for part in path.ranges]
        self._stops = [part.stop for part in path.ranges]
        self._firsts = list(accumulate((len(part) for part in path.ranges), initial=0))

    def floor(self, entry: int) -> int:
        """The position of the last entry of the path at or before ``entry``, -1 for none."""
        at = bisect_right(self._starts, entry) - 1
        if at < 0:
            return -1
        return self._firsts[at] + min(entry, self._stops[at] - 1) - self._starts[at]


def branch_links(columns: SessionColumns, first: int = 0) -> list[tuple[int, int]]:
    """(branch summary, entry where the branch was abandoned), both from ``first`` on (A35)."""
    branches = {at: facts.from_id for at, facts in columns.branches.items() if at >= first}
    if not branches:
        return []
    wanted = set(branches.values())
    ids = columns.ids
    places = {ids[at]: at for at in range(first, len(ids)) if ids[at] in wanted}
    links = [(summary, places.get(from_id, -1)) for summary, from_id in branches.items()]
    return sorted((summary, origin) for summary, origin in links if 0 <= origin < summary)
