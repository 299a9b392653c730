"""The search box of the header: in this session with next and previous, or in all sessions."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ui import theme

DEBOUNCE_MS = 150


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
        self.everywhere.setText("All")
        self.everywhere.setCheckable(True)
        self.everywhere.setToolTip("Search all sessions")
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
        self.show_position(0, 0)

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
        """``current`` counts from 1; no hits and no query show nothing."""
        searching = bool(self.box.text().strip()) and not self.everywhere.isChecked()
        self.count.setText(f"{current:,} / {total:,}" if total else "no hit" if searching else "")
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

    def show_results(self, rows: list[tuple[int, int, str]]) -> None:
        """Hits of all sessions: (session key, entry index, text)."""
        below = self.box.mapTo(self.window(), QPoint(0, self.box.height() + theme.S4))
        self.results.show_rows(rows, below, max(420, self.box.width()))

    def hide_results(self) -> None:
        self.results.hide()


class ResultList(QFrame):
    """Hits of all sessions, under the box."""

    chosen = Signal(int, int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.list = QListWidget(self)
        self.list.setAccessibleName("Hits in all sessions")
        self.list.setUniformItemSizes(True)
        self.empty = QLabel("Nothing found in any session.", self)
        theme.set_tone(self.empty, "dim")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.S8, theme.S8, theme.S8, theme.S8)
        layout.addWidget(self.empty)
        layout.addWidget(self.list)
        self.list.itemActivated.connect(lambda _item: self.choose_current())
        self.list.itemClicked.connect(lambda _item: self.choose_current())
        self.hide()

    def show_rows(self, rows: list[tuple[int, int, str]], at: QPoint, width: int) -> None:
        self.setParent(self.window())
        self.list.clear()
        for key, index, text in rows:
            item = QListWidgetItem(text)
            item.setData(Qt.ItemDataRole.UserRole, (key, index))
            self.list.addItem(item)
        self.list.setCurrentRow(0)
        self.list.setVisible(bool(rows))
        self.empty.setVisible(not rows)
        self.setGeometry(at.x(), at.y(), width, 300 if rows else 48)
        self.show()
        self.raise_()

    def choose_current(self) -> None:
        item = self.list.currentItem()
        if item is not None:
            key, index = item.data(Qt.ItemDataRole.UserRole)
            self.hide()
            self.chosen.emit(key, index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if Qt.Key(event.key()) == Qt.Key.Key_Escape:
            self.hide()
        else:
            super().keyPressEvent(event)
