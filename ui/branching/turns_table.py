"""The messages of two branches in two columns, turn by turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from explorer.session.branch_difference import BranchDifference, BranchMessage, BranchTurn, duration
from ui.theme import (
    S4,
    S8,
    S12,
    icon_pixmap,
    mono_font,
    on_theme_changed,
    role_icon,
    role_name,
    role_token,
    scaled,
    small_font,
    theme,
    ui_font,
)
from ui.widgets.figures import count, short
from ui.widgets.table import ROW, Column, Index, Table, TableModel

LEFT, RIGHT = 0, 1
MOST_FITTED = 2_000
"""Rows up to which headings are lower than messages; in longer tables all rows are as high."""


class TableCell(NamedTuple):
    """What stands in one column of a row."""

    message: BranchMessage | None
    heading: str = ""
    """The words over a turn, where the row begins one."""
    same: bool = False


Pair = tuple[TableCell, TableCell]


def table_rows(found: BranchDifference) -> list[Pair]:
    """A heading over each turn, then its messages side by side; for a worker thread."""
    rows: list[Pair] = []
    turn = -1
    for row in found.rows():
        if row.turn != turn:
            turn = row.turn
            left, right = (_heading(side.turns, turn) for side in (found.left, found.right))
            rows.append((TableCell(None, left), TableCell(None, right)))
        rows.append((TableCell(row.left, "", row.same), TableCell(row.right, "", row.same)))
    return rows


def cell_at(index: Index) -> TableCell:
    """The cell at a valid index of the table."""
    row: Pair = index.data(ROW)
    return row[index.column()]


def branch_column(side: int, name: str) -> Column[Pair]:
    """The messages of one branch. ``side``: ``LEFT`` or ``RIGHT``; ``name``: of the branch."""

    def detail(row: Pair) -> str | None:
        message = row[side].message
        return (
            None if message is None else "\n".join([message.text.strip(), *message.calls]).strip()
        )

    return Column(
        name,
        lambda row: row[side].heading or _first(row[side].message),
        stretch=True,
        detail=detail,
        spoken=lambda row: _spoken(row[side]),
    )


def _heading(turns: tuple[BranchTurn, ...], number: int) -> str:
    if number >= len(turns):
        return f"Turn {number + 1}: none here"
    turn = turns[number]
    return f"Turn {number + 1} · {count(len(turn.messages), 'message')} · {_span(turn)}"


def _span(turn: BranchTurn) -> str:
    return duration(turn.elapsed_ms)


def _first(message: BranchMessage | None) -> str:
    if message is None:
        return ""
    return " ".join(message.text.split()) or " · ".join(message.calls)


def _spoken(cell: TableCell) -> str:
    if cell.heading:
        return cell.heading
    if cell.message is None:
        return "nothing here"
    text = " ".join([_first(cell.message), *cell.message.calls])
    same = ", the same on both sides" if cell.same else ""
    name = role_name(cell.message.kind, cell.message.flags)
    return f"{name} #{cell.message.entry}{same}: {text}"


class TurnsDelegate(QStyledItemDelegate):
    """Paints a message in three lines: who and how large, and two of what it says."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._restyle()
        on_theme_changed(self._restyle)

    def _restyle(self) -> None:
        self.body, self.small, self.mono = ui_font(-0.5), small_font(), mono_font(-0.5)
        self.strong = QFont(self.small)
        self.strong.setWeight(QFont.Weight.DemiBold)

    def height(self, heading: bool) -> int:
        """Pixels of a row."""
        small = QFontMetrics(self.small).lineSpacing()
        if heading:
            return small + 2 * S8
        return small + 2 * QFontMetrics(self.body).lineSpacing() + 2 * S8

    def sizeHint(self, option: QStyleOptionViewItem, index: Index, /) -> QSize:
        return QSize(120, self.height(bool(cell_at(index).heading)))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, /) -> None:
        cell = cell_at(index)
        now, rect = theme(), QRectF(option.rect)
        painter.save()
        painter.setClipRect(rect)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, now.sel)
        elif cell.heading:
            painter.fillRect(rect, now.panel)
        painter.setPen(now.line)
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        if index.column() == LEFT:
            painter.drawLine(rect.topRight(), rect.bottomRight())
        inner = rect.adjusted(S12, S8, -S12, -S8)
        if cell.heading:
            painter.setFont(self.strong)
            painter.setPen(now.dim)
            painter.drawText(inner, int(Qt.AlignmentFlag.AlignVCenter), cell.heading)
        elif cell.message is not None:
            self._message(painter, inner, cell.message, cell.same)
        painter.restore()

    def _message(self, painter: QPainter, rect: QRectF, message: BranchMessage, same: bool) -> None:
        now, sign = theme(), scaled(14)
        small = QFontMetrics(self.small)
        head = QRectF(rect.left(), rect.top(), rect.width(), small.lineSpacing())
        ratio = painter.device().devicePixelRatio()
        icon = icon_pixmap(
            role_icon(message.kind, message.flags), role_token(message.kind, message.flags),
            sign, ratio,
        )  # fmt: skip
        painter.drawPixmap(int(head.left()), int(head.center().y() - sign / 2), icon)
        painter.setFont(self.small)
        painter.setPen(now.dim)
        middle = int(Qt.AlignmentFlag.AlignVCenter)
        words = f"{role_name(message.kind, message.flags)} #{message.entry}"
        painter.drawText(head.adjusted(sign + S4, 0, 0, 0), middle, words)
        figure = f"{'same · ' if same else ''}≈ {short(message.tokens)}"
        painter.drawText(head, middle | int(Qt.AlignmentFlag.AlignRight), figure)
        self._words(painter, rect, head.bottom(), message, same)

    def _words(
        self, painter: QPainter, rect: QRectF, top: float, message: BranchMessage, same: bool
    ) -> None:
        now, body = theme(), QFontMetrics(self.body)
        words = " ".join(message.text.split())
        rows = [(words, self.body)] if words else []
        rows += [(f"→ {call}", self.mono) for call in message.calls]
        if len(rows) > 2:
            rows[1:] = [(f"{rows[1][0]}  and {len(rows) - 2} more", rows[1][1])]
        if len(rows) == 1 and body.horizontalAdvance(words) > rect.width():
            flags = int(Qt.TextFlag.TextWordWrap)
            place = QRectF(rect.left(), top, rect.width(), 2 * body.lineSpacing())
            painter.setFont(self.body)
            painter.setPen(now.dim if same else now.ink)
            painter.drawText(place, flags, _shortened(words, body, rect.width()))
            return
        for text, font in rows:
            metrics = QFontMetrics(font)
            painter.setFont(font)
            painter.setPen(now.dim if same else now.ink)
            place = QRectF(rect.left(), top, rect.width(), body.lineSpacing())
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, int(rect.width()))
            painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter), shown)
            top += body.lineSpacing()


def _shortened(text: str, metrics: QFontMetrics, width: float) -> str:
    """About as much as two lines of a width hold, with an ellipsis where there is more."""
    return metrics.elidedText(text, Qt.TextElideMode.ElideRight, int(1.85 * width))


class TurnsTable(Table):
    """Arrow keys move between messages; Return or a double click shows one on the map."""

    entry_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(TableModel[Pair](()), "Messages of both branches, turn by turn", parent)
        self.delegate = TurnsDelegate(self)
        self.setItemDelegate(self.delegate)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectItems)
        self.horizontalHeader().setAccessibleName("Branches")

    def show_pairs(self, rows: Sequence[Pair], left: str, right: str) -> None:
        """Show all messages of a comparison. ``left`` and ``right`` name the branches."""
        self.rows.show(rows, [branch_column(LEFT, left), branch_column(RIGHT, right)])
        self.restyle()
        if len(rows) > 1:
            self.setCurrentIndex(self.rows.index(1, LEFT))

    def row_height(self) -> int:
        """Pixels of a message."""
        return self.delegate.height(False)

    def restyle(self) -> None:
        """Take the sizes from the fonts."""
        super().restyle()
        rows = self.verticalHeader()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        rows.setMinimumSectionSize(8)
        if len(self.rows.rows) <= MOST_FITTED:
            for number, row in enumerate(self.rows.rows):
                if row[LEFT].heading:
                    self.setRowHeight(number, self.delegate.height(True))

    def activate(self, index: Index) -> None:
        """Ask for the entry of a message; a heading has none."""
        if index.isValid() and (message := cell_at(index).message) is not None:
            self.entry_chosen.emit(message.entry)

    def copied_text(self, index: Index) -> str:
        """The whole message, or the words of a heading."""
        return str(index.data(Qt.ItemDataRole.ToolTipRole) or index.data() or "")
