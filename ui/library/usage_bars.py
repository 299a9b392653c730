"""What sessions took, as bars: by day, by project and by model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QFocusEvent,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from explorer.services.library import LibrarySums
from explorer.session.usage_sums import UsageSum, total_of
from ui.audit.known import NOT_RECORDED, spoken
from ui.library.columns import cost_of, tokens_of
from ui.theme import S4, S8, on_theme_changed, scaled, small_font, theme

_EPOCH = date(1970, 1, 1)
_LAST_DAY = (date(9999, 1, 1) - _EPOCH).days
MOST_DAYS = 60
"""Bars by day; more days are drawn in longer stretches."""
MOST_NAMES = 4
"""Bars by name beside the one of all others."""
STRETCHES = (1, 7, 30, 91, 365, 3_650)
"""Days that a bar may stand for."""


class Bar(NamedTuple):
    """One bar."""

    label: str
    value: float
    words: str
    """The value as it is shown."""


class Chart(NamedTuple):
    """What can be chosen to be drawn."""

    title: str
    by: str
    """``day``, ``project`` or ``model``."""
    words: Callable[[UsageSum], str]
    value: Callable[[UsageSum], float]


def _tokens(spent: UsageSum) -> str:
    return tokens_of(spent)[0]


def _cost(spent: UsageSum) -> str:
    return cost_of(spent)[0]


CHARTS = tuple(
    Chart(f"{name} over time" if by == "day" else f"{name} by {by}", by, words, value)
    for name, words, value in (
        ("Tokens", _tokens, lambda spent: float(spent.tokens)),
        ("Cost", _cost, lambda spent: spent.whole_cost),
    )
    for by in ("day", "project", "model")
)


def bars_of(sums: LibrarySums, chart: Chart) -> list[Bar]:
    """The bars of a chart: days in their order, names by their size."""
    if chart.by == "day":
        return _by_day(sums.by_day, chart)
    named = sums.by_project if chart.by == "project" else sums.by_model
    return _by_name(named, chart)


def _by_day(days: Mapping[int, UsageSum], chart: Chart) -> list[Bar]:
    dated = {day: spent for day, spent in days.items() if 0 < day < _LAST_DAY}
    if not dated:
        return []
    first, last = min(dated), max(dated)
    length = next((one for one in STRETCHES if (last - first) < one * MOST_DAYS), STRETCHES[-1])
    parts: dict[int, list[UsageSum]] = {}
    for day, spent in dated.items():
        parts.setdefault((day - first) // length, []).append(spent)
    found = []
    for at in range((last - first) // length + 1):
        spent = total_of(parts.get(at, ()))
        found.append(Bar(_stretch(first + at * length, length), chart.value(spent),
                         chart.words(spent)))  # fmt: skip
    return found


def _stretch(day: int, length: int) -> str:
    first = _EPOCH + timedelta(days=day)
    if length == 1:
        return f"{first.day} {first:%b %Y}"
    last = first + timedelta(days=length - 1)
    return f"{first.day} {first:%b %Y} to {last.day} {last:%b %Y}"


def _by_name(named: Mapping[str, UsageSum], chart: Chart) -> list[Bar]:
    order = sorted(named, key=lambda name: (-chart.value(named[name]), name))
    shown = order if len(order) <= MOST_NAMES + 1 else order[:MOST_NAMES]
    bars = [
        Bar(name or NOT_RECORDED, chart.value(named[name]), chart.words(named[name]))
        for name in shown
    ]
    if rest := order[len(shown) :]:
        spent = total_of(named[name] for name in rest)
        bars.append(Bar(f"{len(rest):,} others", chart.value(spent), chart.words(spent)))
    return bars


def text_of(title: str, bars: Sequence[Bar]) -> str:
    """A chart in words, without bars of nothing."""
    parts = [f"{bar.label} {spoken(bar.words)}" for bar in bars if bar.value]
    return f"{title}: {'; '.join(parts)}" if parts else f"{title}: nothing {NOT_RECORDED[4:]}"


class UsageBars(QWidget):
    """Days stand beside each other, names below each other; arrows and the pointer name a bar."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bars: Sequence[Bar] = ()
        self.at = -1
        """The bar that is named, -1 for none."""
        self._title, self._stands = "", True
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        on_theme_changed(self._restyle)

    def _restyle(self) -> None:
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        line = QFontMetricsF(small_font()).height()
        return QSize(scaled(320), round((MOST_NAMES + 1) * (line + S4)))

    def minimumSizeHint(self) -> QSize:
        return QSize(scaled(120), self.sizeHint().height())

    def show_bars(self, chart: Chart, bars: Sequence[Bar]) -> None:
        """Draw other bars."""
        self.bars, self._title, self._stands = bars, chart.title, chart.by == "day"
        self.at = -1
        self.setAccessibleName(chart.title)
        self.setAccessibleDescription(text_of(chart.title, bars))
        self.update()

    # painting ------------------------------------------------------------------------------------

    def _places(self) -> list[QRectF]:
        """Where each bar is pointed at: its whole column or row."""
        if not self.bars:
            return []
        width, height, count = self.width(), self.height(), len(self.bars)
        if self._stands:
            step = min(width / count, scaled(28))
            return [QRectF(at * step, 0, step, height) for at in range(count)]
        line = QFontMetricsF(small_font()).height() + S4
        return [QRectF(0, at * line, width, line) for at in range(count)]

    def paintEvent(self, event: QPaintEvent, /) -> None:
        painter, now = QPainter(self), theme()
        painter.setFont(small_font())
        most = max((bar.value for bar in self.bars), default=0.0)
        if not most:
            painter.setPen(now.dim)
            words = f"{self._title}: {NOT_RECORDED}" if self.bars else ""
            painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignVCenter), words)
        elif self._stands:
            self._paint_days(painter, most)
        else:
            self._paint_names(painter, most)
        if self.hasFocus():
            painter.setPen(QPen(now.accent, 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))

    def _paint_days(self, painter: QPainter, most: float) -> None:
        now, line = theme(), painter.fontMetrics().height()
        ground = self.height() - line - S4
        room = ground - line - S4
        for at, (bar, place) in enumerate(zip(self.bars, self._places(), strict=True)):
            tall = bar.value / most * room
            if bar.value:
                gap = 2.0 if place.width() > 6 else 0.5
                shape = QRectF(place.left() + 1, ground - max(1.5, tall), place.width() - gap,
                               max(1.5, tall))  # fmt: skip
                painter.fillRect(shape, now.accent if at in (self.at, -1) else now.faint)
                if self.at < 0:
                    painter.fillRect(shape, now.accent)
        painter.setPen(QPen(now.line, 1))
        painter.drawLine(QPointF(0, ground + 0.5), QPointF(self.width(), ground + 0.5))
        named = self.at if self.at >= 0 else max(
            range(len(self.bars)), key=lambda at: self.bars[at].value
        )  # fmt: skip
        head = f"{self.bars[named].label}, {self.bars[named].words}"
        painter.setPen(now.ink if self.at >= 0 else now.dim)
        right, left = Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignLeft
        above = QRectF(S4, S4 / 2, self.width() - S8, line)
        painter.drawText(above, int(left), head if self.at >= 0 else f"Most: {head}")
        painter.setPen(now.dim)
        below = QRectF(S4, ground + S4, self.width() - S8, line)
        painter.drawText(below, int(left), self.bars[0].label.split(" to ")[0])
        end = self._places()[-1].right()
        if end > self.width() / 2:
            place = QRectF(below.left(), below.top(), min(end, below.width()), line)
            painter.drawText(place, int(right), self.bars[-1].label.split(" to ")[-1])

    def _paint_names(self, painter: QPainter, most: float) -> None:
        now, metrics = theme(), painter.fontMetrics()
        names = min(self.width() * 0.4, max(metrics.horizontalAdvance(bar.label)
                                            for bar in self.bars) + S8)  # fmt: skip
        figures = max(metrics.horizontalAdvance(bar.words) for bar in self.bars) + S8
        room = max(4.0, self.width() - names - figures - S8)
        middle = Qt.AlignmentFlag.AlignVCenter
        for at, (bar, place) in enumerate(zip(self.bars, self._places(), strict=True)):
            painter.setPen(now.ink if at == self.at else now.dim)
            text = metrics.elidedText(bar.label, Qt.TextElideMode.ElideMiddle, int(names - S8))
            painter.drawText(place.adjusted(S4, 0, 0, 0), int(middle), text)
            wide = max(1.5, bar.value / most * room) if bar.value else 0
            tall = place.height() * 0.5
            shape = QRectF(names + S4, place.center().y() - tall / 2, wide, tall)
            painter.fillRect(shape, now.accent if at == self.at or self.at < 0 else now.faint)
            beside = QRectF(shape.right() + S8, place.top(), figures, place.height())
            painter.drawText(beside, int(middle), bar.words)

    # naming a bar --------------------------------------------------------------------------------

    def name(self, at: int) -> None:
        """Name a bar, or none with -1."""
        at = min(at, len(self.bars) - 1)
        if at == self.at:
            return
        self.at = at
        self.update()
        if at >= 0 and self.hasFocus():
            words = f"{self.bars[at].label}: {spoken(self.bars[at].words)}"
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))

    def _at(self, point: QPointF) -> int:
        return next((at for at, one in enumerate(self._places()) if one.contains(point)), -1)

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        keys, last = Qt.Key, len(self.bars) - 1
        steps = {
            keys.Key_Left: max(0, self.at - 1), keys.Key_Up: max(0, self.at - 1),
            keys.Key_Right: self.at + 1, keys.Key_Down: self.at + 1,
            keys.Key_Home: 0, keys.Key_End: last,
        }  # fmt: skip
        wanted = steps.get(Qt.Key(event.key()))
        if wanted is None or last < 0:
            super().keyPressEvent(event)
        else:
            self.name(wanted)

    def focusOutEvent(self, event: QFocusEvent, /) -> None:
        super().focusOutEvent(event)
        self.name(-1)

    def mouseMoveEvent(self, event: QMouseEvent, /) -> None:
        self.name(self._at(event.position()))

    def leaveEvent(self, event: QEvent, /) -> None:
        super().leaveEvent(event)
        self.name(-1)

    def event(self, event: QEvent, /) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            at = self._at(QPointF(event.pos()))
            words = f"{self.bars[at].label}: {self.bars[at].words}" if at >= 0 else ""
            QToolTip.showText(event.globalPos(), words, self)
            return True
        return super().event(event)
