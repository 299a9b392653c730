"""The table of all sessions: several rows are chosen at once, and stay chosen when they change."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QPainter
from PySide6.QtWidgets import (
    QApplication,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from explorer.services.library import LibraryRow
from ui.library.columns import OWN_ONLY, TEAM_ONLY, columns, is_written
from ui.theme import S4, S12, scaled, small_font, theme
from ui.widgets.table import ROW, Index, Table, TableModel

_TITLE = 2
"""The number of the column that labels stand in."""
_LABEL_WIDTH = 120
"""Pixels of a label's text at a text scale of 100 %."""
_MARKS_MS = 5_000
"""How often it is looked whether a session is still being written."""
_LAST_USED = 3
"""The number of the column by which the rows are sorted at first."""


class FirstColumn(QStyledItemDelegate):
    """Puts the cells of the first column below their heading."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, theme().sel)
        option.rect.setLeft(option.rect.left() + S4)
        super().paint(painter, option, index)


class TitleColumn(QStyledItemDelegate):
    """Puts the labels of a session at the end of its title."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, theme().sel)
        row = index.data(ROW)
        painter.save()
        painter.setFont(small_font())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        right, least = option.rect.right(), option.rect.center().x()
        for label in reversed(row.session.labels):
            right = self._paint_label(painter, label, option.rect, right - S4, least)
        painter.restore()
        option.rect.setRight(right)
        super().paint(painter, option, index)

    @staticmethod
    def _paint_label(painter: QPainter, label: str, cell: QRect, right: int, least: int) -> int:
        """Paint one that ends at ``right``, where there is room after ``least``; returns where what
        stands before it may end."""
        metrics, colours = painter.fontMetrics(), theme()
        text = metrics.elidedText(label, Qt.TextElideMode.ElideRight, scaled(_LABEL_WIDTH))
        width, height = metrics.horizontalAdvance(text) + S12, metrics.height() + 2
        if right - width < least:
            return right
        box = QRect(right - width, cell.center().y() - height // 2, width, height)
        painter.setPen(colours.line)
        painter.setBrush(colours.card)
        painter.drawRoundedRect(box, height / 2, height / 2)
        painter.setPen(colours.ink)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        return right - width


class LibraryTable(Table):
    """Rows are ``LibraryRow``."""

    choice_changed = Signal()
    """Other rows are chosen."""
    menu_asked = Signal(object)
    """Where on the screen, a ``QPoint``."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(TableModel(columns(), parent), "All sessions", parent)
        self.is_team = False
        """Whether the rows are those of a team's library."""
        self.setSelectionMode(self.SelectionMode.ExtendedSelection)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.selectionModel().selectionChanged.connect(lambda _on, _off: self.choice_changed.emit())
        self.setItemDelegateForColumn(0, FirstColumn(self))
        self.setItemDelegateForColumn(_TITLE, TitleColumn(self))
        self._clock = QTimer(self)
        self._clock.setInterval(_MARKS_MS)
        self._clock.timeout.connect(self._follow_marks)
        self.restyle()
        down = Qt.SortOrder.DescendingOrder
        self.horizontalHeader().setSortIndicatorShown(True)
        self.horizontalHeader().setSortIndicator(_LAST_USED, down)
        self.rows.sort(_LAST_USED, down)

    @property
    def chosen(self) -> list[LibraryRow]:
        """The chosen rows, from above."""
        return [row for at in self._places() if (row := self.rows.at(at)) is not None]

    def _places(self) -> list[int]:
        ranges = self.selectionModel().selection()
        parts = (ranges.at(number) for number in range(ranges.count()))
        return sorted({at for one in parts for at in range(one.top(), one.bottom() + 1)})

    def _choose_columns(self) -> None:
        super()._choose_columns()
        for title in (*OWN_ONLY, *TEAM_ONLY):
            if (title in OWN_ONLY) == self.is_team:
                self.setColumnHidden(self.rows.column(title), True)
            elif title in TEAM_ONLY:
                self.setColumnHidden(self.rows.column(title), False)

    def show_sessions(self, rows: Sequence[LibraryRow]) -> None:
        """Show other rows; those of the same sessions stay selected, and the list stays in place.
        Where the selected ones are gone, the keyboard goes on at the row that took their place."""
        keys = {row.session.key for row in self.chosen}
        now = self.current.session.key if self.current is not None else 0
        place, at = self.verticalScrollBar().value(), self.currentIndex().row()
        self.rows.show(rows)
        self._follow_marks()
        self.choose(keys, now, at)
        if keys and self.hasFocus():
            self._choose_current()
        self.verticalScrollBar().setValue(place)
        self.choice_changed.emit()

    def _follow_marks(self) -> None:
        """Take the marks of what is being written away when their time is over."""
        self.viewport().update()
        now_ms = time.time() * 1000
        if any(is_written(row, now_ms) for row in self.rows.rows):
            self._clock.start()
        else:
            self._clock.stop()

    def choose(self, keys: Collection[int], current: int = 0, at: int = 0) -> None:
        """Select the sessions with these keys; ``current`` becomes the current row, or else the
        one at ``at``."""
        selection, last = QItemSelection(), len(self.rows.columns) - 1
        begin = -1
        for place in range(self.rows.rowCount() + 1 if keys or current else 0):
            row = self.rows.at(place)
            key = row.session.key if row is not None else 0
            if key and key == current:
                at = place
            # Neighbours are one range: a range for each row would take seconds.
            if key in keys:
                begin = place if begin < 0 else begin
            elif begin >= 0:
                selection.select(self.rows.index(begin, 0), self.rows.index(place - 1, last))
                begin = -1
        flags, model = QItemSelectionModel.SelectionFlag, self.selectionModel()
        if self.rows.rowCount():
            at = min(max(at, 0), self.rows.rowCount() - 1)
            model.setCurrentIndex(self.rows.index(at, 0), flags.NoUpdate)
        model.select(selection, flags.ClearAndSelect)

    def _choose_current(self) -> None:
        """Select the current row where none is."""
        model, flags = self.selectionModel(), QItemSelectionModel.SelectionFlag
        if self.currentIndex().isValid() and not model.hasSelection():
            model.select(self.currentIndex(), flags.ClearAndSelect | flags.Rows)

    def focusInEvent(self, event: QFocusEvent, /) -> None:
        super().focusInEvent(event)
        if event.reason() != Qt.FocusReason.MouseFocusReason:
            self._choose_current()

    def copy(self) -> None:
        """Copy the chosen rows, a line each."""
        if places := self._places():
            lines = [self.copied_text(self.rows.index(at, 0)) for at in places]
            QApplication.clipboard().setText("\n".join(lines))

    def contextMenuEvent(self, event: QContextMenuEvent, /) -> None:
        self.menu_asked.emit(event.globalPos())
