"""A small card over the window, with an arrow to the thing that it tells of."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from ui import theme
from ui.theme import S4, S8, S12, S16
from ui.widgets.labels import Caption
from ui.widgets.panels import column_in, push_button, row

ARROW = 10
"""How far the arrow stands out of the card, in pixels."""
WIDTH = 300
"""Of the card, in pixels at a text scale of 100 %."""
FOLLOW_MS = 60
"""How often it looks whether its place has moved: the map scrolls and panes change their size."""


class Note(NamedTuple):
    """What a callout says, and of what."""

    title: str
    text: str
    place: Callable[[], QRect]
    """Where the thing is in the window; empty where it is not in sight."""


def spot(place: QRect, size: QSize, room: QRect) -> tuple[QPoint, QPoint]:
    """Where a card of this size stands beside a place, and where its arrow ends: on the first side
    with room enough, which is left, right, below or above; in the middle without a place."""
    if place.isEmpty():
        at = room.center() - QPoint(size.width() // 2, size.height() // 2)
        return at, QPoint(-1, -1)
    middle = place.center()
    along_y = _within(middle.y() - size.height() // 3, size.height(), room.top(), room.bottom())
    along_x = _within(middle.x() - size.width() // 3, size.width(), room.left(), room.right())
    left, right = place.left() - ARROW - size.width(), place.right() + ARROW
    over, under = place.top() - ARROW - size.height(), place.bottom() + ARROW
    if left >= room.left():
        return QPoint(left, along_y), QPoint(place.left(), middle.y())
    if right + size.width() <= room.right():
        return QPoint(right, along_y), QPoint(place.right(), middle.y())
    if under + size.height() <= room.bottom():
        return QPoint(along_x, under), QPoint(middle.x(), place.bottom())
    return QPoint(along_x, max(room.top(), over)), QPoint(middle.x(), place.top())


def _within(wanted: int, size: int, first: int, last: int) -> int:
    return max(first, min(wanted, last - size))


class Callout(QWidget):
    """Goes through notes, one at a time; Escape anywhere in the window ends it."""

    ended = Signal()
    """The last note was read, or the rest skipped."""
    turned = Signal(int)
    """The number of the note that is shown now: its thing is to be brought into sight. Once more
    when the window has another size."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setAccessibleName("Callout")
        self._notes: tuple[Note, ...] = ()
        self._at = -1
        self._tip = QPoint(-1, -1)
        self._card = QRect()
        self.title, self.text = QLabel(self), QLabel(self)
        theme.bind_font(self.title, lambda: theme.ui_font(0, bold=True))
        self.text.setWordWrap(True)
        self.step = Caption(parent=self)
        self.next = push_button("&Next", self, primary=True)
        self.skip = push_button("&Skip", self, "End the notes (Esc)")
        for button in (self.next, self.skip):
            button.setAutoDefault(True)
        self.next.clicked.connect(self._go_on)
        self.skip.clicked.connect(self.end)
        margin = ARROW + S12
        column = column_in(self, S8, (ARROW + S16, margin, ARROW + S16, margin))
        for label in (self.title, self.text):
            column.addWidget(label)
        column.addSpacing(S4)
        column.addLayout(row(self.step, 1, self.skip, self.next))
        self._timer = QTimer(self)
        self._timer.setInterval(FOLLOW_MS)
        self._timer.timeout.connect(self.follow)
        self.hide()

    @property
    def at(self) -> int:
        """The number of the note that is shown; -1 for none."""
        return self._at

    @property
    def tip(self) -> QPoint:
        """Where the arrow ends in the window; negative where it points at nothing."""
        return self._tip

    def begin(self, notes: tuple[Note, ...]) -> None:
        """Show the first of these notes."""
        self._notes = notes
        if app := QApplication.instance():
            app.installEventFilter(self)
        self._show(0)

    def end(self) -> None:
        """Show none any more."""
        if self._at < 0:
            return
        self._at = -1
        self._timer.stop()
        if app := QApplication.instance():
            app.removeEventFilter(self)
        self.hide()
        self.ended.emit()

    def _go_on(self) -> None:
        if self._at + 1 < len(self._notes):
            self._show(self._at + 1)
        else:
            self.end()

    def _show(self, at: int) -> None:
        self._at = at
        note, is_last = self._notes[at], at + 1 == len(self._notes)
        self.title.setText(note.title)
        self.text.setText(note.text)
        self.step.setText(f"{at + 1} of {len(self._notes)}")
        self.next.setText("&Done" if is_last else "&Next")
        self.skip.setVisible(not is_last)
        self.setAccessibleDescription(f"{note.title}. {note.text}")
        self.next.setAccessibleDescription(f"{note.title}. {note.text}")
        self.turned.emit(at)
        self._tip = QPoint(-2, -2)
        self.follow()
        self.show()
        self.raise_()
        self.next.setFocus()
        self._timer.start()

    def _find(self) -> None:
        if self._at >= 0:
            self.turned.emit(self._at)
            self.follow()

    def follow(self) -> None:
        """Stand beside the place, wherever it is now."""
        window = self.parentWidget()
        if self._at < 0 or window is None:
            return
        width = min(theme.scaled(WIDTH), window.width() - 2 * S8) + 2 * ARROW
        layout = self.layout()
        assert layout is not None
        height = layout.heightForWidth(width)
        card = QSize(width - 2 * ARROW, height - 2 * ARROW)
        room = window.rect().adjusted(S8, S8, -S8, -S8)
        corner, tip = spot(self._notes[self._at].place(), card, room)
        frame = QRect(corner - QPoint(ARROW, ARROW), QSize(width, height))
        if frame != self.geometry() or tip != self._tip:
            self._tip = tip
            self.setGeometry(frame)
            self.update()

    def paintEvent(self, event: QPaintEvent, /) -> None:
        card = self.rect().adjusted(ARROW, ARROW, -ARROW, -ARROW)
        shape = QPainterPath()
        shape.addRoundedRect(card.toRectF().adjusted(0.5, 0.5, -0.5, -0.5), S4, S4)
        if self._tip.x() >= 0:
            shape = shape.united(self._arrow(card))
        now, painter = theme.theme(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(now.accent, 1.5))
        painter.setBrush(now.card)
        painter.drawPath(shape)

    def _arrow(self, card: QRect) -> QPainterPath:
        """From the card's edge to where the arrow ends."""
        tip = QPointF(self._tip - self.pos())
        inner = card.adjusted(S16, S16, -S16, -S16)
        x = max(inner.left(), min(tip.x(), inner.right()))
        y = max(inner.top(), min(tip.y(), inner.bottom()))
        beside = tip.x() < card.left() or tip.x() > card.right()
        across = QPointF(0, S8) if beside else QPointF(S8, 0)
        foot = QPointF(card.left() + 2 if tip.x() < x else card.right() - 2, y)
        if not beside:
            foot = QPointF(x, card.top() + 2 if tip.y() < y else card.bottom() - 2)
        arrow = QPainterPath()
        arrow.moveTo(foot - across)
        arrow.lineTo(tip)
        arrow.lineTo(foot + across)
        arrow.closeSubpath()
        return arrow

    def eventFilter(self, watched: QObject, event: QEvent, /) -> bool:
        window = self.parentWidget()
        if watched is window and event.type() == QEvent.Type.Resize:
            QTimer.singleShot(0, self, self._find)
        is_key = event.type() in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress)
        if is_key and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            is_here = isinstance(watched, QWidget) and watched.window() is window
            if is_here and QApplication.activePopupWidget() is None:
                event.accept()
                if event.type() == QEvent.Type.KeyPress:
                    self.end()
                return True
        return super().eventFilter(watched, event)
