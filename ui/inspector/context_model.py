"""What the model sees at an entry, as a table with virtual rows."""

from __future__ import annotations

from enum import IntEnum
from itertools import accumulate
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from explorer.session.context import Context, sent_tokens
from explorer.session.kinds import Flag, Kind
from explorer.session.pruned import NOTHING_PRUNED, Pruned
from explorer.session.shaped import Reinserted
from ui.inspector.ports import InspectedDocument, entry_tokens
from ui.theme import role_name
from ui.theme.verdicts import PINNED, PRUNED
from ui.widgets.entry_table import ENTRY, FLAGS, KIND, LEAD, VERDICT
from ui.widgets.figures import full
from ui.widgets.swatch import Share

Index = QModelIndex | QPersistentModelIndex

PREVIEWS_AT_ONCE = 256


class Category(NamedTuple):
    """A part of the bar: which messages it gathers, and its colour."""

    key: str
    title: str
    token: str


CATEGORIES = (
    Category("summary", "summaries", "comp"),
    Category("user", "user", "user"),
    Category("assistant", "assistant", "asst"),
    Category("thinking", "thinking", "think"),
    Category("calls", "tool calls", "shell"),
    Category("results", "tool results", "tool"),
    Category("notes", "notes", "branch"),
)

_SUMMARIES = {
    Kind.COMPACTION,
    Kind.BRANCH_SUMMARY,
    Kind.COMPACTION_SUMMARY_ROLE,
    Kind.BRANCH_SUMMARY_ROLE,
}
_USER = {Kind.USER, Kind.BASH_EXECUTION, Kind.PYTHON_EXECUTION}
_ROLES_SENT = {
    Kind.ASSISTANT: "assistant",
    Kind.TOOL_RESULT: "tool result",
    Kind.SYSTEM: "system",
}


def category(kind: int, flags: int) -> str:
    """The key of the category that a message counts towards."""
    if kind in _SUMMARIES:
        return "summary"
    if kind in _USER:
        return "user"
    if kind == Kind.TOOL_RESULT:
        return "results"
    if kind != Kind.ASSISTANT:
        return "notes"
    if flags & Flag.HAS_TEXT:
        return "assistant"
    return "calls" if flags & Flag.HAS_TOOL_CALL else "thinking"


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
        self._previews = {}
        self._refill()

    def clear(self) -> None:
        """Show nothing."""
        self._document, self._all = None, []
        self._refill()

    def set_filter(self, key: str) -> None:
        """Show only the messages of one category, or all."""
        if key != self._filter:
            self._filter = key
            self._refill()

    def _refill(self) -> None:
        self.beginResetModel()
        document = self._document
        if document is None:
            self._rows, self._tokens, self._running = [], [], []
        else:
            counted = [self._counted(document, at) for at in self._all]
            sums = list(accumulate(counted))
            columns = document.tree.columns
            shown = [
                row
                for row, at in enumerate(self._all)
                if not self._filter or category(columns.kind[at], columns.flags[at]) == self._filter
            ]
            self._rows = [self._all[row] for row in shown]
            self._tokens = [counted[row] for row in shown]
            self._running = [sums[row] for row in shown]
        self.endResetModel()

    def _counted(self, document: InspectedDocument, entry: int) -> int:
        """Tokens of a message as it is sent: of the note where it is pruned, with the words before
        it where it is told again."""
        tokens = entry_tokens(document, entry)[0]
        return tokens if self._context is None else sent_tokens(self._context, entry, tokens)

    def shares(self) -> list[Share]:
        """Tokens by category, of all messages."""
        document = self._document
        sums = dict.fromkeys((c.key for c in CATEGORIES), 0)
        if document is not None:
            columns = document.tree.columns
            for at in self._all:
                key = category(columns.kind[at], columns.flags[at])
                sums[key] += self._counted(document, at)
        return [
            Share(c.key, c.title, sums[c.key], token=c.token) for c in CATEGORIES if sums[c.key]
        ]

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
