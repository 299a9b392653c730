"""The ledger: every entry of the path with its verdict, as a table with virtual rows."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from enum import IntEnum
from itertools import accumulate, compress
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from explorer.compaction.partition import Partition
from explorer.session.tree import SessionTree
from ui.theme import role_name, verdict_title
from ui.widgets.entry_table import ENTRY, FLAGS, KIND, STRONG, VERDICT
from ui.widgets.figures import full
from ui.widgets.previews import KeptPreviews

Index = QModelIndex | QPersistentModelIndex
Previews = Callable[[Sequence[int]], list[str]]

PREVIEWS_AT_ONCE = 256


class Column(IntEnum):
    """What a row shows."""

    WHAT = 0
    WHY = 1
    TOKENS = 2
    RUNNING = 3


_TITLES = ("Entry", "Why", "Tokens", "To end")


class LedgerModel(QAbstractTableModel):
    """Rows are positions of the path, or those of one verdict.

    The running total counts from the end: what would be kept if the cut fell at that row.
    """

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._tree: SessionTree | None = None
        self._shown: Partition | None = None
        self._rows: Sequence[int] = range(0)
        self._running: list[int] = []
        self._weights: Sequence[int] = array("i")
        self._filter = -1
        self._previews = KeptPreviews(PREVIEWS_AT_ONCE)

    @property
    def partition(self) -> Partition | None:
        """What is shown."""
        return self._shown

    def show_partition(
        self, shown: Partition | None, tree: SessionTree | None, previews: Previews | None
    ) -> None:
        """Show another partition; rows that stay keep their place and selection."""
        self._previews.take(previews, tree is not self._tree)
        self._tree = tree
        self._shown = shown
        self._weights = shown.preparation.cuts.view.weights if shown is not None else array("i")
        totals = list(accumulate(reversed(self._weights)))
        totals.reverse()
        self._running = totals
        self._fill()

    def set_filter(self, verdict: int) -> None:
        """Show the rows of one verdict; -1 shows all."""
        if verdict != self._filter:
            self._filter = verdict
            self._fill()

    def _fill(self) -> None:
        rows = self._wanted()
        if len(rows) == len(self._rows) and (self._filter < 0 or rows == self._rows):
            self._rows = rows
            if rows:
                last = self.index(len(rows) - 1, len(Column) - 1)
                self.dataChanged.emit(self.index(0, 0), last)
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def _wanted(self) -> Sequence[int]:
        if self._shown is None:
            return range(0)
        count = len(self._shown.verdicts)
        if self._filter < 0:
            return range(count)
        only = bytes(1 if value == self._filter else 0 for value in range(256))
        return list(compress(range(count), self._shown.verdicts.translate(only)))

    def position(self, row: int) -> int:
        """The position on the path of a row."""
        return self._rows[row]

    def row_of_position(self, position: int) -> int:
        """The row at or after a position of the path, or -1."""
        if isinstance(self._rows, range):
            return position if 0 <= position < len(self._rows) else -1
        return next((row for row, at in enumerate(self._rows) if at >= position), -1)

    def preview(self, row: int) -> str:
        """The first line of a row's entry; those around it are read along."""
        assert self._shown is not None
        return self._previews.of(row, self._rows, self._shown.path.__getitem__)

    # Qt's questions ----------------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex(), /) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex(), /) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(Column)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole, /
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.DisplayRole:
                return _TITLES[section]
            if role == Qt.ItemDataRole.TextAlignmentRole:
                right = section in (Column.TOKENS, Column.RUNNING)
                side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
                return side | Qt.AlignmentFlag.AlignVCenter
            if role == Qt.ItemDataRole.ToolTipRole and section == Column.RUNNING:
                return "Tokens from this entry to the end: what is kept if the cut falls here"
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole, /) -> Any:
        shown, tree = self._shown, self._tree
        if shown is None or tree is None or not index.isValid():
            return None
        row, column = index.row(), index.column()
        position = self._rows[row]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(shown, row, position, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            right = column in (Column.TOKENS, Column.RUNNING)
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter if right else None
        entry = shown.path[position]
        if role == ENTRY:
            return entry
        if role == KIND:
            return tree.columns.kind[entry]
        if role == FLAGS:
            return tree.columns.flags[entry]
        if role == VERDICT:
            return shown.verdicts[position]
        if role == STRONG:
            return position == shown.cut
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._sentence(shown, tree, row, position)
        return None

    def _text(self, shown: Partition, row: int, position: int, column: int) -> str:
        if column == Column.WHAT:
            return self.preview(row)
        if column == Column.WHY:
            return shown.reason(position)
        if column == Column.TOKENS:
            return full(shown.weight(position))
        return full(self._running[position])

    def _sentence(self, shown: Partition, tree: SessionTree, row: int, position: int) -> str:
        entry = shown.path[position]
        name = role_name(tree.columns.kind[entry], tree.columns.flags[entry])
        verdict = verdict_title(shown.verdicts[position])
        first = ", first kept entry" if position == shown.cut else ""
        return (
            f"#{entry}, {name}{first}: {self.preview(row)}\n"
            f"{verdict.capitalize()}, {full(shown.weight(position))} tokens. "
            f"{shown.reason(position)}"
        )
