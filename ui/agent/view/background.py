"""Work in threads for the conversation: each piece has a name, and its result comes by signal."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable
from typing import Any

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal

_log = logging.getLogger(__name__)


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
        # Python's half of a task may outlive Qt's: it holds on to nothing of a session.
        work, self._work = self._work, None
        assert work is not None
        try:
            result = work()
        except Exception as error:  # noqa: BLE001 - told to who waits, and written down
            _log.exception("what the conversation asked for could not be made")
            result = error
        try:
            self._signals.done.emit(self._number, self._name, result)
        except RuntimeError:
            return  # the view was deleted meanwhile: nobody waits for it


class Background(QObject):
    """Runs work in Qt's threads; ``done`` has the name and the result, or the exception."""

    done = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._number = 0
        self._signals = _Signals(self)
        self._signals.done.connect(self._done)

    def run(self, name: Hashable, work: Callable[[], Any]) -> None:
        """Call ``work`` in a thread."""
        QThreadPool.globalInstance().start(_Task(self._number, name, work, self._signals))

    def forget(self) -> None:
        """Whatever is under way is not wanted any more."""
        self._number += 1

    @property
    def number(self) -> int:
        """Changes with every ``forget``: long work may look whether it is still wanted."""
        return self._number

    def _done(self, number: int, name: object, result: object) -> None:
        if number == self._number:
            self.done.emit(name, result)
