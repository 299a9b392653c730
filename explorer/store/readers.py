"""Connections that read, one per thread, opened when a thread first asks."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from explorer.store.database import connect_reader, translated
from explorer.store.rows import StoreError


class _Reader:
    """A thread's connection. The lock keeps it from being closed while it is at work."""

    __slots__ = ("connection", "lock", "thread")

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.lock = threading.RLock()
        self.thread = threading.current_thread()

    def close(self) -> None:
        with self.lock:
            self.connection.close()


class Readers:
    """Hands every thread its own connection. SQLite's errors come out as StoreError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._lock = threading.Lock()
        self._all: list[_Reader] = []
        self._closed = False

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """This thread's connection. Raises StoreError when closed or when SQLite refuses."""
        try:
            reader = self._reader()
            with reader.lock:
                if self._closed:
                    raise StoreError(self.path, "is closed")
                yield reader.connection
        except sqlite3.Error as error:
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

    def _reader(self) -> _Reader:
        found: _Reader | None = getattr(self._local, "reader", None)
        if found is not None:
            return found
        with self._lock:
            if self._closed:
                raise StoreError(self.path, "is closed")
            self._drop_ended()
            found = _Reader(connect_reader(self.path))
            self._all.append(found)
        self._local.reader = found
        return found

    def _drop_ended(self) -> None:
        """Threads come and go; their connections must not pile up."""
        for reader in self._all:
            if not reader.thread.is_alive():
                reader.close()
        self._all = [reader for reader in self._all if reader.thread.is_alive()]

    def close(self) -> None:
        """Close all connections, each when what it is doing is done."""
        with self._lock:
            self._closed = True
            for reader in self._all:
                reader.close()
            self._all.clear()
