"""What the window shows in its first moments: where everything is going to be."""

from __future__ import annotations

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from ui import theme

HEADER, LIBRARY, INSPECTOR, AGENT = 44, 212, 452, 200
"""Sizes in pixels at a text scale of 100 %, as the window has them until a person changes them."""


class Curtain(QWidget):
    """Paints the surfaces of the window's parts; one widget, so that it is there at once."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Session Explorer is starting")

    def paintEvent(self, event: QPaintEvent) -> None:
        colors = theme.theme()
        width, height = self.width(), self.height()
        top, left = theme.scaled(HEADER), LIBRARY
        right, bottom = max(left, width - INSPECTOR), max(top, height - AGENT)
        painter = QPainter(self)
        painter.fillRect(event.rect(), colors.paper)
        painter.fillRect(0, 0, width, top, colors.panel)
        painter.fillRect(0, top, left, bottom - top, colors.panel)
        painter.setPen(colors.line)
        painter.drawLine(0, top, width, top)
        painter.drawLine(left, top, left, bottom)
        painter.drawLine(0, bottom, right, bottom)
        painter.drawLine(right, top, right, height)
        painter.setPen(colors.dim)
        metrics = self.fontMetrics()
        rise = (metrics.ascent() - metrics.descent()) // 2
        painter.drawText(theme.S16, top // 2 + rise, "Session Explorer")
        text = "Opening the library…"
        middle = (left + right - metrics.horizontalAdvance(text)) // 2
        painter.drawText(middle, (top + bottom) // 2 + rise, text)
        painter.end()
