"""A recorded compaction as the audit asks of it: what it told, what it kept, what it changed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field

from explorer.session.columns import OP_KINDS
from explorer.session.kinds import Kind
from explorer.session.tree import SessionTree

_READ = OP_KINDS.index("read")


@dataclass(frozen=True, slots=True)
class Recorded:
    """One compaction of a session. Entries are indices, ascending."""

    compaction: int
    summarized: tuple[int, ...]
    """What its summary took the place of, the compaction before it among them."""
    kept: tuple[int, ...]
    """From the first kept entry to the compaction."""
    earlier: tuple[int, ...]
    """What earlier summaries took the place of."""
    previous: int
    """The compaction before it on the path, or -1."""
    changed: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Files that calls of the summarized entries changed, with those entries."""
    stated_changed: tuple[str, ...] = ()
    """Files that it says were changed."""


def compactions_on_path(tree: SessionTree, leaf: int) -> tuple[int, ...]:
    """The compactions on the path to a leaf, the first one first."""
    # Sessions have few compactions and long paths.
    path = tree.path(leaf)
    return tuple(index for index in sorted(tree.columns.compactions) if index in path)


def recorded(tree: SessionTree, compaction: int) -> Recorded:
    """The ranges of a recorded compaction.

    It told what came after the range that the compaction before it had told; a first kept entry
    that is not on the path keeps nothing.
    """
    path = tree.path(compaction).indices()[:-1]
    facts = tree.columns.compactions[compaction]
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
    return Recorded(
        compaction,
        tuple(summarized),
        tuple(index for index in path[stop:] if index != previous),
        tuple(index for index in path[:start] if index != previous),
        previous,
        changed_files(tree, summarized),
        facts.modified_files,
    )


def _first_kept(tree: SessionTree, compaction: int, path: list[int], default: int) -> int:
    first = tree.index_of(tree.columns.compactions[compaction].first_kept_id)
    at = bisect_left(path, first)
    return at if at < len(path) and path[at] == first else default


def changed_files(tree: SessionTree, entries: Iterable[int]) -> dict[str, tuple[int, ...]]:
    """The files that calls of these entries changed, failed calls aside, with the entries."""
    wanted = frozenset(entries)
    ops = tree.columns.ops
    found: dict[str, list[int]] = {}
    for row, entry in enumerate(ops.entry):
        if entry in wanted and ops.kind[row] != _READ and not ops.failed[row]:
            found.setdefault(ops.paths[ops.path[row]], []).append(entry)
    return {path: tuple(dict.fromkeys(indices)) for path, indices in found.items()}
