"""Survival as bars, kind by kind, and over the compactions of a session."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QSizePolicy, QVBoxLayout, QWidget

from explorer.audit.findings import STATED_WRONGLY, Fate, Fidelity, KindRow
from explorer.facts.fact import FactKind
from ui.audit.fidelity.words import BAR, FATE_TITLES, KIND_TITLES, TEXTURES, kind_title, percent
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
from ui.widgets.swatch import Legend, Share


def paint_fates(painter: QPainter, rect: QRectF, counts: Mapping[Fate, int]) -> None:
    """A bar whose parts are as long as their shares; each at least two pixels."""
    shown = [(fate, counts.get(fate, 0)) for fate in BAR if counts.get(fate, 0)]
    total = sum(number for _, number in shown)
    if not total:
        return
    left = rect.left()
    for at, (fate, number) in enumerate(shown):
        right = rect.right() if at == len(shown) - 1 else left + rect.width() * number / total
        part = QRectF(left, rect.top(), max(2.0, right - left), rect.height())
        paint_verdict(painter, part, TEXTURES[fate], radius=1.5)
        left = right


def fate_legend(parent: QWidget) -> Legend:
    """What the textures mean."""
    legend = Legend(parent)
    legend.set_shares(
        [Share(fate.value, FATE_TITLES[fate], 0, TEXTURES[fate], filterable=False) for fate in BAR]
    )
    return legend


def counts_words(counts: Mapping[Fate, int]) -> str:
    """``12 kept verbatim, 3 lost``: those that there are."""
    parts = [f"{counts[fate]:,} {FATE_TITLES[fate]}" for fate in Fate if counts.get(fate, 0)]
    return ", ".join(parts) or "none"


class FateBar(QWidget):
    """All facts of an audit in one bar."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._counts: Mapping[Fate, int] = {}
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        on_theme_changed(self.update)

    def show_counts(self, counts: Mapping[Fate, int]) -> None:
        """Show how many facts met each fate."""
        self._counts = counts
        self.setAccessibleName(f"Survival: {counts_words(counts)}")
        self.setToolTip(counts_words(counts))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(scaled(120), scaled(14))

    def paintEvent(self, event: QPaintEvent, /) -> None:
        painter = QPainter(self)
        paint_fates(painter, QRectF(self.rect()), self._counts)


class KindButton(QAbstractButton):
    """One kind with its bar and figures. Checked: the findings are of this kind alone."""

    def __init__(self, row: KindRow, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.row = row
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setText(KIND_TITLES[row.kind])
        wrong = {fate: number for fate, number in row.counts.items() if fate in STATED_WRONGLY}
        self._figure = f"{row.survived:,} of {row.total:,}" if row.total else "—"
        self._wrong = f"+ {sum(wrong.values()):,} wrong" if wrong else ""
        self.leaves_room = False
        """Whether room is left for what is stated wrongly, as other rows of the table need it."""
        words = f"{kind_title(row.kind)}: {percent(row.rate)} survives; {counts_words(row.counts)}"
        self.setAccessibleName(words)
        self.setToolTip(f"{words}. Click to see only these findings.")
        bind_font(self, small_font)
        on_theme_changed(self.update)

    def sizeHint(self) -> QSize:
        return QSize(scaled(200), self.fontMetrics().height() + 6)

    def paintEvent(self, event: QPaintEvent, /) -> None:
        now, painter, metrics = theme(), QPainter(self), self.fontMetrics()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.isChecked() or self.hasFocus() or self.underMouse():
            painter.setPen(QPen(now.accent, 1) if self.hasFocus() else Qt.PenStyle.NoPen)
            painter.setBrush(now.sel if self.isChecked() else now.panel)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        title = metrics.horizontalAdvance("Constraints") + S8
        figure = metrics.horizontalAdvance("1,000 of 1,000") + S8
        wrong = metrics.horizontalAdvance("+ 100 wrong") + S4 if self.leaves_room else 0
        middle = int(Qt.AlignmentFlag.AlignVCenter)
        painter.setPen(now.ink)
        painter.drawText(QRectF(S4, 0, title, self.height()), middle, self.text())
        right = self.width() - wrong
        painter.setPen(now.dim)
        painter.drawText(
            QRectF(right - figure, 0, figure - S8, self.height()),
            middle | int(Qt.AlignmentFlag.AlignRight),
            self._figure,
        )
        painter.setPen(now.lost)
        painter.drawText(QRectF(right, 0, wrong, self.height()), middle, self._wrong)
        room = right - figure - S4 - title - S4
        if self.row.total and room > scaled(12):
            height = scaled(9)
            bar = QRectF(S4 + title, (self.height() - height) / 2, room, height)
            paint_fates(painter, bar, self.row.counts)


class KindTable(QWidget):
    """Every kind of which there is anything."""

    kind_chosen = Signal(object)
    """The ``FactKind`` whose findings alone are wanted, or None."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Survival by kind")
        self.buttons: dict[FactKind, KindButton] = {}
        self._group = QButtonGroup(self)
        self._group.setExclusive(False)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)

    def show_kinds(self, fidelity: Fidelity) -> None:
        """Show the rows of an audit."""
        for button in self.buttons.values():
            button.hide()
            button.deleteLater()
        self.buttons = {}
        fates = (fate for row in fidelity.kinds for fate in row.counts)
        any_wrong = not STATED_WRONGLY.isdisjoint(fates)
        for row in fidelity.kinds:
            button = self.buttons[row.kind] = KindButton(row, self)
            button.leaves_room = any_wrong
            button.toggled.connect(lambda on, kind=row.kind: self._toggled(kind, on))
            self._column.addWidget(button)
            button.show()

    def check(self, kind: FactKind | None) -> None:
        """Follow a choice that was made in another view."""
        for each, button in self.buttons.items():
            button.blockSignals(True)
            button.setChecked(each is kind)
            button.blockSignals(False)
            button.update()

    def _toggled(self, kind: FactKind, on: bool) -> None:
        self.check(kind if on else None)
        self.kind_chosen.emit(kind if on else None)


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
    """Shares from 0 to 100 % in columns; the arrow keys go through them, one is described."""

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
            words = self.points[self.at].words
        else:
            words = " ".join(point.words for point in self.points) or "Nothing to show."
        self.setAccessibleName(f"{self._name}. {words}")
        self.setToolTip(words if self.at >= 0 else "")

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
            filled = QRectF(inner.left(), inner.bottom() - high, inner.width(), high)
            if lost.height() > 1:
                paint_verdict(painter, lost, LOST)
            if filled.height() > 1:
                paint_verdict(painter, filled, TO_SUMMARIZE)
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
