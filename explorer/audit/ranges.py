"""The ranges of the recorded compactions of a session: what each summarized, and what it kept."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import NamedTuple

from explorer.session.tree import SessionTree


class CompactionRanges(NamedTuple):
    """The ranges of one compaction. Entries are indices, ascending."""

    summarized: tuple[int, ...]
    """What its summary took the place of, the compaction before it among them."""
    kept: tuple[int, ...]
    """From the first kept entry to the compaction."""
    earlier: tuple[int, ...]
    """What earlier summaries took the place of."""
    previous: int
    """The compaction before it on the path, or -1."""


def ranges_of(tree: SessionTree, compaction: int) -> CompactionRanges:
    """The ranges of a recorded compaction.

    It summarized what came after the range that the compaction before it had summarized; a first
    kept entry that is not on the path keeps nothing.
    """
    path = tree.path(compaction).indices()[:-1]
    compactions = tree.columns.compactions
    start, previous = 0, next((index for index in reversed(path) if index in compactions), -1)
    if previous >= 0:
        start = _first_kept(tree, previous, path, bisect_left(path, previous) + 1)
    stop = _first_kept(tree, compaction, path, len(path))
    summarized = _without(previous, path[start:stop])
    if previous >= 0:
        insort(summarized, previous)
    return CompactionRanges(
        tuple(summarized),
        tuple(_without(previous, path[stop:])),
        tuple(_without(previous, path[:start])),
        previous,
    )


def _without(entry: int, entries: list[int]) -> list[int]:
    """Entries, ascending, but for one of them."""
    at = bisect_left(entries, entry)
    return entries[:at] + entries[at + 1 :] if entries[at : at + 1] == [entry] else entries


def _first_kept(tree: SessionTree, compaction: int, path: list[int], default: int) -> int:
    first = tree.index_of(tree.columns.compactions[compaction].first_kept_id)
    at = bisect_left(path, first)
    return at if at < len(path) and path[at] == first else default


def left_behind(tree: SessionTree, summary: int) -> list[int] | None:
    """The entries of the branch that a branch summary covers; None where the file does not tell
    which they are."""
    left_at = tree.index_of(tree.columns.branches[summary].from_id)
    if left_at < 0 or tree.is_ancestor(left_at, summary):
        return None
    ancestor = tree.common_ancestor(left_at, summary)
    path = tree.path(left_at)
    return path[path.position(ancestor) + 1 :].indices()
