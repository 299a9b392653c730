"""Work that a view waits for, in Qt's threads: its result comes back on the window's thread."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from PySide6.QtCore import QObject, QRunnable, QThreadPool, QTimer, Signal

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


class _Signals(QObject):
    done = Signal(int, object, object)


class _Task(QRunnable):
    def __init__(
        self, number: int, name: Hashable, work: Callable[[], Any], signals: _Signals
    ) -> None:
        super().__init__()
        self._number, self._name, self._signals = number, name, signals
        self._work: Callable[[], Any] | None = work

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
        try:
            self._signals.done.emit(self._number, self._name, result)
        except RuntimeError:
            return  # the view was deleted meanwhile: nobody waits for it


class BackgroundJobs(QObject):
    """Runs several pieces of work; ``done`` has the name and the result, or the exception."""

    done = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.number = 0
        """Changes with every ``forget``: results of an older number are dropped."""
        self._signals = _Signals(self)
        self._signals.done.connect(self._done)

    def run(self, name: Hashable, work: Callable[[], Any]) -> None:
        """Call ``work`` in a thread."""
        QThreadPool.globalInstance().start(_Task(self.number, name, work, self._signals))

    def forget(self) -> None:
        """Drop the results of all work under way."""
        self.number += 1

    def _done(self, number: int, name: object, result: object) -> None:
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
