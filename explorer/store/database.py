"""Opening and creating the database file, connections to it, the version of its layout, and what
names entries in the tables (``tables`` describes them).

An entry's row and its payload are named by one integer, ``key << 32 | index``: the session's
entries lie together in index order, and both tables are plain B-trees without a second index.
Payloads have a separate table so that reading the rows does not touch them.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from explorer import private_files
from explorer.session.describe import WORDS_VERSION
from explorer.settings import paths
from explorer.store.rows import DamagedError, NewerVersionError, StoreError

APPLICATION_ID = 0x53457870
"""Marks a file as ours, in SQLite's header ("SExp")."""
SCHEMA_VERSION = 8
"""In SQLite's ``user_version``; see ``migrations`` for what each version brought."""
PAGE_SIZE = 16384
INDEX_BITS = 32


def row_id(key: int, index: int) -> int:
    """The integer that names an entry in the tables."""
    return key << INDEX_BITS | index


def id_range(key: int, first: int = 0) -> tuple[int, int]:
    """The least and the largest of the integers that name a session's entries from an index on."""
    return row_id(key, first), row_id(key, (1 << INDEX_BITS) - 1)


BUSY_MS = 10_000
"""How long a write waits for another process's write."""
CHECKPOINT_PAGES = 4000
"""64 MB of log before a commit works it into the file."""
IMPORT_PAGES = 32_000
"""The same while importing, 512 MB: working it in is left to the background then."""
_MAGIC = b"SQLite format 3\0"


def inspect(path: Path) -> int:
    """The schema version that the file's header names, without opening it as a database.

    Raises StoreError when it is not one of ours, DamagedError when it is cut short, and
    NewerVersionError when a newer version of the program wrote it.
    """
    try:
        with path.open("rb") as file:
            head = file.read(100)
        size = path.stat().st_size
    except OSError as error:
        raise StoreError(path, f"cannot be read: {error.strerror or error}") from error
    if len(head) < 100 or not head.startswith(_MAGIC):
        raise StoreError(path, "is not a database of this program (it is no SQLite file)")
    if int.from_bytes(head[68:72], "big") != APPLICATION_ID:
        raise StoreError(path, "is a database of another program")
    page = int.from_bytes(head[16:18], "big")
    pages = int.from_bytes(head[28:32], "big")
    if size < page * pages and not _pending(path):
        raise DamagedError(
            path, f"is cut short: {size:,} bytes are left of {page * pages:,}; nothing was changed"
        )
    version = int.from_bytes(head[60:64], "big")
    check_version(path, version)
    return version


def check_version(path: Path, version: int) -> None:
    """Raises NewerVersionError when this program does not know the version yet."""
    if version > SCHEMA_VERSION:
        raise NewerVersionError(
            path,
            f"was written by a newer version of the program (layout {version}, this one knows"
            f" {SCHEMA_VERSION}); nothing was changed",
        )


def _pending(path: Path) -> bool:
    wal = Path(f"{path}-wal")
    return wal.exists() and wal.stat().st_size > 0


def create(path: Path) -> None:
    """Make a new database with the current layout; nothing when one has appeared meanwhile.

    It is made under another name and then put in place, so that a kill leaves no half of one. On
    return it is on the disk, and so are its name and the folders that were made for it.
    """
    # SQLModel takes a third of a second to import, and no database that exists needs it.
    from explorer.store.tables import create_tables

    making = Path(f"{path}.new-{secrets.token_hex(4)}")
    try:
        paths.ensure(path.parent)
        private_files.create_empty(making)
        with closing(connect_writer(making)) as db:
            create_tables(db)
            db.execute("INSERT INTO library VALUES ('id', ?)", (secrets.token_hex(16),))
            db.execute("INSERT INTO library VALUES ('words', ?)", (f"{WORDS_VERSION} 0 0",))
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        _put_in_place(making, path)
        private_files.sync_folder(path.parent)
    except sqlite3.Error as error:
        raise translated(path, error) from error
    except OSError as error:
        raise StoreError(path, f"cannot be created: {error.strerror or error}") from error
    finally:
        if path.parent.is_dir():
            for name in (making, Path(f"{making}-journal")):
                name.unlink(missing_ok=True)


def _put_in_place(making: Path, path: Path) -> None:
    """Give the new file its name, unless there is one of that name already."""
    try:
        os.link(making, path)
    except FileExistsError:
        return
    except OSError:
        # Some file systems know no second names; only there could two first starts meet.
        if not path.exists():
            os.replace(making, path)


def connect_writer(path: Path) -> sqlite3.Connection:
    """A connection that writes, in transactions of its user's (see ``transaction``).

    Raises sqlite3.Error.
    """
    db = sqlite3.connect(
        path,
        timeout=BUSY_MS / 1000,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    try:
        db.execute(f"PRAGMA page_size = {PAGE_SIZE}")
        db.execute("PRAGMA foreign_keys = ON")
        sync_commits(db)
        db.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        db.execute(f"PRAGMA journal_size_limit = {CHECKPOINT_PAGES * PAGE_SIZE}")
    except sqlite3.Error:
        db.close()
        raise
    return db


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Locks at once, commits at the end, rolls back on an error."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


@contextmanager
def unsynced(db: sqlite3.Connection) -> Iterator[None]:
    """Commits inside do not wait for the disk: the next synced one takes them there with it, and
    until then a power cut takes them back, the last ones first. For a connection of a writer."""
    db.execute("PRAGMA synchronous = NORMAL")
    try:
        yield
    finally:
        db.execute("PRAGMA synchronous = FULL")


def sync_commits(connection: sqlite3.Connection) -> None:
    """Have every commit synced before it is acknowledged, whatever SQLite was built for.

    NORMAL would leave that to the next checkpoint, and a power cut would take acknowledged entries.
    """
    connection.execute("PRAGMA synchronous = FULL")
    # macOS alone: its plain fsync leaves what was written in the cache of the disk.
    connection.execute("PRAGMA fullfsync = ON")


def work_log_in(path: Path) -> None:
    """Work the log into the file as far as readers allow, on a separate connection, so that
    the writer does not wait for it. Raises StoreError."""
    try:
        connection = sqlite3.connect(path, timeout=0, isolation_level=None)
        try:
            sync_commits(connection)
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise translated(path, error) from error


def connect_reader(path: Path) -> sqlite3.Connection:
    """A connection that only reads, for one thread at a time."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro",
        uri=True,
        timeout=BUSY_MS / 1000,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.execute("PRAGMA query_only = ON")
    return connection


def translated(path: Path, error: BaseException) -> StoreError:
    """An error of SQLite as one for a person."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return StoreError(path, "the disk is full; what was being written was not kept")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT):
        return DamagedError(path, f"is damaged ({error}); what can be read can be copied out")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreError(path, "another program keeps it locked; nothing was written, try again")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN):
        return StoreError(path, f"cannot be opened for writing ({error})")
    if code == sqlite3.SQLITE_IOERR:
        return StoreError(path, f"the disk reported an error ({error})")
    return StoreError(path, str(error))


MOST_IDLE = 4
"""Idle connections that stay open for reading; each has two files and a page cache."""


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
