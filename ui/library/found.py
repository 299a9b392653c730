"""Sessions of other agents that were found on this computer, to be chosen for import."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QWidget,
)

from explorer.formats import FoundSession
from ui import theme
from ui.widgets.dialogs import fit
from ui.widgets.panels import column_in
from ui.widgets.table import RIGHT, Column, Table, TableModel


class FoundDialog(QDialog):
    """A list with check boxes; nothing is imported unasked."""

    import_chosen = Signal(list)

    def __init__(self, found: Sequence[FoundSession], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Sessions on this computer")
        self._found = found
        layout = column_in(self, margins=(theme.S16, theme.S16, theme.S16, theme.S12))
        self.summary = QLabel(self)
        self.summary.setWordWrap(True)
        layout.addWidget(self.summary)
        self.filter = QLineEdit(self)
        self.filter.setPlaceholderText("Filter by folder or name")
        self.filter.setAccessibleName("Filter")
        self.filter.textChanged.connect(self._filter)
        self.list = Table(TableModel(_columns(found), has_ticks=True), "Sessions found", self)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.rows.row_ticked.connect(self._count)
        self.list.restyle()
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
        self._filter("")

    def _chosen(self) -> list[int]:
        return [at for at in self.list.rows.rows if at in self.list.rows.ticked]

    def _count(self) -> None:
        number = len(self._chosen())
        self.take.setText(f"Import {number:,}" if number else "Import")
        self.take.setEnabled(number > 0)

    def _filter(self, typed: str) -> None:
        words = typed.casefold().split()
        texts = [f"{one.cwd} {one.path}".casefold() for one in self._found]
        found = [at for at, text in enumerate(texts) if all(word in text for word in words)]
        self.list.show_rows(sorted(found, key=lambda at: -self._found[at].modified_ms))
        self._count()

    def _accept(self) -> None:
        self.import_chosen.emit([str(self._found[at].path) for at in self._chosen()])
        self.accept()


def _columns(found: Sequence[FoundSession]) -> list[Column[int]]:
    """Of a table whose rows are the numbers of sessions."""

    def moment(at: int) -> str:
        changed = datetime.fromtimestamp(found[at].modified_ms / 1000)
        return changed.strftime("%Y-%m-%d %H:%M")

    def column(title: str, text: Callable[[int], str], **how: Any) -> Column[int]:
        return Column(title, text, sort_key=text, **how)

    return [
        column("Folder", lambda at: found[at].cwd, width=260),
        column("Changed", moment, fits=True),
        Column("Size", lambda at: f"{found[at].size / 1024:,.0f} KB", RIGHT,
               lambda at: found[at].size, fits=True),
        column("Agent", lambda at: found[at].format, fits=True),
        column("File", lambda at: str(found[at].path), stretch=True),
    ]  # fmt: skip
