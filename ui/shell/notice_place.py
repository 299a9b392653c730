"""Where the window's notice is shown: over the oldest lines of the conversation or of the map,
where it moves nothing and covers no control; where there is no room, below everything else."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ui.widgets.notice import NoticeStrip

Type = QEvent.Type
_MOVES = (Type.Show, Type.Hide, Type.Resize, Type.Move)


class NoticePlace(QObject):
    """Follows a notice, and the rooms that it may cover."""

    def __init__(self, strip: NoticeStrip, below: QVBoxLayout, rooms: Sequence[QWidget]) -> None:
        """``rooms``: the first of which half stays in sight has the notice over its upper edge;
        where there is none, the layout ``below`` has it."""
        super().__init__(strip)
        self._strip, self._below, self._rooms = strip, below, rooms
        self.room: QWidget | None = None
        """What it lies over."""
        self._leave_below()
        strip.installEventFilter(self)
        for room in rooms:
            part: QWidget | None = room
            while part is not None and part is not strip.parentWidget():
                part.installEventFilter(self)
                part = part.parentWidget()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is not self._strip:
            follows = event.type() in _MOVES
        elif event.type() == Type.Hide and self._strip.isHidden():
            self.room, follows = None, False
            self._leave_below()
        else:
            # Below, the layout does the rest.
            grown = event.type() == Type.LayoutRequest and self.room is not None
            follows = event.type() == Type.Show or grown
        if follows and not self._strip.isHidden():
            self._place()
        return super().eventFilter(watched, event)

    def _leave_below(self) -> None:
        """A layout makes room as soon as what it has is shown: it has nothing that is hidden."""
        if self._strip.isHidden():
            self._below.removeWidget(self._strip)

    def _place(self) -> None:
        strip = self._strip
        centre = strip.parentWidget()
        if self.room is None or not self._fits(self.room):
            self.room = next(filter(self._fits, self._rooms), None)
        is_below = self.room is None
        if strip.property("foot") is not is_below:
            strip.setProperty("foot", is_below)
            strip.style().polish(strip)
        if self.room is None:
            if self._below.indexOf(strip) < 0:
                self._below.addWidget(strip)
        elif centre is not None:
            self._below.removeWidget(strip)
            size = QSize(self.room.width(), strip.height_at(self.room.width()))
            strip.setGeometry(QRect(self.room.mapTo(centre, QPoint()), size))
            strip.raise_()

    def _fits(self, room: QWidget) -> bool:
        if not room.isVisible():
            return False
        height = self._strip.height_at(room.width())
        # Details may take what was to stay in sight: they do not make it jump.
        return room.height() >= (height if room is self.room else 2 * height)
