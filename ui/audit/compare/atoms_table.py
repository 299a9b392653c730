"""Facts that one summary has and another has not, one row each."""

from __future__ import annotations

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from explorer.audit.difference import AtomRow, Difference
from ui.audit.fidelity.words import FATE_TITLES, ONE_KIND
from ui.theme import S16, bind_font, on_theme_changed, scaled, theme, ui_font

Index = QModelIndex | QPersistentModelIndex
ELSEWHERE = "made elsewhere"
NOTHING = "What one of them keeps, every other one keeps too: nothing was won or lost."


def nothing_words(found: Difference) -> str:
    """Why no atom is shown, in a sentence."""
    unknown = [one.name for one in found.not_audited]
    if unknown:
        return (
            f"The file does not tell what went into {', '.join(unknown)}: what it keeps cannot be "
            "held against the others. Compare their sections."
        )
    if not found.asked_alike:
        return "They tell of different entries: nothing that one of them should keep is another's."
    return NOTHING


def fate_words(row: AtomRow, at: int, reference: int) -> str:
    """How an atom fares in a candidate, with a sign of who won it."""
    fate = row.fates[at]
    if fate is None:
        words = "not stated" if row.is_wrong else ELSEWHERE
    else:
        words = FATE_TITLES[fate]
    if at == reference:
        return words
    if row.won(at, reference):
        return f"+ {words}"
    return f"− {words}" if row.lost(at, reference) else words


class AtomsModel(QAbstractTableModel):
    """Kind, text, then one column per candidate."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.found: Difference | None = None

    def show_difference(self, found: Difference | None) -> None:
        """Show the atoms of another comparison."""
        self.beginResetModel()
        self.found = found
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex(), /) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() or self.found is None else len(self.found.atoms)

    def columnCount(self, parent: Index = QModelIndex(), /) -> int:  # noqa: B008
        if parent.isValid() or self.found is None:
            return 0
        return 2 + len(self.found.candidates)

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = int(Qt.ItemDataRole.DisplayRole),
        /,
    ) -> object:
        if orientation is not Qt.Orientation.Horizontal or self.found is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            names = [one.name for one in self.found.candidates]
            return ("Kind", "What it is", *names)[section]
        return None

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole), /) -> object:
        if not index.isValid() or self.found is None:
            return None
        row = self.found.atoms[index.row()]
        at = index.column() - 2
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            if at >= 0:
                return fate_words(row, at, self.found.reference)
            return ONE_KIND[row.atom.kind] if at == -2 else " ".join(row.atom.text[:300].split())
        if role == Qt.ItemDataRole.ToolTipRole and at == -1:
            return row.atom.text[:2000]
        if role == Qt.ItemDataRole.ForegroundRole and at >= 0 and row.survives(at) is False:
            return QColor(theme().lost)
        return None


class AtomsTable(QTableView):
    """Return shows the source on the map."""

    entry_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.atoms = AtomsModel(self)
        self.setModel(self.atoms)
        self.setAccessibleName("Things won and lost, the gravest first")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        bind_font(self, lambda: ui_font(-0.5))
        self.doubleClicked.connect(lambda index: self._show(index.row()))
        on_theme_changed(self.viewport().update)

    def show_difference(self, found: Difference | None) -> None:
        """Show the atoms of another comparison."""
        self.atoms.show_difference(found)
        empty = found is not None and not found.atoms
        self.setAccessibleDescription(nothing_words(found) if found and empty else "")
        header = self.horizontalHeader()
        header.setStretchLastSection(False)
        for column in range(self.atoms.columnCount()):
            stretch = column == 1
            mode = QHeaderView.ResizeMode.Stretch if stretch else QHeaderView.ResizeMode.Interactive
            header.setSectionResizeMode(column, mode)
            if not stretch:
                self.setColumnWidth(column, scaled(84 if column == 0 else 150))
        if self.atoms.rowCount():
            self.setCurrentIndex(self.atoms.index(0, 1))

    def paintEvent(self, event: QPaintEvent, /) -> None:
        """Says so where there is nothing."""
        super().paintEvent(event)
        if self.atoms.rowCount():
            return
        painter = QPainter(self.viewport())
        painter.setPen(theme().dim)
        words = nothing_words(self.atoms.found) if self.atoms.found is not None else ""
        painter.drawText(
            self.viewport().rect().adjusted(S16, S16, -S16, -S16),
            int(Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap),
            words,
        )

    def _show(self, row: int) -> None:
        if self.atoms.found is None or not 0 <= row < self.atoms.rowCount():
            return
        atom = self.atoms.found.atoms[row].atom
        if atom.sources:
            self.entry_requested.emit(atom.last)

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._show(self.currentIndex().row())
            return
        super().keyPressEvent(event)
