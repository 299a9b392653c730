"""The rows of the ledger: entries with verdicts, as a table with virtual rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from explorer.audit.ledger import Ledger, LedgerVerdict
from ui.audit.words import LEADS, VERDICTS, sentence_case, texture
from ui.theme import role_name
from ui.widgets.entry_table import ENTRY, FLAGS, KIND, LEAD, STRONG, VERDICT
from ui.widgets.figures import full
from ui.widgets.previews import KeptPreviews

Index = QModelIndex | QPersistentModelIndex
Previews = Callable[[Sequence[int]], list[str]]

PREVIEWS_AT_ONCE = 128


class Column(IntEnum):
    """What a row shows."""

    WHAT = 0
    WHY = 1
    SINCE = 2
    TOKENS = 3


_TITLES = ("Entry", "Why", "Since", "Tokens")
_RIGHT = (Column.SINCE, Column.TOKENS)


class AuditLedgerModel(QAbstractTableModel):
    """Rows are those of the ledger, or a choice of them."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._ledger: Ledger | None = None
        self._rows: Sequence[int] = range(0)
        self._previews = KeptPreviews(PREVIEWS_AT_ONCE)

    @property
    def ledger(self) -> Ledger | None:
        """What is shown."""
        return self._ledger

    @property
    def rows(self) -> Sequence[int]:
        """The ledger's rows that are shown."""
        return self._rows

    def show_ledger(self, ledger: Ledger | None, previews: Previews | None) -> None:
        """Show another ledger, all of its rows."""
        self.beginResetModel()
        is_other = self._ledger is None or ledger is None or ledger.tree is not self._ledger.tree
        self._previews.take(previews, is_other)
        self._ledger = ledger
        self._rows = range(len(ledger)) if ledger is not None else range(0)
        self.endResetModel()

    def choose(self, rows: Sequence[int]) -> None:
        """Show these rows of the ledger alone."""
        if rows != self._rows:
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()

    def row_of(self, entry: int) -> int:
        """The shown row of an entry, or -1."""
        if self._ledger is None:
            return -1
        wanted = self._ledger.row(entry)
        if wanted < 0 or isinstance(self._rows, range):
            return wanted
        return next((at for at, row in enumerate(self._rows) if row == wanted), -1)

    def preview(self, at: int) -> str:
        """The first line of a shown row's entry; those around it are read along."""
        assert self._ledger is not None
        return self._previews.of(at, self._rows, self._ledger.entries.__getitem__)

    # Qt's questions ----------------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex(), /) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex(), /) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(Column)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole, /
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return _TITLES[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            right = section in _RIGHT
            side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole and section == Column.SINCE:
            return "The compaction since which the entry stands like this"
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole, /) -> Any:
        ledger = self._ledger
        if ledger is None or not index.isValid():
            return None
        at, column = index.row(), index.column()
        row = self._rows[at]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(ledger, at, row, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            return right if column in _RIGHT else None
        entry = ledger.entries[row]
        if role == ENTRY:
            return entry
        if role == KIND:
            return ledger.tree.columns.kind[entry]
        if role == FLAGS:
            return ledger.tree.columns.flags[entry]
        if role == VERDICT:
            return texture(ledger.verdicts[row])
        if role == LEAD:
            return LEADS.get(ledger.verdict(row), "")
        if role == STRONG:
            return ledger.verdicts[row] == LedgerVerdict.LOST
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._sentence(ledger, at, row)
        return None

    def _text(self, ledger: Ledger, at: int, row: int, column: int) -> str:
        if column == Column.WHAT:
            return self.preview(at)
        if column == Column.WHY:
            return ledger.rule(row)
        if column == Column.SINCE:
            since = ledger.since(row)
            return f"#{since}" if since >= 0 else "start"
        return full(ledger.weight(row))

    def _sentence(self, ledger: Ledger, at: int, row: int) -> str:
        entry = ledger.entries[row]
        name = role_name(ledger.tree.columns.kind[entry], ledger.tree.columns.flags[entry])
        verdict = sentence_case(VERDICTS[ledger.verdict(row)])
        return (
            f"#{entry}, {name}: {self.preview(at)}\n"
            f"{verdict}, {full(ledger.weight(row))} tokens. {ledger.rule(row)}"
        )
