"""A session of an agent whose adapter gives typed entries: the reader of every format but pi's; and
what a reader knows of an entry that its record does not say.

An entry is read again from its stored record alone. Where other records were needed to understand
it (the tokens before a compaction, the entry that its kept tail begins with), a line of ours at the
record's end keeps what they said.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from explorer.formats.adapter import IsCancelled, Progress, ReadCancelled
from explorer.formats.jsonl import EMPTY, GrowingReader, Prefix, stamp_of
from explorer.session.describe import Facts, describe
from explorer.session.entries import Entry, RepeatedEntry, TokenUsage
from explorer.session.json_values import read_json
from explorer.session.kinds import Flag
from explorer.session.records import (
    LARGE_UNITS,
    Aside,
    Assembler,
    EntryRecord,
    Placement,
    Problem,
    ReadReport,
    SessionHeader,
)
from explorer.tokens.estimate import estimate_entry

_BEGIN = '{"sessionExplorer":"note"'
_ON_ENTRY = ("id", "parent_id", "time_ms")


def annotated(record: str, entry: Entry, names: Iterable[str]) -> str:
    """The record with these fields of the entry or of its body: texts, numbers, None, or the
    body's usage or the entries that it repeats."""
    note = {name: getattr(entry if name in _ON_ENTRY else entry.body, name) for name in names}
    return f"{record}\n{note_of(note)}" if note else record


def note_of(values: Mapping[str, Any]) -> str:
    """The line of ours that keeps these fields."""
    return orjson.dumps({"sessionExplorer": "note", **values}, default=to_builtins).decode()


def split_annotation(record: str) -> tuple[str, str]:
    """The agent's own lines, and ours; empty where there is none."""
    start = record.rfind("\n") + 1
    if record.startswith(_BEGIN, start):
        return record[: max(0, start - 1)], record[start:]
    return record, ""


def apply_annotation(entry: Entry, note: str) -> Entry:
    """The entry with what a line of ours says; a field that the entry does not have is left out.

    Raises ValueError when the line is no JSON object.
    """
    values = read_json(note)
    if not isinstance(values, dict):
        raise ValueError("the note of a record is not a JSON object")
    known = set(entry.body.__struct_fields__)
    on_body = {name: values[name] for name in values if name in known}
    if isinstance(on_body.get("usage"), dict):
        on_body["usage"] = TokenUsage(**on_body["usage"])
    if "repeated_entries" in on_body:
        on_body["repeated_entries"] = tuple(
            RepeatedEntry(*one) for one in on_body["repeated_entries"]
        )
    on_entry = {name: values[name] for name in _ON_ENTRY if name in values}
    return replace(entry, body=replace(entry.body, **on_body), **on_entry)


_INHERITED = int(Flag.INHERITED)
BATCH = 1_000
"""Entries, and lines that are none, that are handed on together."""
_FAULTS = {
    "orphan": "the parent {parent!r} is not in the file; the entry became a root",
    "cycle": "the parent {parent!r} is below the entry itself; the entry became a root",
    "self": "the entry is its own parent; it became a root",
}


class ReadEntry(NamedTuple):
    """One entry as an adapter gives it."""

    entry: Entry
    """With its id; a ``parent_id`` of None makes it a root."""
    record: str
    """The lines that it came from, byte for byte, joined by newlines."""
    line: int
    """Number of the first of them, from 1."""
    done: int = 0
    """Bytes of the file that were read so far."""
    noted: tuple[str, ...] = ()
    """Names of the fields of the entry or its body that other records tell: they are kept with the
    record, see ``annotation``."""
    inherited: bool = False
    """The file repeats it from the session that it was forked from."""


class DescribedEntry(NamedTuple):
    """An entry whose facts the adapter has already; else as ``ReadEntry``."""

    entry_id: str
    parent_id: str
    """Empty for a root."""
    record: str
    """With the line of ours that notes what other records say, where there is one."""
    line: int
    done: int
    facts: Facts
    estimate: int
    inherited: bool


class Leaf(NamedTuple):
    """Where the agent stands; without it, at the last entry of the file."""

    entry_id: str
    """Empty: before the first entry."""


def entry_record(entry: Entry, record: str, parent: int = -1) -> EntryRecord:
    """An entry that was made here with its record, as the store takes it."""
    facts = _flagged(describe(entry), record)
    return EntryRecord(entry.id, parent, 0, record, facts, estimate_entry(entry))


def _flagged(facts: Facts, record: str, flags: int = 0) -> Facts:
    """The facts with flags that follow from the record, and with others."""
    if len(record) > LARGE_UNITS:
        flags |= Flag.LARGE
    return facts._replace(flags=facts.flags | flags) if flags else facts


def placed_records(
    placements: Iterable[Placement[tuple[EntryRecord, str]]], report: ReadReport
) -> Iterator[EntryRecord]:
    """The records of placements, each with its parent's index. ``report`` is given the faults; a
    placement's item is a record with the id that it names as its parent."""
    for (record, parent_id), parent, fault in placements:
        if fault:
            reason = _FAULTS[fault].format(parent=parent_id[:80])
            report.problems.append(Problem(record.line, reason))
        entry_id, _, line, raw, facts, estimate = record
        yield EntryRecord(entry_id, parent, line, raw, facts, estimate)


Read = ReadEntry | DescribedEntry | Aside | Problem | Leaf


class _Progress(Struct):
    """How far a reading has come."""

    assembler: Assembler[tuple[EntryRecord, str]] = field(default_factory=Assembler)
    last_id: str = ""
    leaf_id: str | None = None
    problems: list[Problem] = field(default_factory=list)

    def copy(self) -> _Progress:
        return _Progress(self.assembler.copy(), self.last_id, self.leaf_id, list(self.problems))


class _Stopped(NamedTuple):
    """Where a reading stopped, to go on from there."""

    reader: GrowingReader[Read]
    progress: _Progress
    prefix: Prefix
    asides: list[int]
    """Lines that were put aside because the file ended there."""


class TypedSource:
    """A ``GrowingSource`` over what an adapter reads. Lines that are no entry are put aside by the
    adapter, which yields them as ``Aside``, and what a person should know as ``Problem``."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        header: SessionHeader,
        read: Iterable[Read] | GrowingReader[Read],
        progress: Progress | None = None,
        cancelled: IsCancelled | None = None,
        files: Sequence[str] = (),
    ) -> None:
        """``files``: all that it is read from, where that is not the file at ``path`` alone, and it
        cannot be followed."""
        self.path = str(path)
        self.files = files or (self.path,)
        self.header = header
        size = sum(Path(one).stat().st_size for one in self.files)
        self.report = ReadReport(bytes_total=size)
        self._read = read
        self._progress = progress
        self._cancelled = cancelled
        self._at = _Progress()
        self._prefix: Prefix | None = None
        self._stopped: _Stopped | None = None
        self._left_out: list[str] = []
        self.earlier: list[str] = []
        """See ``GrowingSource``."""

    def follow(self) -> None:
        """See ``GrowingSource``."""
        self._prefix = self._prefix or EMPTY

    def grown(self) -> TypedSource | None:
        """See ``GrowingSource``. Raises OSError."""
        stopped = self._stopped
        if stopped is None:
            return None
        reader, at = stopped.reader, stopped.progress
        # What waited for its parent was given as a root: only the whole file puts that right.
        if at.assembler.holding or not stopped.prefix.begins(reader.path):
            return None
        known = reader.known_ids()
        if known is None:
            return None
        source = TypedSource(self.path, self.header, reader, self._progress, self._cancelled)
        source._at = at
        source._prefix = stopped.prefix
        source.report.problems = list(at.problems)
        source.report.withdrawn = stopped.asides
        source._left_out = known
        for entry_id in known:
            at.assembler.placed[entry_id] = len(at.assembler.placed)
        source.earlier = list(at.assembler.placed)
        return source

    def batches(self) -> Iterator[Sequence[EntryRecord]]:
        """Entries in index order, each after its parent; to be read once.

        Raises ReadCancelled when ``cancelled`` answers true, OSError when the file cannot be read
        on. The report is complete when the iteration has ended.
        """
        at, read = self._at, self._read
        if isinstance(read, Iterable):
            yield from self._batches(read)
        else:
            yield from self._batches(read.more())
            if self._prefix is not None:
                self._stop(read, self._prefix)
            yield from self._batches(read.end(), final=False)
        batch = list(placed_records(at.assembler.finish(), self.report))
        self._tell(self.report.bytes_total)
        if batch:
            yield batch
        placed, leaf_id = at.assembler.placed, at.leaf_id
        last = placed.get(at.last_id, -1)
        self.report.leaf = last if leaf_id is None else placed.get(leaf_id, last if leaf_id else -1)

    def _stop(self, reader: GrowingReader[Read], prefix: Prefix) -> None:
        """Remember how far it was read, unless the file was written to meanwhile: then nobody knows
        what the bytes are that were read."""
        prefix = prefix.extended(reader.path, reader.offset)
        if stamp_of(reader.path) != reader.began:
            return
        at = self._at.copy()
        at.problems = list(self.report.problems)
        for entry_id in self._left_out:
            del at.assembler.placed[entry_id]  # The next reading may give them again.
        self._stopped = _Stopped(reader.copy(), at, prefix, [])

    def _batches(self, read: Iterable[Read], final: bool = True) -> Iterator[list[EntryRecord]]:
        """``final``: nothing that comes later changes what is read."""
        batch: list[EntryRecord] = []
        gathered = 0
        stopped = None if final else self._stopped
        for one in read:
            gathered += 1
            if isinstance(one, DescribedEntry):
                self._place(*one, batch)
            elif isinstance(one, Aside):
                self.report.asides.append(one)
                if stopped is not None:
                    stopped.asides.append(one.line)
            elif isinstance(one, ReadEntry):
                self._describe(one, batch)
            elif isinstance(one, Problem):
                self.report.problems.append(one)
            else:
                self._at.leaf_id = one.entry_id
            if gathered >= BATCH:
                self._tell(self.report.bytes_done)
                yield batch
                batch, gathered = [], 0
        if batch:
            yield batch

    def _describe(self, one: ReadEntry, batch: list[EntryRecord]) -> None:
        entry, record, line, done, noted, inherited = one
        if noted and entry.id not in self._at.assembler:
            record = annotated(record, entry, noted)
        facts, estimate, parent_id = describe(entry), estimate_entry(entry), entry.parent_id or ""
        self._place(entry.id, parent_id, record, line, done, facts, estimate, inherited, batch)

    def _place(
        self,
        entry_id: str,
        parent_id: str,
        text: str,
        line: int,
        done: int,
        facts: Facts,
        estimate: int,
        inherited: bool,
        batch: list[EntryRecord],
    ) -> None:
        assembler, report = self._at.assembler, self.report
        if entry_id in assembler:
            reason = f"the id {entry_id[:80]!r} exists already; the first one counts"
            report.asides.append(Aside(line, text.encode("utf-8", "surrogatepass"), reason))
            report.problems.append(Problem(line, f"{reason}; the line was kept aside"))
            return
        self._at.last_id = entry_id
        if done > report.bytes_done:
            report.bytes_done = done
        if inherited or len(text) > LARGE_UNITS:
            facts = _flagged(facts, text, _INHERITED if inherited else 0)
        parent = assembler.place_at_once(entry_id, parent_id)
        if parent is not None:
            batch.append(EntryRecord(entry_id, parent, line, text, facts, estimate))
        else:
            record = EntryRecord(entry_id, -1, line, text, facts, estimate)
            placements = assembler.place(entry_id, parent_id, (record, parent_id))
            batch += placed_records(placements, self.report)

    def _tell(self, done: int) -> None:
        self.report.bytes_done = done
        if self._progress is not None:
            self._progress(done, self.report.bytes_total)
        if self._cancelled is not None and self._cancelled():
            raise ReadCancelled(f"{self.path}: reading stopped after {done:,} bytes")
