"""A table of entries in which what was lost is outlined in the warning colour."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QStyleOptionViewItem, QWidget

from ui.theme import theme
from ui.theme.verdicts import LOST
from ui.widgets.entry_table import VERDICT, EntryDelegate, EntryTable, Index

LEAST_ROWS = 4
"""So many rows are seen in the smallest window; the tab scrolls then."""

ROOMY, LEAST = 320, 260
"""Widths at a text scale of 100 % from which the words leave room for two figures, and for one:
what a row tells in words comes first, and its figures are told below the table too."""


class LossDelegate(EntryDelegate):
    """Rows whose texture is that of a loss have its outline, all columns together."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, /) -> None:
        super().paint(painter, option, index)
        if index.sibling(index.row(), 0).data(VERDICT) != LOST:
            return
        rect = QRectF(option.rect).adjusted(1, 1, -1, -1)
        painter.save()
        painter.setPen(QPen(theme().lost, 1.5, Qt.PenStyle.DashLine))
        # Rows below each other that are lost have one outline.
        if not self._is_lost(index, -1):
            painter.drawLine(rect.topLeft(), rect.topRight())
        if not self._is_lost(index, 1):
            painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        if index.column() == 0:
            painter.drawLine(rect.topLeft(), rect.bottomLeft())
        if index.column() == index.model().columnCount() - 1:
            painter.drawLine(rect.topRight(), rect.bottomRight())
        painter.restore()

    @staticmethod
    def _is_lost(index: Index, way: int) -> bool:
        beside = index.sibling(index.row() + way, 0)
        return beside.isValid() and beside.data(VERDICT) == LOST


class AuditTable(EntryTable):
    """``EntryTable`` with losses outlined."""

    def __init__(
        self,
        text_column: int,
        figures: tuple[int, ...],
        optional: dict[int, int],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text_column, figures, optional, parent)
        self.delegate = LossDelegate(self, text_column)
        self.setItemDelegate(self.delegate)
        self.restyle()

    def restyle(self) -> None:
        """Take the sizes from the fonts: some rows are always seen."""
        super().restyle()
        self.setMinimumHeight(LEAST_ROWS * self.delegate.row_height())
