"""A branch of a session, or all of it, as a session of its own (A2, E8).

As pi does it the entries keep their ids, and the header names the session that they come from.
Every line stays as it was, fields that nobody knows included; but a file of pi's version 1, whose
lines have no ids, comes in as version 3, since a part of it could not be told apart otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

from explorer.formats import new_entry, new_id, pi
from explorer.formats.entries import iso_time
from explorer.formats.export import PiUpgrade, dumps, made_header
from explorer.formats.jsonl import parse_exactly
from explorer.session.describe import describe
from explorer.session.records import EntryRecord, ReadReport, SessionHeader
from explorer.tokens.estimate import estimate_entry
from explorer.work.beginning import session_uuid
from explorer.work.fork_plan import ForkPlan

if TYPE_CHECKING:  # see explorer.work.appending
    from explorer.store import Store
    from explorer.work.document import Document

AT_ONCE = 1000
"""Entries that are read, and may be cancelled after, at a time."""
COPIED_CHOICES = ("rules", "summary_model", "agent_model", "thinking")
"""What a fork goes on with of what a person chose for its origin; drafts and unsent words stay."""


@dataclass(frozen=True, slots=True)
class Forked:
    """A fork that was stored."""

    key: int
    title: str
    entries: int
    """Entries that were copied."""
    added: int
    """Entries that were added behind them: labels that stood elsewhere, and the name."""
    notes: tuple[str, ...]
    """What a person should know of it, in sentences."""


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
        self.plan = plan
        self.report = ReadReport(bytes_total=plan.count)
        self.header = fork_header(document.header, document.row.path, time_ms, random)
        self._store: Store = document.store
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
        fields: list[tuple[str, dict[str, Any]]] = []
        ids = self._tree.columns.ids
        for target, label in self.plan.labels.items():
            fields.append(("label", {"target_id": ids[target], "label": label or None}))
        if self._name:
            fields.append(("session_info", {"name": self._name}))
        found: list[EntryRecord] = []
        parent, parent_id = self.report.leaf, ids[self.plan.at]
        for kind, values in fields:
            entry_id = new_id(self._tree, self._random)
            entry = new_entry(
                self.header.format, kind, parent_id, self._time_ms, entry_id, **values
            )
            raw = dumps(entry)
            assert parent is not None
            found.append(
                EntryRecord(entry_id, parent, 0, raw, describe(entry), estimate_entry(entry))
            )
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


def fork_header(header: SessionHeader, path: str, time_ms: float, random: Random) -> SessionHeader:
    """The header of a fork: the origin's, unknown fields included, with an id and a time of its
    own, and the origin's file as its parent, or where there is none the origin's id."""
    parent = path or header.session_id
    version = pi.VERSION if header.version == 1 else header.version
    line: Mapping[str, Any] = {}
    if header.raw:
        value = parse_exactly(header.raw.encode("utf-8", "surrogatepass"))
        line = value if isinstance(value, dict) else {}
    session_id = session_uuid(time_ms, random)
    own = {
        "version": version,
        "id": session_id,
        "timestamp": iso_time(time_ms),
        "parentSession": parent,
    }
    raw = dumps({**(line or made_header(header)), **own})
    return replace(
        header, session_id=session_id, version=version, time_ms=time_ms, parent_session=parent,
        raw=raw,
    )  # fmt: skip


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
    store = document.store
    report = store.take_fork(source, progress, cancelled)
    for name, value in document.choices().items():
        if name in COPIED_CHOICES:
            store.set_session_setting(report.key, name, value)
    return Forked(
        report.key, report.title, source.plan.count, source.added, tuple(source.plan.notes())
    )


__all__ = ["ForkSource", "Forked", "fork_header", "place_of", "store_fork"]
