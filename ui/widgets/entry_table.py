"""A table whose rows are each of an entry: sign, number, first line; figures at the right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFont,
    QFontMetrics,
    QMouseEvent,
    QPainter,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from explorer.session.records import Previews
from explorer.session.tree import SessionTree
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
    theme,
    ui_font,
)
from ui.theme.verdicts import LOST
from ui.widgets.labels import elided
from ui.widgets.row_lines import RowLines, is_of_tool
from ui.widgets.swatch import swatch_size
from ui.widgets.table import Column, Index, Row, Table, TableModel

ENTRY = int(Qt.ItemDataRole.UserRole)
KIND = ENTRY + 1
FLAGS = ENTRY + 2
LEAD = ENTRY + 3
"""Dim words before the text, such as the role as it is sent."""
STRONG = ENTRY + 4
"""Whether the row is the one that matters, such as the first kept entry."""
VERDICT = ENTRY + 5
"""The verdict whose texture stands before the row; None for none."""
OF_TOOL = ENTRY + 6
"""Whether the row's words are what a tool did."""

READ_AHEAD = 128
"""Rows whose first lines are read together."""


@dataclass(frozen=True)
class EntryCells(Generic[Row]):
    """What a row of an entry table shows beside its columns."""

    entry: Callable[[Row], int]
    description: Callable[[Row, str], str]
    """A row in a sentence, given its first line: the tool tip, and for screen readers."""
    verdict: Callable[[Row], int | None] = lambda _row: None
    """The verdict whose texture stands before the row."""
    lead: Callable[[Row], str] = lambda _row: ""
    """Dim words before the line."""
    strong: Callable[[Row], bool] = lambda _row: False
    """Whether the row is the one that matters."""
    line: Callable[[Row], str | None] = lambda _row: None
    """Words in place of the entry's first line; None: that line."""


class EntryModel(TableModel[Row]):
    """Rows that belong to entries; the first column shows first lines as they come in view."""

    def __init__(
        self,
        title: str,
        columns: Sequence[Column[Row]],
        cells: EntryCells[Row],
        parent: Any = None,
    ) -> None:
        """``title``: the heading of the first column."""
        self._first: Column[Row] = Column(title, self.line, stretch=True)
        super().__init__((self._first, *columns), parent)
        self._cells = cells
        self.tree: SessionTree | None = None
        self._lines = RowLines(self)
        self._lines.arrived.connect(self._words_arrived)
        self._near: tuple[int, ...] = ()
        """The entries that were read ahead last."""
        self._answers: dict[int, Callable[[Row], Any]] = {
            ENTRY: cells.entry,
            KIND: self._kind,
            FLAGS: self._flags,
            LEAD: cells.lead,
            STRONG: cells.strong,
            VERDICT: cells.verdict,
            OF_TOOL: self._is_of_tool,
            int(Qt.ItemDataRole.ToolTipRole): self._describe,
            int(Qt.ItemDataRole.AccessibleTextRole): self._describe,
        }

    def use_session(self, tree: SessionTree | None, read: Previews | None = None) -> None:
        """Take entries from this session and read their rows' words by ``read``; None: no session.
        Call it before ``show``."""
        self._lines.use(read, is_other=tree is not self.tree)
        self.tree, self._near = tree, ()

    def line(self, row: Row) -> str:
        """The words of a row's first column."""
        other = self._cells.line(row)
        if other is not None:
            return other
        entry = self._cells.entry(row)
        if not self._lines.is_known(entry):
            # Of the rows of one paint the first has told already which are near.
            is_near = entry in self._near
            self._near = self._near if is_near else self._nearby(row)
            self._lines.fetch([entry], () if is_near else self._near)
        return self._lines.line(entry)

    def _words_arrived(self) -> None:
        if self.rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, 0))

    def _nearby(self, row: Row) -> tuple[int, ...]:
        start = self.row_of(row)
        start -= start % READ_AHEAD
        shown = map(self.at, range(start, min(start + READ_AHEAD, len(self.rows))))
        return tuple(self._cells.entry(each) for each in shown if each is not None)

    def _describe(self, row: Row) -> str:
        other = self._cells.line(row)
        line = self._lines.whole(self._cells.entry(row)) if other is None else other
        return self._cells.description(row, line)

    def _kind(self, row: Row) -> int:
        assert self.tree is not None
        return self.tree.columns.kind[self._cells.entry(row)]

    def _flags(self, row: Row) -> int:
        assert self.tree is not None
        return self.tree.columns.flags[self._cells.entry(row)]

    def _is_of_tool(self, row: Row) -> bool:
        own_words = self._cells.line(row) is not None
        return not own_words and is_of_tool(self._kind(row), self._flags(row))

    def row_of_entry(self, entry: int) -> int:
        """The first row that belongs to an entry, or -1."""
        of = self._cells.entry
        found = (row for row in range(len(self.rows)) if of(self.at(row)) == entry)  # type: ignore[arg-type]
        return next(found, -1)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole, /) -> Any:
        row = self.at(index.row())
        if row is None or self.tree is None:
            return None
        answer = self._answers.get(role)
        return answer(row) if answer is not None else super().data(index, role)


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

    def __init__(self, parent: QWidget, outlines_losses: bool) -> None:
        super().__init__(parent)
        self._outlines_losses = outlines_losses
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
        if index.column() == 0:
            self._words(painter, rect, index)
        else:
            self._figure(painter, rect, index)
        if self._outlines_losses and index.sibling(index.row(), 0).data(VERDICT) == LOST:
            self._outline(painter, rect.adjusted(1, 1, -1, -1), index)
        painter.restore()

    @staticmethod
    def _outline(painter: QPainter, rect: QRectF, index: Index) -> None:
        """Lost rows below each other have one outline, around all columns together."""

        def is_lost(row: int) -> bool:
            beside = index.sibling(row, 0)
            return beside.isValid() and beside.data(VERDICT) == LOST

        painter.setPen(QPen(theme().lost, 1.5, Qt.PenStyle.DashLine))
        if not is_lost(index.row() - 1):
            painter.drawLine(rect.topLeft(), rect.topRight())
        if not is_lost(index.row() + 1):
            painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        if index.column() == 0:
            painter.drawLine(rect.topLeft(), rect.bottomLeft())
        if index.column() == index.model().columnCount() - 1:
            painter.drawLine(rect.topRight(), rect.bottomRight())

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
        keep_end = bool(index.data(OF_TOOL))
        self._piece(painter, x, rect, text, font, metrics, now.ink, keep_end)

    @staticmethod
    def _piece(
        painter: QPainter,
        x: float,
        rect: QRectF,
        text: str,
        font: QFont,
        metrics: QFontMetrics,
        colour: QColor,
        keep_end: bool = False,
    ) -> float:
        room = rect.right() - S4 - x
        if room <= 0:
            return x
        shown = elided(metrics, text, room, keep_end=keep_end)
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


class EntryTableView(Table):
    """Rows that a click or Return chooses."""

    entry_chosen = Signal(int)
    """The entry of a row that was clicked, or on which Return was pressed."""

    def __init__(
        self,
        model: EntryModel[Any],
        name: str,
        parent: QWidget | None = None,
        least_rows: int = 0,
        outlines_losses: bool = False,
    ) -> None:
        """``least_rows``: so many are seen in the smallest window. ``outlines_losses``: rows with
        the verdict of a loss are outlined in the warning colour."""
        super().__init__(model, name, parent)
        self._least_rows = least_rows
        self.delegate = EntryDelegate(self, outlines_losses)
        self.setItemDelegate(self.delegate)
        self.clicked.connect(self._choose)
        self.row_activated.connect(lambda _row: self._choose(self.currentIndex()))
        self.restyle()

    def row_height(self) -> int:
        """Pixels of a row."""
        return self.delegate.row_height()

    def figure_width(self) -> int:
        """Pixels for a figure with its margins."""
        return self.delegate.figure_width()

    def restyle(self) -> None:
        """Take the sizes from the fonts."""
        super().restyle()
        self.hold_rows(self._least_rows)

    def hold_rows(self, rows: int) -> None:
        """Keep the room of so many whole rows below the heading; 0: of none."""
        self._least_rows = rows
        if rows:
            self.setMinimumHeight(self.height_of(rows))

    def height_of(self, rows: int) -> int:
        """Pixels that so many whole rows take with the heading."""
        heading = self.horizontalHeader().sizeHint().height()
        return heading + rows * self.row_height() + 2 * self.frameWidth()

    def _choose(self, index: Index) -> None:
        self.entry_chosen.emit(index.data(ENTRY))

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        """The current row stays in sight, where it was: it was revealed before there was room."""
        current = self.currentIndex()
        before = QRect(QPoint(0, 0), event.oldSize())
        was_seen = current.isValid() and before.intersects(self.visualRect(current))
        super().resizeEvent(event)
        if was_seen:
            self.scrollTo(current)

    def focusInEvent(self, event: QFocusEvent, /) -> None:
        # Who only passes by chooses nothing; Qt would make the first row the current one.
        if self.currentIndex().isValid():
            super().focusInEvent(event)
        else:
            QAbstractScrollArea.focusInEvent(self, event)

    def mouseMoveEvent(self, event: QMouseEvent, /) -> None:
        # The sentence below the table may change its height with the chosen row: the rows then
        # move below a pointer that holds still, which must not choose another one.
        if not event.buttons() & Qt.MouseButton.LeftButton:
            super().mouseMoveEvent(event)
