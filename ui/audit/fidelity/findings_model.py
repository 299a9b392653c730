"""Findings in groups as one flat list: a heading for each group, its findings below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from explorer.audit.findings import Finding
from explorer.audit.gravity import Group
from explorer.facts import FactKind
from ui.audit.fidelity.words import finding_words

Index = QModelIndex | QPersistentModelIndex
ROW = int(Qt.ItemDataRole.UserRole)


@dataclass(frozen=True, slots=True)
class Heading:
    """A group as a row of the list."""

    group: Group
    number: int
    """How many of its findings are of the kind that is shown."""
    is_open: bool


Row = Heading | Finding


class FindingsModel(QAbstractListModel):
    """Groups fold; those that tell of no loss are folded at first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._groups: Sequence[Group] = ()
        self._kind: FactKind | None = None
        self._turned: set[str] = set()
        """Titles of groups that are not as they were at first."""
        self.rows: list[Row] = []

    def show_groups(self, groups: Sequence[Group]) -> None:
        """Show other findings."""
        self._groups = groups
        self._fill()

    def set_kind(self, kind: FactKind | None) -> None:
        """Show findings of one kind only; None shows all."""
        self._kind = kind
        self._fill()

    def turn(self, row: int) -> None:
        """Fold a group, or unfold it."""
        found = self.rows[row]
        if isinstance(found, Heading):
            self._turned ^= {found.group.title}
            self._fill()

    def first_finding(self) -> int:
        """The row of the gravest finding; -1 when none is shown."""
        return next((at for at, row in enumerate(self.rows) if isinstance(row, Finding)), -1)

    def _fill(self) -> None:
        self.beginResetModel()
        self.rows = []
        for group in self._groups:
            found = [
                one for one in group.findings if self._kind is None or one.atom.kind is self._kind
            ]
            if not found:
                continue
            is_open = group.is_grave != (group.title in self._turned)
            self.rows.append(Heading(group, len(found), is_open))
            if is_open:
                self.rows += found
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex(), /) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole), /) -> object:
        if not index.isValid():
            return None
        row = self.rows[index.row()]
        if role == ROW:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.group.title if isinstance(row, Heading) else row.atom.text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            if isinstance(row, Finding):
                return f"{finding_words(row)}. {row.note}"
            state = "open" if row.is_open else "folded"
            return f"{row.group.title}, {row.number:,}, {state}. {row.group.why}"
        return None
