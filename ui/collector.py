"""Python's garbage collector, kept on the window's thread.

Python collects on whichever thread happens to allocate. A dead cycle that holds a widget or a
timer would then be destroyed by a worker thread, which Qt does not survive.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QObject, QTimer

LOOK_EVERY_MS = 250


class Collector(QObject):
    """Collects now and then on the thread that made it; elsewhere nothing is collected."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_enabled = gc.isenabled()
        gc.disable()
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_EVERY_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()

    def look(self) -> None:
        """Collect the oldest generation whose turn it is by Python's own thresholds."""
        due = [
            generation
            for generation, (count, limit) in enumerate(
                zip(gc.get_count(), gc.get_threshold(), strict=True)
            )
            if limit and count > limit
        ]
        if due:
            gc.collect(max(due))

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Collect nothing meanwhile: while modules are imported it would stall the window."""
        self._timer.stop()
        try:
            yield
        finally:
            self._timer.start()

    def stop(self) -> None:
        """Leave collecting to Python again."""
        self._timer.stop()
        if self._was_enabled:
            gc.enable()
