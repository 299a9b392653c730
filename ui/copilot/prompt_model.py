"""A prompt rendered to a budget, and its tree for a tree view."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from explorer.prompting.elements import PromptNode
from explorer.prompting.rendered_prompt import BudgetExceededError, Dropped, render

if TYPE_CHECKING:  # the workbench is there after the first paint, its types before
    from explorer.services.auto_compaction.prompt import PreparedPrompt


from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, Qt
from PySide6.QtGui import QColor

from explorer.prompting.elements import HIGHEST
from ui.theme import mono_font, theme
from ui.widgets.figures import full, short
from ui.widgets.table import RIGHT, Column, Index

PreparePrompt = Callable[[], "PreparedPrompt"]
"""Reads the prompt of the session as it stands; blocks."""


class PromptRendering(Struct, frozen=True, eq=False):
    """One rendering of a prompt, to look at. Sizes in tokens."""

    prepared: PreparedPrompt
    budget: int
    root: PromptNode
    dropped: tuple[Dropped, ...]
    tokens: int
    """What is left of the prompt, or what it needs when it does not fit."""
    fits: bool
    keeps_cached: bool

    @property
    def ratio(self) -> float:
        """How full the context is: messages and tools of what both may take."""
        return self.prepared.budget.ratio(self.tokens)


def render_to_budget(
    prepared: PreparedPrompt, budget: int | None, keep_cached: bool
) -> PromptRendering:
    """Render a prompt to a budget (None: that of the prompt), whether or not it fits."""
    wanted = prepared.budget.messages if budget is None else budget
    elements = prepared.elements(keep_cached=keep_cached)
    try:
        found = render(elements, wanted, prepared.prompt.count)
    except BudgetExceededError as error:
        return PromptRendering(
            prepared, wanted, error.root, error.dropped, error.needed, False, keep_cached
        )
    return PromptRendering(
        prepared, wanted, found.root, found.dropped, found.tokens, True, keep_cached
    )


def _ended_with(node: PromptNode) -> Iterator[PromptNode]:
    """The messages around it of which nothing was left."""
    above = node.parent
    while above is not None and not above.alive:
        yield above
        above = above.parent


def _tone(node: PromptNode) -> QColor:
    return theme().ink if node.alive else theme().dim


def _priority(node: PromptNode) -> str:
    if node.required:
        return "stays"
    return "" if node.priority == HIGHEST else str(node.priority)


def _grow(node: PromptNode) -> str:
    grow = node.element.flex_grow
    return "" if grow is None else str(grow)


class PromptModel(QAbstractItemModel):
    """Elements down to messages; their texts only where a message has several."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns = self._columns()
        self._nodes: dict[int, PromptNode] = {}
        self._rows: dict[int, list[PromptNode]] = {}
        self._row: dict[int, int] = {}
        self._top: list[PromptNode] = []
        self._gone: dict[int, tuple[int, Dropped]] = {}

    def show_rendering(self, found: PromptRendering | None) -> None:
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
    def _shown(node: PromptNode) -> list[PromptNode]:
        if node.kind == "message" and len(node.children) < 2:
            return []
        return [child for child in node.children if child.kind != "point" or child.element.name]

    def node(self, index: Index) -> PromptNode | None:
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
        if not (0 <= row < len(rows) and 0 <= column < len(self.columns)):
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
        return len(self.columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        return (
            self.columns[section].heading(role)
            if orientation == Qt.Orientation.Horizontal
            else None
        )

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        node, is_figure = self.node(index), index.column() > 0
        if node is None:
            return None
        if role == Qt.ItemDataRole.FontRole and is_figure:
            font = mono_font(-0.5)
            is_size = self.columns[index.column()].title == "Tokens"
            font.setStrikeOut(is_size and not node.alive)
            return font
        return self.columns[index.column()].cell(node, role)

    # columns -------------------------------------------------------------------------------------

    def _columns(self) -> list[Column[PromptNode]]:
        def figure(title: str, text: Callable[[PromptNode], str], tip: str) -> Column[PromptNode]:
            return Column(
                title, text, RIGHT, tip=tip, detail=self._sentence, spoken=text, colour=_tone
            )

        return [
            Column(
                "Element", lambda node: node.title,
                tip="What the prompt is made of, in the order in which it is sent",
                detail=self._sentence, spoken=self._sentence, colour=_tone,
            ),
            figure(
                "Priority", _priority, "The lowest among siblings goes first; without one it stays"
            ),
            figure(
                "Grow", _grow,
                "The higher is asked first what it needs; the lower gets what is left",
            ),
            figure(
                "Budget", lambda node: short(node.budget), "What it may take, as it was given"
            ),
            figure(
                "Tokens", lambda node: short(node.tokens if node.alive else node.total),
                "What it takes",
            ),
            figure("Gone", self._gone_as, "The place in the order of what was dropped"),
        ]  # fmt: skip

    def column(self, title: str) -> int:
        """The number of the column with a heading."""
        return [each.title for each in self.columns].index(title)

    def _gone_as(self, node: PromptNode) -> str:
        gone = self._gone.get(node.order)
        return "" if gone is None else f"{gone[0]:,}."

    def _sentence(self, node: PromptNode) -> str:
        """A row in a sentence, for tool tips and screen readers."""
        rank = "" if node.priority == HIGHEST else f", priority {node.priority}"
        stays = ", never dropped" if node.required else ""
        grow = node.element.flex_grow
        grows = "" if grow is None else f", flexGrow {grow}"
        size = f", {full(node.total)} tokens of a budget of {full(node.budget)}"
        spoken = f"{node.title}{rank}{stays}{grows}{size}."
        gone = self._gone.get(node.order)
        if gone is not None:
            return f"{spoken} Dropped as number {gone[0]}. {gone[1].reason}"
        if node.tokens != node.total:
            spoken += f" {full(node.tokens)} of them are left."
        return spoken
