"""The surface and where the reader is in it.

The place is stored as a part of an item and the pixels above it, never as a height from the top:
heights above are guesses until they are looked at, and correcting them must not move what is read.
The scroll bar is derived from that place.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from PySide6.QtCore import QElapsedTimer, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from ui import theme
from ui.conversation.view.boxes import BoxInks
from ui.conversation.view.flow import Flow

_AHEAD_MS = 4
"""Milliseconds that laying out ahead takes at once."""


_AGAIN_S = 0.25
"""Seconds until a part that goes on growing is improved once more."""


class Placed(NamedTuple):
    """A part on screen; ``top`` is where its gap begins, from the top of the surface."""

    item: int
    part: int
    top: float
    height: float


class Anchor(NamedTuple):
    """What is at the top of the surface: ``above`` pixels of the part are hidden over it."""

    item: int = 0
    part: int = 0
    above: float = 0.0


class ScrolledFlow(QAbstractScrollArea):
    """Places the parts that are visible; follows the end while the reader is there."""

    at_end_changed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.flow = Flow(BoxInks.make(self.viewport().width(), self.devicePixelRatioF()), self)
        self.flow.changed.connect(self.place)
        self.placed: list[Placed] = []
        self.at_end = True
        self._reported_end = True
        self._anchor = Anchor()
        self._syncing = False
        self._value = 0
        self._ahead = QTimer(self)
        self._ahead.setInterval(0)
        self._ahead.timeout.connect(self._lay_ahead)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(round(_AGAIN_S * 1000))
        self._later.timeout.connect(self._ahead.start)
        self.verticalScrollBar().valueChanged.connect(self._bar_moved)

    # placing ------------------------------------------------------------------------------------

    @property
    def _high(self) -> int:
        return self.viewport().height()

    def place(self) -> None:
        """Work out what is on screen, and paint it."""
        flow = self.flow
        if flow.count == 0:
            self.placed, self._anchor, self.at_end = [], Anchor(), True
        else:
            if self.at_end:
                self._anchor_at_end()
            self._walk_down()
            last = self.placed[-1] if self.placed else None
            bottom = last.top + last.height + theme.S12 if last is not None else 0.0
            ends = last is None or (
                last.item == flow.count - 1
                and last.part == len(flow.laid(last.item).parts) - 1
                and bottom <= self._high + 0.5
            )
            if ends and not self.at_end:
                self.at_end = True
                self._anchor_at_end()
                self._walk_down()
        self._sync_bar()
        self._tell_end()
        self._ahead.start()
        self.viewport().update()
        self.placed_anew()

    def placed_anew(self) -> None:
        """What is on screen may be something else now."""

    def _anchor_at_end(self) -> None:
        """Anchor so that the last part ends at the bottom."""
        flow = self.flow
        y = float(self._high - theme.S12)
        for item in range(flow.count - 1, -1, -1):
            for part in range(len(flow.laid(item).parts) - 1, -1, -1):
                y -= flow.measure(item, part)
                if y <= 0:
                    self._anchor = Anchor(item, part, -y)
                    return
        self._anchor = Anchor()

    def _walk_down(self) -> None:
        """Lay out from the anchor to the bottom."""
        flow, found = self.flow, []
        item, part, above = self._anchor
        item = min(max(item, 0), flow.count - 1)
        y = -above
        while item < flow.count and y < self._high:
            laid = flow.laid(item)
            while part < len(laid.parts) and y < self._high:
                height = flow.measure(item, part)
                if y + height > 0:
                    found.append(Placed(item, part, y, height))
                y += height
                part += 1
            item, part = item + 1, 0
        self.placed = found

    def _sync_bar(self) -> None:
        """Put the scroll bar where the reader is."""
        flow, bar = self.flow, self.verticalScrollBar()
        total = round(flow.heights.total) + theme.S12
        most = max(0, total - self._high)
        if self.at_end or not flow.count:
            value = most
        else:
            item, part, above = self._anchor
            laid = flow.laid(item)
            top = laid.top(part) if part < len(laid.parts) else 0.0
            value = min(round(flow.heights.top(item) + top + above), max(most - 1, 0))
        self._syncing = True
        bar.setPageStep(max(1, self._high))
        bar.setSingleStep(self.flow.inks.metrics.height() * 2)
        bar.setRange(0, most)
        bar.setEnabled(most > 0)
        bar.setValue(value)
        self._syncing = False
        self._value = value

    def _tell_end(self) -> None:
        if self.at_end != self._reported_end:
            self._reported_end = self.at_end
            self.at_end_changed.emit(self.at_end)

    # moving -------------------------------------------------------------------------------------

    def scroll_by(self, pixels: float) -> None:
        """Down by so many pixels, or up."""
        if not self.flow.count or not pixels or (self.at_end and pixels > 0):
            return
        self.at_end = False
        self._anchor = self._moved(self._anchor, pixels)
        self.place()

    def _moved(self, anchor: Anchor, pixels: float) -> Anchor:
        flow = self.flow
        item, part, above = anchor
        above += pixels
        while above < 0:
            part -= 1
            while part < 0:
                item -= 1
                if item < 0:
                    return Anchor()
                part = len(flow.laid(item).parts) - 1
            above += flow.measure(item, part)
        while item < flow.count:
            laid = flow.laid(item)
            while part < len(laid.parts):
                height = flow.measure(item, part)
                if above < height:
                    return Anchor(item, part, above)
                above -= height
                part += 1
            item, part = item + 1, 0
        self.at_end = True
        return anchor

    def hold(self, item: int, part: int, above: float) -> None:
        """Keep a part where it is: so many pixels of it over the top."""
        self.at_end = False
        self._anchor = Anchor(item, part, above)

    def to_end(self) -> None:
        """To the last words, and on following them."""
        self.at_end = True
        self.place()

    def to_start(self) -> None:
        self.at_end = False
        self._anchor = Anchor()
        self.place()

    def scroll_to(self, item: int, part: int, offset: float = 0.0, share: float = 0.25) -> None:
        """Bring a place within a part to ``share`` of the surface's height from its top."""
        if not 0 <= item < self.flow.count:
            return
        self.at_end = False
        self._anchor = self._moved(Anchor(item, part, 0.0), offset - self._high * share)
        self.place()

    def make_visible(self, item: int, part: int) -> None:
        """Scroll as little as shows a part, from its beginning where it is higher than there is
        room."""
        at = next((p for p in self.placed if p.item == item and p.part == part), None)
        if at is None:
            first = self.placed[0] if self.placed else None
            above = first is None or (item, part) < (first.item, first.part)
            self.flow.measure(item, part)
            height = self.flow.laid(item).measure(part, self.flow.pictures)
            room = 1 - min(height, self._high) / max(self._high, 1)
            self.scroll_to(item, part, 0, 0.0 if above else room)
        elif at.top < 0:
            self.scroll_by(at.top)
        elif at.top + at.height > self._high:
            self.scroll_by(min(at.top, at.top + at.height - self._high + theme.S12))

    def _bar_moved(self, value: int) -> None:
        if self._syncing or not self.flow.count:
            return
        bar, change = self.verticalScrollBar(), value - self._value
        if value >= bar.maximum():
            self.to_end()
        elif value <= 0:
            self.to_start()
        elif abs(change) <= 2 * self._high:
            self.scroll_by(change)
        else:
            self.at_end = False
            item = self.flow.heights.at(value)
            offset = value - self.flow.heights.top(item)
            laid = self.flow.laid(item)
            if laid.parts:
                part = laid.part_at(offset)
                above = max(0.0, min(offset - laid.top(part), self.flow.measure(item, part) - 1))
                self._anchor = Anchor(item, part, above)
            else:
                self._anchor = Anchor(item)
            self.place()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """The bar only says where the reader is; what is shown is placed by hand."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
            return
        pixels = event.pixelDelta().y()
        if not pixels:
            pixels = round(event.angleDelta().y() / 120 * 3 * self.flow.inks.metrics.height())
        self.scroll_by(-pixels)
        event.accept()

    # size and look --------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.look_changed()

    def look_changed(self) -> None:
        """Lay out for another width, theme or scale, keeping the part at the top."""
        width, dpr = self.viewport().width(), self.devicePixelRatioF()
        old = self.flow.inks
        inks = BoxInks.make(width, dpr)
        if (old.width, old.dpr) != (width, dpr) or old.now is not inks.now or old.ui != inks.ui:
            item, part, above = self._anchor
            share = 0.0
            if self.flow.count and not self.at_end and item < self.flow.count:
                laid = self.flow.known(item)
                if laid is not None and part < len(laid.parts):
                    share = above / max(self.flow.measure(item, part), 1)
            self.flow.set_inks(inks)
            if share and item < self.flow.count:
                self._anchor = Anchor(item, part, share * self.flow.measure(item, part))
        self.place()

    # ahead --------------------------------------------------------------------------------------

    def _lay_ahead(self) -> None:
        """Use idle time: colour what is on screen, then lay out what is next to it."""
        clock = QElapsedTimer()
        clock.start()
        for placed in self.placed:
            laid = self.flow.known(placed.item)
            box = laid.known_box(placed.part) if laid and placed.part < len(laid.parts) else None
            if box is None or not box.is_stale:
                continue
            if time.monotonic() - box.improved_at < _AGAIN_S:
                self._later.start()
                continue
            box.improve()
            self.viewport().update()
            return
        if not self.placed or not self._beyond(clock):
            self._ahead.stop()
        self._sync_bar()

    def _beyond(self, clock: QElapsedTimer) -> bool:
        """Lay out one screen above and below; whether there is more to do."""
        for forward in (True, False):
            at = self.placed[-1] if forward else self.placed[0]
            item, part, room = at.item, at.part, float(self._high)
            while room > 0:
                part += 1 if forward else -1
                while not 0 <= part < len(self.flow.laid(item).parts):
                    item += 1 if forward else -1
                    if not 0 <= item < self.flow.count:
                        break
                    part = 0 if forward else len(self.flow.laid(item).parts) - 1
                if not 0 <= item < self.flow.count:
                    break
                known = self.flow.laid(item).is_exact(part)
                room -= self.flow.measure(item, part)
                if not known and clock.elapsed() >= _AHEAD_MS:
                    return True
        return False
