"""Long work on the window's thread, done in steps: the window answers between two of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, QTimer

_OVER = object()


def _nothing() -> None:
    """For when nothing is under way."""


class StepRunner(QObject):
    """One piece of work at a time, such as the building of a window. Each step of its iterator
    is one pass of the event loop; no step may take longer than 16 ms."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._steps: Iterator[None] | None = None
        self._then: Callable[[], None] = _nothing
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._step)

    @property
    def is_running(self) -> bool:
        """Whether steps are left."""
        return self._steps is not None

    def start(self, steps: Iterator[None], then: Callable[[], None]) -> None:
        """Do the first step at once, the others one per pass of the loop, and ``then`` last. Work
        that is under way is given up."""
        self._steps, self._then = steps, then
        self._step()

    def stop(self) -> None:
        """Give up what is under way; ``then`` is not called. No reference to it stays."""
        self._steps, self._then = None, _nothing
        self._timer.stop()

    def _step(self) -> None:
        steps, then = self._steps, self._then
        if steps is None:
            return
        try:
            is_over = next(steps, _OVER) is _OVER
        except BaseException:
            # Work that fails is given up: else nothing could be begun after it.
            self._end(steps)
            raise
        if is_over:
            if self._end(steps):
                then()
        elif self._steps is steps:
            self._timer.start()

    def _end(self, steps: Iterator[None]) -> bool:
        """Whether the work was still wanted."""
        wanted = self._steps is steps
        if wanted:
            self.stop()
        return wanted
