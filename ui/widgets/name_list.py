"""The list of a two-pane dialog: names under headings, one of which is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QFrame, QWidget

from ui.theme import S8, small_font, ui_font
from ui.widgets.table import Column, Table, TableModel


class NameRow(NamedTuple):
    """A name that can be chosen, or a heading over several."""

    name: str
    """Empty for a heading."""
    text: str
    spoken: str = ""
    """For screen readers; empty: the text."""
    tip: str = ""
    is_marked: bool = False
    """Whether it stands out in bold."""

    def font(self) -> QFont | None:
        """Small and bold for a heading, bold for a marked name, else the table's."""
        if not self.name:
            return small_font(bold=True)
        return ui_font(bold=True) if self.is_marked else None


def name_column() -> Column[NameRow]:
    """The column of a table of names."""
    return Column(
        "",
        lambda row: row.text,
        stretch=True,
        detail=lambda row: row.tip or None,
        spoken=lambda row: row.spoken or row.text,
        font=NameRow.font,
    )


def is_name(row: NameRow) -> bool:
    """Whether a row can be chosen."""
    return bool(row.name)


class NameList(Table):
    """One column without a heading; the keys step over the headings between names."""

    chosen = Signal(str)
    """The name that is chosen now."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        """``name``: of the list, for screen readers."""
        super().__init__(TableModel((name_column(),), is_choosable=is_name), name, parent)
        self.horizontalHeader().hide()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("surface", "panel")
        self.current_changed.connect(
            lambda row: self.chosen.emit(row.name) if row is not None else None
        )
        self.restyle()

    def row_height(self) -> int:
        """Pixels of a row; such lists are long, and have no second column to follow."""
        return self.fontMetrics().height() + S8

    def restyle(self) -> None:
        """A heading stands apart from the names of another one."""
        super().restyle()
        for at, row in enumerate(self.rows.rows):
            if not row.name:
                self.setRowHeight(at, self.row_height() + S8)

    @property
    def name(self) -> str:
        """The name that is chosen; empty for none."""
        return self.current.name if self.current is not None else ""

    def show_names(self, rows: Sequence[NameRow]) -> None:
        """Show other rows; where they have the same names as before, the chosen one stays."""
        before = [row.name for row in self.rows.rows]
        self.rows.show(rows, same=[row.name for row in rows] == before)
        self.restyle()

    def select(self, name: str) -> None:
        """Choose a name, if it is in the list."""
        names = [row.name for row in self.rows.rows]
        if name in names:
            self.setCurrentIndex(self.rows.index(names.index(name), 0))
