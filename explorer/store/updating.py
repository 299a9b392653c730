"""Importing a file again: what is here stays, what is new is added."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from explorer.session.records import EntryRecord, SessionSource
from explorer.store.appending import Appender
from explorer.store.codec import index_of, text_out
from explorer.store.columns_blob import pack
from explorer.store.database import driver
from explorer.store.importing import source_leaf, store_asides, store_source
from explorer.store.loading import load_columns, store_columns
from explorer.store.locate import FileStamp, Known
from explorer.store.readers import Readers
from explorer.store.rows import (
    ImportCancelled,
    ImportReport,
    IsCancelled,
    OnProgress,
)
from explorer.store.schema import row_id
from explorer.store.sessions import session_row
from explorer.store.writer import Writer

_ASKED = 400


@dataclass(slots=True)
class _Counts:
    added: int = 0
    kept: int = 0
    differing: int = 0
    last_line: int = 0


class Update:
    """Brings a session up to date with its file. Every batch is a whole step: a cancel or a kill
    leaves what was added so far, and importing once more goes on from there."""

    def __init__(
        self, writer: Writer, readers: Readers, appender: Appender, source: SessionSource
    ) -> None:
        self._writer = writer
        self._readers = readers
        self._appender = appender
        self._source = source
        self._ids: dict[str, int] = {}
        self._names: list[str] = []
        """Ids in the source's own order, to name the parents of its records."""
        self._places = array("i")
        """The index here of every entry of the source."""

    def run(
        self,
        known: Known,
        stamp: FileStamp,
        progress: OnProgress | None,
        cancelled: IsCancelled | None,
    ) -> ImportReport:
        """Read the file and add what is new. Raises StoreError, ImportCancelled, or what the
        source raises."""
        key, path = known.key, self._readers.path
        if known.stamp == stamp and not known.moved:
            return self._unchanged(key)
        with self._readers.snapshot() as db:
            row, _ = session_row(db, key, path)
            columns, _ = load_columns(db, key, row.entries, path)
        self._ids = {name: at for at, name in enumerate(columns.ids)}
        counts = _Counts()
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

    def _unchanged(self, key: int) -> ImportReport:
        with self._readers.snapshot() as db:
            row, _ = session_row(db, key, self._readers.path)
            found = db.execute(
                "SELECT (SELECT count(*) FROM asides WHERE session = ?1),"
                " (SELECT count(*) FROM entries WHERE id BETWEEN ?2 AND ?3 AND line > 0)",
                (key, row_id(key, 0), row_id(key, row.entries)),
            ).fetchone()
        return ImportReport(
            key, row.title, False, 0, kept=found[1], asides=found[0], unchanged=True
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
            job = self._writer.submit(lambda c: self._appender.take_in(driver(c), key, fresh))
            placed = job.result()
            counts.added += len(placed)
            self._ids.update(placed)
        self._places.extend(self._ids[record.entry_id] for record in records)

    def _compare(self, key: int, here: dict[int, EntryRecord], counts: _Counts) -> None:
        counts.kept += len(here)
        lines: list[tuple[int, int]] = []
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
                counts.differing += text_out(raw) != record.raw
                if line != record.line:
                    lines.append((record.line, identifier))
        if lines:
            # Where a line stands in the file may change; an export follows the file's order.
            self._writer.submit(lambda c: _set_lines(driver(c), lines)).result()

    def _finish(self, known: Known, stamp: FileStamp, counts: _Counts) -> ImportReport:
        key, path, source = known.key, self._readers.path, self._source
        missing = self._missing(key)
        in_file = source_leaf(source, len(self._places))
        last = self._places[in_file] if in_file >= 0 else -1

        def job(connection: Connection) -> None:
            db = driver(connection)
            row, _ = session_row(db, key, path)
            store_asides(db, key, source.report)
            store_source(db, key, source, stamp, counts.last_line, last)
            # Who has not moved the leaf since the last reading follows the file.
            leaf = last if row.leaf == known.last else row.leaf
            db.execute("UPDATE sessions SET leaf = ? WHERE key = ?", (leaf, key))
            if counts.added:
                columns, _ = load_columns(db, key, row.entries, path)
                store_columns(db, key, pack(columns), row.entries)

        self._writer.submit(job).result()
        with self._readers.read() as db:
            row, _ = session_row(db, key, path)
        report = source.report
        return ImportReport(
            key,
            row.title,
            False,
            counts.added,
            kept=counts.kept,
            differing=counts.differing,
            missing=missing,
            asides=len(report.asides),
            problems=list(report.problems),
        )

    def _missing(self, key: int) -> int:
        seen = set(self._places)
        with self._readers.read() as db:
            rows = db.execute(
                "SELECT id FROM entries WHERE id BETWEEN ? AND ? AND line > 0",
                (row_id(key, 0), row_id(key + 1, 0) - 1),
            )
            return sum(1 for (identifier,) in rows if index_of(identifier) not in seen)


def _set_lines(db: sqlite3.Connection, lines: list[tuple[int, int]]) -> None:
    db.executemany("UPDATE entries SET line = ? WHERE id = ?", lines)
