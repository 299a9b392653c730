"""The ranges of the recorded compactions of a session: what each told, and what it kept."""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from explorer.session.kinds import Kind
from explorer.session.tree import SessionTree


class Ranges(NamedTuple):
    """The ranges of one compaction. Entries are indices, ascending."""

    summarized: tuple[int, ...]
    """What its summary took the place of, the compaction before it among them."""
    kept: tuple[int, ...]
    """From the first kept entry to the compaction."""
    earlier: tuple[int, ...]
    """What earlier summaries took the place of."""
    previous: int
    """The compaction before it on the path, or -1."""


def ranges_of(tree: SessionTree, compaction: int) -> Ranges:
    """The ranges of a recorded compaction.

    It told what came after the range that the compaction before it had told; a first kept entry
    that is not on the path keeps nothing.
    """
    path = tree.path(compaction).indices()[:-1]
    start, previous = 0, -1
    for index in reversed(path):
        if tree.kind(index) is Kind.COMPACTION:
            previous = index
            break
    if previous >= 0:
        start = _first_kept(tree, previous, path, path.index(previous) + 1)
    stop = _first_kept(tree, compaction, path, len(path))
    summarized = [index for index in path[start:stop] if index != previous]
    if previous >= 0:
        summarized = sorted((previous, *summarized))
    return Ranges(
        tuple(summarized),
        tuple(index for index in path[stop:] if index != previous),
        tuple(index for index in path[:start] if index != previous),
        previous,
    )


def _first_kept(tree: SessionTree, compaction: int, path: list[int], default: int) -> int:
    first = tree.index_of(tree.columns.compactions[compaction].first_kept_id)
    at = bisect_left(path, first)
    return at if at < len(path) and path[at] == first else default


def left_behind(tree: SessionTree, summary: int) -> list[int] | None:
    """The entries of the branch that a branch summary tells of; None where the file does not tell
    which they are."""
    left_at = tree.index_of(tree.columns.branches[summary].from_id)
    if left_at < 0 or tree.is_ancestor(left_at, summary):
        return None
    ancestor = tree.common_ancestor(left_at, summary)
    path = tree.path(left_at)
    return path[path.position(ancestor) + 1 :].indices()
