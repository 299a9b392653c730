"""The least window that Qt can show: what a first paint costs at best.

Run as a program with a monotonic start time in ns; prints the ms to the end of the first paint.
"""

from __future__ import annotations

import os
import sys
import time

from PySide6.QtCore import QTimer
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QApplication, QMainWindow


class BareWindow(QMainWindow):
    """Paints nothing but its background."""

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        QTimer.singleShot(0, painted)


def painted() -> None:
    """Everything that waited for its first paint has had it."""
    print((time.monotonic_ns() - int(sys.argv[1])) / 1e6, flush=True)
    os._exit(0)


if __name__ == "__main__":
    app = QApplication([])
    window = BareWindow()
    window.resize(1440, 900)
    window.show()
    app.exec()
