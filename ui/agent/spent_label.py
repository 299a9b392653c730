"""Tokens and money of the session, as a few words in the status bar."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QWidget

from ui import theme


class SpentLabel(QLabel):
    """Says as much as there is room for; the tip says all."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._short = ""
        theme.set_tone(self, "dim")
        self.hide()

    def say(self, words: str, short: str, tip: str) -> None:
        """``short`` is for where ``words`` do not fit; nothing is shown where both are empty."""
        self._short = short
        self.setText(words)
        self.setToolTip(tip)
        self.setAccessibleName("Spent so far")
        self.setAccessibleDescription(tip)
        self.setVisible(bool(words))
        self.updateGeometry()

    @property
    def shown(self) -> str:
        """What is painted at this width."""
        fits = self.fontMetrics().horizontalAdvance(self.text()) <= self.contentsRect().width()
        return self.text() if fits else self._short

    def minimumSizeHint(self) -> QSize:
        margins = self.contentsMargins()
        width = self.fontMetrics().horizontalAdvance(self._short) + margins.left() + margins.right()
        return QSize(width + 2, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent, /) -> None:
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.contentsRect(), int(self.alignment()), self.shown)
