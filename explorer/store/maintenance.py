"""Background work of the store: finishing removals, filling the full-text index, describing anew
what earlier rules described."""

from __future__ import annotations

import json
import logging
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from explorer.session.kinds import Flag
from explorer.store.database import (
    CHECKPOINT_PAGES,
    IMPORT_PAGES,
    INDEX_BITS,
    Readers,
    id_range,
    row_id,
    work_log_in,
)
from explorer.store.drafts import break_off_draft, unfinished_drafts
from explorer.store.entry_rows import describe_anew, index_of
from explorer.store.other_programs import is_abandoned
from explorer.store.payloads import stored_payloads
from explorer.store.rows import StoreError
from explorer.store.search import (
    SearchIndex,
    SearchState,
    complete_sessions,
    entries_of,
    is_damage,
)
from explorer.store.search_text import entry_text, indexed
from explorer.store.sessions import disclaim
from explorer.store.totals import left_to_sum, not_summed, sum_up
from explorer.store.writer import Writer

T = TypeVar("T")
_log = logging.getLogger(__name__)

_STEP = 200
"""Entries per transaction: a few milliseconds for each."""
_SAMPLED_SESSIONS, _SAMPLED_ENTRIES = 40, 8
"""About so many sessions, and entries of each, are looked at to learn which words are common."""
_REST = 0.5
"""Share of the time that a step took which is left to others after it."""
_LISTED = 100
"""Sessions that are listed at once: to find one that is to be done takes a look at all of them."""
_RETRY_S = 30.0
"""After an error that may pass (a full disk, a lock): how long to wait."""


class MaintenanceThread:
    """One thread. ``wake`` tells it that there may be something to do."""

    def __init__(self, path: Path, library: str, writer: Writer, readers: Readers) -> None:
        self._path = path
        self._library = library
        self._writer = writer
        self._readers = readers
        self._index: SearchIndex | None = None
        self._index_lock = threading.RLock()
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._imports = 0
        self._unsettled = False
        self._may_remove = True
        """Whether there may be sessions to remove; else nobody has done anything since none was."""
        self._to_sum: list[int] = []
        self._to_index: list[int] = []
        """Keys of sessions that were found to be left, the newest last."""
        self._drafts_seen = False
        self._imports_lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="store-background", daemon=True)

    def start(self) -> None:
        self._thread.start()
        self.wake()

    def wake(self) -> None:
        """There may be something to do."""
        self._wake.set()

    def stop(self) -> None:
        """End the thread after its current step and close the index."""
        self._stopping.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()
        with self._index_lock:
            if self._index is not None:
                self._index.close()
                self._index = None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """While an import runs nothing is indexed, and the log grows; see ``_settle``."""
        with self._imports_lock:
            self._imports += 1
            self._unsettled = True
        self._set_log_pages(IMPORT_PAGES)
        try:
            yield
        finally:
            with self._imports_lock:
                self._imports -= 1
            self.wake()

    def _set_log_pages(self, pages: int) -> None:
        pragma = f"PRAGMA wal_autocheckpoint = {pages}"
        self._writer.submit(lambda db: db.execute(pragma).close(), transaction=False)

    def with_index(self, use: Callable[[SearchIndex], T]) -> T:
        """Use the index, alone. A damaged one is thrown away and a new one begun.

        Raises StoreError.
        """
        with self._index_lock:
            if self._stopping.is_set():
                raise StoreError(self._path, "is closed")
            try:
                if self._index is None:
                    self._index = SearchIndex(self._path, self._library)
                try:
                    return use(self._index)
                except sqlite3.DatabaseError as error:
                    if not is_damage(error):
                        raise
                    _log.warning("the search index of %s is damaged, made anew", self._path)
                    self._index.reopen()
                    self.wake()
                    return use(self._index)
            except sqlite3.Error as error:
                raise StoreError(self._path, f"the search index failed: {error}") from error

    def state(self) -> SearchState:
        """How far the index is."""
        with self._readers.read() as db:
            counts = complete_sessions(db)
        done = self.with_index(lambda index: index.done())
        ready = sum(min(done.get(key, 0), entries) for key, entries in counts.items())
        return SearchState(ready, sum(counts.values()))

    # the thread ----------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._wake.wait()
            try:
                while self._step():
                    pass
            except StoreError as error:
                if not self._stopping.is_set():
                    _log.warning("work on %s put off: %s", self._path, error)
                    self._stopping.wait(_RETRY_S)
                    self.wake()

    def _step(self) -> bool:
        """Do a little; false when nothing is left or others go first."""
        if self._stopping.is_set():
            return False
        if self._wake.is_set():
            self._wake.clear()
            self._look_again()
        started = time.monotonic()
        if not self._drafts_seen:
            self._end_drafts()
            self._drafts_seen = True
        if not (self._remove_some() or (self._imports == 0 and self._settle_or_index())):
            return False
        self._stopping.wait(_REST * (time.monotonic() - started))
        return True

    def _look_again(self) -> None:
        """Somebody did something: what is to be done is read anew, the newest first."""
        self._may_remove = True
        self._to_sum.clear()
        self._to_index.clear()

    def _settle_or_index(self) -> bool:
        if not self._unsettled:
            return (
                self._sum_some() or self._index_some() or describe_anew(self._writer, self._readers)
            )
        self._settle()
        return True

    def _settle(self) -> None:
        """Work an import's log into the file, here, where no import and no append waits for it."""
        work_log_in(self._path)
        with self._imports_lock:
            if self._imports == 0:
                self._unsettled = False
                self._set_log_pages(CHECKPOINT_PAGES)

    def _end_drafts(self) -> None:
        """Drafts of a process that was killed are not on their way any more."""
        with self._readers.read() as db:
            unfinished = unfinished_drafts(db)
        for draft_id, claim in unfinished:
            if is_abandoned(self._path, claim):
                self._writer.submit(lambda db: break_off_draft(db, draft_id)).result()  # noqa: B023

    # removals ------------------------------------------------------------------------------------

    def _remove_some(self) -> bool:
        if not self._may_remove:
            return False
        with self._readers.read() as db:
            hidden = db.execute("SELECT key, claim FROM sessions WHERE complete = 0").fetchall()
        for key, claim in hidden:
            if not claim:
                self._remove_step(key)
                return True
            if is_abandoned(self._path, claim):
                self._writer.submit(lambda db: disclaim(db, key, claim)).result()  # noqa: B023
                return True
        self._may_remove = False
        return False

    def _remove_step(self, key: int) -> None:
        """Take out the last entries of a session, and the session itself with its first."""
        with self._readers.read() as db:
            row = db.execute(
                "SELECT max(id) FROM payloads WHERE id BETWEEN ? AND ?",
                id_range(key),
            ).fetchone()
        last = -1 if row[0] is None else row[0] - row_id(key, 0)
        first = max(0, last + 1 - _STEP)
        self.with_index(lambda index: self._unindex(index, key, first, last))

        def job(db: sqlite3.Connection) -> None:
            bounds = id_range(key, first)
            db.execute("DELETE FROM payloads WHERE id BETWEEN ? AND ?", bounds)
            db.execute("DELETE FROM entries WHERE id BETWEEN ? AND ?", bounds)
            if first == 0:
                db.execute(
                    "DELETE FROM sessions WHERE key = ? AND claim = '' AND complete = 0", (key,)
                )

        self._writer.submit(job).result()

    def unindex(self, key: int, first: int) -> None:
        """Take the entries of a session from an index on out of the search index; they go in again
        when there is time. Raises StoreError."""
        self.with_index(lambda index: self._unindex(index, key, first, sys.maxsize))
        self.wake()

    def _unindex(self, index: SearchIndex, key: int, first: int, last: int) -> None:
        with index.step(key) as done:
            if done > first:
                index.remove(key, self._texts(key, first, min(done - 1, last)), first)

    def _sum_some(self) -> bool:
        """Sum up some of what sessions took."""
        with self._readers.read() as db:
            if not self._to_sum:
                self._to_sum = not_summed(db, _LISTED)
            if not self._to_sum:
                return False
            key = self._to_sum[-1]
            done, entries = left_to_sum(db, key)
        if done < entries:
            sum_up(self._writer, self._readers, key, done, entries)
        else:
            self._to_sum.pop()
        return True

    # the index -----------------------------------------------------------------------------------

    def _index_some(self) -> bool:
        if not self._to_index:
            with self._readers.read() as db:
                counts = complete_sessions(db)
            done = self.with_index(lambda index: index.done())
            behind = [key for key, entries in counts.items() if done.get(key, 0) < entries]
            # The newest session first: it is the one that is being looked at.
            self._to_index = sorted(behind)[-_LISTED:]
        if not self._to_index:
            return False
        key = self._to_index[-1]
        if self.with_index(lambda index: self._index_step(index, key)):
            self._to_index.pop()
        return True

    def _index_step(self, index: SearchIndex, key: int) -> bool:
        """Index some entries of a session; whether all of them are."""
        with self._readers.read() as db:
            entries = entries_of(db, key)
        with index.step(key) as done:
            last = min(done + _STEP, entries) - 1
            if done <= last:
                index.add(key, self._texts(key, done, last), last + 1, self._sample)
        return last + 1 >= entries

    def _texts(self, key: int, first: int, last: int) -> list[tuple[int, str]]:
        payloads = stored_payloads(self._readers, key).found(range(first, last + 1))
        return [(at, indexed(entry_text(entry))) for at, entry in payloads]

    def _sample(self) -> Iterator[str]:
        """Texts of some entries from all over the library."""
        with self._readers.read() as db:
            counts = complete_sessions(db)
            keys = sorted(counts)
            chosen = [
                row_id(key, at)
                for key in keys[:: max(1, len(keys) // _SAMPLED_SESSIONS)]
                for at in range(0, counts[key], max(1, counts[key] // _SAMPLED_ENTRIES))
            ]
            rows = db.execute(
                "SELECT id FROM entries WHERE id IN (SELECT value FROM json_each(?))"
                " AND NOT flags & ? ORDER BY id",
                (json.dumps(chosen), int(Flag.LARGE)),
            ).fetchall()
        for key, ids in groupby((one for (one,) in rows), lambda one: one >> INDEX_BITS):
            found = stored_payloads(self._readers, key).found([index_of(one) for one in ids])
            yield from (indexed(entry_text(entry)) for _, entry in found)
