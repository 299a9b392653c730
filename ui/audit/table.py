"""A table of entries in which what was lost is outlined in the warning colour."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QStyleOptionViewItem, QWidget

from ui.theme import theme
from ui.theme.verdicts import LOST
from ui.widgets.entry_table import VERDICT, EntryDelegate, EntryTable, Index


class LossDelegate(EntryDelegate):
    """Rows whose texture is that of a loss have its outline, all columns together."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, /) -> None:
        super().paint(painter, option, index)
        if index.siblingAtColumn(0).data(VERDICT) != LOST:
            return
        rect = QRectF(option.rect).adjusted(0, 1, 0, -2)
        painter.save()
        painter.setPen(QPen(theme().lost, 1.2, Qt.PenStyle.DashLine))
        painter.drawLine(rect.topLeft(), rect.topRight())
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        if index.column() == 0:
            painter.drawLine(rect.topLeft(), rect.bottomLeft())
        painter.restore()


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
