"""The messages of two branches in two columns, turn by turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from explorer.session.branch_difference import BranchDifference, Message, Turn, duration
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

Index = QModelIndex | QPersistentModelIndex
CELL = int(Qt.ItemDataRole.UserRole)
"""The ``Cell`` of an index."""
LEFT, RIGHT = 0, 1
MOST_FITTED = 2_000
"""Rows up to which headings are lower than messages; in longer tables all rows are as high."""


class Cell(NamedTuple):
    """What stands in one column of a row."""

    message: Message | None
    heading: str = ""
    """The words over a turn, where the row begins one."""
    same: bool = False


Pair = tuple[Cell, Cell]


def table_rows(found: BranchDifference) -> list[Pair]:
    """A heading over each turn, then its messages side by side; for a worker thread."""
    rows: list[Pair] = []
    turn = -1
    for row in found.rows():
        if row.turn != turn:
            turn = row.turn
            left, right = (_heading(side.turns, turn) for side in (found.left, found.right))
            rows.append((Cell(None, left), Cell(None, right)))
        rows.append((Cell(row.left, "", row.same), Cell(row.right, "", row.same)))
    return rows


class TurnsModel(QAbstractTableModel):
    """The rows of a comparison; see ``table_rows``."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: Sequence[Pair] = ()
        self._names = ("", "")

    def show_rows(self, rows: Sequence[Pair], left: str, right: str) -> None:
        """Show the rows of a comparison; ``left`` and ``right`` name the branches."""
        self.beginResetModel()
        self._names = (left, right)
        self._rows = rows
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else 2

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        across = orientation == Qt.Orientation.Horizontal
        return self._names[section] if across and role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        cell = self._rows[index.row()][index.column()]
        if role == CELL:
            return cell
        if role == Qt.ItemDataRole.DisplayRole:
            return cell.heading or _first(cell.message)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return _spoken(cell)
        if role == Qt.ItemDataRole.ToolTipRole and cell.message is not None:
            return "\n".join([cell.message.text.strip(), *cell.message.calls]).strip()
        return None


def _heading(turns: tuple[Turn, ...], number: int) -> str:
    if number >= len(turns):
        return f"Turn {number + 1}: none here"
    turn = turns[number]
    return f"Turn {number + 1} · {count(len(turn.messages), 'message')} · {_span(turn)}"


def _span(turn: Turn) -> str:
    return duration(turn.elapsed_ms)


def _first(message: Message | None) -> str:
    if message is None:
        return ""
    return " ".join(message.text.split()) or " · ".join(message.calls)


def _spoken(cell: Cell) -> str:
    if cell.heading:
        return cell.heading
    if cell.message is None:
        return "nothing here"
    said = " ".join([_first(cell.message), *cell.message.calls])
    same = ", the same on both sides" if cell.same else ""
    name = role_name(cell.message.kind, cell.message.flags)
    return f"{name} #{cell.message.entry}{same}: {said}"


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
        return QSize(120, self.height(bool(index.data(CELL).heading)))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, /) -> None:
        cell: Cell = index.data(CELL)
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

    def _message(self, painter: QPainter, rect: QRectF, message: Message, same: bool) -> None:
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
        self, painter: QPainter, rect: QRectF, top: float, message: Message, same: bool
    ) -> None:
        now, body = theme(), QFontMetrics(self.body)
        said = " ".join(message.text.split())
        rows = [(said, self.body)] if said else []
        rows += [(f"→ {call}", self.mono) for call in message.calls]
        if len(rows) > 2:
            rows[1:] = [(f"{rows[1][0]}  and {len(rows) - 2} more", rows[1][1])]
        if len(rows) == 1 and body.horizontalAdvance(said) > rect.width():
            flags = int(Qt.TextFlag.TextWordWrap)
            place = QRectF(rect.left(), top, rect.width(), 2 * body.lineSpacing())
            painter.setFont(self.body)
            painter.setPen(now.dim if same else now.ink)
            painter.drawText(place, flags, _shortened(said, body, rect.width()))
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


class TurnsTable(QTableView):
    """Arrow keys move between messages; Return or a double click shows one on the map."""

    entry_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.turns = TurnsModel(self)
        self.setModel(self.turns)
        self.delegate = TurnsDelegate(self)
        self.setItemDelegate(self.delegate)
        self.setAccessibleName("Messages of both branches, turn by turn")
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.verticalHeader().setAccessibleName("Rows")
        header = self.horizontalHeader()
        header.setAccessibleName("Branches")
        header.setSectionsClickable(False)
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.doubleClicked.connect(lambda index: self._choose(index))
        on_theme_changed(self.restyle)

    def show_rows(self, rows: Sequence[Pair], left: str, right: str) -> None:
        """Show all messages of a comparison."""
        self.turns.show_rows(rows, left, right)
        self.restyle()
        if self.turns.rowCount() > 1:
            self.setCurrentIndex(self.turns.index(1, LEFT))

    def restyle(self) -> None:
        """Take the sizes from the fonts."""
        self.horizontalHeader().setFont(small_font())
        rows = self.verticalHeader()
        rows.setMinimumSectionSize(8)
        rows.setDefaultSectionSize(self.delegate.height(False))
        heading, count = self.delegate.height(True), self.turns.rowCount()
        for row in range(count if count <= MOST_FITTED else 0):
            if self.turns.index(row, LEFT).data(CELL).heading:
                self.setRowHeight(row, heading)

    def _choose(self, index: QModelIndex) -> None:
        cell = index.data(CELL) if index.isValid() else None
        if cell is not None and cell.message is not None:
            self.entry_chosen.emit(cell.message.entry)

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        key, index = event.key(), self.currentIndex()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(index)
        elif key == Qt.Key.Key_C and event.modifiers() == Qt.KeyboardModifier.ControlModifier:
            text = index.data(Qt.ItemDataRole.ToolTipRole) or index.data() or ""
            QApplication.clipboard().setText(str(text))
        else:
            super().keyPressEvent(event)
