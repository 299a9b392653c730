"""A window's budget as one stacked bar: what fills it, what is kept free, where it ends."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from ui.theme import on_theme_changed, scaled, theme
from ui.widgets.figures import full, round_short
from ui.widgets.swatch import Share, paint_share

_HEIGHT = 18
"""Logical pixels at a text scale of one."""


class BudgetBar(QWidget):
    """Shares in order from the left, the reserve at the right end, and the limit's tick.

    When the shares go beyond the window, the scale stretches so that all of them are seen, and the
    tick stands inside the bar where the window ends.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shares: list[Share] = []
        self._limit = 1
        self._reserve = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Budget of the context window")
        on_theme_changed(self.update)

    def set_budget(self, shares: Sequence[Share], limit: int, reserve: int) -> None:
        """Tokens per share, the window and what is reserved of it for the reply."""
        self._shares = [share for share in shares if share.tokens > 0]
        self._limit, self._reserve = max(1, limit), max(0, min(reserve, limit))
        used = sum(share.tokens for share in self._shares)
        parts = ", ".join(f"{share.title} {full(share.tokens)}" for share in self._shares)
        over = used - (self._limit - self._reserve)
        state = f"{full(over)} over the threshold" if over > 0 else f"{full(-over)} free"
        self.setAccessibleDescription(
            f"{full(used)} of {full(self._limit)} tokens: {parts or 'nothing'}; "
            f"reserve {full(self._reserve)}; {state}"
        )
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(240, scaled(_HEIGHT) + 6)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, scaled(_HEIGHT) + 6)

    def _frame(self) -> QRectF:
        height = scaled(_HEIGHT)
        top = (self.height() - height) / 2
        return QRectF(0.5, top + 0.5, self.width() - 1, height - 1)

    def _scale(self) -> float:
        used = sum(share.tokens for share in self._shares)
        return self._frame().width() / max(self._limit, used, 1)

    def segments(self) -> list[tuple[Share, QRectF]]:
        """Each share with its rectangle, at least two pixels wide so that none disappears."""
        frame, scale = self._frame(), self._scale()
        x, found = frame.left(), []
        for share in self._shares:
            width = max(2.0, share.tokens * scale)
            found.append((share, QRectF(x, frame.top(), width, frame.height())))
            x += width
        return found

    def paintEvent(self, event: QPaintEvent, /) -> None:
        now, painter, frame = theme(), QPainter(self), self._frame()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        shape = QPainterPath()
        shape.addRoundedRect(frame, 4, 4)
        painter.setClipPath(shape)
        limit_x = frame.left() + self._limit * self._scale()
        threshold_x = frame.left() + (self._limit - self._reserve) * self._scale()
        painter.fillRect(frame, now.paper)
        reserve = QRectF(threshold_x, frame.top(), limit_x - threshold_x, frame.height())
        painter.fillRect(reserve, now.line)
        for share, rect in self.segments():
            paint_share(painter, rect, share, radius=0)
        painter.setClipping(False)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(now.line, 1))
        painter.drawPath(shape)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(QPen(now.ink, 2))
        x = round(threshold_x)
        painter.drawLine(QPointF(x, frame.top() - 2), QPointF(x, frame.bottom() + 3))

    def tip_at(self, x: float) -> str:
        """What the tool tip says at a horizontal position."""
        for share, rect in self.segments():
            if rect.left() <= x < rect.right():
                percent = 100 * share.tokens / self._limit
                return f"{share.title}: {full(share.tokens)} tokens, {percent:.1f} % of the window"
        if x >= self._frame().left() + (self._limit - self._reserve) * self._scale():
            return f"reserve: {full(self._reserve)} tokens kept free for the reply"
        used = sum(share.tokens for share in self._shares)
        room = self._limit - self._reserve - used
        return f"free: {full(room)} tokens before the threshold of {round_short(self._limit)}"

    def event(self, event: QEvent, /) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.tip_at(event.pos().x()), self)
            return True
        return super().event(event)
