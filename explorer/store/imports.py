"""Importing a session file: parsed on the caller's thread while the writer inserts; a file that is
here already is found and brought up to date."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
from array import array
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct, field

from explorer.formats.registry import adapter_of
from explorer.session.columns import SessionColumns
from explorer.session.kinds import Kind
from explorer.session.records import Aside, EntryRecord, ReadReport, SessionSource
from explorer.session.secrets import mask
from explorer.session.text import title_line
from explorer.store.appends import (
    Appender,
    count_after_move,
    insert_entries,
    insert_labels,
)
from explorer.store.database import Readers, id_range, row_id
from explorer.store.entry_rows import Batch, BatchBuilder, index_of, text_in, text_out, to_json
from explorer.store.other_programs import Claim
from explorer.store.rows import (
    FileStamp,
    ImportCancelled,
    ImportReport,
    IsCancelled,
    OnProgress,
    StoreError,
)
from explorer.store.sessions import (
    NOT_COUNTED,
    SessionSummary,
    begin_session,
    count_compactions,
    extend_session,
    session_row,
    take_title,
    write_counts,
)
from explorer.store.stored_columns import load_columns, pack, renew_columns, store_columns
from explorer.store.totals import add_totals, totals_of
from explorer.store.writer import Job, T, Writer


def replace_entries(db: sqlite3.Connection, key: int, records: Mapping[int, EntryRecord]) -> None:
    """Store entries anew, by index; their parents stay. What was worked out from them (packed
    columns, sums, counts of tokens) is rebuilt too, but the search index."""
    indices = sorted(records)
    before = totals_of(db, key, indices)
    for index in indices:
        _replace(db, key, index, records[index])
    add_totals(db, key, {name: -spent for name, spent in before.items()})
    add_totals(db, key, totals_of(db, key, indices))
    db.execute("DELETE FROM columns WHERE session = ? AND entries > ?", (key, indices[0]))
    for (counter,) in db.execute(
        "SELECT DISTINCT counter FROM token_counts WHERE session = ?", (key,)
    ).fetchall():
        for index in indices:
            write_counts(db, key, counter, index, [NOT_COUNTED])


def _replace(db: sqlite3.Connection, key: int, index: int, record: EntryRecord) -> None:
    identifier = row_id(key, index)
    parent, kind, size = db.execute(
        "SELECT e.parent, e.kind, length(p.raw) FROM entries e JOIN payloads p ON p.id = e.id"
        " WHERE e.id = ?",
        (identifier,),
    ).fetchone()
    batch = Batch([record._replace(parent=parent)])
    db.execute("DELETE FROM entries WHERE id = ?", (identifier,))
    db.execute("DELETE FROM payloads WHERE id = ?", (identifier,))
    insert_entries(db, batch.entry_values(identifier), batch.payload_values(identifier))
    db.execute("DELETE FROM labels WHERE session = ? AND entry = ?", (key, index))
    insert_labels(db, key, [(index, label) for _, label in batch.labels()])
    compactions = batch.kinds.count(Kind.COMPACTION) - (kind == Kind.COMPACTION)
    db.execute(
        "UPDATE sessions SET size = size + ?, compactions = compactions + ? WHERE key = ?",
        (batch.characters - size, compactions, key),
    )


_IN_FLIGHT = 3
"""Batches that may wait for the writer when another one goes to it: enough to keep it busy, few
enough to stay small."""
_SYNC_EVERY = 16
"""Batches that the disk gets together: what is appended meanwhile waits for so much at most."""
_PROBLEMS_KEPT = 1000
_TURN_S = 0.001


@contextmanager
def _quick_turns() -> Iterator[None]:
    """Let threads take turns more often: the writer would wait 5 ms for Python's lock after each
    statement, which is a fifth of an import's time."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, _TURN_S))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


class NewImport:
    """The import of a file as a new session. The session is shown when all of it is there."""

    def __init__(
        self, writer: Writer, path: Path, source: SessionSource, stamp: FileStamp | None
    ) -> None:
        """``stamp``: None for a source that is no file."""
        self._writer = writer
        self._path = path
        self._source = source
        self._stamp = stamp
        self._builder = BatchBuilder()
        self._summary = SessionSummary()
        self._labels: list[tuple[int, tuple[str, str]]] = []
        self._waiting: deque[Future[None]] = deque()
        self._submitted = 0
        self._last_line = 0
        self._key = 0
        self._asides = 0

    def run(self, progress: OnProgress | None, cancelled: IsCancelled | None) -> ImportReport:
        """Import everything. Raises StoreError, ImportCancelled, or what the source raises;
        nothing is kept then."""
        with _quick_turns(), Claim.make(self._path) as claim:
            header = self._source.header
            self._key = self._submit(lambda db: begin_session(db, header, claim.name)).result()
            try:
                for batch in self._source.batches():
                    if cancelled is not None and cancelled():
                        raise ImportCancelled(f"the import of {self._source.path} was cancelled")
                    if batch:
                        self._take(batch)
                    self._take_asides()
                    if progress is not None:
                        progress(self._source.report.bytes_done, self._source.report.bytes_total)
                self._take_asides()
                self._drain(0)
                return self._finish(claim.name)
            except BaseException:
                self._give_up()
                raise

    def _submit(self, job: Job[T]) -> Future[T]:
        """Queue a part of the session: the disk need not have it before ``_finish`` shows all."""
        self._submitted += 1
        return self._writer.submit(job, durable=self._submitted % _SYNC_EVERY == 0)

    def _take(self, records: Sequence[EntryRecord]) -> None:
        batch = Batch(records)
        first = self._builder.extend(batch)
        self._summary.take(batch)
        self._last_line = max(self._last_line, *batch.lines)
        self._labels += [(first + at, label) for at, label in batch.labels()]
        first_id = row_id(self._key, first)
        entries, payloads = batch.entry_values(first_id), batch.payload_values(first_id)
        self._drain(_IN_FLIGHT)
        self._waiting.append(self._submit(lambda db: insert_entries(db, entries, payloads)))

    def _take_asides(self) -> None:
        """Hand on the lines that are no entries, so that they do not gather here."""
        asides, key = list(self._source.report.asides), self._key
        if not asides:
            return
        self._source.report.asides.clear()
        self._asides += len(asides)
        self._drain(_IN_FLIGHT)
        self._waiting.append(self._submit(lambda db: insert_asides(db, key, asides)))

    def _drain(self, allowed: int) -> None:
        while len(self._waiting) > allowed:
            self._waiting.popleft().result()

    def _finish(self, claim: str) -> ImportReport:
        columns, key = self._builder.columns, self._key
        count, block = len(columns), pack(columns)
        leaf = source_leaf(self._source, count)

        def job(db: sqlite3.Connection) -> None:
            shown = db.execute(
                "UPDATE sessions SET complete = 1, claim = '' WHERE key = ? AND claim = ?",
                (key, claim),
            )
            if shown.rowcount != 1:
                raise StoreError(self._path, "the unfinished import was removed by another window")
            store_columns(db, key, block, count)
            insert_labels(db, key, self._labels)
            extend_session(db, key, count, self._summary, leaf)
            if self._summary.compactions:
                count_compactions(db, key)
            if self._stamp is not None:
                store_source(db, key, self._source, self._stamp, self._last_line, leaf)

        self._writer.submit(job).result()
        report = self._source.report
        title = (
            self._summary.name or self._source.header.title or title_line(self._summary.first_said)
        )
        return ImportReport(
            key, mask(title), True, count, asides=self._asides, problems=list(report.problems),
            stamp=self._stamp,
        )  # fmt: skip

    def _give_up(self) -> None:
        """Let what was handed to the writer end; what it wrote is not shown, and the background
        removes it as soon as the claim is let go."""
        for future in self._waiting:
            future.cancel()
        wait(self._waiting)


def source_leaf(source: SessionSource, entries: int) -> int:
    """The entry at which the file's agent stands, -1 before the first."""
    leaf = source.report.leaf
    return entries - 1 if leaf is None else max(-1, min(leaf, entries - 1))


def store_asides(db: sqlite3.Connection, key: int, report: ReadReport) -> None:
    """Keep the lines that are not entries, in place of those kept before."""
    db.execute("DELETE FROM asides WHERE session = ?", (key,))
    insert_asides(db, key, report.asides)


def withdraw_asides(db: sqlite3.Connection, key: int, lines: Sequence[int]) -> None:
    """Take lines out of those that are no entries: they may be part of one by now."""
    db.executemany(
        "DELETE FROM asides WHERE session = ? AND line = ?", [(key, line) for line in lines]
    )


def insert_asides(db: sqlite3.Connection, key: int, asides: Sequence[Aside]) -> None:
    """Keep lines that are not entries."""
    db.executemany(
        "INSERT OR REPLACE INTO asides (session, line, raw, reason) VALUES (?, ?, ?, ?)",
        [(key, aside.line, aside.raw, aside.reason) for aside in asides],
    )


def store_source(
    db: sqlite3.Connection,
    key: int,
    source: SessionSource,
    stamp: FileStamp,
    lines: int,
    last: int,
) -> None:
    """Remember the file as it was when it was read."""
    problems = [list(problem) for problem in source.report.problems[:_PROBLEMS_KEPT]]
    db.execute(
        "INSERT OR REPLACE INTO sources"
        " (session, path, size, mtime_ns, digest, lines, last, problems)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            key,
            text_in(str(Path(source.path).absolute())),
            stamp.size,
            stamp.mtime_ns,
            digest(source),
            lines,
            last,
            to_json(problems),
        ),
    )


def digest(source: SessionSource) -> str:
    """SHA-256 of the header line: files of one session agree in it."""
    return hashlib.sha256(source.header.raw.encode("utf-8", "surrogatepass")).hexdigest()


_ASKED = 400


class _Counts(Struct):
    added: int = 0
    kept: int = 0
    differing: int = 0
    last_line: int = 0
    replaced: list[int] = field(default_factory=list)


class Update:
    """Brings a session up to date with its file. Every batch is a whole step: a cancel or a kill
    leaves what was added so far, and importing once more goes on from there."""

    def __init__(
        self,
        writer: Writer,
        readers: Readers,
        appender: Appender,
        source: SessionSource,
        unindex: Callable[[int, int], None],
        earlier: Sequence[str] | None = None,
    ) -> None:
        """``unindex`` takes the entries of a session (its key) from an index on out of the search
        index; they go in again later. ``earlier``: of a source of what was added to the file, the
        ids that came before; None of one that gives all of it."""
        self._writer = writer
        self._readers = readers
        self._appender = appender
        self._source = source
        self._ids: dict[str, int] = {}
        self._columns = SessionColumns()
        self._earlier = earlier
        self._names: list[str] = list(earlier or ())
        """Ids in the source's order, to name the parents of its records."""
        self._places = array("i")
        """The index here of every entry of the source."""
        self._unindex = unindex
        self._grows = not adapter_of(source.header.format).writes
        """Entries of other agents' files may be replaced: nobody but the agent changes them."""

    def run(
        self,
        known: ImportedSession,
        stamp: FileStamp,
        progress: OnProgress | None,
        cancelled: IsCancelled | None,
    ) -> ImportReport:
        """Read the file and add what is new. Raises StoreError, ImportCancelled, or what the
        source raises."""
        key, path = known.key, self._readers.path
        if known.stamp == stamp and not known.moved:
            return self._unchanged(key, stamp)
        with self._readers.snapshot() as db:
            row, _ = session_row(db, key, path)
            self._columns, _ = load_columns(db, key, row.entries, path)
        self._ids = {name: at for at, name in enumerate(self._columns.ids)}
        counts = _Counts()
        if self._earlier is not None:
            self._places.extend(map(self._ids.__getitem__, self._earlier))
            counts.last_line, counts.kept = known.lines, len(self._earlier)
        for records in self._source.batches():
            if cancelled is not None and cancelled():
                raise ImportCancelled(
                    f"the update from {self._source.path} was cancelled;"
                    f" {counts.added} new entries had been added"
                )
            if records:
                self._take(key, records, counts)
            if progress is not None:
                progress(self._source.report.bytes_done, self._source.report.bytes_total)
        return self._finish(known, stamp, counts)

    def _unchanged(self, key: int, stamp: FileStamp) -> ImportReport:
        with self._readers.snapshot() as db:
            row, _ = session_row(db, key, self._readers.path)
            counts = db.execute(
                "SELECT (SELECT count(*) FROM asides WHERE session = ?1),"
                " (SELECT count(*) FROM entries WHERE id BETWEEN ?2 AND ?3 AND line > 0)",
                (key, row_id(key, 0), row_id(key, row.entries)),
            ).fetchone()
        return ImportReport(
            key, row.title, False, 0, kept=counts[1], asides=counts[0], unchanged=True, stamp=stamp
        )

    def _take(self, key: int, records: Sequence[EntryRecord], counts: _Counts) -> None:
        counts.last_line = max(counts.last_line, records[-1].line)
        fresh: list[tuple[EntryRecord, str | None]] = []
        here: dict[int, EntryRecord] = {}
        for record in records:
            parent_id = self._names[record.parent] if record.parent >= 0 else None
            self._names.append(record.entry_id)
            index = self._ids.get(record.entry_id)
            if index is None:
                fresh.append((record, parent_id))
            else:
                here[index] = record
        if here:
            self._compare(key, here, counts)
        if fresh:
            job = self._writer.submit(lambda db: self._appender.take_in(db, key, fresh))
            placed = job.result()
            counts.added += len(placed)
            self._ids.update(placed)
        self._places.extend(self._ids[record.entry_id] for record in records)

    def _compare(self, key: int, here: dict[int, EntryRecord], counts: _Counts) -> None:
        counts.kept += len(here)
        lines: list[tuple[int, int]] = []
        changed: dict[int, EntryRecord] = {}
        wanted = sorted(here)
        for at in range(0, len(wanted), _ASKED):
            part = [row_id(key, index) for index in wanted[at : at + _ASKED]]
            marks = ", ".join("?" * len(part))
            with self._readers.read() as db:
                rows = db.execute(
                    "SELECT e.id, e.line, p.raw FROM entries e JOIN payloads p ON p.id = e.id"
                    f" WHERE e.id IN ({marks})",
                    part,
                ).fetchall()
            for identifier, line, raw in rows:
                record = here[index_of(identifier)]
                if text_out(raw) != record.raw:
                    counts.differing += 1
                    changed[index_of(identifier)] = record
                if line != record.line:
                    lines.append((record.line, identifier))
        if lines:
            # Where a line stands in the file may change; an export follows the file's order.
            self._writer.submit(lambda db: _set_lines(db, lines)).result()
        if changed and self._grows:
            self._unindex(key, min(changed))
            self._writer.submit(lambda db: replace_entries(db, key, changed)).result()
            counts.replaced += changed

    def _finish(self, known: ImportedSession, stamp: FileStamp, counts: _Counts) -> ImportReport:
        key, path, source = known.key, self._readers.path, self._source
        missing = self._missing(key)
        in_file = source_leaf(source, len(self._places))
        last = self._places[in_file] if in_file >= 0 else -1

        def job(db: sqlite3.Connection) -> None:
            row, _ = session_row(db, key, path)
            if self._earlier is None:
                store_asides(db, key, source.report)
            else:
                withdraw_asides(db, key, source.report.withdrawn)
                insert_asides(db, key, source.report.asides)
            store_source(db, key, source, stamp, counts.last_line, last)
            # Who has not moved the leaf since the last reading follows the file.
            leaf = last if row.leaf == known.last else row.leaf
            db.execute("UPDATE sessions SET leaf = ? WHERE key = ?", (leaf, key))
            if source.header.title:
                take_title(db, key, source.header.title)
            if counts.added or counts.replaced:
                renew_columns(db, key, self._columns, counts.replaced, row.entries)
                store_columns(db, key, pack(self._columns), row.entries)
            if leaf != row.leaf:
                count_after_move(db, key, (row.leaf, leaf), path)

        self._writer.submit(job).result()
        with self._readers.read() as db:
            row, _ = session_row(db, key, path)
            asides = db.execute("SELECT count(*) FROM asides WHERE session = ?", (key,)).fetchone()
        report = source.report
        return ImportReport(
            key,
            row.title,
            False,
            counts.added,
            kept=counts.kept,
            differing=counts.differing,
            missing=missing,
            replaced=tuple(counts.replaced),
            asides=len(report.asides) if self._earlier is None else asides[0],
            problems=list(report.problems),
            stamp=stamp,
        )

    def _missing(self, key: int) -> int:
        seen = set(self._places)
        with self._readers.read() as db:
            (entries,) = db.execute("SELECT entries FROM sessions WHERE key = ?", (key,)).fetchone()
            if len(seen) == entries:
                return 0  # Which saves going through the rows of them all.
            rows = db.execute(
                "SELECT id FROM entries WHERE id BETWEEN ? AND ? AND line > 0",
                id_range(key),
            )
            return sum(1 for (identifier,) in rows if index_of(identifier) not in seen)


def _set_lines(db: sqlite3.Connection, lines: list[tuple[int, int]]) -> None:
    db.executemany("UPDATE entries SET line = ? WHERE id = ?", lines)


class ImportedSession(Struct, frozen=True):
    """A session that was imported before, with what is remembered of its file."""

    key: int
    stamp: FileStamp
    moved: bool
    """The file was at another place then, where there is none any more."""
    last: int
    """Index of the entry that was the file's leaf."""
    lines: int
    """Number of the last line that gave an entry."""


def find_known(db: sqlite3.Connection, source: SessionSource) -> ImportedSession | None:
    """The session that an earlier reading of this file made, or None for a new one.

    It is known by its place and its session id. A file that has gone from its place and turns up
    at another path with the same header is the same; a copy beside the first is a separate session,
    since the two may diverge. Version 1 files have no ids, so one that was given ids
    since cannot be matched entry by entry and counts as new.
    """
    header = source.header
    rows = db.execute(
        "SELECT o.session, o.size, o.mtime_ns, o.last, o.path, s.header, s.version, o.lines"
        " FROM sources o JOIN sessions s ON s.key = o.session"
        " WHERE s.complete = 1 AND s.format = ? AND s.session_id = ? ORDER BY o.session DESC",
        (header.format, text_in(header.session_id)),
    ).fetchall()
    place = str(Path(source.path).absolute())
    for key, size, mtime_ns, last, path, _, version, lines in rows:
        if _is_same(text_out(path), place) and (version < 2) == (header.version < 2):
            return ImportedSession(key, FileStamp(size, mtime_ns), False, last, lines)
    for key, size, mtime_ns, last, path, raw, _, lines in rows:
        if header.raw and text_out(raw) == header.raw and not Path(text_out(path)).exists():
            return ImportedSession(key, FileStamp(size, mtime_ns), True, last, lines)
    return None


def _is_same(path: str, place: str) -> bool:
    """Whether both name one file: through ``..``, a link, or in another case where the system
    makes no difference between them."""
    if path == place:
        return True
    try:
        return os.path.samefile(path, place)
    except (OSError, ValueError):
        return False  # one of them is not there
