"""The list of models as Qt's views ask for it: made of what the typed words leave."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from ui.models.rows import Heading, Line, ModelRow, sift
from ui.models.words import Mark, is_too_small, spoken, tokens
from ui.widgets.figures import count

Index = QModelIndex | QPersistentModelIndex

# Asked for once per cell and paint.
_NONE = Qt.ItemFlag.NoItemFlags
_CHOOSABLE = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable


class Column(IntEnum):
    MODEL = 0
    WINDOW = 1
    OUTPUT = 2
    INTO = 3
    OUT = 4
    CACHE = 5


HEADINGS = {
    Column.MODEL: ("Model", ""),
    Column.WINDOW: ("Window", "Tokens that fit into the model's context"),
    Column.OUTPUT: ("Answer", "Tokens of its longest answer"),
    Column.INTO: ("$ in", "Dollars for a million tokens that it reads"),
    Column.OUT: ("$ out", "Dollars for a million tokens that it writes"),
    Column.CACHE: ("$ cache", "Dollars for a million tokens that it reads from its cache"),
}


class ModelsModel(QAbstractTableModel):
    """Holds all rows and shows some; headings cannot be chosen."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._all: list[ModelRow] = []
        self._lines: list[Line] = []
        self._shown = 0
        self._words, self._only = "", True
        self._context = 0
        self._in_use: dict[str, str] = {}

    # what is shown -------------------------------------------------------------------------------

    def set_rows(self, rows: Sequence[ModelRow]) -> None:
        self._all = list(rows)
        self._sift()

    def set_filter(self, words: str, only_with_way: bool) -> None:
        if (words, only_with_way) != (self._words, self._only):
            self._words, self._only = words, only_with_way
            self._sift()

    def set_surroundings(self, context: int, in_use: dict[str, str]) -> None:
        """``context``: tokens of the session shown; ``in_use``: by model, what it does now."""
        self._context, self._in_use = context, in_use
        if self._lines:
            last = self.index(len(self._lines) - 1, Column.CACHE)
            self.dataChanged.emit(self.index(0, 0), last)

    def _sift(self) -> None:
        self.beginResetModel()
        self._lines = sift(self._all, self._words, self._only)
        self._shown = sum(line.count for line in self._lines if isinstance(line, Heading))
        self.endResetModel()

    @property
    def shown(self) -> int:
        """How many models are listed."""
        return self._shown

    @property
    def known(self) -> int:
        """How many there are."""
        return len(self._all)

    @property
    def found_elsewhere(self) -> int:
        """How many more the words would find among those that cannot be called."""
        if not self._only:
            return 0
        lines = sift(self._all, self._words, False)
        return sum(line.count for line in lines if isinstance(line, Heading)) - self._shown

    def row_of(self, model_id: str) -> int:
        """Where a model is listed; -1 where it is not."""
        for at, line in enumerate(self._lines):
            if isinstance(line, ModelRow) and line.info.id == model_id:
                return at
        return -1

    def first(self) -> int:
        """The first row that is a model; -1 for none."""
        return next((at for at, line in enumerate(self._lines) if isinstance(line, ModelRow)), -1)

    def line(self, row: int) -> Line | None:
        return self._lines[row] if 0 <= row < len(self._lines) else None

    def marks(self, row: ModelRow) -> list[Mark]:
        """What to know of a model before it is chosen."""
        found = list(row.marks)
        if is_too_small(row.info, self._context):
            words = f"smaller than this context ({tokens(self._context)})"
            found.insert(0, Mark("warning", words, "lost"))
        if not row.has_way:
            found.insert(0, Mark("lock", "no key"))
        if row.info.id in self._in_use:
            found.insert(0, Mark("check", self._in_use[row.info.id], "accent"))
        return found

    # as Qt asks ----------------------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self._lines)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(Column)

    def flags(self, index: Index) -> Qt.ItemFlag:
        return _NONE if isinstance(self.line(index.row()), Heading) else _CHOOSABLE

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        line = self.line(index.row())
        if line is None:
            return None
        if isinstance(line, Heading):
            is_text = role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
            return heading_words(line) if is_text and index.column() == Column.MODEL else None
        if role == Qt.ItemDataRole.DisplayRole:
            return line.cells[index.column()]
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            if index.column() == Column.MODEL:
                more = [mark for mark in self.marks(line) if mark not in line.marks]
                return spoken(line.info, more)
            title, meaning = HEADINGS[Column(index.column())]
            return f"{title}: {line.cells[index.column()]}. {meaning}."
        return None

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        title, meaning = HEADINGS[Column(section)]
        if role == Qt.ItemDataRole.DisplayRole:
            return title
        if role == Qt.ItemDataRole.ToolTipRole:
            return meaning or None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = (
                Qt.AlignmentFlag.AlignLeft
                if section == Column.MODEL
                else Qt.AlignmentFlag.AlignRight
            )
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None


def heading_words(heading: Heading) -> str:
    key = "" if heading.has_way else ", no key"
    return f"{heading.provider}: {count(heading.count, 'model')}{key}"
