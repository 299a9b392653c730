"""Connections that read, one per thread, opened when a thread first asks."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from explorer.store.database import connect_reader, translated
from explorer.store.rows import StoreError


class Readers:
    """Hands every thread its own connection. SQLite's errors come out as StoreError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._lock = threading.Lock()
        self._all: list[tuple[threading.Thread, sqlite3.Connection]] = []
        self._closed = False

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """This thread's connection. Raises StoreError when closed or when SQLite refuses."""
        try:
            yield self._connection()
        except sqlite3.Error as error:
            if self._closed:
                raise StoreError(self.path, "is closed") from error
            raise translated(self.path, error) from error

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Like ``read``, where all queries see the database at one moment."""
        with self.read() as connection:
            if connection.in_transaction:
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.rollback()

    def _connection(self) -> sqlite3.Connection:
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is not None:
            return found
        with self._lock:
            if self._closed:
                raise StoreError(self.path, "is closed")
            self._drop_ended()
            found = connect_reader(self.path)
            self._all.append((threading.current_thread(), found))
        self._local.connection = found
        return found

    def _drop_ended(self) -> None:
        """Threads come and go; their connections must not pile up."""
        for thread, connection in self._all:
            if not thread.is_alive():
                connection.close()
        self._all = [pair for pair in self._all if pair[0].is_alive()]

    def close(self) -> None:
        with self._lock:
            self._closed = True
            for _, connection in self._all:
                connection.close()
            self._all.clear()
