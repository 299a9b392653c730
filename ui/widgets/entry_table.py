"""A table of entries with virtual rows: sign, number, words; figures at the right."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPalette,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from ui.theme import (
    S4,
    S8,
    S12,
    icon_pixmap,
    mono_font,
    on_theme_changed,
    paint_verdict,
    role_icon,
    role_token,
    scaled,
    small_font,
    theme,
    ui_font,
)
from ui.widgets.swatch import swatch_size

Index = QModelIndex | QPersistentModelIndex

ENTRY = int(Qt.ItemDataRole.UserRole)
KIND = ENTRY + 1
FLAGS = ENTRY + 2
LEAD = ENTRY + 3
"""Dim words before the text, such as the role as it is sent."""
STRONG = ENTRY + 4
"""Whether the row is the one that matters, such as the first kept entry."""
VERDICT = ENTRY + 5
"""The verdict whose texture stands before the row; None for none."""


class _Fonts:
    """Fonts and their measures, made once per theme change and not once per row."""

    def __init__(self) -> None:
        self.mono = mono_font(-0.5)
        self.body = ui_font(-0.5)
        self.strong = QFont(self.body)
        self.strong.setWeight(QFont.Weight.Bold)
        self.mono_metrics = QFontMetrics(self.mono)
        self.body_metrics = QFontMetrics(self.body)
        self.strong_metrics = QFontMetrics(self.strong)
        self.sign = scaled(14)
        self.number_width = self.mono_metrics.horizontalAdvance("#0,000") + S8


class EntryDelegate(QStyledItemDelegate):
    """Paints a row: hairline below, texture and sign, number, words, figures."""

    def __init__(self, parent: QWidget, text_column: int) -> None:
        super().__init__(parent)
        self._text_column = text_column
        self._fonts = _Fonts()
        on_theme_changed(self._restyle)

    def _restyle(self) -> None:
        self._fonts = _Fonts()

    def row_height(self) -> int:
        """Pixels."""
        return self._fonts.body_metrics.height() + 8

    def figure_width(self) -> int:
        """Pixels for a figure such as 1,234,567 with its margins."""
        return self._fonts.mono_metrics.horizontalAdvance("000,000") + S12

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, /) -> None:
        now, rect = theme(), QRectF(option.rect)
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, now.sel)
        painter.setPen(now.line)
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        if index.column() == self._text_column:
            self._words(painter, rect, index)
        else:
            self._figure(painter, rect, index)
        painter.restore()

    def _words(self, painter: QPainter, rect: QRectF, index: Index) -> None:
        now, fonts = theme(), self._fonts
        x, middle = rect.left() + S12, rect.center().y()
        verdict = index.data(VERDICT)
        if verdict is not None:
            width, height = swatch_size()
            paint_verdict(painter, QRectF(x, middle - height / 2, width, height), verdict)
            x += width + S8
        kind, flags = index.data(KIND), index.data(FLAGS)
        ratio = painter.device().devicePixelRatio()
        sign = icon_pixmap(role_icon(kind, flags), role_token(kind, flags), fonts.sign, ratio)
        painter.drawPixmap(int(x), int(middle - fonts.sign / 2), sign)
        x += fonts.sign + 6
        from_number = x
        number = f"#{index.data(ENTRY)}"
        x = self._piece(painter, x, rect, number, fonts.mono, fonts.mono_metrics, now.dim)
        x = max(x + S8, from_number + fonts.number_width)
        lead = index.data(LEAD)
        if lead:
            x = self._piece(painter, x, rect, lead, fonts.body, fonts.body_metrics, now.dim)
        strong = bool(index.data(STRONG))
        font = fonts.strong if strong else fonts.body
        metrics = fonts.strong_metrics if strong else fonts.body_metrics
        text = index.data(Qt.ItemDataRole.DisplayRole) or ""
        self._piece(painter, x, rect, text, font, metrics, now.ink)

    @staticmethod
    def _piece(
        painter: QPainter,
        x: float,
        rect: QRectF,
        text: str,
        font: QFont,
        metrics: QFontMetrics,
        colour: QColor,
    ) -> float:
        room = rect.right() - S4 - x
        if room <= 0:
            return x
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, int(room))
        painter.setFont(font)
        painter.setPen(colour)
        place = QRectF(x, rect.top(), room, rect.height())
        painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter), shown)
        return x + metrics.horizontalAdvance(shown)

    def _figure(self, painter: QPainter, rect: QRectF, index: Index) -> None:
        now, fonts = theme(), self._fonts
        alignment = index.data(Qt.ItemDataRole.TextAlignmentRole)
        text = str(index.data(Qt.ItemDataRole.DisplayRole) or "")
        place = rect.adjusted(S4, 0, -S4, 0)
        painter.setPen(now.dim)
        if alignment is None:
            painter.setFont(fonts.body)
            text = fonts.body_metrics.elidedText(
                text, Qt.TextElideMode.ElideRight, int(place.width())
            )
            painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter), text)
            return
        painter.setFont(fonts.mono)
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(place, int(flags), text)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index, /) -> QSize:
        return QSize(120, self.row_height())


class EntryTable(QTableView):
    """Rows that a click or Return chooses. ``optional``: columns shown from a width on, in pixels
    at a text scale of 100 %."""

    entry_chosen = Signal(int)
    """The entry of a row that was clicked, or on which Return was pressed."""

    def __init__(
        self,
        text_column: int,
        figures: tuple[int, ...],
        optional: dict[int, int],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._text_column, self._figures, self._optional = text_column, figures, optional
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.horizontalHeader().setAccessibleName("Columns")
        self.verticalHeader().setAccessibleName("Rows")
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setSectionsClickable(False)
        self.delegate = EntryDelegate(self, text_column)
        self.setItemDelegate(self.delegate)
        self.clicked.connect(lambda index: self.entry_chosen.emit(index.data(ENTRY)))
        on_theme_changed(self.restyle)

    def restyle(self) -> None:
        """Take the sizes from the fonts; call once after the model is set."""
        header = self.horizontalHeader()
        header.setFont(small_font())
        header.setMinimumSectionSize(30)
        if self.model() is not None:
            for column in self._figures:
                header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
                header.resizeSection(column, self.delegate.figure_width())
            header.setSectionResizeMode(self._text_column, QHeaderView.ResizeMode.Stretch)
        rows = self.verticalHeader()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setMinimumSectionSize(self.delegate.row_height())
        rows.setDefaultSectionSize(self.delegate.row_height())
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.Highlight, theme().sel)
        self.setPalette(palette)
        self._choose_columns()
        self.viewport().update()

    def _choose_columns(self) -> None:
        for column, width in self._optional.items():
            self.setColumnHidden(column, self.width() < scaled(width))

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        self._choose_columns()

    def mouseMoveEvent(self, event: QMouseEvent, /) -> None:
        # What is told of a row may take another height than what was told before: the rows then
        # move below a hand that holds still, and no other one is meant by that.
        if not event.buttons() & Qt.MouseButton.LeftButton:
            super().mouseMoveEvent(event)

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        current = self.currentIndex()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and current.isValid():
            self.entry_chosen.emit(current.data(ENTRY))
            return
        super().keyPressEvent(event)
