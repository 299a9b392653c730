"""The page of survival: one lane per compaction, time across, in the textures of the verdicts."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from itertools import accumulate

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QScrollArea, QSizePolicy, QToolTip, QWidget

from explorer.audit.ledger import LedgerVerdict, run_verdict
from explorer.audit.overview import Strip
from ui.audit.words import VERDICTS, texture
from ui.theme import (
    S4,
    S8,
    S16,
    mono_font,
    on_theme_changed,
    paint_verdict,
    scaled,
    theme,
    verdict_brush,
)
from ui.theme.verdicts import LOST, NOT_SENT
from ui.widgets.labels import Caption
from ui.widgets.panels import column_in
from ui.widgets.swatch import Legend, Share

LANE, GAP = 14, 5
"""Height of a lane and of what is between two, in logical pixels."""
LEAST_SHARE = 8
"""An entry is at least as wide as a part in so many of the middle width."""

_SHOWN = (
    LedgerVerdict.VERBATIM,
    LedgerVerdict.IN_THIS_SUMMARY,
    LedgerVerdict.IN_EARLIER_SUMMARY,
    LedgerVerdict.NEVER_SENT,
    LedgerVerdict.LOST,
)


def scale_of(strip: Strip) -> array[float]:
    """Where each position begins, as a share of the width; one more for the end. By tokens; what
    is never sent takes no room."""
    view = strip.found.view
    if not len(view):
        return array("d", [0.0, 1.0])
    least = max(1.0, sum(view.sizes) / len(view) / LEAST_SHARE)
    widths = [
        (weight if weight > least else least) if sent else 0.0
        for weight, sent in zip(view.sizes, view.sent, strict=True)
    ]
    whole = sum(widths) or 1.0
    return array("d", accumulate([width / whole for width in widths], initial=0.0))


class StripCanvas(QWidget):
    """The lanes. Arrows move a cursor from stretch to stretch and from lane to lane; Return or a
    click selects the entry."""

    entry_requested = Signal(int)
    described = Signal(str)
    """What stands under the cursor or the mouse, in words."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.strip: Strip | None = None
        self._starts = array("d", [0.0, 1.0])
        self.lane, self.position = 0, 0
        self.selected = -1
        """Position of the entry that is selected in another view, or -1."""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAccessibleName("Survival of every entry, one lane per compaction")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        on_theme_changed(self._restyle)

    def _restyle(self) -> None:
        self.updateGeometry()
        self.update()

    def show_strip(self, strip: Strip | None) -> None:
        """Show the survival over another path."""
        self.strip = strip
        self._starts = scale_of(strip) if strip is not None else array("d", [0.0, 1.0])
        lanes = len(strip.lanes) if strip is not None else 1
        self.lane = lanes - 1
        self.position = 0
        self.selected = -1
        self.updateGeometry()
        self.update()

    def select(self, position: int) -> None:
        """Mark the entry at a position of the path; -1 marks none."""
        self.selected = position
        if position >= 0:
            self.position = position
        self.update()

    # geometry ------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        lanes = len(self.strip.lanes) if self.strip is not None else 1
        return QSize(320, lanes * scaled(LANE + GAP) + 2 * S8)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.sizeHint().height())

    def _gutter(self) -> float:
        return float(QFontMetrics(mono_font(-1)).horizontalAdvance("#000000") + S8)

    def lane_rect(self, lane: int) -> QRectF:
        """Where a lane is."""
        left, step = self._gutter(), scaled(LANE + GAP)
        return QRectF(left, S8 + lane * step, self.width() - left - S16, scaled(LANE))

    def x_of(self, position: int) -> float:
        """Where a position begins."""
        rect = self.lane_rect(0)
        return rect.left() + self._starts[position] * rect.width()

    def at(self, point: QPointF) -> tuple[int, int]:
        """Lane and position at a place; -1 where there is none."""
        strip = self.strip
        if strip is None:
            return -1, -1
        lane = int((point.y() - S8) // scaled(LANE + GAP))
        rect = self.lane_rect(0)
        share = (point.x() - rect.left()) / max(1.0, rect.width())
        if not 0 <= lane < len(strip.lanes) or not 0 <= share <= 1:
            return -1, -1
        position = min(len(self._starts) - 2, bisect_right(self._starts, share) - 1)
        there = strip.run(lane, position) is not None
        return (lane, position) if there else (lane, -1)

    # painting ------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent, /) -> None:
        strip, painter = self.strip, QPainter(self)
        if strip is None:
            return
        step = scaled(LANE + GAP)
        first = max(0, int((event.rect().top() - S8) // step))
        last = min(len(strip.lanes) - 1, int((event.rect().bottom() - S8) // step))
        for lane in range(first, last + 1):
            self._paint_lane(painter, strip, lane)
        if self.selected >= 0 and len(strip.path):
            x = self.x_of(self.selected)
            painter.setPen(QPen(theme().accent, 2))
            painter.drawLine(QPointF(x, S4), QPointF(x, self.height() - S4))
        if self.hasFocus() and len(strip.path):
            self._paint_cursor(painter)

    def _paint_lane(self, painter: QPainter, strip: Strip, lane: int) -> None:
        now, rect = theme(), self.lane_rect(lane)
        painter.setFont(mono_font(-1))
        painter.setPen(now.dim)
        place = QRectF(0, rect.top(), rect.left() - S4, rect.height())
        middle_right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(place, int(middle_right), self.name(lane))
        painter.setBrushOrigin(rect.topLeft())
        ratio = self.devicePixelRatioF()
        runs = strip.lanes[lane]
        lost: list[QRectF] = []
        end = rect.left()
        for run in runs:
            left, right = self.x_of(run.start), self.x_of(run.stop)
            end = right
            part = QRectF(left, rect.top(), right - left, rect.height())
            shown = texture(run_verdict(run, lane))
            if part.width() <= 0 or shown == NOT_SENT:
                continue
            if shown == LOST:
                lost.append(part)
            else:
                painter.fillRect(part, verdict_brush(shown, ratio))
        for part in lost:
            part.setWidth(max(3.0, part.width()))
            paint_verdict(painter, part, LOST, radius=0)
        painter.setPen(QPen(now.line, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        frame = QRectF(rect.left(), rect.top(), end - rect.left(), rect.height())
        painter.drawRect(frame.adjusted(0.5, 0.5, -0.5, -0.5))

    def _paint_cursor(self, painter: QPainter) -> None:
        rect = self.lane_rect(self.lane)
        left, right = self.x_of(self.position), self.x_of(self.position + 1)
        painter.setPen(QPen(theme().ink, 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(
            QRectF(left - 1, rect.top() - 2, max(4.0, right - left + 2), rect.height() + 4)
        )

    # words ---------------------------------------------------------------------------------------

    def name(self, lane: int) -> str:
        """What stands before a lane."""
        if self.strip is None or not lane:
            return "start"
        return f"#{self.strip.found.all[lane - 1].compaction}"

    def words_at(self, lane: int, position: int) -> str:
        """How an entry stood at a moment, and what became of it in all."""
        strip = self.strip
        if strip is None or lane < 0 or position < 0:
            return ""
        run = strip.run(lane, position)
        when = "Before the first compaction" if not lane else f"After compaction {self.name(lane)}"
        if not strip.found.all:
            when = "To the end"
        if run is None:
            return f"{when}: #{strip.path[position]} was not there yet."
        verdict = run_verdict(run, lane)
        if strip.found.at(strip.path[position]) is not None:
            return strip.words(position)
        if not strip.found.view.sent[position]:
            verdict = LedgerVerdict.NEVER_SENT
        return f"{when}: #{strip.path[position]} {VERDICTS[verdict]}. {strip.words(position)}"

    def event(self, event: QEvent, /) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            words = self.words_at(*self.at(QPointF(event.pos())))
            QToolTip.showText(event.globalPos(), words, self)
            return True
        return super().event(event)

    # mouse and keys ------------------------------------------------------------------------------

    def mouseMoveEvent(self, event: QMouseEvent, /) -> None:
        lane, position = self.at(event.position())
        has_entry = position >= 0
        shape = Qt.CursorShape.PointingHandCursor if has_entry else Qt.CursorShape.ArrowCursor
        self.setCursor(shape)
        if has_entry:
            self.described.emit(self.words_at(lane, position))

    def mousePressEvent(self, event: QMouseEvent, /) -> None:
        lane, position = self.at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and position >= 0:
            self.lane, self.position = lane, position
            self._ask()

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        strip, key = self.strip, event.key()
        if strip is None or not len(strip.path):
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._ask()
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._step(strip, 1 if key == Qt.Key.Key_Right else -1)
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            way = 1 if key == Qt.Key.Key_Down else -1
            self.lane = max(0, min(len(strip.lanes) - 1, self.lane + way))
            self.position = min(self.position, strip.lanes[self.lane][-1].stop - 1)
            self._moved()
        else:
            super().keyPressEvent(event)

    def _step(self, strip: Strip, way: int) -> None:
        starts = [run.start for run in strip.lanes[self.lane]]
        last = strip.lanes[self.lane][-1].stop - 1
        if way > 0:
            self.position = next((at for at in starts if at > self.position), last)
        else:
            self.position = next((at for at in reversed(starts) if at < self.position), 0)
        self._moved()

    def _moved(self) -> None:
        words = self.words_at(self.lane, self.position)
        self.setAccessibleDescription(words)
        self.described.emit(words)
        self.update()

    def _ask(self) -> None:
        if self.strip is not None and len(self.strip.path):
            self._moved()
            self.entry_requested.emit(self.strip.path[self.position])


class StripView(QWidget):
    """The lanes with their legend, and the words for what is under the cursor."""

    entry_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.intro = Caption(
            "Time goes to the right, one lane for the state after each compaction. What is solid "
            "stood word for word then.",
            self,
        )
        self.intro.setWordWrap(True)
        self.legend = Legend(self)
        self.legend.set_shares(
            [Share(str(int(v)), VERDICTS[v], 0, texture(v), filterable=False) for v in _SHOWN]
        )
        self.canvas = StripCanvas()
        self.canvas.entry_requested.connect(self.entry_requested)
        self.canvas.described.connect(self._tell)
        self.area = QScrollArea(self)
        self.area.setWidget(self.canvas)
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.words = Caption(parent=self, wraps=True)
        self.words.setMinimumHeight(scaled(48))
        self.words.setAlignment(Qt.AlignmentFlag.AlignTop)
        column = column_in(self, S8, (S16, S8, 0, S8))
        for part in (self.intro, self.legend):
            column.addWidget(part)
        column.addWidget(self.area, 1)
        column.addWidget(self.words)

    def show_strip(self, strip: Strip | None) -> None:
        """Show another path."""
        self.canvas.show_strip(strip)
        self._tell("")
        self.area.verticalScrollBar().setValue(self.area.verticalScrollBar().maximum())

    def show_entry(self, entry: int) -> None:
        """Mark an entry that was selected in another view."""
        strip = self.canvas.strip
        position = strip.path.position(entry) if strip is not None and entry >= 0 else -1
        self.canvas.select(position)
        if position >= 0 and strip is not None:
            self._tell(self.canvas.words_at(self.canvas.lane, position))

    def _tell(self, words: str) -> None:
        self.words.setText(words or "Point at a lane, or move along it with the arrow keys.")
