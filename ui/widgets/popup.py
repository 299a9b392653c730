"""Lists that stand over the window beside a field whose keys walk through them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QFrame, QWidget

from ui.theme import S4, S8
from ui.widgets.labels import Caption
from ui.widgets.panels import column_in
from ui.widgets.table import Column, Table, TableModel


class PopupTable(Table):
    """Rows without a heading; a click activates one."""

    def __init__(
        self,
        columns: Sequence[Column[Any]],
        name: str,
        parent: QWidget | None = None,
        is_choosable: Callable[[Any], bool] | None = None,
    ) -> None:
        """``is_choosable``: as for a ``TableModel``."""
        super().__init__(TableModel(columns, is_choosable=is_choosable), name, parent)
        self.horizontalHeader().hide()
        self.clicked.connect(self.activate)

    def step(self, by: int, wraps: bool = True) -> None:
        """Make a row further down (or up, below 0) the current one, over what cannot be chosen;
        ``wraps``: the last row is followed by the first one."""
        count = self.rows.rowCount()
        row = self.currentIndex().row()
        for _ in range(count):
            row = (row + by) % count if wraps else row + by
            index = self.rows.index(row, 0)
            if index.flags() & Qt.ItemFlag.ItemIsSelectable or not index.isValid():
                break
        if 0 <= row < count:
            self.setCurrentIndex(self.rows.index(row, 0))


class Popup(QFrame):
    """A card with a list and a caption below it, hidden until ``open_at``, and again when a press
    or the keyboard goes past it and the widget that it was made for."""

    chosen = Signal(object)
    """The row object that was clicked, or on which Return was pressed."""

    def __init__(self, table: PopupTable, parent: QWidget, most_shown: int = 8) -> None:
        """``parent``: what it is made for; ``most_shown``: rows without scrolling."""
        super().__init__(parent)
        self._around, self._most_shown = (self, parent), most_shown
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

    def show_rows(self, rows: Sequence[Any], caption: str = "", current: Any = None) -> None:
        """Offer these rows with ``caption`` below them; ``current``, else the first, is marked."""
        self.table.restyle()
        self.table.show_rows(rows, current)
        self.table.setVisible(bool(rows))
        self.table.setFixedHeight(min(self._most_shown, len(rows)) * self.table.row_height())
        self.caption.setText(caption)
        self.caption.setVisible(bool(caption))

    def open_at(self, field: QWidget, width: int, *, above: bool = False) -> None:
        """Show it below a field (``above`` it where that is asked for, or has more room), within
        the window; ``width`` in pixels."""
        window = field.window()
        if self.parentWidget() is not window:
            self.setParent(window)
        self.resize(width, 1)
        self.show()
        at = field.mapTo(window, QPoint(0, 0))
        bottom = at.y() + field.height() + S4
        over, below = at.y() - S4, window.height() - bottom
        height = self.sizeHint().height()
        above = above or (over > below and height > below)
        if (excess := height - (over if above else below)) > 0:
            self.table.setFixedHeight(max(self.table.row_height(), self.table.height() - excess))
            height = self.sizeHint().height()
        left = max(0, min(at.x(), window.width() - width))
        self.setGeometry(left, max(0, over - height) if above else bottom, width, height)
        self.raise_()
        self.table.scrollTo(self.table.currentIndex())

    def showEvent(self, event: QShowEvent, /) -> None:
        super().showEvent(event)
        if app := QApplication.instance():
            app.installEventFilter(self)

    def hideEvent(self, event: QHideEvent, /) -> None:
        super().hideEvent(event)
        if app := QApplication.instance():
            app.removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent, /) -> bool:
        is_move = event.type() in (QEvent.Type.MouseButtonPress, QEvent.Type.FocusIn)
        if (
            is_move
            and isinstance(watched, QWidget)
            and not any(part is watched or part.isAncestorOf(watched) for part in self._around)
        ):
            self.hide()
        return super().eventFilter(watched, event)
