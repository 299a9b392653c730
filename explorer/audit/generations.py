"""The compactions of a session: those of a path one after the other, with what each of them kept,
summarized and dropped; and each as it is recorded, with its range and the files that were changed
in it, or were by what earlier summaries say.

Lists of files go on from summary to summary: a compaction's holds those of the one before it and of
the branch summaries that it summarized, whose calls are in earlier ranges and on other branches.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from msgspec import Struct, field

from explorer.audit.provenance import Provenance
from explorer.compaction.path_view import PathView
from explorer.compaction.profile import Profile
from explorer.facts.identifiers import path_key
from explorer.session.columns import OP_KINDS
from explorer.session.entries import Entry
from explorer.session.kinds import Kind
from explorer.session.partly_compared import PartlyCompared
from explorer.session.tree import SessionTree

ReadEntries = Callable[[Sequence[int]], Sequence[Entry]]
"""Reads entries by index, in the order asked for."""
RecordedInputs = Mapping[int, Collection[int]]
"""By compaction entry: the entries that were in its requests, as this program wrote them down."""


class PathState(IntEnum):
    """Where a stretch of the path stands after a compaction."""

    IN_CONTEXT = 0
    SUMMARIZED = 1
    """Only summaries cover it."""
    LOST_RANGE = 2
    """Kept by the compaction before, and the next one started after it (E1)."""
    LOST_CHAIN = 3
    """Covered by a summary that a later compaction did not update (E2)."""
    LOST_BOUNDARY = 4
    """To be kept, but the first kept entry is not there (E8)."""
    LOST_SUMMARY = 5
    """Sent to a summarizer whose summary is empty (E5)."""
    LOST_LEFT_OUT = 6
    """In the range that was summarized, and not in the recorded requests."""
    SET_ASIDE = 7
    """Before a new start that the person made."""


LOST_STATES = frozenset(
    {
        PathState.LOST_RANGE,
        PathState.LOST_CHAIN,
        PathState.LOST_BOUNDARY,
        PathState.LOST_SUMMARY,
        PathState.LOST_LEFT_OUT,
    }
)


class StateRun(NamedTuple):
    """A stretch of positions in one state."""

    start: int
    stop: int
    state: PathState
    summarized_by: int
    """Number of the generation whose summary covered it first; 0 for none."""
    since: int
    """Number of the generation since which the state holds; 0: from the start."""


class Boundary(IntEnum):
    """What became of a recorded first kept entry."""

    KEPT = 0
    NOTHING_KEPT = 1
    """On purpose: it names the compaction itself, or nothing."""
    MISSING = 2
    """It names an entry that is not in this session."""
    OTHER_BRANCH = 3
    """It names an entry of another branch."""
    AFTER = 4
    """It names an entry that came after the compaction."""


BROKEN = frozenset({Boundary.MISSING, Boundary.OTHER_BRANCH, Boundary.AFTER})


class Generation(Struct, frozen=True):
    """One compaction of the path. Positions count on the path."""

    number: int
    """From 1."""
    compaction: int
    """The entry."""
    position: int
    boundary: Boundary
    context_from: int
    """Where the context before it started."""
    previous: int
    """Number of the compaction that was in force before it; 0 for none."""
    summarized_from: int
    kept_from: int
    """First kept position; the compaction's own when nothing before it is kept. What lies between
    ``summarized_from`` and here was summarized."""
    meant_from: int
    """Of a broken boundary: where the rules would have kept from; else ``kept_from``."""
    turn_start: int
    """Where the turn starts that the cut splits, or -1."""
    carries_previous: bool
    """Whether the previous summary lives on in this one."""
    is_empty: bool
    """Whether its summary holds nothing."""
    left_out: tuple[int, ...]
    """Entries in the summarized range that no recorded request contains."""
    provenance: Provenance
    """How the summarized range is known; what was kept is recorded, but for a broken boundary."""
    basis: str
    """Why, in a sentence."""

    @property
    def dropped(self) -> range:
        """Positions that the compaction before kept, and this one neither summarized nor kept."""
        return range(
            self.context_from, max(self.context_from, min(self.summarized_from, self.kept_from))
        )

    @property
    def summarized(self) -> range:
        """Positions that it summarized."""
        return range(self.summarized_from, max(self.summarized_from, self.kept_from))

    @property
    def returned(self) -> range:
        """Positions that it kept although an earlier compaction had summarized them."""
        return range(self.kept_from, max(self.kept_from, self.context_from))


class Generations(PartlyCompared, frozen=True):
    """All compactions of a path, and the state of the path after each."""

    UNCOMPARED = frozenset({"tokens_of", "sizes_around"})

    view: PathView
    profile: Profile
    all: tuple[Generation, ...]
    lanes: tuple[tuple[StateRun, ...], ...]
    """The state of the path: before the first compaction, then after each. A lane ends where the
    next compaction stands; the last one ends with the path."""
    resets: tuple[int, ...]
    """Positions of new starts."""
    tokens_of: Callable[[int], int]
    """Tokens of any entry of the session, as the view weighs those of the path."""
    sizes_around: Callable[[int], tuple[int, int | None]]
    """Tokens of the context's entries before and after a compaction, counted alike; None after it
    where its summary is not in the file."""

    def at(self, compaction: int) -> Generation | None:
        """The generation of a compaction entry, or None."""
        return next((each for each in self.all if each.compaction == compaction), None)

    @property
    def final(self) -> tuple[StateRun, ...]:
        """The state at the leaf."""
        return self.lanes[-1]

    def chain(self, first: int, last: int) -> list[Generation]:
        """The generations from ``first`` to ``last`` (numbers) in whose summaries something lives
        on that the first one summarized."""
        found = []
        for each in self.all[max(first, 1) - 1 : last]:
            if each.number > first and not each.carries_previous:
                break
            found.append(each)
        return found


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
