"""The map itself: one painted surface over arrays, with its mouse and keys."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, QVariantAnimation, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from explorer.session.kinds import Kind
from ui.map.canvas import Canvas
from ui.map.folding import FoldMotion
from ui.map.geometry import Level
from ui.map.inks import Inks
from ui.map.interactions import CutGesture, FoldGesture, Gesture, PanGesture, next_cut
from ui.map.keyboard import is_map_key, press_key
from ui.map.model import MapModel
from ui.map.painting import paint_empty, paint_map
from ui.map.zooming import ZoomedArea
from ui.theme import motion_ms, theme_signals

_MOTION_MS = 160

_GRIP = 5
"""Pixels above and below the cut's line in which the mouse takes hold of it."""


class MapView(ZoomedArea):
    """Shows a ``MapModel``. Rows run downwards in the order of time."""

    activated = Signal(int)
    cut_dragged = Signal(int)
    cut_dropped = Signal(int)
    menu_requested = Signal(int, QPoint)
    shape_asked = Signal(str, int)
    """``pin`` or ``omit``, and the entry that is to be, or to be no longer."""

    def __init__(self, model: MapModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self._hovered = -1
        self._gesture: Gesture | None = None
        self._dragging = False
        self._leaf_from: QPointF | None = None
        self._anchored: tuple[int, float] | None = None
        self._motion = QVariantAnimation(self)
        self._motion.setDuration(_MOTION_MS)
        self._motion.setStartValue(0.0)
        self._motion.setEndValue(1.0)
        self._motion.valueChanged.connect(self._repaint)
        self._motion.finished.connect(self._motion_over)
        self.fold_motion = FoldMotion(self)
        model.fold_closing.connect(self.fold_motion.take)
        model.fold_closed.connect(self.fold_motion.start)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.setAccessibleName("Session map")
        self.setMinimumWidth(220)
        model.session_changed.connect(self._session_changed)
        model.layout_changing.connect(self._layout_changing)
        model.layout_changed.connect(self._layout_changed)
        model.appended.connect(self._appended)
        model.selection_changed.connect(self._selection_changed)
        model.marks_changed.connect(self._marks_changed)
        model.leaf_changed.connect(self._leaf_changed)
        theme_signals.changed.connect(self._look_changed)

    def _repaint(self) -> None:
        self.viewport().update()

    # changes of the model ----------------------------------------------------------------------

    def _session_changed(self) -> None:
        self._cut, self._hovered, self._gesture, self._dragging = -1, -1, None, False
        self._zoom = 1.0
        self._update_bar()
        row = self.model.rows.row(self.model.leaf)
        if row == self.model.rows.count - 1:
            self.scroll_to(self.verticalScrollBar().maximum())
        elif row >= 0:
            self.scroll_to_row(row)
        self._at_end = self.verticalScrollBar().value() >= self.verticalScrollBar().maximum()
        self._tell_selection()
        self.viewport().update()
        self.view_changed.emit()

    def _layout_changing(self) -> None:
        """What is to stay in place: the selected row where it is on screen, else the first one."""
        geometry = self.geometry_now()
        rect = self.row_rect(self.model.selected)
        if not rect.isEmpty() and rect.bottom() > 0 and rect.top() < geometry.height:
            self._anchored = self.model.selected, rect.top()
        elif geometry.rows and not self._at_end:
            self._anchored = self.model.rows.entry(geometry.first), geometry.y(geometry.first)
        else:
            self._anchored = None

    def _layout_changed(self) -> None:
        self._update_bar()
        if self._anchored is not None:
            entry, top = self._anchored
            geometry = self.geometry_now()
            self.scroll_to(geometry.y(self.model.rows.floor(entry)) + geometry.offset - top)
        else:
            self.scroll_to(self.verticalScrollBar().maximum())
        self.viewport().update()
        self.view_changed.emit()

    def _appended(self) -> None:
        follows = self._at_end
        self._update_bar()
        if follows:
            self.scroll_to(self.verticalScrollBar().maximum())
        self.viewport().update()
        self.view_changed.emit()

    def _selection_changed(self) -> None:
        self._tell_selection()
        self.viewport().update()

    def _tell_selection(self) -> None:
        entry = self.model.selected
        told = self.model.texts.describe(entry) if entry >= 0 else "Nothing is selected"
        self.setAccessibleDescription(told)
        if self.hasFocus() and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, told))

    def _marks_changed(self) -> None:
        partition = self.model.partition
        refused = partition is not None and partition.cut < 0 and self._cut in partition.valid_cuts
        # A cut that was refused stays in sight, or nobody could drag it back.
        if not self._dragging and not refused:
            self._cut = -1
        self.viewport().update()

    def _leaf_changed(self, old: int, new: int) -> None:
        duration = motion_ms(_MOTION_MS)
        rect = self.row_rect(old)
        if duration and old >= 0 and self.level is Level.ENTRIES and not rect.isNull():
            geometry = self.geometry_now()
            row = self.model.rows.row(old)
            self._leaf_from = QPointF(
                geometry.lane_x(self.model.lanes.lane_at(old)), geometry.middle(row)
            )
            self._motion.setDuration(duration)
            self._motion.start()
        self.viewport().update()

    def _motion_over(self) -> None:
        self._leaf_from = None
        self.viewport().update()

    def _look_changed(self) -> None:
        self.inks = Inks.make(self.devicePixelRatioF())
        self._update_bar()
        self.viewport().update()
        self.view_changed.emit()

    # painting --------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        at_end = self._at_end
        super().resizeEvent(event)
        self._update_bar()
        if at_end:
            self.scroll_to(self.verticalScrollBar().maximum())
        self.view_changed.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.inks.dpr != self.devicePixelRatioF():
            self.inks = Inks.make(self.devicePixelRatioF())
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), self.inks.theme.paper)
        if not self.model.rows.count:
            paint_empty(painter, self.viewport().rect(), self.inks, self.model)
        else:
            canvas = Canvas(painter, self.geometry_now(), self.inks, self.model)
            canvas.hovered, canvas.focused = self._hovered, self.hasFocus()
            canvas.cut, canvas.dragging = self.cut_now(), self._dragging
            if self._leaf_from is not None:
                self._move_leaf(canvas)
            paint_map(canvas)
            self.fold_motion.paint(painter)
        if self.hasFocus():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            painter.setPen(QPen(self.inks.theme.accent, 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.viewport().rect().adjusted(0, 0, -1, -1))
        painter.end()
        self.model.first_rows_painted()

    def _move_leaf(self, canvas: Canvas) -> None:
        row = self.model.rows.row(self.model.leaf)
        if row < 0 or self._leaf_from is None:
            return
        share = float(self._motion.currentValue())
        share = 1 - (1 - share) ** 3
        geometry = canvas.geometry
        x = geometry.lane_x(self.model.lanes.lane_at(self.model.leaf))
        canvas.leaf_x = self._leaf_from.x() + (x - self._leaf_from.x()) * share
        canvas.leaf_y = self._leaf_from.y() + (geometry.middle(row) - self._leaf_from.y()) * share

    # the mouse ---------------------------------------------------------------------------------

    def entry_at(self, at: QPointF) -> int:
        """The entry under a point of the viewport, -1 for none."""
        geometry = self.geometry_now()
        return self.model.rows.entry(geometry.row_at(at.y())) if geometry.is_row(at.y()) else -1

    def _is_on_cut(self, at: QPointF) -> bool:
        if self.cut_now() < 0:
            return False
        return abs(at.y() - self.cut_line()) <= _GRIP or self.pill_rect().contains(at)

    def _fold_at(self, at: QPointF) -> tuple[int, int]:
        """(compaction, row) whose handle is under a point, or (-1, -1)."""
        geometry = self.geometry_now()
        entry = self.entry_at(at)
        if entry < 0 or geometry.level is not Level.ENTRIES:
            return -1, -1
        row = geometry.row_at(at.y())
        if self.model.tree.columns.kind[entry] != Kind.COMPACTION:
            return -1, -1
        handle = geometry.fold_handle(row, self.model.lanes.lane_at(entry))
        return (entry, row) if handle.adjusted(-3, -3, 3, 3).contains(at) else (-1, -1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = event.position()
        if event.button() == Qt.MouseButton.MiddleButton:
            self._gesture = PanGesture(self, at, clicks=False)
        elif event.button() == Qt.MouseButton.LeftButton:
            compaction, row = self._fold_at(at)
            if self._is_on_cut(at):
                self._gesture = CutGesture(self, self.cut_now())
            elif compaction >= 0:
                self._gesture = FoldGesture(self, compaction, row)
            else:
                self._gesture = PanGesture(self, at, clicks=True)
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = event.position()
        if self._gesture is not None:
            self._gesture.move(at)
            return
        self._hover(self.geometry_now().row_at(at.y()) if self.entry_at(at) >= 0 else -1)
        if self._is_on_cut(at):
            self.viewport().setCursor(Qt.CursorShape.SizeVerCursor)
        elif self._fold_at(at)[0] >= 0:
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor)
        else:
            self.viewport().unsetCursor()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        gesture, self._gesture = self._gesture, None
        if gesture is not None:
            gesture.release(event.position())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        entry = self.entry_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and entry >= 0:
            self.activated.emit(entry)

    def click(self, at: QPointF) -> None:
        """Select what is under a point."""
        entry = self.entry_at(at)
        if entry >= 0:
            self.model.select(entry)

    def _hover(self, row: int) -> None:
        if row == self._hovered:
            return
        self._hovered = row
        if self.level is Level.ENTRIES:
            self.viewport().update()

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(-1)
        super().leaveEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            factor = 1.2 ** (event.angleDelta().y() / 120)
            self.set_zoom(self._zoom * factor, event.position().y())
            event.accept()
            return
        super().wheelEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        at = QPointF(event.pos())
        if event.reason() == QContextMenuEvent.Reason.Mouse:
            self.click(at)
        rect = self.row_rect(self.model.selected)
        if self.model.selected < 0:
            return
        place = event.globalPos()
        if event.reason() != QContextMenuEvent.Reason.Mouse and not rect.isNull():
            below = QPoint(round(self.geometry_now().text_left), round(rect.bottom()))
            place = self.viewport().mapToGlobal(below)
        self.menu_requested.emit(self.model.selected, place)

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            entry = self.entry_at(QPointF(event.pos()))
            if entry >= 0:
                QToolTip.showText(event.globalPos(), "\n".join(self.model.texts.tip(entry)), self)
            else:
                QToolTip.hideText()
            return True
        return super().viewportEvent(event)

    # the cut -----------------------------------------------------------------------------------

    def show_cut(self, cut: int, *, dragging: bool) -> None:
        """Draw the cut at a position while it is dragged."""
        moved = cut != self.cut_now()
        self._cut = cut if dragging else -1
        self._dragging = dragging
        self.viewport().update()
        if dragging and moved:
            self.cut_dragged.emit(cut)

    def drop_cut(self, cut: int) -> None:
        """The cut is to stay here; it is drawn here until the next partition comes."""
        self._dragging = False
        self._cut = cut
        self.viewport().update()
        self.cut_dropped.emit(cut)

    def move_cut(self, direction: int) -> None:
        """To the next valid cut above (-1) or below (1)."""
        cut = next_cut(self.model, self.cut_now(), direction)
        if cut >= 0:
            self.drop_cut(cut)
            self.reveal(self.model.partition.path[cut], centre=True)

    # the keyboard --------------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        """The map's plain keys are not taken for shortcuts of the window while it has focus."""
        is_override = event.type() == QEvent.Type.ShortcutOverride
        if is_override and isinstance(event, QKeyEvent) and is_map_key(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._gesture is not None:
            gesture, self._gesture = self._gesture, None
            gesture.cancel()
        elif not press_key(self, event):
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()
