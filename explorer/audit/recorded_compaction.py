"""A recorded compaction: what it summarized, kept and changed."""

from __future__ import annotations

from msgspec import Struct, field

from explorer.audit.changed_files import Changed, ChangedFiles
from explorer.audit.ranges import ranges_of
from explorer.session.kinds import Kind
from explorer.session.tree import SessionTree


class RecordedCompaction(Struct, frozen=True):
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
    changed: Changed = field(default_factory=dict)
    """Files that calls of the summarized entries changed, and those that summaries among them
    carry on, with the entries of the calls: these may be older, or of a branch that was left."""


def compactions_on_path(tree: SessionTree, leaf: int) -> tuple[int, ...]:
    """The compactions on the path to a leaf, the first one first."""
    # Bytes are searched: the window waits for this, and a path may have 100,000 entries.
    kinds, wanted = tree.columns.kind, int(Kind.COMPACTION)
    found: list[int] = []
    for part in tree.path(leaf).ranges:
        at = kinds.find(wanted, part.start, part.stop)
        while at >= 0:
            found.append(at)
            at = kinds.find(wanted, at + 1, part.stop)
    return tuple(found)


def recorded_compaction(
    tree: SessionTree, compaction: int, changes: ChangedFiles | None = None
) -> RecordedCompaction:
    """What a recorded compaction summarized, kept and changed; see ``ranges_of``. ``changes``:
    those of the same tree, where several compactions are asked for."""
    ranges = ranges_of(tree, compaction)
    changed = (changes or ChangedFiles(tree)).of(ranges.summarized)
    return RecordedCompaction(
        compaction, ranges.summarized, ranges.kept, ranges.earlier, ranges.previous, changed
    )
