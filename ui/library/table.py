"""The table of all sessions: several rows are chosen at once, and stay chosen when they change."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QItemSelection, QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QWidget

from explorer.services.library import LibraryRow
from ui.library.columns import columns
from ui.widgets.table import Table, TableModel

_LAST_USED = 3
"""The number of the column by which the rows are sorted at first."""


class LibraryTable(Table):
    """Rows are ``LibraryRow``."""

    choice_changed = Signal()
    """Other rows are chosen."""
    menu_asked = Signal(object)
    """Where on the screen, a ``QPoint``."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(TableModel(columns(), parent), "All sessions", parent)
        self.setSelectionMode(self.SelectionMode.ExtendedSelection)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.selectionModel().selectionChanged.connect(lambda _on, _off: self.choice_changed.emit())
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

    def show_sessions(self, rows: Sequence[LibraryRow]) -> None:
        """Show other rows; those of the same sessions stay chosen, and the list stays in place."""
        keys = {row.session.key for row in self.chosen}
        now = self.current.session.key if self.current is not None else 0
        place = self.verticalScrollBar().value()
        self.rows.show(rows)
        self.choose(keys, now)
        self.verticalScrollBar().setValue(place)
        self.choice_changed.emit()

    def choose(self, keys: Collection[int], current: int = 0) -> None:
        """Choose the sessions with these keys; ``current`` becomes the current row, or else the
        first one."""
        selection, last = QItemSelection(), len(self.rows.columns) - 1
        at_current = 0
        if keys or current:
            for at in range(self.rows.rowCount()):
                row = self.rows.at(at)
                assert row is not None
                if row.session.key in keys:
                    selection.select(self.rows.index(at, 0), self.rows.index(at, last))
                if row.session.key == current:
                    at_current = at
        flags = QItemSelectionModel.SelectionFlag
        model = self.selectionModel()
        model.select(selection, flags.ClearAndSelect)
        if self.rows.rowCount():
            model.setCurrentIndex(self.rows.index(at_current, 0), flags.NoUpdate)

    def copy(self) -> None:
        """Copy the chosen rows, a line each."""
        if places := self._places():
            lines = [self.copied_text(self.rows.index(at, 0)) for at in places]
            QApplication.clipboard().setText("\n".join(lines))

    def contextMenuEvent(self, event: QContextMenuEvent, /) -> None:
        self.menu_asked.emit(event.globalPos())
