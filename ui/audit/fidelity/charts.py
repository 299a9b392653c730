"""Survival over the compactions of a session, and by how long ago a thing was said."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from ui.audit.fidelity.words import percent
from ui.theme import (
    S4,
    S8,
    bind_font,
    on_theme_changed,
    paint_verdict,
    scaled,
    small_font,
    theme,
)
from ui.theme.verdicts import LOST, TO_SUMMARIZE


class Point(NamedTuple):
    """One column of a chart."""

    name: str
    share: float
    """What survived, 0 to 1."""
    total: int
    """Of how many."""
    words: str
    """The column in a sentence."""


class _Chart(QWidget):
    """Shares from 0 to 100 % in columns; the arrow keys go through them, one is told in words."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self.points: Sequence[Point] = ()
        self.at = -1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        bind_font(self, small_font)
        on_theme_changed(self.update)
        self._tell()

    def show_points(self, points: Sequence[Point]) -> None:
        """Show other columns."""
        self.points, self.at = points, -1
        self._tell()
        self.update()

    def _tell(self) -> None:
        if 0 <= self.at < len(self.points):
            told = self.points[self.at].words
        else:
            told = " ".join(point.words for point in self.points) or "Nothing to show."
        self.setAccessibleName(f"{self._name}. {told}")
        self.setToolTip(told if self.at >= 0 else "")

    def sizeHint(self) -> QSize:
        return QSize(scaled(240), scaled(110))

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if not step or not self.points:
            super().keyPressEvent(event)
            return
        self.at = max(0, min(len(self.points) - 1, self.at + step))
        self._tell()
        self.update()

    def _plot(self) -> QRectF:
        metrics = self.fontMetrics()
        left = metrics.horizontalAdvance("100 %") + S8
        below = metrics.height() + S4
        above = metrics.height() / 2
        return QRectF(left, above, self.width() - left - S8, self.height() - below - above)

    def _columns(self, plot: QRectF) -> list[QRectF]:
        width = plot.width() / max(1, len(self.points))
        return [
            QRectF(plot.left() + at * width, plot.top(), width, plot.height())
            for at in range(len(self.points))
        ]

    def paintEvent(self, event: QPaintEvent, /) -> None:
        now, painter, metrics = theme(), QPainter(self), self.fontMetrics()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        plot = self._plot()
        right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        for share in (0.0, 0.5, 1.0):
            y = plot.bottom() - share * plot.height()
            painter.setPen(now.line)
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
            painter.setPen(now.dim)
            label = QRectF(0, y - metrics.height() / 2, plot.left() - S4, metrics.height())
            painter.drawText(label, right, f"{share * 100:.0f} %")
        columns = self._columns(plot)
        self._paint_points(painter, plot, columns)
        room_until = -1.0
        for at, (point, column) in enumerate(zip(self.points, columns, strict=True)):
            if self.hasFocus() and at == self.at:
                painter.setPen(QPen(now.accent, 1))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(column.adjusted(0.5, 0.5, -0.5, -0.5))
            wide = metrics.horizontalAdvance(point.name)
            start = min(column.center().x() - wide / 2, self.width() - wide)
            if start < room_until:
                continue
            painter.setPen(now.ink if at == self.at else now.dim)
            painter.drawText(QPointF(start, self.height() - metrics.descent()), point.name)
            room_until = start + wide + S4

    @abstractmethod
    def _paint_points(self, painter: QPainter, plot: QRectF, columns: Sequence[QRectF]) -> None:
        """Paint the shares, each in its column."""


class GenerationChart(_Chart):
    """A line over the compactions of the path."""

    def _paint_points(self, painter: QPainter, plot: QRectF, columns: Sequence[QRectF]) -> None:
        now = theme()
        dots = [
            QPointF(column.center().x(), plot.bottom() - point.share * plot.height())
            for point, column in zip(self.points, columns, strict=True)
        ]
        painter.setPen(QPen(now.comp, 2))
        painter.drawPolyline(QPolygonF(dots))
        painter.setBrush(now.paper)
        for dot in dots:
            painter.drawEllipse(dot, 3.5, 3.5)
        if len(dots) <= 12:
            painter.setPen(now.ink)
            for point, dot in zip(self.points, dots, strict=True):
                words = percent(point.share)
                wide = self.fontMetrics().horizontalAdvance(words)
                y = dot.y() - 7 if dot.y() - 7 > self.fontMetrics().height() else dot.y() + 16
                painter.drawText(QPointF(dot.x() - wide / 2, y), words)


class RecencyChart(_Chart):
    """Columns of what survived, over what was lost, the oldest stretch at the left."""

    def _paint_points(self, painter: QPainter, plot: QRectF, columns: Sequence[QRectF]) -> None:
        now = theme()
        for point, column in zip(self.points, columns, strict=True):
            if not point.total:
                continue
            inner = column.adjusted(S4, 0, -S4, 0)
            high = inner.height() * point.share
            lost = QRectF(inner.left(), inner.top(), inner.width(), inner.height() - high)
            kept = QRectF(inner.left(), inner.bottom() - high, inner.width(), high)
            if lost.height() > 1:
                paint_verdict(painter, lost, LOST)
            if kept.height() > 1:
                paint_verdict(painter, kept, TO_SUMMARIZE)
            words = percent(point.share)
            wide = self.fontMetrics().horizontalAdvance(words)
            if wide > inner.width():
                continue
            y = max(inner.bottom() - high - 4, inner.top() + self.fontMetrics().ascent())
            place = QRectF(
                inner.center().x() - wide / 2 - 2,
                y - self.fontMetrics().ascent(),
                wide + 4,
                self.fontMetrics().height(),
            )
            painter.fillRect(place, now.paper)
            painter.setPen(now.ink)
            painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter), words)
