"""The search box of the header: in this session with next and previous, or in all sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import (
    QDateTime,
    QEvent,
    QLocale,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRectF,
    QSignalBlocker,
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

from explorer.session.kinds import Flag
from ui import theme
from ui.theme import role_name
from ui.widgets.figures import count
from ui.widgets.marked import paint_marked_line
from ui.widgets.panels import row_in
from ui.widgets.popup import Popup, PopupTable
from ui.widgets.table import ROW, Column

DEBOUNCE_MS = 150
CLEAR = 26
"""Pixels at the end of the field with Qt's button that clears it, at every size of the text."""
LEAST_LETTERS = 8
"""Of what is looked for, in sight beside the count of what was found."""
LIST_WIDTH = 640
"""Of the list of hits, at a text scale of 100 %, where the window has the room."""
_BLANK = {ord(sign): " " for sign in "\n\r\t\v\f"}
AnyIndex = QModelIndex | QPersistentModelIndex


class SearchResult(NamedTuple):
    """A hit, in the session that is shown or in one of all."""

    key: int
    """Of the session."""
    entry: int
    session: str
    """Its title."""
    text: str
    """The line that matched."""
    marks: tuple[tuple[int, int], ...] = ()
    """Where in it the words are: start and end."""
    kind: int = -1
    flags: int = 0
    time_ms: float = 0.0
    is_undone: bool = False
    """Whether it is a compaction that was undone."""

    @property
    def line(self) -> str:
        """The same on one line, with the marks where they are."""
        return self.text.translate(_BLANK)

    @property
    def where(self) -> str:
        """What it is, when it was made, and where it stands."""
        known = role_name(self.kind, self.flags) if self.kind >= 0 else ""
        made = QDateTime.fromMSecsSinceEpoch(int(self.time_ms))
        moment = QLocale().toString(made, "d MMM yyyy, HH:mm") if self.time_ms > 0 else ""
        undone = "undone" if self.is_undone else ""
        parts = (known[:1].upper() + known[1:], undone, moment, self.session, f"#{self.entry}")
        return " · ".join(part for part in parts if part)


class SearchBar(QWidget):
    """Emits what to search; the window sets what was found."""

    query_changed = Signal(str, bool)
    """(query, in all sessions)"""
    entered = Signal()
    """Return: to the first hit that is shown, and then from one to the next."""
    step_requested = Signal(int)
    hit_chosen = Signal(int, int)
    """(session key, entry index)"""
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_roomy = self._is_tight = False
        self.box = QLineEdit(self)
        self.box.setPlaceholderText("Search words, files, #entry…")
        self.box.setAccessibleName("Search this session")
        self.box.setClearButtonEnabled(True)
        self.box.installEventFilter(self)
        # Within the field, so that the header stays as it is when something is found.
        self.count = QLabel(self.box)
        self._least = 0
        """Pixels of the field at least."""
        self.count.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        theme.set_tone(self.count, "dim")
        self.previous = self._button("chevron-up", "Previous hit (Shift+Enter)", -1)
        self.following = self._button("chevron-down", "Next hit (Enter)", 1)
        self.everywhere = QToolButton(self)
        self.everywhere.setText("Everywhere")
        self.everywhere.setCheckable(True)
        self.everywhere.setToolTip("Search in all sessions instead of this one")
        self.everywhere.setAccessibleName("Search all sessions")
        self.errors = QToolButton(self)
        self.errors.setText("Errors")
        theme.bind_icon(self.errors, "error", "dim")
        self.errors.setCheckable(True)
        self.errors.setToolTip("Only what failed; without words all of it in this session")
        self.errors.setAccessibleName("Search only errors")
        for switch in (self.errors, self.everywhere):
            switch.setProperty("switch", True)
        layout = row_in(self, theme.S4)
        for widget in (self.box, self.previous, self.following, self.errors, self.everywhere):
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
        self.errors.toggled.connect(lambda _on: self._emit())
        # Who chooses where to search goes on with what to search.
        self.errors.clicked.connect(lambda: self.box.setFocus())
        self.everywhere.clicked.connect(lambda: self.box.setFocus())
        # With more the window would begin wider than a small screen with large text.
        self.errors.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        self.show_position(0, 0)

    def set_room(self, roomy: bool, tight: bool) -> None:
        """Show all that there is, or what a search needs now; in a ``tight`` header signs stand
        for words."""
        self._is_roomy, self._is_tight = roomy, tight
        self._show_steps()
        self.errors.setToolButtonStyle(
            Qt.ToolButtonStyle.ToolButtonIconOnly
            if tight
            else Qt.ToolButtonStyle.ToolButtonTextOnly
        )
        self._least = theme.scaled(260 if roomy else 100 if tight else 130)
        self._place_count()

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

    def end(self) -> None:
        """The session that was searched is gone: nothing is looked for any more."""
        # Not blocked: the button that clears it hides by its signal.
        self.box.clear()
        with QSignalBlocker(self.errors):
            self.errors.setChecked(False)
        self._timer.stop()

    @property
    def only_errors(self) -> bool:
        """Whether only what failed is looked for."""
        return self.errors.isChecked()

    def show_position(self, current: int, total: int) -> None:
        """``current`` counts from 1, 0 is none of them; no hits and no query show nothing."""
        looks = bool(self.box.text().strip()) or self.only_errors
        searching = looks and not self.everywhere.isChecked()
        found = f"{current:,} / {total:,}" if current else count(total, "hit")
        self.count.setText(found if total else "no hit" if searching else "")
        for button in (self.previous, self.following):
            button.setEnabled(total > 0)
        self._show_steps()
        self._place_count()
        if self.results.isVisible() and not self.everywhere.isChecked() and current:
            self.results.mark(current - 1)

    def _show_steps(self) -> None:
        looks = bool(self.box.text().strip()) or self.only_errors
        needed = looks and not self.everywhere.isChecked() and not self._is_tight
        shown = self._is_roomy or needed
        for button in (self.previous, self.following):
            button.setVisible(shown)

    def _place_count(self) -> None:
        """Before the button that clears the field."""
        self.count.adjustSize()
        wide = self.count.width() if self.count.text() else 0
        least = LEAST_LETTERS * self.box.fontMetrics().averageCharWidth()
        around = CLEAR + theme.S24
        self.box.setMinimumWidth(max(self._least, wide + least + around if wide else 0))
        has_room = self.box.width() - around - wide >= least
        self.count.setVisible(has_room)
        left = self.box.width() - CLEAR - theme.S4 - wide
        self.count.move(left, (self.box.height() - self.count.height()) // 2)
        self.box.setTextMargins(0, 0, wide + theme.S8 if wide and has_room else 0, 0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.box:
            self._place_count()
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
            self.entered.emit()
        elif self.results.isVisible() and self.everywhere.isChecked():
            self.results.choose_current()
        elif backwards:
            self.step_requested.emit(-1)
        else:
            self.entered.emit()

    def show_results(
        self, rows: Sequence[SearchResult], current: int = 0, caption: str = ""
    ) -> None:
        """The hits, under the box; ``current``: the one that is marked, where no hits are shown
        yet; ``caption``: what is said below them."""
        marked = rows[current] if 0 <= current < len(rows) else None
        if self.results.isVisible():
            marked = self.results.table.current or marked
        if not rows and not caption and self.everywhere.isChecked():
            caption = "Nothing found in any session."
        self.results.show_rows(rows, caption, marked)
        if not rows and not caption:
            self.results.hide()
            return
        room = self.window().width() - 2 * theme.S16
        self.results.open_at(self.box, min(room, max(theme.scaled(LIST_WIDTH), self.box.width())))

    def hide_results(self) -> None:
        self.results.hide()

    def _choose(self, result: SearchResult) -> None:
        self.results.hide()
        self.hit_chosen.emit(result.key, result.entry)


class ResultTable(PopupTable):
    """Rows of two lines: what was found over where it was found."""

    def __init__(self, parent: QWidget) -> None:
        columns: list[Column[SearchResult]] = [
            Column("", lambda row: row.line, stretch=True,
                   spoken=lambda row: f"{row.line}, {row.where}"),
        ]  # fmt: skip
        super().__init__(columns, "Hits", parent)
        self.setItemDelegate(ResultDelegate(self))

    def row_height(self) -> int:
        return 2 * self.fontMetrics().lineSpacing() + theme.S8


class ResultPopup(Popup):
    """Hits, under the box."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(ResultTable(parent), parent)

    def mark(self, at: int) -> None:
        """Make another hit the marked one."""
        index = self.table.rows.index(at, 0)
        self.table.setCurrentIndex(index)
        self.table.scrollTo(index)

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
        colors, row = theme.theme(), index.data(ROW)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        if chosen:
            painter.fillRect(option.rect, colors.sel)
        inner = QRectF(option.rect).adjusted(theme.S8, theme.S4, -theme.S8, -theme.S4)
        half = inner.height() / 2
        painter.setFont(option.font)
        paint_marked_line(painter, inner.adjusted(0, 0, 0, -half), row.line, row.marks, chosen)
        painter.setFont(theme.small_font())
        painter.setPen(colors.lost if row.flags & Flag.ERROR else colors.dim)
        where = painter.fontMetrics().elidedText(
            row.where, Qt.TextElideMode.ElideRight, int(inner.width())
        )
        painter.drawText(inner.adjusted(0, half, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), where)
        painter.restore()
