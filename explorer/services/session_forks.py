"""New sessions: begun empty, or forked from another one (A2, E8).

A fork is a branch of a session, or all of it, as another session. As in pi its entries keep
their ids, and the header names the session that they come from. Every line stays as it was, unknown
fields included; but a file of pi's version 1, whose lines have no ids, comes in as version 3, since
its entries could not be named otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from random import Random

from msgspec import Struct

from explorer.formats.pi.entry_writer import new_id
from explorer.formats.pi.export import PiUpgrade, fork_header
from explorer.formats.registry import write_record
from explorer.formats.typed_source import entry_record
from explorer.services.document import Document
from explorer.session.entries import Body, Entry, Label, SessionName
from explorer.session.records import EntryRecord, ReadReport
from explorer.session.tree import SessionTree
from explorer.store import Store


class ForkPlan(Struct, frozen=True):
    """Which entries of a session a fork holds. Nothing has happened yet."""

    at: int
    """The entry that the fork goes on from."""
    whole: bool
    """All branches, rather than the path to ``at`` alone."""
    ranges: tuple[range, ...]
    """The entries that are taken, as ascending ranges of indices."""
    labels: Mapping[int, str]
    """Labels that stand in the session now and would not by the copied entries alone: target and
    text, empty where a label was taken back outside of what is copied."""
    lost_boundaries: tuple[int, ...]
    """Compactions whose first kept entry is not on the path before them. It is not in the session
    as it stands either: the model sees the same before and after."""
    uncopied_branches: tuple[int, ...]
    """Branch summaries of a branch that is not copied."""

    @property
    def count(self) -> int:
        """How many entries are copied."""
        return sum(map(len, self.ranges))

    def notes(self) -> list[str]:
        """What the user should know of the fork, in sentences."""
        found = []
        if count := len(self.lost_boundaries):
            which = ", ".join(f"#{at}" for at in self.lost_boundaries[:5])
            more = ", …" if count > 5 else ""
            found.append(
                f"{_some(count, 'compaction names', 'compactions name')} a first kept entry that is"
                f" not on the path before it ({which}{more}): after it the model sees the summary"
                " and nothing that was kept, in the fork as in its origin."
            )
        if count := len(self.uncopied_branches):
            found.append(
                f"{_some(count, 'branch summary tells', 'branch summaries tell')} of a branch that"
                " stays in the origin."
            )
        return found


def _some(count: int, one: str, more: str) -> str:
    return f"One {one}" if count == 1 else f"{count:,} {more}"


def plan_fork(tree: SessionTree, at: int, whole: bool = False) -> ForkPlan:
    """The fork that goes on from the entry ``at``. Raises ValueError where there is none."""
    if not 0 <= at < len(tree):
        raise ValueError("There is no entry to fork at yet.")
    path = tree.path(at)
    ranges = (range(len(tree)),) if whole else tuple(path.ranges)

    def taken(entry: int) -> bool:
        return entry >= 0 and (whole or entry in path)

    return ForkPlan(
        at,
        whole,
        ranges,
        {} if whole else _labels(tree, taken),
        tuple(at for at in tree.columns.compactions if taken(at) and not _is_sound(tree, at)),
        tuple(
            entry
            for entry, facts in tree.columns.branches.items()
            if taken(entry) and not _has_branch(tree, facts.from_id, entry, taken)
        ),
    )  # fmt: skip


def _labels(tree: SessionTree, taken: Callable[[int], bool]) -> dict[int, str]:
    """Labels as they stand, less those that the copied label entries give by themselves."""
    by_copy: dict[int, str] = {}
    for at, (target_id, label) in tree.columns.labels.items():
        if taken(at):
            by_copy[tree.index_above(target_id, at)] = label
    now = tree.labels()
    wanted = {at: label for at, label in now.items() if taken(at) and by_copy.get(at, "") != label}
    cleared = {at: "" for at, label in by_copy.items() if label and taken(at) and at not in now}
    return dict(sorted((wanted | cleared).items()))


def _has_branch(
    tree: SessionTree, from_id: str, summary: int, taken: Callable[[int], bool]
) -> bool:
    """Whether the branch that a summary is of is copied too; pi calls a start without one so."""
    return from_id in ("", "root") or taken(tree.index_above(from_id, summary))


def _is_sound(tree: SessionTree, compaction: int) -> bool:
    """Whether the boundary of a compaction holds: an entry before it, or itself or nothing, which
    keep nothing on purpose."""
    first_kept = tree.columns.compactions[compaction].first_kept_id
    if not first_kept or first_kept == tree.columns.ids[compaction]:
        return True
    return tree.is_ancestor(tree.index_above(first_kept, compaction), compaction)


AT_ONCE = 1000
"""Entries that are read, and may be cancelled after, at a time."""
COPIED_CHOICES = ("rules", "summary_model", "agent_model", "thinking")
"""Which of the origin's session settings a fork takes along; drafts and unsent text stay."""


class Forked(Struct, frozen=True):
    """A fork that was stored."""

    key: int
    title: str
    entries: int
    """Entries that were copied."""
    added: int
    """Entries that were added behind them: labels from outside of what was copied, and the name."""
    notes: tuple[str, ...]
    """What the user should know of it, in sentences."""


class ForkSource:
    """The entries of a plan as a session to store; reads them as it goes, on its thread."""

    def __init__(
        self,
        document: Document,
        plan: ForkPlan,
        name: str,
        time_ms: float,
        random: Random,
    ) -> None:
        self.path = ""
        self.files: tuple[str, ...] = ()
        self.plan = plan
        self.report = ReadReport(bytes_total=plan.count)
        self.header = fork_header(document.header, document.row.path, time_ms, random)
        self._store: Store = document.shared.store
        self._key, self._tree = document.key, document.tree
        self._linear = document.header.version == 1
        self._upgrade = PiUpgrade(document.header) if self._linear else None
        self._name, self._time_ms, self._random = name, time_ms, random
        self.added = 0

    def batches(self) -> Iterator[list[EntryRecord]]:
        """The copied entries in their order, then what is added behind the one to go on from.

        Raises StoreError.
        """
        first = 0
        starts: list[tuple[range, int]] = []
        for part in self.plan.ranges:
            starts.append((part, first))
            for at in range(part.start, part.stop, AT_ONCE):
                last = min(at + AT_ONCE, part.stop) - 1
                records = self._store.records(self._key, at, last)
                first += len(records)
                self.report.bytes_done = first
                yield [self._copied(record, starts) for record in records]
        self.report.leaf = place_of(self.plan.at, starts)
        if self.plan.whole and not self._linear:
            self.report.asides = self._store.asides(self._key)
        if added := self._added(first):
            self.report.leaf = first + len(added) - 1
            yield added

    def _copied(self, record: EntryRecord, starts: list[tuple[range, int]]) -> EntryRecord:
        raw = record.raw
        if self._upgrade is not None:
            # In such a file an entry's id is its place.
            raw = self._upgrade.entry(raw, int(record.entry_id, 16) if record.line else -1)
        line = record.line if self.plan.whole and not self._linear else 0
        return record._replace(parent=place_of(record.parent, starts), line=line, raw=raw)

    def _added(self, count: int) -> list[EntryRecord]:
        """Labels and the name, below the entry to go on from and below each other."""
        ids = self._tree.columns.ids
        bodies: list[Body] = [Label(ids[at], text) for at, text in self.plan.labels.items()]
        if self._name:
            bodies.append(SessionName(self._name))
        found: list[EntryRecord] = []
        parent, parent_id = self.report.leaf, ids[self.plan.at]
        for body in bodies:
            entry_id = new_id(self._tree, self._random)
            entry = Entry.of(body, entry_id, parent_id, self._time_ms)
            record = write_record(self.header.format, entry)
            assert parent is not None
            found.append(entry_record(entry, record, parent=parent))
            parent, parent_id = count + len(found) - 1, entry_id
        self.added = len(found)
        return found


def place_of(entry: int, starts: list[tuple[range, int]]) -> int:
    """Where an entry of the origin stands in the fork; -1 for none.

    ``starts``: ranges that are copied, each with the place of its first entry.
    """
    for part, first in reversed(starts):
        if entry in part:
            return first + entry - part.start
    return -1


def store_fork(
    document: Document,
    source: ForkSource,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Forked:
    """Store a fork: all of it, or nothing after an error or a cancel. Blocks, for a worker thread;
    ``progress`` gets entries done and in all.

    Raises StoreError, ImportCancelled.
    """
    store = document.shared.store
    report = store.take_copy(source, progress, cancelled)
    for name, value in document.choices.all().items():
        if name in COPIED_CHOICES:
            store.set_session_setting(report.key, name, value)
    return Forked(
        report.key, report.title, source.plan.count, source.added, tuple(source.plan.notes())
    )


def fork_point(fork: SessionTree, leaf: int, origin: SessionTree) -> int:
    """The entry of the origin at which a fork's path leaves it, or -1: ids are kept, so it is the
    last one on the path that both have."""
    ids, path = fork.columns.ids, fork.path(leaf)
    low, high = 0, len(path)
    while low < high:
        middle = (low + high) // 2
        if ids[path[middle]] in origin:
            low = middle + 1
        else:
            high = middle
    return origin.index_of(ids[path[low - 1]]) if low else -1
