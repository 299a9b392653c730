"""Importing a session file: parsed on the calling thread while the writer inserts."""

from __future__ import annotations

import hashlib
import sqlite3
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection

from explorer.session.records import EntryRecord, ReadReport, SessionSource
from explorer.store.appending import insert_entries, insert_labels
from explorer.store.batch import Batch, BatchBuilder
from explorer.store.claims import Claim
from explorer.store.codec import text_in, to_json
from explorer.store.columns_blob import pack
from explorer.store.database import driver
from explorer.store.loading import store_columns
from explorer.store.locate import FileStamp
from explorer.store.rows import (
    ImportCancelled,
    ImportReport,
    IsCancelled,
    OnProgress,
    StoreError,
)
from explorer.store.schema import row_id
from explorer.store.sessions import Summary, begin_session, extend_session
from explorer.store.writer import Writer

_IN_FLIGHT = 4
"""Batches that may wait for the writer: enough to keep it busy, few enough to stay small."""
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
        self._summary = Summary()
        self._labels: list[tuple[int, tuple[str, str]]] = []
        self._waiting: deque[Future[None]] = deque()
        self._last_line = 0
        self._key = 0

    def run(self, progress: OnProgress | None, cancelled: IsCancelled | None) -> ImportReport:
        """Import everything. Raises StoreError, ImportCancelled, or what the source raises;
        nothing is kept then."""
        with _quick_turns(), Claim.make(self._path) as claim:
            header = self._source.header
            begun = self._writer.submit(lambda c: begin_session(driver(c), header, claim.name))
            self._key = begun.result()
            try:
                for batch in self._source.batches():
                    if cancelled is not None and cancelled():
                        raise ImportCancelled(f"the import of {self._source.path} was cancelled")
                    if batch:
                        self._take(batch)
                    if progress is not None:
                        progress(self._source.report.bytes_done, self._source.report.bytes_total)
                self._drain(0)
                return self._finish(claim.name)
            except BaseException:
                self._give_up()
                raise

    def _take(self, records: Sequence[EntryRecord]) -> None:
        batch = Batch(records)
        first = self._builder.extend(batch)
        self._summary.take(batch)
        self._last_line = max(self._last_line, *batch.lines)
        self._labels += [(first + at, label) for at, label in batch.labels()]
        first_id = row_id(self._key, first)
        entries, payloads = batch.entry_values(first_id), batch.payload_values(first_id)
        self._drain(_IN_FLIGHT - 1)
        self._waiting.append(
            self._writer.submit(lambda c: insert_entries(driver(c), entries, payloads))
        )

    def _drain(self, allowed: int) -> None:
        while len(self._waiting) > allowed:
            self._waiting.popleft().result()

    def _finish(self, claim: str) -> ImportReport:
        columns, key = self._builder.columns, self._key
        count, block = len(columns), pack(columns)
        leaf = source_leaf(self._source, count)

        def job(connection: Connection) -> None:
            db = driver(connection)
            shown = db.execute(
                "UPDATE sessions SET complete = 1, claim = '' WHERE key = ? AND claim = ?",
                (key, claim),
            )
            if shown.rowcount != 1:
                raise StoreError(self._path, "the unfinished import was removed by another window")
            store_columns(db, key, block, count)
            insert_labels(db, key, self._labels)
            extend_session(db, key, count, self._summary, leaf)
            store_asides(db, key, self._source.report)
            if self._stamp is not None:
                store_source(db, key, self._source, self._stamp, self._last_line, leaf)

        self._writer.submit(job).result()
        report = self._source.report
        title = self._summary.name or self._summary.first_said
        return ImportReport(
            key, title, True, count, asides=len(report.asides), problems=list(report.problems)
        )

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
    db.executemany(
        "INSERT OR REPLACE INTO asides (session, line, raw, reason) VALUES (?, ?, ?, ?)",
        [(key, aside.line, aside.raw, aside.reason) for aside in report.asides],
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
