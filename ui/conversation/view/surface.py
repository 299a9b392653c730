"""The conversation painted, and the mouse on it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QTextCursor,
)
from PySide6.QtWidgets import QApplication, QToolTip, QWidget

from ui import theme
from ui.conversation.view.boxes import Box, DocumentBox, Looks, RowBox, Zone, paint_role
from ui.conversation.view.find import TextHit
from ui.conversation.view.parts import Code, Note, PicturePart, Prose, Row
from ui.conversation.view.scroll_area import Placed, ScrolledFlow
from ui.conversation.view.selection import Selection, TextPlace

_RUNNING_MS = 250
_EDGE_MS = 40


class Surface(ScrolledFlow):
    """Paints what is placed; takes clicks, selections by the mouse, and hovering."""

    entry_requested = Signal(int)
    link_asked = Signal(str)
    file_asked = Signal(str)
    copied = Signal(str)
    """A block of code was asked for; its whole text."""
    selection_changed = Signal()
    focus_moved = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.selection = Selection(self.flow)
        self.query = ""
        self.current: TextHit | None = None
        self.focused: tuple[int, str] | None = None
        """The entry and the key of the part that the keys go to."""
        self.marked = -1
        """The entry that was gone to from another view."""
        self.by_keys = True
        """Whether the person goes about by keyboard, so that the focused part is framed."""
        self._hovered: tuple[int, int] | None = None
        self._pressed: QPointF | None = None
        self._dragging = False
        self._clicks = 0
        self._mouse = QPointF()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self._running = QTimer(self)
        self._running.setInterval(_RUNNING_MS)
        self._running.timeout.connect(self._tick)
        self._edge = QTimer(self)
        self._edge.setInterval(_EDGE_MS)
        self._edge.timeout.connect(self._drag_on)

    # painting -----------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        now = self.flow.inks.now
        painter.fillRect(event.rect(), now.paper)
        span, clip = self.selection.span(), QRectF(event.rect())
        for placed in self.placed:
            if placed.top > clip.bottom() or placed.top + placed.height < clip.top():
                continue
            laid = self.flow.known(placed.item)
            box = laid.known_box(placed.part) if laid and placed.part < len(laid.parts) else None
            if laid is None or box is None:
                continue
            top = placed.top + laid.gap(placed.part)
            self._paint_behind(painter, placed, laid.gap(placed.part), box, laid.entry)
            part = box.part
            if part.role is not None:
                line = box.height if isinstance(box, RowBox) else self.flow.inks.metrics.height()
                if isinstance(part, Code):
                    line += theme.S8
                paint_role(painter, self.flow.inks, part.role, top, line)
            looks = Looks(query=self.query, hovered=self._hovered == (placed.item, placed.part))
            if span is not None:
                looks.selected = Selection.within(span, placed.item, placed.part)
            if self.current is not None and self.current.place == (laid.entry, part.key):
                looks.current = self.current.number
            box.paint(painter, top, looks, clip)
        painter.end()

    def _paint_behind(
        self, painter: QPainter, placed: Placed, gap: float, box: Box, entry: int
    ) -> None:
        """The ground of the user's messages, the mark of what was gone to, and the focus."""
        inks, top = self.flow.inks, placed.top + gap
        laid = self.flow.laid(placed.item)
        painter.setPen(Qt.PenStyle.NoPen)
        if _is_users(box):
            first, last = placed.part == 0, placed.part == len(laid.parts) - 1
            pad = theme.S4 + 1
            above = top - pad if first else placed.top - theme.RADIUS
            below = top + box.height + (pad if last else theme.RADIUS)
            painter.save()
            ground = QRectF(inks.left - theme.S8, above, inks.right - inks.left + theme.S16,
                            below - above)  # fmt: skip
            visible = ground.adjusted(
                0, 0 if first else theme.RADIUS, 0, 0 if last else -theme.RADIUS
            )
            painter.setClipRect(visible)
            painter.setBrush(inks.user_ground)
            painter.drawRoundedRect(ground, theme.RADIUS, theme.RADIUS)
            painter.restore()
        if entry == self.marked and entry >= 0:
            painter.setBrush(inks.now.accent)
            painter.drawRect(QRectF(0, top if placed.part == 0 else placed.top, 3,
                                    box.height + (gap if placed.part else 0)))  # fmt: skip
        if self.by_keys and self.hasFocus() and self.focused == (entry, box.part.key):
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(inks.now.accent, 1))
            frame = QRectF(theme.S8, top - 3, inks.right - theme.S8 + theme.S8, box.height + 6)
            painter.drawRoundedRect(frame.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)

    def placed_anew(self) -> None:
        if any(self._is_running(placed) for placed in self.placed):
            if not self._running.isActive():
                self._running.start()
        elif self._running.isActive():
            self._running.stop()

    def _is_running(self, placed: Placed) -> bool:
        laid = self.flow.known(placed.item)
        part = laid.parts[placed.part] if laid and placed.part < len(laid.parts) else None
        return isinstance(part, Row) and bool(part.since)

    def _tick(self) -> None:
        """The seconds of what runs; only its rows are repainted."""
        for placed in self.placed:
            if self._is_running(placed):
                self.viewport().update(
                    0, int(placed.top), self.viewport().width(), int(placed.height) + 1
                )

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    # what is under the mouse ----------------------------------------------------------------------

    def _at(self, point: QPointF, *, nearest: bool = False) -> tuple[Placed, Box, QPointF] | None:
        """The part under a point, its box, and the point within the box."""
        found: Placed | None = None
        for placed in self.placed:
            if placed.top <= point.y() < placed.top + placed.height:
                found = placed
                break
        if found is None and nearest and self.placed:
            above = point.y() < self.placed[0].top
            found = self.placed[0] if above else self.placed[-1]
        if found is None:
            return None
        laid = self.flow.laid(found.item)
        box = laid.box(found.part, self.flow.pictures)
        top = found.top + laid.gap(found.part)
        return found, box, QPointF(point.x(), point.y() - top)

    def _zone(self, box: Box, offset: QPointF) -> Zone | None:
        return next((zone for zone in box.zones() if zone.rect.contains(offset)), None)

    def _on_role(self, box: Box, offset: QPointF) -> bool:
        line = self.flow.inks.metrics.height() + theme.S4
        return (
            box.part.role is not None
            and theme.S8 <= offset.x() < self.flow.inks.left - theme.S4
            and 0 <= offset.y() < line
        )

    def place_at(self, point: QPointF) -> TextPlace | None:
        """The character nearest to a point of the surface."""
        found = self._at(point, nearest=True)
        if found is None:
            return None
        placed, box, offset = found
        if offset.y() > box.height and placed == self.placed[-1]:
            at = box.length()
        else:
            at = box.place(offset)
        return TextPlace(self.flow.entry(placed.item), box.part.key, at)

    # the mouse -----------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        self._pressed, self._dragging, self.by_keys = event.position(), False, False
        place = self.place_at(event.position())
        if place is None:
            return
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and self.selection.is_begun:
            self.selection.extend(place)
        else:
            self.selection.begin(place)
        found = self._at(event.position())
        if found is not None:
            self.focus_on(self.flow.entry(found[0].item), found[1].part.key, scroll=False)
        self._selected()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Select a word; a third click selects the line."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._select_unit(event.position(), QTextCursor.SelectionType.WordUnderCursor)

    def _select_unit(self, point: QPointF, unit: QTextCursor.SelectionType) -> None:
        found = self._at(point)
        if found is None or not isinstance(found[1], DocumentBox):
            return
        placed, box, offset = found
        assert isinstance(box, DocumentBox)
        first, end = box.word_at(box.place(offset), unit)
        entry = self.flow.entry(placed.item)
        self.selection.set(
            TextPlace(entry, box.part.key, first), TextPlace(entry, box.part.key, end)
        )
        self._pressed = None
        self._selected()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._mouse = event.position()
        if self._pressed is not None and event.buttons() & Qt.MouseButton.LeftButton:
            moved = (event.position() - self._pressed).manhattanLength()
            if self._dragging or moved >= QApplication.startDragDistance():
                self._dragging = True
                self._drag_to(event.position())
            return
        self._hover(event.position())

    def _drag_to(self, point: QPointF) -> None:
        place = self.place_at(point)
        if place is not None:
            self.selection.extend(place)
            self._selected()
        in_view = 0 <= point.y() < self.viewport().height()
        if in_view:
            self._edge.stop()
        elif not self._edge.isActive():
            self._edge.start()

    def _drag_on(self) -> None:
        """The mouse is pressed beyond the edge: scroll on and select on."""
        over = (
            self._mouse.y() - self.viewport().height() if self._mouse.y() > 0 else self._mouse.y()
        )
        self.scroll_by(max(-60, min(60, over)))
        self._drag_to(self._mouse)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        self._edge.stop()
        is_left = event.button() == Qt.MouseButton.LeftButton
        if pressed is not None and is_left and not self._dragging:
            self._click(event.position())
        self._dragging = False

    def _click(self, point: QPointF) -> None:
        found = self._at(point)
        if found is None:
            return
        placed, box, offset = found
        zone = self._zone(box, offset)
        if self._on_role(box, offset):
            self.show_entry(placed.item, box)
        elif zone is not None and zone.deed == "copy":
            self.copied.emit(self.whole_code(placed.item, placed.part))
        elif zone is not None:
            self.show_entry(placed.item, box)
        elif link := box.link(offset):
            self.link_asked.emit(link)
        elif isinstance(box, RowBox):
            self.act(placed.item, box.row)

    def show_entry(self, item: int, box: Box) -> None:
        """Ask for the entry that a part is of."""
        entry = box.part.entry if box.part.entry >= 0 else self.flow.entry(item)
        if entry >= 0:
            self.entry_requested.emit(entry)

    def act(self, item: int, row: Row) -> None:
        """Do what a click on a row does: open or fold it, or go where it leads."""
        if row.address:
            self.file_asked.emit(row.address)
        elif row.goes_to >= 0:
            self.entry_requested.emit(row.goes_to or self.flow.entry(item))
        elif row.opens:
            self.toggle(item, row.opens, not row.is_open)

    def toggle(self, item: int, key: str, opened: bool) -> None:
        """Open or fold what a row opens; what the reader sees above it stays where it is."""
        first = self.placed[0] if self.placed else None
        self.flow.set_open(item, key, opened)
        if first is not None:
            laid = self.flow.laid(first.item)
            part = min(first.part, len(laid.parts) - 1)
            above = -first.top if part == first.part else 0.0
            self.hold(first.item, part, above)
        self.place()

    def whole_code(self, item: int, part: int) -> str:
        """A block of code from its first piece to its last."""
        laid, found = self.flow.laid(item), []
        for at in range(part, len(laid.parts)):
            piece = laid.parts[at]
            if not isinstance(piece, Code):
                found.append(laid.box(at, self.flow.pictures).text())
                break
            found.append(piece.text)
            if piece.closes:
                break
        return "\n".join(found)

    # hovering -----------------------------------------------------------------------------------

    def _hover(self, point: QPointF) -> None:
        found = self._at(point)
        hovered = (found[0].item, found[0].part) if found is not None else None
        if hovered != self._hovered:
            self._hovered = hovered
            self.viewport().update()
        shape = Qt.CursorShape.ArrowCursor
        if found is not None:
            _placed, box, offset = found
            if (
                self._on_role(box, offset)
                or self._zone(box, offset)
                or (isinstance(box, RowBox) and box.acts)
                or box.link(offset)
            ):
                shape = Qt.CursorShape.PointingHandCursor
            elif isinstance(box, DocumentBox) and offset.x() >= box.left:
                shape = Qt.CursorShape.IBeamCursor
        self.viewport().setCursor(shape)

    def leaveEvent(self, event: QEvent) -> None:
        self._hovered = None
        self.viewport().update()
        super().leaveEvent(event)

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self._tip(QPointF(event.pos())), self)
            return True
        return super().viewportEvent(event)

    def _tip(self, point: QPointF) -> str:
        found = self._at(point)
        if found is None:
            return ""
        placed, box, offset = found
        if zone := self._zone(box, offset):
            return zone.tip
        if link := box.link(offset):
            return link[:200]
        if self._on_role(box, offset):
            entry = box.part.entry if box.part.entry >= 0 else self.flow.entry(placed.item)
            return f"Show #{entry} on the map" if entry >= 0 else ""
        if isinstance(box, RowBox) and (box.row.opens or box.row.tip):
            return box.row.tip or box.row.text[:300]
        return box.part.tip if isinstance(box.part, Note) else ""

    def focus_on(self, entry: int, key: str, *, scroll: bool = True) -> None:
        """Let the keys go to a part."""
        if self.focused != (entry, key):
            self.focused = (entry, key)
            self.focus_moved.emit()
        item = self.flow.item_of(entry)
        if scroll and item >= 0:
            part = self.flow.laid(item).places.get(key, -1)
            if part >= 0:
                self.make_visible(item, part)
        self.viewport().update()

    def _selected(self) -> None:
        self.viewport().update()
        self.selection_changed.emit()


def _is_users(box: Box) -> bool:
    part = box.part
    return isinstance(part, Prose | Code | PicturePart) and part.by_user
