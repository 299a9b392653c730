"""Sessions of other agents that were found on this computer, to be chosen for import."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from explorer.formats import FoundSession
from ui import theme
from ui.widgets.dialogs import fit
from ui.widgets.panels import column_in


class FoundDialog(QDialog):
    """A list with check boxes; nothing is imported unasked."""

    import_chosen = Signal(list)

    def __init__(self, found: Sequence[FoundSession], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Sessions on this computer")
        layout = column_in(self, margins=(theme.S16, theme.S16, theme.S16, theme.S12))
        self.summary = QLabel(self)
        self.summary.setWordWrap(True)
        layout.addWidget(self.summary)
        self.filter = QLineEdit(self)
        self.filter.setPlaceholderText("Filter by folder or name")
        self.filter.setAccessibleName("Filter")
        self.filter.textChanged.connect(self._filter)
        self.list = QTreeWidget(self)
        self.list.setAccessibleName("Sessions found")
        self.list.setHeaderLabels(["Folder", "Changed", "Size", "Agent", "File"])
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        self.list.setSortingEnabled(True)
        for session in found:
            self.list.addTopLevelItem(_item(session))
        self.list.sortByColumn(1, Qt.SortOrder.DescendingOrder)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        for column in range(4):
            self.list.resizeColumnToContents(column)
        # A long folder leaves the file its place.
        self.list.setColumnWidth(0, min(self.list.columnWidth(0), theme.scaled(260)))
        self.list.itemChanged.connect(lambda _item, _column: self._count())
        self.buttons = QDialogButtonBox(self)
        self.take = self.buttons.addButton("Import", QDialogButtonBox.ButtonRole.AcceptRole)
        self.take.setProperty("kind", "primary")
        self.take.style().polish(self.take)
        standard = QDialogButtonBox.StandardButton
        self.buttons.addButton(standard.Cancel if found else standard.Close)
        self.take.setVisible(bool(found))
        self.buttons.accepted.connect(self._accept)
        self.buttons.rejected.connect(self.reject)
        for widget in (self.filter, self.list):
            layout.addWidget(widget)
            widget.setVisible(bool(found))
        layout.addWidget(self.buttons)
        self.summary.setText(
            f"{len(found):,} sessions found. Choose what to import; the files stay where they are."
            if found
            else "No session was found in the usual places of pi (~/.pi) and oh-my-pi (~/.omp). "
            "Files elsewhere can be imported by name or dropped on the window."
        )
        fit(self, 780, 460 if found else 140)
        self._count()

    def _items(self) -> list[QTreeWidgetItem]:
        found = (self.list.topLevelItem(row) for row in range(self.list.topLevelItemCount()))
        return [item for item in found if item is not None]

    def _chosen(self) -> list[str]:
        return [
            item.data(0, Qt.ItemDataRole.UserRole)
            for item in self._items()
            if item.checkState(0) == Qt.CheckState.Checked and not item.isHidden()
        ]

    def _count(self) -> None:
        number = len(self._chosen())
        self.take.setText(f"Import {number:,}" if number else "Import")
        self.take.setEnabled(number > 0)

    def _filter(self, words: str) -> None:
        for item in self._items():
            text = f"{item.text(0)} {item.text(4)}".casefold()
            item.setHidden(not all(word in text for word in words.casefold().split()))
        self._count()

    def _accept(self) -> None:
        self.import_chosen.emit(self._chosen())
        self.accept()


def _item(session: FoundSession) -> QTreeWidgetItem:
    moment = datetime.fromtimestamp(session.modified_ms / 1000).strftime("%Y-%m-%d %H:%M")
    item = QTreeWidgetItem(
        [session.cwd, moment, f"{session.size / 1024:,.0f} KB", session.format, str(session.path)]
    )
    item.setTextAlignment(2, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    item.setData(0, Qt.ItemDataRole.UserRole, str(session.path))
    item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
    item.setCheckState(0, Qt.CheckState.Unchecked)
    return item
