"""Connections that read, lent for the time of a read and used again by whoever reads next."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from explorer.store.database import connect_reader, translated
from explorer.store.rows import StoreError

MOST_IDLE = 4
"""Connections that stay open while nobody reads; each has two files and a page cache."""


class Readers:
    """Lends connections, each to one thread at a time. SQLite's errors come out as StoreError.

    A connection belongs to no thread: Qt's pool makes a Python thread anew for every piece of
    work and never reports its end, so that connections bound to threads would pile up.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._idle: list[sqlite3.Connection] = []
        self._lent = 0
        self._returned = threading.Condition()
        self._closed = False
        self._local = threading.local()
        """``connection``: what this thread has on loan, for a read within a read."""

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection for this thread. Raises StoreError when closed or when SQLite refuses."""
        try:
            connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
            if connection is not None:
                yield connection
                return
            connection = self._local.connection = self._lend()
            try:
                yield connection
            finally:
                self._local.connection = None
                self._take_back(connection)
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

    def _lend(self) -> sqlite3.Connection:
        with self._returned:
            if self._closed:
                raise StoreError(self.path, "is closed")
            # The last one used has the pages that are wanted again.
            connection = self._idle.pop() if self._idle else connect_reader(self.path)
            self._lent += 1
        return connection

    def _take_back(self, connection: sqlite3.Connection) -> None:
        with self._returned:
            self._lent -= 1
            if self._closed or len(self._idle) >= MOST_IDLE:
                connection.close()
            else:
                self._idle.append(connection)
            self._returned.notify_all()

    def close(self) -> None:
        """Close all connections, each when what it is doing is done."""
        with self._returned:
            self._closed = True
            for connection in self._idle:
                connection.close()
            self._idle.clear()
            self._returned.wait_for(lambda: not self._lent)
