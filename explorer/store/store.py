"""The store: every session, its entries and all that is kept about them, in one SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from explorer.session.records import EntryRecord, SessionSource
from explorer.session.tree import SessionTree
from explorer.store import database
from explorer.store.appending import Appender, NewEntry, move_leaf
from explorer.store.columns_blob import pack
from explorer.store.database import driver
from explorer.store.importing import FileStamp, NewImport
from explorer.store.loading import REPACK_ROWS, load_columns, records_from, store_columns
from explorer.store.payloads import StoredPayloads
from explorer.store.readers import Readers
from explorer.store.removing import remove_session
from explorer.store.rows import (
    ImportReport,
    IsCancelled,
    LoadedSession,
    OnProgress,
    SessionRow,
    StoreError,
)
from explorer.store.sessions import session_row, session_rows
from explorer.store.writer import Writer
from explorer.tokens.estimate import estimate_entry


class Store:
    """An open database. All methods may be called from any thread; those that return a future
    are done when the change is committed."""

    def __init__(
        self, path: Path, engine: Engine, estimate: Callable[[dict[str, Any]], int]
    ) -> None:
        self.path = path
        self._engine = engine
        self._writer = Writer(engine, path)
        self._readers = Readers(path)
        self._appender = Appender(path, estimate)

    @classmethod
    def open(
        cls, path: Path | str, *, estimate: Callable[[dict[str, Any]], int] = estimate_entry
    ) -> Store:
        """Open the database, making it when there is none, and bring its layout up to date.

        Raises StoreError (NewerVersionError, DamagedError) naming the file and the reason; the
        file is as it was then.
        """
        path = Path(path).absolute()
        if not path.exists():
            database.create(path)
        database.inspect(path)
        engine = database.open_engine(path)
        try:
            with engine.connect() as connection:
                raw = driver(connection)
                raw.execute("PRAGMA journal_mode = WAL")
                session_rows(raw)
        except (sqlite3.Error, SQLAlchemyError) as error:
            engine.dispose()
            raise database.translated(path, error) from error
        return cls(path, engine, estimate)

    def close(self) -> None:
        """Finish what was handed in and close the file."""
        self._writer.close()
        self._readers.close()
        self._engine.dispose()

    # sessions --------------------------------------------------------------------------------

    def sessions(self) -> list[SessionRow]:
        """All sessions, the last changed first."""
        with self._readers.read() as db:
            return session_rows(db)

    def session(self, key: int) -> SessionRow:
        """One session. Raises StoreError when there is none of that key."""
        with self._readers.read() as db:
            return session_row(db, key, self.path)[0]

    def import_session(
        self,
        source: SessionSource,
        progress: OnProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> ImportReport:
        """Import a session file."""
        return NewImport(self._writer, self.path, source, FileStamp.of(source.path)).run(
            progress, cancelled
        )

    def load(self, key: int) -> LoadedSession:
        """Open a session. Raises StoreError."""
        with self._readers.snapshot() as db:
            row, header = session_row(db, key, self.path)
            columns, packed = load_columns(db, key, row.entries, self.path)
        if row.entries - packed >= REPACK_ROWS:
            block, count = pack(columns), row.entries
            self._writer.submit(lambda c: store_columns(driver(c), key, block, count))
        payloads = StoredPayloads(self._readers, key)
        return LoadedSession(key, SessionTree(columns), payloads, row.leaf, header, row)

    def delete(self, key: int) -> bool:
        """Delete a session and all that is kept about it; returns whether there was one."""
        return remove_session(self._writer, key)

    # entries ---------------------------------------------------------------------------------

    def append(
        self, key: int, records: Sequence[NewEntry], leaf_id: str | None = None
    ) -> Future[list[int]]:
        """Append entries, each with the id of its parent (None: a root; may be one of these).

        The future has their indices after the commit, or StoreError. ``leaf_id`` makes an entry,
        new or old, the leaf in the same commit.
        """
        entries = list(records)
        return self._writer.submit(
            lambda c: self._appender.append(driver(c), key, entries, leaf_id)
        )

    def tail(self, key: int, first_index: int) -> list[EntryRecord]:
        """The entries from an index on, whoever appended them."""
        with self._readers.snapshot() as db:
            row, _ = session_row(db, key, self.path)
            return records_from(db, key, first_index, row.entries - 1)

    def set_leaf(self, key: int, index: int) -> Future[None]:
        """Store the leaf of a session, -1 for none; the future has StoreError out of range."""
        return self._writer.submit(lambda c: move_leaf(driver(c), key, index, self.path))


__all__ = ["Store", "StoreError"]
