"""How full the prompt is, and where the summary made ahead stands."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from explorer.compaction.background import Machine, RunState
from explorer.compaction.profile.rules import Background
from explorer.compaction.reasons import share_text
from ui.theme import RADIUS, bind_font, on_theme_changed, scaled, small_font, theme, verdict_brush
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


_WORDS = {
    RunState.IDLE: "Idle",
    RunState.IN_PROGRESS: "In progress",
    RunState.COMPLETED: "Ready",
    RunState.FAILED: "Failed",
}
_TIPS = {
    RunState.IDLE: "Nothing is made ahead.",
    RunState.IN_PROGRESS: "A summary is being made ahead.",
    RunState.COMPLETED: "A summary is ready and waits for the next prompt.",
    RunState.FAILED: "The last summary failed; the next prompt may begin another.",
}


class MachineView(QWidget):
    """Four states and their transitions. The lit one is filled and has a heavier outline."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._machine = Machine()
        bind_font(self, small_font)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(220)
        self.setAccessibleName("Summary made ahead")
        on_theme_changed(self._again)
        self.show_machine(self._machine)

    def show_machine(self, machine: Machine) -> None:
        """Light another state."""
        self._machine = machine
        self.setAccessibleDescription(f"{_WORDS[machine.state]}. {_TIPS[machine.state]}")
        self.setToolTip(_TIPS[machine.state])
        self.update()

    @property
    def state_words(self) -> str:
        """The lit state, in a word."""
        return _WORDS[self._machine.state]

    def _again(self) -> None:
        self.updateGeometry()
        self.update()

    def _line(self) -> int:
        return self.fontMetrics().height()

    def sizeHint(self) -> QSize:
        box = self._line() + scaled(12)
        return QSize(360, self._line() + scaled(14) + 2 * box + scaled(22))

    def minimumSizeHint(self) -> QSize:
        return QSize(220, self.sizeHint().height())

    def _boxes(self) -> dict[RunState, QRectF]:
        gap = min(scaled(36), self.width() // 10)
        room = self.width() - 2 - 2 * gap
        # The longest words have the most room.
        side, middle = room * 0.26, room * 0.48
        height = self._line() + scaled(12)
        top = self._line() + scaled(14)
        below = top + height + scaled(20)
        return {
            RunState.IDLE: QRectF(1, top, side, height),
            RunState.IN_PROGRESS: QRectF(1 + side + gap, top, middle, height),
            RunState.COMPLETED: QRectF(1 + side + middle + 2 * gap, top, side, height),
            RunState.FAILED: QRectF(1 + side + gap, below, middle, height),
        }

    def paintEvent(self, event: QPaintEvent, /) -> None:
        now, painter = theme(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        boxes = self._boxes()
        painter.setPen(QPen(now.dim, 1.2))
        self._transitions(painter, boxes)
        for state, box in boxes.items():
            lit = state is self._machine.state
            tone = now.lost if state is RunState.FAILED else now.accent
            painter.setPen(QPen(tone if lit else now.line, 2.2 if lit else 1.2))
            painter.setBrush(now.sel if lit else now.card)
            painter.drawRoundedRect(box, RADIUS, RADIUS)
            painter.setPen(now.ink if lit else now.dim)
            words = ("● " if lit else "") + _WORDS[state]
            if self.fontMetrics().horizontalAdvance(words) > box.width() - 4:
                words = _WORDS[state]
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)

    def _transitions(self, painter: QPainter, boxes: dict[RunState, QRectF]) -> None:
        idle, busy = boxes[RunState.IDLE], boxes[RunState.IN_PROGRESS]
        ready, failed = boxes[RunState.COMPLETED], boxes[RunState.FAILED]
        middle = idle.center().y()
        _arrow(painter, QPointF(idle.right(), middle), QPointF(busy.left(), middle))
        _arrow(painter, QPointF(busy.right(), middle), QPointF(ready.left(), middle))
        third = busy.width() / 3
        _arrow(painter, QPointF(busy.left() + third, busy.bottom()),
               QPointF(failed.left() + third, failed.top()))  # fmt: skip
        _arrow(painter, QPointF(failed.right() - third, failed.top()),
               QPointF(busy.right() - third, busy.bottom()))  # fmt: skip
        over = self._line() + scaled(4)
        path = QPainterPath(QPointF(ready.center().x(), ready.top()))
        path.lineTo(ready.center().x(), over)
        path.lineTo(idle.center().x(), over)
        path.lineTo(idle.center().x(), idle.top() - 5)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)
        _arrow(painter, QPointF(idle.center().x(), over), QPointF(idle.center().x(), idle.top()))
        self._label(painter, QRectF(0, 0, self.width(), self._line()),
                    "applied, or thrown away", Qt.AlignmentFlag.AlignHCenter)  # fmt: skip
        gap = (busy.bottom() + failed.top()) / 2 - self._line() / 2
        room = busy.left() - 4
        self._label(painter, QRectF(0, gap, room + third - 4, self._line()), "no summary",
                    Qt.AlignmentFlag.AlignRight)  # fmt: skip
        left = busy.right() - third + 6
        self._label(painter, QRectF(left, gap, self.width() - left, self._line()),
                    "tried again", Qt.AlignmentFlag.AlignLeft)  # fmt: skip

    def _label(self, painter: QPainter, place: QRectF, words: str, align: Qt.AlignmentFlag) -> None:
        """Words beside a way, where there is room for all of them."""
        if self.fontMetrics().horizontalAdvance(words) > place.width():
            return
        pen = painter.pen()
        painter.setPen(theme().dim)
        painter.drawText(place, align | Qt.AlignmentFlag.AlignVCenter, words)
        painter.setPen(pen)


def _arrow(painter: QPainter, start: QPointF, end: QPointF) -> None:
    painter.drawLine(start, end)
    across = start.y() == end.y()
    way = 1 if (end.x() > start.x() if across else end.y() > start.y()) else -1
    head, half = 6 * way, 3.5
    if across:
        points = [end, QPointF(end.x() - head, end.y() - half),
                  QPointF(end.x() - head, end.y() + half)]  # fmt: skip
    else:
        points = [end, QPointF(end.x() - half, end.y() - head),
                  QPointF(end.x() + half, end.y() - head)]  # fmt: skip
    brush = painter.brush()
    painter.setBrush(painter.pen().color())
    painter.drawPolygon(QPolygonF(points))
    painter.setBrush(brush)
