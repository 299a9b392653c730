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
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QLabel,
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolButton,
    QWidget,
)

from ui import theme
from ui.widgets.figures import count
from ui.widgets.panels import row_in
from ui.widgets.popup import Popup, PopupTable
from ui.widgets.table import ROW, Column

DEBOUNCE_MS = 150
AnyIndex = QModelIndex | QPersistentModelIndex


class SearchResult(NamedTuple):
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
        layout = row_in(self, theme.S4)
        for widget in (self.box, self.count, self.previous, self.following, self.everywhere):
            layout.addWidget(widget)
        layout.setStretch(0, 1)
        self.results = ResultPopup(self)
        self.results.chosen.connect(self._choose)
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
        """Show all labels in full, or as short as possible."""
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
                self.results.table.setFocus()
                return True
        return super().eventFilter(watched, event)

    def _enter(self, backwards: bool) -> None:
        if self._timer.isActive():
            self._emit()
        elif self.results.isVisible():
            self.results.choose_current()
        else:
            self.step_requested.emit(-1 if backwards else 1)

    def show_results(self, rows: Sequence[SearchResult]) -> None:
        """Hits of all sessions, under the box."""
        self.results.show_rows(rows, "" if rows else "Nothing found in any session.")
        left = self.box.mapTo(self.window(), QPoint(0, 0)).x()
        room = self.window().width() - left - theme.S16
        self.results.open_at(self.box, min(room, max(theme.scaled(480), self.box.width())))

    def hide_results(self) -> None:
        self.results.hide()

    def _choose(self, result: SearchResult) -> None:
        self.results.hide()
        self.hit_chosen.emit(result.key, result.entry)


class ResultTable(PopupTable):
    """Rows of two lines: what was found over where it was found."""

    def __init__(self, parent: QWidget) -> None:
        columns: list[Column[SearchResult]] = [
            Column("", lambda row: " ".join(row.text.split()), stretch=True,
                   spoken=lambda row: f"{row.text}, in {row.session}, {row.entry}"),
        ]  # fmt: skip
        super().__init__(columns, "Hits in all sessions", parent)
        self.setItemDelegate(ResultDelegate(self))

    def row_height(self) -> int:
        return 2 * self.fontMetrics().lineSpacing() + theme.S8


class ResultPopup(Popup):
    """Hits of all sessions, under the box."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(ResultTable(parent), parent)

    def choose_current(self) -> None:
        """Choose the marked hit, if there is one."""
        if (row := self.table.current) is not None:
            self.chosen.emit(row)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if Qt.Key(event.key()) == Qt.Key.Key_Escape:
            self.hide()
        else:
            super().keyPressEvent(event)


class ResultDelegate(QStyledItemDelegate):
    """What was found over where it was found."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        colors = theme.theme()
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, colors.sel)
        inner = option.rect.adjusted(theme.S8, theme.S4, -theme.S8, -theme.S4)
        half = inner.height() // 2
        row: SearchResult = index.data(ROW)
        where = f"{row.session} · #{row.entry}"
        for font, ink, line, place in (
            (option.font, colors.ink, str(index.data()), inner.adjusted(0, 0, 0, -half)),
            (theme.small_font(), colors.dim, where, inner.adjusted(0, half, 0, 0)),
        ):
            painter.setFont(font)
            painter.setPen(ink)
            text = painter.fontMetrics().elidedText(
                line, Qt.TextElideMode.ElideRight, inner.width()
            )
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)
        painter.restore()
