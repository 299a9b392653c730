"""Atoms that one summary has and another has not, one row each."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from explorer.audit.difference import AtomRow, Difference
from ui.audit.fidelity.words import FATE_TITLES, ONE_KIND
from ui.theme import bind_font, theme, ui_font
from ui.widgets.table import Column, Table, TableModel

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


def atom_columns(found: Difference) -> list[Column[AtomRow]]:
    """Kind, text, then one column per candidate."""

    def candidate(at: int, name: str) -> Column[AtomRow]:
        def colour(row: AtomRow) -> QColor | None:
            return theme().lost if row.survives(at) is False else None

        def words(row: AtomRow) -> str:
            return fate_words(row, at, found.reference)

        return Column(name, words, sort_key=words, width=150, colour=colour)

    return [
        Column("Kind", lambda row: ONE_KIND[row.atom.kind],
               sort_key=lambda row: ONE_KIND[row.atom.kind], width=84),
        Column("What it is", lambda row: " ".join(row.atom.text[:300].split()), stretch=True,
               detail=lambda row: row.atom.text[:2000]),
        *(candidate(at, one.name) for at, one in enumerate(found.candidates)),
    ]  # fmt: skip


class AtomsTable(Table):
    """Return or a double click shows the source on the map."""

    entry_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(TableModel[AtomRow](()), "Things won and lost, the gravest first", parent)
        bind_font(self, lambda: ui_font(-0.5))
        self.row_activated.connect(self._show_source)
        self.restyle()

    def show_difference(self, found: Difference | None) -> None:
        """Show the atoms of another comparison."""
        self.empty_text = nothing_words(found) if found is not None else ""
        columns = [] if found is None else atom_columns(found)
        self.rows.show(() if found is None else found.atoms, columns)
        empty = found is not None and not found.atoms
        self.setAccessibleDescription(self.empty_text if empty else "")
        if self.rows.rowCount():
            self.setCurrentIndex(self.rows.index(0, 1))

    def _show_source(self, row: AtomRow) -> None:
        if row.atom.sources:
            self.entry_requested.emit(row.atom.last)
