"""Lists that stand over the window beside a field whose keys walk through them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QPoint, Signal
from PySide6.QtWidgets import QFrame, QWidget

from ui.theme import S4, S8
from ui.widgets.labels import Caption
from ui.widgets.panels import column_in
from ui.widgets.table import Column, Table, TableModel

MOST_SHOWN = 8
"""Rows that a popup shows without scrolling."""


class PopupTable(Table):
    """Rows without a heading; a click activates one."""

    def __init__(
        self, columns: Sequence[Column[Any]], name: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(TableModel(columns), name, parent)
        self.horizontalHeader().hide()
        self.clicked.connect(self.activate)

    def step(self, by: int, wraps: bool = True) -> None:
        """Make a row further down (or up, below 0) the current one; ``wraps``: the last row is
        followed by the first one."""
        count = self.rows.rowCount()
        row = self.currentIndex().row() + by
        if wraps and count:
            row %= count
        if 0 <= row < count:
            self.setCurrentIndex(self.rows.index(row, 0))


class Popup(QFrame):
    """A card with a list and a caption below it, hidden until ``open_at``."""

    chosen = Signal(object)
    """The row object that was clicked, or on which Return was pressed."""

    def __init__(self, table: PopupTable, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        self.table = table
        self.table.setFrameShape(QFrame.Shape.NoFrame)
        self.table.row_activated.connect(self.chosen)
        self.caption = Caption("", self)
        self.caption.setContentsMargins(S8, 0, S8, 0)
        column = column_in(self, S4, (S4, S4, S4, S4))
        column.addWidget(table)
        column.addWidget(self.caption)
        self.hide()

    def show_rows(self, rows: Sequence[Any], caption: str = "") -> None:
        """Offer these rows, the first one marked, with ``caption`` below them."""
        self.table.restyle()
        self.table.show_rows(rows)
        self.table.setVisible(bool(rows))
        self.table.setFixedHeight(min(MOST_SHOWN, len(rows)) * self.table.row_height())
        self.caption.setText(caption)
        self.caption.setVisible(bool(caption))

    def open_at(self, field: QWidget, width: int, *, above: bool = False) -> None:
        """Show it below (or ``above``) a field, within the window, ``width`` in pixels."""
        window = field.window()
        if self.parentWidget() is not window:
            self.setParent(window)
        self.resize(width, 1)
        self.show()
        height = self.sizeHint().height()
        at = field.mapTo(window, QPoint(0, 0))
        top = at.y() - height - S4 if above else at.y() + field.height() + S4
        self.setGeometry(at.x(), max(0, top), width, height)
        self.raise_()
