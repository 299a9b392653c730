"""The one thread that writes. Work is handed to it as functions and acknowledged after its commit
has been synced to the disk, or before where that is enough; what waits meanwhile shares the next
commit."""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Generic, TypeVar

from msgspec import Struct

from explorer.store.database import transaction, translated, unsynced
from explorer.store.rows import StoreError

T = TypeVar("T")
Job = Callable[[sqlite3.Connection], T]

_TOGETHER_S = 0.005
"""A transaction takes in no further jobs after this long: a job waits for one sync of the disk
with the others, and other programs wait for the lock no longer than for a slow job alone."""


class _TransactionLost(Exception):
    """SQLite has rolled back all of a transaction because one of its jobs failed."""


class _Work(Struct, Generic[T]):
    job: Job[T]
    future: Future[T]
    transaction: bool
    durable: bool
    result: Any = None
    """What the job returned, until its commit is on the disk."""


class Writer:
    """Runs jobs one after the other in transactions that lock the database at once.

    Jobs that wait for the thread share a transaction, and with it one sync of the disk, each in a
    savepoint. A job's future is done after that sync: a power cut does not take the job back. Jobs
    that need no sync of their own share a transaction too.
    When a job fails nothing of it is kept and its future has the error; those beside it stay.
    When the commit fails, the futures of all its jobs have the error. A job may be run a second
    time, after all that the first run did to the database is undone.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        rolled_back: Callable[[], object] = lambda: None,
    ) -> None:
        """``connection`` is the writer's own from now on, and closed with it. ``rolled_back`` is
        called on the writer's thread whenever a whole transaction is undone: what later jobs of it
        have seen of earlier ones is not so any more."""
        self._path = path
        self._rolled_back = rolled_back
        self._jobs: queue.SimpleQueue[_Work[Any] | None] = queue.SimpleQueue()
        self._ahead: list[_Work[Any] | None] = []
        """What was taken from the queue and could not join the transaction: at most one."""
        self._lock = threading.Lock()
        self._closed = False
        self._db = connection
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    def submit(self, job: Job[T], *, transaction: bool = True, durable: bool = True) -> Future[T]:
        """Queue a job. Raises StoreError when the store is closed.

        Without ``transaction`` the job runs on the bare connection (pragmas, checkpoints). One that
        is not ``durable`` is done without a sync of the disk: a power cut may take it back until a
        later job is.
        """
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise StoreError(self._path, "is closed")
            self._jobs.put(_Work(job, future, transaction, durable))
        return future

    @property
    def closed(self) -> bool:
        """Whether nothing is taken any more."""
        return self._closed

    def close(self) -> None:
        """Finish what was queued and end the thread."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._jobs.put(None)
        self._thread.join()
        self._db.close()

    def _run(self) -> None:
        while (work := self._ahead.pop() if self._ahead else self._jobs.get()) is not None:
            if not work.future.set_running_or_notify_cancel():
                continue
            if work.transaction:
                self._run_together(work)
            else:
                self._run_alone(work)

    def _run_together(self, first: _Work[Any]) -> None:
        """Run a job, and those like it that wait when it is done, in one transaction."""
        group = [first]
        again = False
        try:
            with nullcontext() if first.durable else unsynced(self._db), transaction(self._db):
                for work in self._joining(group):
                    self._run_in_savepoint(work)
        except _TransactionLost:
            self._recover()
            again = True
        except BaseException as error:  # noqa: BLE001 - handed to the futures of the jobs
            self._recover()
            for work in group:
                self._fail(work, error)
        for work in group:
            if again and not work.future.done():
                self._run_alone(work)
            elif not work.future.done():
                work.future.set_result(work.result)

    def _joining(self, group: list[_Work[Any]]) -> Iterator[_Work[Any]]:
        """The first job of a group, and each that waits when the one before it is done."""
        ends = time.monotonic() + _TOGETHER_S
        yield group[0]
        while time.monotonic() < ends:
            try:
                work = self._jobs.get_nowait()
            except queue.Empty:
                return
            if work is None or not work.transaction or work.durable != group[0].durable:
                self._ahead.append(work)
                return
            if work.future.set_running_or_notify_cancel():
                group.append(work)
                yield work

    def _run_in_savepoint(self, work: _Work[Any]) -> None:
        db = self._db
        db.execute("SAVEPOINT job")
        try:
            work.result = work.job(db)
        except BaseException as error:
            self._fail(work, error)
            if not db.in_transaction:
                # A full disk, for one, takes back what the jobs before have done as well.
                raise _TransactionLost from error
            db.execute("ROLLBACK TO job")
        db.execute("RELEASE job")

    def _run_alone(self, work: _Work[Any]) -> None:
        try:
            if work.transaction:
                with transaction(self._db):
                    result = work.job(self._db)
            else:
                result = work.job(self._db)
        except BaseException as error:  # noqa: BLE001 - handed to the future of the job
            self._recover()
            self._fail(work, error)
        else:
            work.future.set_result(result)

    def _fail(self, work: _Work[Any], error: BaseException) -> None:
        if work.future.done():
            return
        if isinstance(error, sqlite3.Error):
            failure: BaseException = translated(self._path, error)
            failure.__cause__ = error
        else:
            failure = error
        work.future.set_exception(failure)

    def _recover(self) -> None:
        """A failed commit may leave the transaction open; the next job needs a clean start."""
        if self._db.in_transaction:
            self._db.rollback()
        self._rolled_back()
