"""The tree of a rendered prompt, for a tree view."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from explorer.prompting.layout import HIGHEST, Node
from explorer.prompting.rendering import Dropped
from ui.copilot.looking import Look
from ui.theme import mono_font, theme
from ui.widgets.figures import full, short

Index = QModelIndex | QPersistentModelIndex
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class Column(IntEnum):
    """What a row shows."""

    ELEMENT = 0
    PRIORITY = 1
    GROW = 2
    BUDGET = 3
    TOKENS = 4
    GONE = 5


TITLES = ("Element", "Priority", "Grow", "Budget", "Tokens", "Gone")
_TIPS = (
    "What the prompt is made of, in the order in which it is sent",
    "The lowest among siblings goes first; without one it stays",
    "The higher is asked first what it needs; the lower gets what is left",
    "What it was told that it may take",
    "What it takes",
    "The place in the order of what was dropped",
)


def _ended_with(node: Node) -> Iterator[Node]:
    """The messages around it of which nothing was left."""
    above = node.parent
    while above is not None and not above.alive:
        yield above
        above = above.parent


class PromptModel(QAbstractItemModel):
    """Elements down to messages; their texts only where a message has several."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._nodes: dict[int, Node] = {}
        self._rows: dict[int, list[Node]] = {}
        self._row: dict[int, int] = {}
        self._top: list[Node] = []
        self._gone: dict[int, tuple[int, Dropped]] = {}

    def show_look(self, found: Look | None) -> None:
        """Show another rendering, or nothing."""
        self.beginResetModel()
        self._nodes, self._rows, self._row, self._gone = {}, {}, {}, {}
        self._top = []
        if found is not None:
            for place, gone in enumerate(found.dropped, 1):
                for part in (*gone.node.walk(), *_ended_with(gone.node)):
                    self._gone.setdefault(part.order, (place, gone))
            self._top = self._shown(found.root)
            for node in found.root.walk():
                self._nodes[node.order] = node
                rows = self._shown(node)
                self._rows[node.order] = rows
                for at, child in enumerate(rows):
                    self._row[child.order] = at
        self.endResetModel()

    @staticmethod
    def _shown(node: Node) -> list[Node]:
        if node.kind == "message" and len(node.children) < 2:
            return []
        return [child for child in node.children if child.kind != "point" or child.element.name]

    def node(self, index: Index) -> Node | None:
        """The element of a row."""
        return self._nodes.get(index.internalId()) if index.isValid() else None

    def reason(self, index: Index) -> str:
        """Why a row's element is not in the prompt; empty when it is."""
        node = self.node(index)
        gone = self._gone.get(node.order) if node is not None else None
        return gone[1].reason if gone is not None else ""

    # what a view asks ----------------------------------------------------------------------------

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        above = self.node(parent)
        rows = self._top if above is None else self._rows.get(above.order, [])
        if not (0 <= row < len(rows) and 0 <= column < len(Column)):
            return QModelIndex()
        return self.createIndex(row, column, rows[row].order)

    def parent(self, index: Index = QModelIndex()) -> QModelIndex:  # type: ignore[override]  # noqa: B008
        node = self.node(index)
        above = node.parent if node is not None else None
        if above is None or above.parent is None:
            return QModelIndex()
        return self.createIndex(self._row.get(above.order, 0), 0, above.order)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        if parent.isValid() and parent.column() > 0:
            return 0
        node = self.node(parent)
        return len(self._top) if node is None else len(self._rows.get(node.order, []))

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return len(Column)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return TITLES[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return _TIPS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole and section > Column.ELEMENT:
            return int(_RIGHT)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        node = self.node(index)
        if node is None:
            return None
        column = Column(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(node, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._told(node)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self._told(node) if column == Column.ELEMENT else self._text(node, column)
        if role == Qt.ItemDataRole.TextAlignmentRole and column > Column.ELEMENT:
            return int(_RIGHT)
        if role == Qt.ItemDataRole.ForegroundRole:
            return theme().ink if node.alive else theme().dim
        if role == Qt.ItemDataRole.FontRole:
            if column == Column.ELEMENT:
                return None
            font = mono_font(-0.5)
            font.setStrikeOut(column == Column.TOKENS and not node.alive)
            return font
        return None

    def _text(self, node: Node, column: Column) -> str:
        if column == Column.ELEMENT:
            return node.title
        if column == Column.PRIORITY:
            return "stays" if node.required else ("" if node.priority == HIGHEST
                                                  else str(node.priority))  # fmt: skip
        if column == Column.GROW:
            grow = node.element.flex_grow
            return "" if grow is None else str(grow)
        if column == Column.BUDGET:
            return short(node.budget)
        if column == Column.TOKENS:
            return short(node.total if not node.alive else node.tokens)
        gone = self._gone.get(node.order)
        return "" if gone is None else f"{gone[0]:,}."

    def _told(self, node: Node) -> str:
        """A row in a sentence, for tool tips and screen readers."""
        rank = "" if node.priority == HIGHEST else f", priority {node.priority}"
        stays = ", never dropped" if node.required else ""
        grow = node.element.flex_grow
        grows = "" if grow is None else f", flexGrow {grow}"
        size = f", {full(node.total)} tokens of a budget of {full(node.budget)}"
        told = f"{node.title}{rank}{stays}{grows}{size}."
        gone = self._gone.get(node.order)
        if gone is not None:
            return f"{told} Dropped as number {gone[0]}. {gone[1].reason}"
        if node.tokens != node.total:
            told += f" {full(node.tokens)} of them are left."
        return told
