"""How full the prompt is, and the lines at which something happens."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from explorer.compaction.profile.rules import Background
from explorer.compaction.reasons import share_text
from ui.theme import bind_font, on_theme_changed, scaled, small_font, theme, verdict_brush
from ui.theme.verdicts import TO_SUMMARIZE

SCALE = 1.12
"""The bar ends a little beyond full."""


class RatioGauge(QWidget):
    """A bar from empty to full with the four lines: thrown away below, begun with a warm cache,
    with a cold one, and full."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._policy = Background()
        self._ratio = 0.0
        self._drawn = 0.0
        bind_font(self, small_font)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(220)
        self.setAccessibleName("How full the prompt is")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        on_theme_changed(self._again)
        self.show_ratio(Background(), 0.0, 0.0)

    def show_ratio(self, policy: Background, ratio: float, drawn: float) -> None:
        """``drawn``: the line that the last prompt was compared with; 0 for none."""
        self._policy, self._ratio, self._drawn = policy, max(0.0, ratio), drawn
        words = [
            f"{share_text(ratio)} full",
            f"a finished summary is thrown away below {share_text(policy.apply_minimum)}",
            f"with a warm cache one is begun at {share_text(policy.warm_low)} to "
            f"{share_text(policy.warm_high)}",
            f"with a cold one at {share_text(policy.cold)}",
        ]
        if drawn:
            words.append(f"the last prompt was compared with {share_text(drawn, 1)}")
        self.setAccessibleDescription("; ".join(words))
        self.setToolTip("; ".join(words))
        self.update()

    def _again(self) -> None:
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(320, scaled(14) + 2 * self.fontMetrics().height() + scaled(10))

    def minimumSizeHint(self) -> QSize:
        return QSize(220, self.sizeHint().height())

    def _x(self, ratio: float) -> float:
        return min(ratio, SCALE) / SCALE * (self.width() - 2) + 1

    def paintEvent(self, event: QPaintEvent, /) -> None:
        now, painter, policy = theme(), QPainter(self), self._policy
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line, height = self.fontMetrics().height(), scaled(14)
        top = line + scaled(4)
        bar = QRectF(1, top, self.width() - 2, height)
        painter.setPen(QPen(now.line, 1))
        painter.setBrush(now.card)
        painter.drawRoundedRect(bar, 4, 4)
        over = self._ratio > 1
        if self._ratio > 0:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(now.lost if over else now.accent)
            painter.drawRoundedRect(QRectF(1, top, self._x(self._ratio) - 1, height), 4, 4)
        band = QRectF(
            QPointF(self._x(policy.warm_low), top - 2),
            QPointF(self._x(policy.warm_high), top + height + 2),
        )
        painter.fillRect(band, verdict_brush(TO_SUMMARIZE, self.devicePixelRatioF()))
        below = top + height + 2
        marks = (
            (policy.apply_minimum, share_text(policy.apply_minimum), 0.0),
            (policy.warm_low, f"{policy.warm_low * 100:g}–{share_text(policy.warm_high)}", below),
            (policy.cold, share_text(policy.cold), 0.0),
            (1.0, "full", below),
        )
        for at, label, y in marks:
            x = self._x(at)
            painter.setPen(QPen(now.lost if at == 1.0 else now.ink, 1.5 if at == 1.0 else 1))
            painter.drawLine(QPointF(x, top - 3), QPointF(x, top + height + 3))
            width = self.fontMetrics().horizontalAdvance(label)
            left = min(max(0.0, x - width / 2), self.width() - width)
            painter.setPen(now.dim)
            painter.drawText(QRectF(left, y, width + 1, line), Qt.AlignmentFlag.AlignLeft, label)
        if self._drawn:
            x = self._x(self._drawn)
            painter.setPen(QPen(now.comp, 2))
            painter.drawLine(QPointF(x, top), QPointF(x, top + height))
