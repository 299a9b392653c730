"""What pruning would do, result by result, as a table with virtual rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from explorer.compaction.pruning import PruningPlan
from explorer.session.tree import SessionTree
from ui.theme import role_name
from ui.theme.verdicts import PRUNED
from ui.widgets.entry_table import ENTRY, FLAGS, KIND, LEAD, VERDICT
from ui.widgets.figures import full

Index = QModelIndex | QPersistentModelIndex

PREVIEWS_AT_ONCE = 128


class Column(IntEnum):
    """What a row shows."""

    RESULT = 0
    WHY = 1
    TOKENS = 2
    SAVED = 3


_TITLES = ("What goes, the first first", "Why", "Tokens", "Saved")
_FIGURES = (Column.TOKENS, Column.SAVED)


class PruneModel(QAbstractTableModel):
    """The results of a plan in the order in which they go."""

    def __init__(
        self, tree: SessionTree, previews_of: Callable[[Sequence[int]], list[str]], parent: Any
    ) -> None:
        super().__init__(parent)
        self._tree = tree
        self._previews_of = previews_of
        self._previews: dict[int, str] = {}
        self._plan: PruningPlan | None = None

    def show_plan(self, plan: PruningPlan) -> None:
        """Show another plan."""
        self.beginResetModel()
        self._plan = plan
        self.endResetModel()

    def preview(self, row: int) -> str:
        """The first line of a row's result; reads the rows around it too."""
        assert self._plan is not None
        entry = self._plan.results[row].entry
        if entry not in self._previews:
            start = row - row % PREVIEWS_AT_ONCE
            part = self._plan.results[start : start + PREVIEWS_AT_ONCE]
            wanted = [one.entry for one in part]
            self._previews.update(zip(wanted, self._previews_of(wanted), strict=True))
        return self._previews[entry]

    # Qt's questions ----------------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex(), /) -> int:  # noqa: B008
        return 0 if parent.isValid() or self._plan is None else len(self._plan.results)

    def columnCount(self, parent: Index = QModelIndex(), /) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(Column)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole, /
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.DisplayRole:
                return _TITLES[section]
            if role == Qt.ItemDataRole.TextAlignmentRole:
                right = section in _FIGURES
                side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
                return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole, /) -> Any:
        if self._plan is None or not index.isValid():
            return None
        row, column = index.row(), index.column()
        one, columns = self._plan.results[row], self._tree.columns
        if role == Qt.ItemDataRole.DisplayRole:
            texts = (self.preview, lambda _: one.reason, lambda _: full(one.tokens))
            return full(one.saved) if column == Column.SAVED else texts[column](row)
        if role == Qt.ItemDataRole.TextAlignmentRole and column in _FIGURES:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            name = role_name(columns.kind[one.entry], columns.flags[one.entry])
            return (
                f"#{one.entry}, {name} of {one.tool or 'a tool'}: {self.preview(row)}\n"
                f"{one.reason} {full(one.tokens)} tokens, {full(one.saved)} saved by “{one.note}”."
            )
        about = {
            ENTRY: one.entry,
            KIND: columns.kind[one.entry],
            FLAGS: columns.flags[one.entry],
            LEAD: f"{one.tool} " if one.tool else None,
            VERDICT: PRUNED,
        }
        return about.get(role)
