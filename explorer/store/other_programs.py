"""Other programs at the same database: what they commit, and whether unfinished work (imports,
drafts) still has a living process behind it."""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

from explorer.private_files import FileLock
from explorer.store.rows import StoreError
from explorer.store.writer import Writer


class Claim:
    """A locked file beside the database for as long as the work runs.

    When the process is killed the system lets go of the lock, which tells the next one to open
    the database that the work will never end.
    """

    def __init__(self, name: str, lock: FileLock) -> None:
        self.name = name
        self._lock = lock

    @classmethod
    def make(cls, database: Path) -> Claim:
        """Raises StoreError when no file can be made beside the database."""
        name = secrets.token_hex(8)
        path = claim_path(database, name)
        try:
            lock = FileLock.take(path)
        except OSError as error:
            raise StoreError(path, f"cannot be created: {error.strerror or error}") from error
        if lock is None:
            raise StoreError(path, "is locked by another program")
        return cls(name, lock)

    def __enter__(self) -> Claim:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Release the claim: the work has ended."""
        self._lock.release()


def claim_path(database: Path, name: str) -> Path:
    """The lock file of a claim."""
    return Path(f"{database}.claim-{name}")


def is_abandoned(database: Path, name: str) -> bool:
    """Whether the claim is free; its file is removed then."""
    path = claim_path(database, name)
    if not name or not path.exists():
        return True
    try:
        lock = FileLock.take(path)
    except OSError:
        return False
    if lock is None:
        return False
    lock.release()
    return True


def _data_version(db: sqlite3.Connection) -> int:
    version: int = db.execute("PRAGMA data_version").fetchone()[0]
    return version


class Watch:
    """A thread that calls back after others have committed, until it is stopped. SQLite counts on
    the connection that writes, so what this program itself commits does not count."""

    def __init__(self, writer: Writer, callback: Callable[[], object], interval_s: float) -> None:
        self._writer = writer
        self._seen = self._version()
        self._callback = callback
        self._interval_s = interval_s
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="store-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread; when called from another thread, it has ended on return."""
        self._stopping.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        while not self._stopping.wait(self._interval_s):
            try:
                seen, self._seen = self._seen, self._version()
            except StoreError:
                # Closed, which ends the watch, or a passing error of the disk.
                if self._writer.closed:
                    return
                continue
            if seen != self._seen and not self._stopping.is_set():
                self._callback()

    def _version(self) -> int:
        return self._writer.submit(_data_version, transaction=False).result()
