"""A bar that says how far something is, or that it goes on."""

from __future__ import annotations

from PySide6.QtCore import QElapsedTimer, QRectF, Qt, QTimer
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QProgressBar, QWidget

from ui.theme import motion_ms, theme

_ROUND_MS, _STEP_MS = 2_400, 33
"""How long the piece takes there and back, and between two pictures."""
_PIECE = 0.3
"""The length of the piece, of that of the bar."""
_RADIUS = 3


class ProgressBar(QProgressBar):
    """Where nobody knows how far it is, one piece goes to and fro: the style's own leaves the bar
    at one end while it comes in at the other, which looks like two bars."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextVisible(False)
        self._since = QElapsedTimer()
        self._tick = QTimer(self)
        self._tick.setInterval(_STEP_MS)
        self._tick.timeout.connect(self._step)

    @property
    def piece(self) -> QRectF | None:
        """Where the piece is now; None where it is known how far it is."""
        if self.maximum() > self.minimum():
            return None
        share = self._since.elapsed() % _ROUND_MS / _ROUND_MS if motion_ms(_ROUND_MS) else 0.25
        room = self.width() * (1 - _PIECE)
        left = room * (1 - abs(2 * share - 1))
        return QRectF(left, 0, self.width() * _PIECE, self.height())

    def showEvent(self, event: QShowEvent, /) -> None:
        super().showEvent(event)
        self._since.start()
        self._tick.start()

    def hideEvent(self, event: QHideEvent, /) -> None:
        super().hideEvent(event)
        self._tick.stop()

    def _step(self) -> None:
        if self.piece is not None:
            self.update()

    def paintEvent(self, event: QPaintEvent, /) -> None:
        piece = self.piece
        if piece is None:
            super().paintEvent(event)
            return
        painter, now = QPainter(self), theme()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        for rect, tone in ((QRectF(self.rect()), now.line), (piece, now.accent)):
            painter.setBrush(tone)
            painter.drawRoundedRect(rect, _RADIUS, _RADIUS)
