"""The recorded compactions of a session: what each summarized and kept, and which files the entries
of a range changed, and those that earlier summaries say were.

Lists of files go on from summary to summary: a compaction's holds those of the one before it and
of the branch summaries that it summarized, whose calls are in earlier ranges and on other branches.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct, field

from explorer.facts.paths import path_key
from explorer.session.columns import OP_KINDS
from explorer.session.kinds import Kind
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


Changed = Mapping[str, tuple[int, ...]]
"""By file: the entries whose calls changed it, ascending; they may be of another branch."""
_READ = OP_KINDS.index("read")


class ChangedFiles:
    """The changed files of one session's ranges; what was asked for once is kept."""

    def __init__(self, tree: SessionTree) -> None:
        self._tree = tree
        self._carried: dict[int, Changed] = {}

    def of(self, entries: Iterable[int]) -> Changed:
        """The files that successful calls of these entries changed, and those that
        summaries among them carry on."""
        wanted = sorted(set(entries))
        self._read(self._summaries(wanted))
        return self._of(wanted)

    def _summaries(self, entries: Iterable[int]) -> list[int]:
        columns = self._tree.columns
        return [at for at in entries if at in columns.compactions or at in columns.branches]

    def _read(self, summaries: list[int]) -> None:
        """Compute the files that these summaries carry, after those of the summaries that they
        summarized."""
        waiting = list(summaries)
        while waiting:
            entry = waiting[-1]
            summarized = self._summarized_entries(entry) if entry not in self._carried else None
            missing = [
                at
                for at in self._summaries(summarized or ())
                if at not in self._carried and at < entry
            ]
            waiting += missing
            if not missing:
                waiting.pop()
                if entry not in self._carried:
                    self._carried[entry] = self._carries(entry, summarized)

    def _summarized_entries(self, entry: int) -> list[int] | None:
        """The entries that a summary covers; None where that is not known."""
        if entry in self._tree.columns.compactions:
            return list(ranges_of(self._tree, entry).summarized)
        return left_behind(self._tree, entry)

    def _carries(self, entry: int, summarized: list[int] | None) -> Changed:
        """Of the files that a summary lists, those that anything changed. Where it is not
        known what it covered, all files of its list count."""
        columns = self._tree.columns
        facts = columns.compactions.get(entry) or columns.branches[entry]
        # What an extension listed is not carried on.
        if facts.from_extension or not facts.modified_files:
            return {}
        if summarized is None:
            return dict.fromkeys(facts.modified_files, (entry,))
        known = {path_key(path): entries for path, entries in self._of(summarized).items()}
        carried = {path: known.get(path_key(path)) for path in facts.modified_files}
        return {path: entries for path, entries in carried.items() if entries}

    def _of(self, entries: list[int]) -> Changed:
        found: dict[str, list[int]] = {}
        for summary in self._summaries(entries):
            for path, sources in self._carried.get(summary, {}).items():
                found.setdefault(path, []).extend(sources)
        if entries:
            self._add_calls(entries, found)
        return {path: tuple(sorted(set(sources))) for path, sources in found.items()}

    def _add_calls(self, entries: list[int], found: dict[str, list[int]]) -> None:
        ops, wanted = self._tree.columns.ops, frozenset(entries)
        first = bisect_left(ops.entry, entries[0])
        for row in range(first, bisect_left(ops.entry, entries[-1] + 1, first)):
            is_change = ops.kind[row] != _READ and not ops.failed[row]
            if is_change and ops.entry[row] in wanted:
                found.setdefault(ops.paths[ops.path[row]], []).append(ops.entry[row])


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
