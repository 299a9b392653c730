"""Which files the entries of a range changed, and those that earlier summaries say were.

Lists of files go on from summary to summary: a compaction's holds those of the one before it and
of the branch summaries that it summarized, whose calls are in earlier ranges and on other branches.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping

from explorer.audit.ranges import left_behind, ranges_of
from explorer.facts.paths import path_key
from explorer.session.columns import OP_KINDS
from explorer.session.tree import SessionTree

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
