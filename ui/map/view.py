"""The map itself: one painted surface over arrays, with its mouse, its keys, and the motion of
folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import (
    QEvent,
    QObject,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    Qt,
    QVariantAnimation,
    Signal,
)
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
    QPixmap,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from explorer.session.kinds import Kind
from ui.map.accessibility import install_accessibility
from ui.map.canvas import Canvas, Level, MapInks
from ui.map.folds import folded_by
from ui.map.frame import paint_empty, paint_map
from ui.map.interactions import (
    CutGesture,
    FoldGesture,
    Gesture,
    PanGesture,
    branch_point_entry,
    compaction_entry,
    edge_entry,
    entry_at_offset,
    entry_to_left,
    entry_to_right,
    next_cut,
    turn_entry,
)
from ui.map.model import MapModel
from ui.map.zoom_area import ZoomedArea
from ui.theme import motion_ms, theme_signals
from ui.widgets.terms import meaning

MOTION_MS = 180


class FoldMotion(QObject):
    """Keeps a picture of the rows that are about to go, and squeezes it into the fold's node."""

    def __init__(self, view: MapView) -> None:
        super().__init__(view)
        self._view = view
        self._picture: QPixmap | None = None
        self._rows = QRect()
        self._into = -1
        self._animation = QVariantAnimation(self)
        self._animation.setStartValue(0.0)
        self._animation.setEndValue(1.0)
        self._animation.valueChanged.connect(view.viewport().update)
        self._animation.finished.connect(self._over)

    @property
    def is_running(self) -> bool:
        return self._picture is not None and self._into >= 0

    def take(self, compaction: int) -> None:
        """Before the rows of a compaction are hidden: remember what of them is on screen."""
        view = self._view
        self._animation.stop()
        self._picture = None
        if not motion_ms(MOTION_MS) or view.level is not Level.ENTRIES or not view.isVisible():
            return
        geometry, rows = view.geometry_now(), view.model.rows
        path = folded_by(view.model.tree, compaction)
        gone = [
            row
            for row in range(geometry.first, geometry.stop)
            if path.position(rows.entry(row)) >= 0
        ]
        if gone:
            top, bottom = geometry.y(gone[0]), geometry.y(gone[-1] + 1)
            port = view.viewport()
            self._rows = QRect(0, round(top), port.width(), round(bottom - top)) & port.rect()
            self._picture = port.grab(self._rows)
            self._into = compaction

    def start(self) -> None:
        """The rows are gone: let their picture follow them."""
        duration = motion_ms(MOTION_MS)
        if self._picture is not None and duration:
            self._animation.setDuration(duration)
            self._animation.start()

    def paint(self, painter: QPainter) -> None:
        """The picture on its way, over the new frame."""
        row = self._view.model.rows.row(self._into) if self.is_running else -1
        if self._picture is None or row < 0:
            return
        share = float(self._animation.currentValue())
        share = 1 - (1 - share) ** 3
        middle = self._view.geometry_now().middle(row)
        top = self._rows.top() + (middle - self._rows.top()) * share
        height = self._rows.height() * (1 - share)
        painter.setOpacity(1 - share)
        painter.drawPixmap(
            QRectF(0, top, self._rows.width(), height),
            self._picture,
            QRectF(self._picture.rect()),
        )
        painter.setOpacity(1.0)

    def _over(self) -> None:
        self._picture = None
        self._view.viewport().update()


Key, Mod = Qt.Key, Qt.KeyboardModifier
_IGNORED = Mod.KeypadModifier | Mod.ShiftModifier
"""Shift is part of how some layouts write + and the brackets."""

MAP_KEY_HELP = (
    ("↑ ↓", "previous and next row"),
    ("Home End", "first and last row"),
    ("Page Up, Page Down", "a screen up and down"),
    ("Ctrl+↑ Ctrl+↓", "previous and next turn"),
    ("[ ]", "previous and next branch point"),
    ("{ }", "previous and next compaction"),
    ("←", "fold a compaction, or go to the parent"),
    ("→", "unfold a compaction, or go to the next branch"),
    ("Enter", "go there"),
    ("Alt+↑ Alt+↓", "move the cut to the next valid place"),
    ("P", "pin, or unpin"),
    ("O", "omit, or take in again"),
    ("+ − 0 1", "zoom in, out, fit all, actual size"),
)


def _select(target: Callable[[MapView], int]) -> Callable[[MapView], None]:
    def deed(view: MapView) -> None:
        entry = target(view)
        if entry >= 0:
            view.model.select(entry)
        if view.model.selected >= 0:
            view.reveal(view.model.selected, centre=False)

    return deed


def _activate(view: MapView) -> None:
    if view.model.selected >= 0:
        view.activated.emit(view.model.selected)


def _shape(view: MapView, how: str) -> None:
    if view.model.selected >= 0:
        view.shape_asked.emit(how, view.model.selected)


def _page(view: MapView, direction: int) -> int:
    geometry = view.geometry_now()
    rows = max(1, int(geometry.height / max(geometry.row_height, 1e-5)) - 1)
    return entry_at_offset(view.model, direction * rows)


_DEEDS: dict[tuple[Qt.Key, Qt.KeyboardModifier], Callable[[MapView], None]] = {
    (Key.Key_Up, Mod.NoModifier): _select(lambda view: entry_at_offset(view.model, -1)),
    (Key.Key_Down, Mod.NoModifier): _select(lambda view: entry_at_offset(view.model, 1)),
    (Key.Key_Home, Mod.NoModifier): _select(lambda view: edge_entry(view.model, False)),
    (Key.Key_End, Mod.NoModifier): _select(lambda view: edge_entry(view.model, True)),
    (Key.Key_PageUp, Mod.NoModifier): _select(lambda view: _page(view, -1)),
    (Key.Key_PageDown, Mod.NoModifier): _select(lambda view: _page(view, 1)),
    (Key.Key_Up, Mod.ControlModifier): _select(lambda view: turn_entry(view.model, -1)),
    (Key.Key_Down, Mod.ControlModifier): _select(lambda view: turn_entry(view.model, 1)),
    (Key.Key_BracketLeft, Mod.NoModifier): _select(lambda view: branch_point_entry(view.model, -1)),
    (Key.Key_BracketRight, Mod.NoModifier): _select(lambda view: branch_point_entry(view.model, 1)),
    (Key.Key_BraceLeft, Mod.NoModifier): _select(lambda view: compaction_entry(view.model, -1)),
    (Key.Key_BraceRight, Mod.NoModifier): _select(lambda view: compaction_entry(view.model, 1)),
    (Key.Key_Left, Mod.NoModifier): _select(lambda view: entry_to_left(view.model)),
    (Key.Key_Right, Mod.NoModifier): _select(lambda view: entry_to_right(view.model)),
    (Key.Key_Return, Mod.NoModifier): _activate,
    (Key.Key_Enter, Mod.NoModifier): _activate,
    (Key.Key_Up, Mod.AltModifier): lambda view: view.move_cut(-1),
    (Key.Key_Down, Mod.AltModifier): lambda view: view.move_cut(1),
    (Key.Key_Plus, Mod.NoModifier): lambda view: view.zoom_in(),
    (Key.Key_Equal, Mod.NoModifier): lambda view: view.zoom_in(),
    (Key.Key_Minus, Mod.NoModifier): lambda view: view.zoom_out(),
    (Key.Key_P, Mod.NoModifier): lambda view: _shape(view, "pin"),
    (Key.Key_O, Mod.NoModifier): lambda view: _shape(view, "omit"),
    (Key.Key_0, Mod.NoModifier): lambda view: view.fit(),
    (Key.Key_1, Mod.NoModifier): lambda view: view.actual(),
}


def _deed(event: QKeyEvent) -> Callable[[MapView], None] | None:
    return _DEEDS.get((Key(event.key()), event.modifiers() & ~_IGNORED))


def is_map_key(event: QKeyEvent) -> bool:
    """Whether a key means something on the map."""
    return _deed(event) is not None


def press_key(view: MapView, event: QKeyEvent) -> bool:
    """Handle a key; returns whether it has a meaning here."""
    deed = _deed(event)
    if deed is None:
        return False
    deed(view)
    return True


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
        install_accessibility()
        super().__init__(model, parent)
        self._hovered = -1
        self._gesture: Gesture | None = None
        self._dragging = False
        self._leaf_from: QPointF | None = None
        self._anchored: tuple[int, float] | None = None
        self._selection_seen = False
        self._motion = QVariantAnimation(self)
        self._motion.setDuration(_MOTION_MS)
        self._motion.setStartValue(0.0)
        self._motion.setEndValue(1.0)
        self._motion.valueChanged.connect(self._repaint)
        self._motion.finished.connect(self._motion_over)
        self.fold_motion = FoldMotion(self)
        model.fold_closing.connect(self.fold_motion.take)
        model.fold_closed.connect(self.fold_motion.start)
        model.fold_closed.connect(self._fold_closed)
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
        model.words_arrived.connect(self._words_arrived)
        model.threads_changed.connect(self._repaint)
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
        self._selection_seen = (
            not rect.isEmpty() and rect.bottom() > 0 and rect.top() < geometry.height
        )
        if self._selection_seen:
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

    def _fold_closed(self) -> None:
        """A selection that was visible stays so; a compaction may stand for it now."""
        if self._selection_seen and self.model.selected >= 0:
            self.reveal(self.model.selected, centre=False)

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
        description = self.model.texts.describe(entry) if entry >= 0 else "Nothing is selected"
        self.setAccessibleDescription(description)
        if self.hasFocus() and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, description))

    def _marks_changed(self) -> None:
        partition = self.model.partition
        refused = partition is not None and partition.cut < 0 and self._cut in partition.valid_cuts
        # A cut that was refused stays visible, or nobody could drag it back.
        if not self._dragging and not refused:
            self._cut = -1
        self.viewport().update()

    def _words_arrived(self, entries: Sequence[int]) -> None:
        """Only these rows are repainted; far away, where a row is no line, everything."""
        if self.level is not Level.ENTRIES:
            self.viewport().update()
            return
        for entry in entries:
            self.viewport().update(self.row_rect(entry).toAlignedRect())

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
        row, share = self._row_looked_at()
        at_end = self._at_end
        self.inks = MapInks.make(self.devicePixelRatioF())
        self._update_bar()
        if at_end:
            self.scroll_to(self.verticalScrollBar().maximum())
        else:
            self._look_at(row, share)
        self.viewport().update()
        self.view_changed.emit()

    # painting --------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        at_end, looked_at = self._at_end, self._looked_at
        stays = looked_at is not None and looked_at[2] == self.verticalScrollBar().value()
        super().resizeEvent(event)
        self._update_bar()
        if at_end:
            self.scroll_to(self.verticalScrollBar().maximum())
        elif looked_at is not None and stays:
            self._look_at(*looked_at[:2])
        self.view_changed.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.inks.dpr != self.devicePixelRatioF():
            self.inks = MapInks.make(self.devicePixelRatioF())
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
            at = QPointF(event.pos())
            entry = self.entry_at(at)
            if self._is_on_cut(at):
                QToolTip.showText(event.globalPos(), meaning("cut"), self)
            elif entry >= 0:
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
