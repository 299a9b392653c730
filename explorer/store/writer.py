"""The one thread that writes. Work is handed to it as functions and acknowledged after commit."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from explorer.store.database import driver, translated
from explorer.store.rows import StoreError

T = TypeVar("T")
Job = Callable[[Connection], T]


@dataclass(slots=True)
class _Work(Generic[T]):
    job: Job[T]
    future: Future[T]
    transaction: bool


class Writer:
    """Runs jobs one after the other, each in a transaction that locks the database at once.

    A job's future is done after its commit; when the job or the commit fails nothing of it is
    kept and the future has the error.
    """

    def __init__(self, engine: Engine, path: Path) -> None:
        self._path = path
        self._jobs: queue.SimpleQueue[_Work[Any] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False
        self._connection = engine.connect()
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    def submit(self, job: Job[T], *, transaction: bool = True) -> Future[T]:
        """Queue a job. Raises StoreError when the store is closed.

        Without ``transaction`` the job runs on the bare connection (pragmas, checkpoints).
        """
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise StoreError(self._path, "is closed")
            self._jobs.put(_Work(job, future, transaction))
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
        self._connection.close()

    def _run(self) -> None:
        while (work := self._jobs.get()) is not None:
            if work.future.set_running_or_notify_cancel():
                self._do(work)

    def _do(self, work: _Work[Any]) -> None:
        try:
            if work.transaction:
                with self._connection.begin():
                    result = work.job(self._connection)
            else:
                result = work.job(self._connection)
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits for the job
            self._recover()
            if isinstance(error, SQLAlchemyError) or type(error).__module__ == "sqlite3":
                failure: BaseException = translated(self._path, error)
                failure.__cause__ = error
            else:
                failure = error
            work.future.set_exception(failure)
        else:
            work.future.set_result(result)

    def _recover(self) -> None:
        """A failed commit may leave the transaction open; the next job needs a clean start."""
        if self._connection.in_transaction():
            self._connection.rollback()
        raw = driver(self._connection)
        if raw.in_transaction:
            raw.rollback()
