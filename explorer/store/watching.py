"""Noticing what other programs commit to the same database."""

from __future__ import annotations

import threading
from collections.abc import Callable

from sqlalchemy import Connection

from explorer.store.database import driver
from explorer.store.rows import StoreError
from explorer.store.writer import Writer


class Elsewhere:
    """Tells whether others have committed. SQLite counts on the connection that writes, so what
    this program itself commits does not count."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._seen = self._version()

    def changed(self) -> bool:
        """Whether others have committed since the last call. Raises StoreError."""
        seen, self._seen = self._seen, self._version()
        return seen != self._seen

    def _version(self) -> int:
        return self._writer.submit(_data_version, transaction=False).result()


def _data_version(connection: Connection) -> int:
    version: int = driver(connection).execute("PRAGMA data_version").fetchone()[0]
    return version


class Watch:
    """A thread that calls back after others have committed, until it is stopped."""

    def __init__(self, writer: Writer, callback: Callable[[], object], interval_s: float) -> None:
        self._writer = writer
        self._elsewhere = Elsewhere(writer)
        self._callback = callback
        self._interval_s = interval_s
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="store-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End it; from another thread than its own, it has ended on return."""
        self._stopping.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        while not self._stopping.wait(self._interval_s):
            try:
                changed = self._elsewhere.changed()
            except StoreError:
                # Closed, which ends the watch, or a passing error of the disk.
                if self._writer.closed:
                    return
                continue
            if changed and not self._stopping.is_set():
                self._callback()
