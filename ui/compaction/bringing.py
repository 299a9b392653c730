"""Brings a part of a scrolled page into sight, and keeps it there until the page has its sizes."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPoint, QTimer
from PySide6.QtWidgets import QScrollArea, QWidget

from ui.theme import S16

HELD_MS = 300
"""How long a part is held in sight: texts wrap and strips come while the page is laid out."""


class Bringing(QObject):
    """One part of one area at a time."""

    def __init__(self, area: QScrollArea) -> None:
        super().__init__(area)
        self._area = area
        self._part: QWidget | None = None
        self._held = QTimer(self)
        self._held.setSingleShot(True)
        self._held.setInterval(HELD_MS)
        self._held.timeout.connect(self._let_go)
        area.verticalScrollBar().rangeChanged.connect(lambda _low, _high: self._show())

    def bring(self, part: QWidget, focus: QWidget) -> None:
        """Scroll to a part, and give the keyboard to something in it."""
        self._part = part
        focus.setFocus()
        self._held.start()
        QTimer.singleShot(0, self, self._show)

    def _show(self) -> None:
        part, body = self._part, self._area.widget()
        if part is None or body is None or not body.isAncestorOf(part):
            return
        # Of a text, Qt's own way would show the line with the cursor alone.
        top = part.mapTo(body, QPoint(0, 0)).y()
        for line in (top + part.height(), top):
            self._area.ensureVisible(0, line, 0, S16)

    def _let_go(self) -> None:
        self._show()
        self._part = None
