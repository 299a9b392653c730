"""What the model sees at an entry, as a table with virtual rows."""

from __future__ import annotations

from enum import IntEnum
from itertools import accumulate, compress
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from explorer.audit.provenance import weight_known
from explorer.session.context import Context
from explorer.session.edit_entries import NOTHING_PRUNED, Pruned, Reinserted
from explorer.session.kinds import Kind
from ui.audit.known import reason
from ui.inspector.categories import categories_of, number_of, only, shares_of, tokens_sent
from ui.inspector.ports import InspectedDocument
from ui.theme import role_name
from ui.theme.verdicts import PINNED, PRUNED
from ui.widgets.entry_table import ENTRY, FLAGS, KIND, LEAD, VERDICT
from ui.widgets.figures import full
from ui.widgets.swatch import Share

Index = QModelIndex | QPersistentModelIndex

PREVIEWS_AT_ONCE = 256


_ROLES_SENT = {
    Kind.ASSISTANT: "assistant",
    Kind.TOOL_RESULT: "tool result",
    Kind.SYSTEM: "system",
}


def role_sent(kind: int) -> str:
    """The role under which a message reaches the model: commands, notes and summaries as user."""
    return _ROLES_SENT.get(Kind(kind), "user")


class Column(IntEnum):
    """What a row shows."""

    TEXT = 0
    TOKENS = 1
    RUNNING = 2


class ContextModel(QAbstractTableModel):
    """Messages in the order in which they are sent. First lines are read as they come in view."""

    _TITLES = ("Message", "Tokens", "So far")

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._document: InspectedDocument | None = None
        self._all: list[int] = []
        self._counted: list[int] = []
        """Tokens of each of these."""
        self._categories = b""
        self._context: Context | None = None
        self._pruned: Pruned = NOTHING_PRUNED
        self._rows: list[int] = []
        self._tokens: list[int] = []
        self._running: list[int] = []
        self._filter = ""
        self._previews: dict[int, str] = {}

    def show_context(self, document: InspectedDocument, context: Context) -> None:
        """Show another context."""
        self._document = document
        self._all, self._pruned = context.messages, context.pruned
        self._context = context
        self._counted = tokens_sent(document, context)
        self._categories = categories_of(document.tree, context.messages)
        self._previews = {}
        self._refill()

    def clear(self) -> None:
        """Show nothing."""
        self._document, self._all, self._counted, self._categories = None, [], [], b""
        self._refill()

    def set_filter(self, key: str) -> None:
        """Show only the messages of one category, or all."""
        if key != self._filter:
            self._filter = key
            self._refill()

    def _refill(self) -> None:
        self.beginResetModel()
        rows, tokens, running = self._all, self._counted, list(accumulate(self._counted))
        if self._filter:
            shown = self._categories.translate(only(number_of(self._filter)))
            rows, tokens, running = (
                list(compress(each, shown)) for each in (rows, tokens, running)
            )
        self._rows, self._tokens, self._running = rows, tokens, running
        self.endResetModel()

    def shares(self) -> list[Share]:
        """Tokens by category, of all messages."""
        return shares_of(self._categories, self._counted)

    def entry(self, row: int) -> int:
        """The entry that a row's message comes from."""
        return self._rows[row]

    def row_of(self, entry: int) -> int:
        """The row of an entry, or -1."""
        return self._rows.index(entry) if entry in self._rows else -1

    def preview(self, row: int) -> str:
        """The first line of a row's message as it is sent; reads the rows around it too."""
        entry = self._rows[row]
        if entry in self._pruned:
            return self._pruned[entry].text
        if entry not in self._previews and self._document is not None:
            start = row - row % PREVIEWS_AT_ONCE
            wanted = self._rows[start : start + PREVIEWS_AT_ONCE]
            self._previews.update(
                zip(wanted, self._document.payloads.previews(wanted), strict=True)
            )
        return self._previews.get(entry, "")

    # Qt's questions ----------------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex(), /) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex(), /) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(Column)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole, /
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.ToolTipRole and section and self._document is not None:
                return reason("Tokens", weight_known(self._document.weights is not None))
            if role == Qt.ItemDataRole.DisplayRole:
                return self._TITLES[section]
            if role == Qt.ItemDataRole.TextAlignmentRole:
                side = Qt.AlignmentFlag.AlignRight if section else Qt.AlignmentFlag.AlignLeft
                return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole, /) -> Any:
        if not index.isValid() or self._document is None:
            return None
        row, column = index.row(), index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            if column == Column.TEXT:
                return self.preview(row)
            return full((self._tokens if column == Column.TOKENS else self._running)[row])
        if role == Qt.ItemDataRole.TextAlignmentRole and column:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return self._about(row, role)

    def _about(self, row: int, role: int) -> Any:
        assert self._document is not None
        entry, columns = self._rows[row], self._document.tree.columns
        kind, flags = columns.kind[entry], columns.flags[entry]
        if role == ENTRY:
            return entry
        if role == KIND:
            return kind
        if role == FLAGS:
            return flags
        if role == VERDICT:
            if self._told_again(entry) is not None:
                return PINNED
            return PRUNED if entry in self._pruned else None
        if role == LEAD:
            if self._told_again(entry) is not None:
                return f"#{entry}, told again: "
            return f"{role_sent(kind)}: "
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return (
                f"#{entry}, {role_name(kind, flags)}, sent as {role_sent(kind)}: "
                f"{self.preview(row)} ({full(self._tokens[row])} tokens){self._pruned_by(entry)}"
                f"{self._again_by(entry)}"
            )
        return None

    def _told_again(self, entry: int) -> Reinserted | None:
        return None if self._context is None else self._context.again.get(entry)

    def _again_by(self, entry: int) -> str:
        told = self._told_again(entry)
        if told is None:
            return ""
        why = f"pinned by #{told.by}" if told.why == "pin" else f"kept by #{told.by}"
        return f", {why}: told again after the summary, word for word, as a message of the user"

    def _pruned_by(self, entry: int) -> str:
        result = self._pruned.get(entry)
        if result is None:
            return ""
        return f", pruned by #{result.by}: it took {full(result.tokens)}"
