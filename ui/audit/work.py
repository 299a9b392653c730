"""Audits in a thread, with progress and a way to stop them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from explorer.facts import ScanCancelled
from ui.widgets.loader import Loader

Progress = Callable[[int, int], None]
Job = Callable[[Callable[[], bool], Progress], Any]
"""Takes a function that says whether to stop, and one that reports entries done and in all."""
_STOPPED = object()
STEP = 0.01
"""Share of the whole that must be done before the next progress report."""


class AuditWork(QObject):
    """One job at a time; a newer one stops the older."""

    done = Signal(object)
    failed = Signal(str)
    stopped = Signal()
    progressed = Signal(int, int)
    """Entries done and in all; comes over from the thread."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._stop = threading.Event()
        self.is_running = False
        self._loader = Loader(self)
        self._loader.loaded.connect(self._loaded)
        self._loader.failed.connect(self._failed)

    def start(self, job: Job) -> None:
        """Do a job in a thread."""
        self._stop.set()
        stop = self._stop = threading.Event()
        self.is_running = True
        last = -1.0

        def progress(done: int, total: int) -> None:
            nonlocal last
            share = done / total if total else 1.0
            if not stop.is_set() and (share - last >= STEP or share >= 1):
                last = share
                self.progressed.emit(done, total)

        def run() -> object:
            try:
                return job(stop.is_set, progress)
            except ScanCancelled:
                return _STOPPED

        self._loader.load(run)

    def stop(self) -> None:
        """Give the job up; what was found out so far is forgotten."""
        self._stop.set()
        if self.is_running:
            self.is_running = False
            self._loader.forget()
            self.stopped.emit()

    def _loaded(self, found: object) -> None:
        self.is_running = False
        if found is _STOPPED:
            self.stopped.emit()
        else:
            self.done.emit(found)

    def _failed(self, message: str) -> None:
        self.is_running = False
        self.failed.emit(message)
