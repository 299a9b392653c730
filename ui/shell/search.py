"""The search box of the header: in this session with next and previous, or in all sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QHideEvent, QKeyEvent, QPainter, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ui import theme
from ui.widgets.figures import count

DEBOUNCE_MS = 150
ENTRY_ROLE = Qt.ItemDataRole.UserRole
WHERE_ROLE = Qt.ItemDataRole.UserRole + 1
AnyIndex = QModelIndex | QPersistentModelIndex


class Result(NamedTuple):
    """A hit in one of all sessions."""

    key: int
    """Of the session."""
    entry: int
    session: str
    """Its title."""
    text: str


class SearchBar(QWidget):
    """Emits what to search; the window sets what was found."""

    query_changed = Signal(str, bool)
    """(query, in all sessions)"""
    step_requested = Signal(int)
    hit_chosen = Signal(int, int)
    """(session key, entry index)"""
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = QLineEdit(self)
        self.box.setPlaceholderText("Search entries, files, tools…")
        self.box.setAccessibleName("Search this session")
        self.box.setClearButtonEnabled(True)
        self.box.installEventFilter(self)
        self.count = QLabel(self)
        theme.set_tone(self.count, "dim")
        self.previous = self._button("chevron-up", "Previous hit (Shift+Enter)", -1)
        self.following = self._button("chevron-down", "Next hit (Enter)", 1)
        self.everywhere = QToolButton(self)
        self.everywhere.setText("All sessions")
        self.everywhere.setCheckable(True)
        self.everywhere.setToolTip("Search all sessions instead of this one")
        self.everywhere.setAccessibleName("Search all sessions")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.S4)
        for widget in (self.box, self.count, self.previous, self.following, self.everywhere):
            layout.addWidget(widget)
        layout.setStretch(0, 1)
        self.results = ResultList(self)
        self.results.chosen.connect(self.hit_chosen)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DEBOUNCE_MS)
        self._timer.timeout.connect(self._emit)
        self.box.textChanged.connect(lambda _text: self._timer.start())
        self.everywhere.toggled.connect(lambda _on: self._emit())
        # Who chooses where to search goes on with what to search.
        self.everywhere.clicked.connect(lambda: self.box.setFocus())
        self.show_position(0, 0)

    def set_roomy(self, roomy: bool) -> None:
        """Say everything in words, or as short as it can be said."""
        self.everywhere.setText("All sessions" if roomy else "All")
        self.box.setMinimumWidth(theme.scaled(130))

    def _button(self, icon: str, tip: str, step: int) -> QToolButton:
        button = QToolButton(self)
        theme.bind_icon(button, icon, "dim")
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.setAutoRaise(True)
        button.clicked.connect(lambda: self.step_requested.emit(step))
        return button

    def focus_box(self) -> None:
        self.box.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.box.selectAll()

    def _emit(self) -> None:
        self._timer.stop()
        self.query_changed.emit(self.box.text().strip(), self.everywhere.isChecked())

    def show_position(self, current: int, total: int) -> None:
        """``current`` counts from 1, 0 is none of them; no hits and no query show nothing."""
        searching = bool(self.box.text().strip()) and not self.everywhere.isChecked()
        found = f"{current:,} / {total:,}" if current else count(total, "hit")
        self.count.setText(found if total else "no hit" if searching else "")
        for button in (self.previous, self.following):
            button.setEnabled(total > 0)
            button.setVisible(searching)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            key = Qt.Key(event.key())
            if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._enter(bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
                return True
            if key == Qt.Key.Key_Escape:
                self.results.hide()
                self.left.emit()
                return True
            if key == Qt.Key.Key_Down and self.results.isVisible():
                self.results.list.setFocus()
                return True
        return super().eventFilter(watched, event)

    def _enter(self, backwards: bool) -> None:
        if self._timer.isActive():
            self._emit()
        elif self.results.isVisible():
            self.results.choose_current()
        else:
            self.step_requested.emit(-1 if backwards else 1)

    def show_results(self, rows: Sequence[Result]) -> None:
        """Hits of all sessions, under the box."""
        below = self.box.mapTo(self.window(), QPoint(0, self.box.height() + theme.S4))
        room = self.window().width() - below.x() - theme.S16
        self.results.show_rows(rows, below, min(room, max(theme.scaled(480), self.box.width())))

    def hide_results(self) -> None:
        self.results.hide()


class ResultList(QFrame):
    """Hits of all sessions, under the box."""

    chosen = Signal(int, int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._bar = parent
        self.setProperty("card", True)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.list = QListWidget(self)
        self.list.setAccessibleName("Hits in all sessions")
        self.list.setUniformItemSizes(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setItemDelegate(ResultDelegate(self.list))
        self.empty = QLabel("Nothing found in any session.", self)
        theme.set_tone(self.empty, "dim")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.S8, theme.S8, theme.S8, theme.S8)
        layout.addWidget(self.empty)
        layout.addWidget(self.list)
        self.list.itemActivated.connect(lambda _item: self.choose_current())
        self.list.itemClicked.connect(lambda _item: self.choose_current())
        self.hide()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if app := QApplication.instance():
            app.installEventFilter(self)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if app := QApplication.instance():
            app.removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Whoever goes elsewhere, by mouse or by key, has done with the list."""
        if event.type() in (QEvent.Type.MouseButtonPress, QEvent.Type.FocusIn):
            inside = (self, self._bar)
            if isinstance(watched, QWidget) and not any(
                part is watched or part.isAncestorOf(watched) for part in inside
            ):
                self.hide()
        return super().eventFilter(watched, event)

    def show_rows(self, rows: Sequence[Result], at: QPoint, width: int) -> None:
        self.setParent(self.window())
        self.list.clear()
        for row in rows:
            item = QListWidgetItem(" ".join(row.text.split()))
            item.setData(ENTRY_ROLE, (row.key, row.entry))
            item.setData(WHERE_ROLE, f"{row.session} · #{row.entry}")
            item.setData(
                Qt.ItemDataRole.AccessibleTextRole, f"{row.text}, in {row.session}, {row.entry}"
            )
            self.list.addItem(item)
        self.list.setCurrentRow(0)
        self.list.setVisible(bool(rows))
        self.empty.setVisible(not rows)
        lines = self.list.sizeHintForRow(0) * min(len(rows), 8) if rows else 0
        margins = 2 * theme.S8 + 4
        height = lines + margins if rows else self.empty.sizeHint().height() + margins + theme.S8
        self.setGeometry(at.x(), at.y(), width, height)
        self.show()
        self.raise_()

    def choose_current(self) -> None:
        item = self.list.currentItem()
        if item is not None:
            key, index = item.data(ENTRY_ROLE)
            self.hide()
            self.chosen.emit(key, index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if Qt.Key(event.key()) == Qt.Key.Key_Escape:
            self.hide()
        else:
            super().keyPressEvent(event)


class ResultDelegate(QStyledItemDelegate):
    """What was found over where it was found."""

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        return QSize(120, 2 * option.fontMetrics.lineSpacing() + theme.S8)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        colors = theme.theme()
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, colors.sel)
        inner = option.rect.adjusted(theme.S8, theme.S4, -theme.S8, -theme.S4)
        half = inner.height() // 2
        for font, ink, role, place in (
            (option.font, colors.ink, Qt.ItemDataRole.DisplayRole, inner.adjusted(0, 0, 0, -half)),
            (theme.small_font(), colors.dim, WHERE_ROLE, inner.adjusted(0, half, 0, 0)),
        ):
            painter.setFont(font)
            painter.setPen(ink)
            text = painter.fontMetrics().elidedText(
                str(index.data(role)), Qt.TextElideMode.ElideRight, inner.width()
            )
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)
        painter.restore()
