"""Work that a view waits for, in Qt's threads: its result comes back on the window's thread."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Sequence
from functools import cache, partial
from typing import Any
from weakref import ReferenceType, ref

from PySide6.QtCore import QObject, QRunnable, QThreadPool, QTimer, Signal, Slot
from shiboken6 import isValid

from explorer.session.entries import Entry
from explorer.store.rows import StoreError

START_AFTER_MS = 15
READ_ERRORS = (OSError, ValueError, LookupError, RuntimeError, TypeError, StoreError)
"""What reading a payload may raise where a file or the database is damaged or gone."""
_log = logging.getLogger(__name__)
Read = Callable[[Sequence[int]], list[Entry]]
"""Reads the entries with these indices."""


class _Replaced(Exception):
    """Nobody waits for the work any more."""


class _Delivery(QObject):
    """Brings what threads have found to the window's thread. It outlives every view: a thread that
    emits the signal of an object which is being deleted ends the program."""

    sent = Signal(object, int, object, object)

    def __init__(self) -> None:
        super().__init__()
        self.sent.connect(self.take)

    @Slot(object, int, object, object)
    def take(
        self, receiver: ReferenceType[BackgroundJobs], number: int, name: object, result: object
    ) -> None:
        jobs = receiver()
        if jobs is not None and isValid(jobs):
            jobs.take(number, name, result)


@cache
def _delivery() -> _Delivery:
    return _Delivery()


class _Task(QRunnable):
    def __init__(self, work: Callable[[], Any], send: Callable[[object], None]) -> None:
        super().__init__()
        self._work: Callable[[], Any] | None = work
        self._send = send

    def run(self) -> None:
        # The Python object may outlive Qt's task: it keeps no reference to a session.
        work, self._work = self._work, None
        assert work is not None
        try:
            result = work()
        except _Replaced:
            return
        except Exception as error:  # noqa: BLE001 - the listener must not wait for ever
            if not isinstance(error, READ_ERRORS):
                _log.exception("work in a thread failed")
            result = error
        self._send(result)


class BackgroundJobs(QObject):
    """Runs several pieces of work; ``done`` has the name and the result, or the exception."""

    done = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.number = 0
        """Changes with every ``forget``: results of an older number are dropped."""
        _delivery()  # it lives where it is first asked for: in the window's thread

    def run(self, name: Hashable, work: Callable[[], Any]) -> None:
        """Call ``work`` in a thread."""
        QThreadPool.globalInstance().start(_Task(work, self.sender_of(name)))

    def sender_of(self, name: Hashable) -> Callable[[object], None]:
        """What a thread may call with a result, also more than once while the work goes on."""
        return partial(_delivery().sent.emit, ref(self), self.number, name)

    def forget(self) -> None:
        """Drop the results of all work under way."""
        self.number += 1

    def take(self, number: int, name: object, result: object) -> None:
        """Hand a result on, in the window's thread, if somebody still waits for it."""
        if number == self.number:
            self.done.emit(name, result)


class Loader(QObject):
    """Runs one piece of work at a time; a newer one replaces the older one."""

    loaded = Signal(object)
    failed = Signal(str)
    """The exception's class and message."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._background = BackgroundJobs(self)
        self._background.done.connect(self._done)

    def load(self, work: Callable[[], Any]) -> None:
        """Call ``work`` in a thread; ``loaded`` carries its result.

        It starts after START_AFTER_MS, so that the window is painted first: parsing a large
        payload holds the interpreter lock.
        """
        self.forget()
        number = self._background.number
        QTimer.singleShot(START_AFTER_MS, self, lambda: self._start(number, work))

    def load_from(self, read: Read, work: Callable[[Read], Any]) -> None:
        """The same for long work that reads entries: it ends at its next look at the session once a
        newer one replaces it, so that a session that was left does not hold up the next one."""
        self.forget()
        background, number = self._background, self._background.number

        def read_on(indices: Sequence[int]) -> list[Entry]:
            if number != background.number:
                raise _Replaced
            return read(indices)

        QTimer.singleShot(START_AFTER_MS, self, lambda: self._start(number, lambda: work(read_on)))

    def _start(self, number: int, work: Callable[[], Any]) -> None:
        if number == self._background.number:
            self._background.run(None, work)

    def forget(self) -> None:
        """Drop the result of the work under way."""
        self._background.forget()

    def _done(self, _name: object, result: object) -> None:
        if isinstance(result, Exception):
            self.failed.emit(f"{type(result).__name__}: {result}")
        else:
            self.loaded.emit(result)
