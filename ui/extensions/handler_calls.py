"""What extensions did to a draft: a line when it is folded, every call when it is not."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from explorer.extensions.records import TITLES, HookRecord
from ui.theme import S8, S16, set_tone
from ui.widgets.figures import count
from ui.widgets.labels import Caption
from ui.widgets.panels import CollapsibleSection, column_in

MOST_ROWS = 40
"""Calls that are shown one by one at most."""


def summary_of(records: Sequence[HookRecord]) -> str:
    """All of it in a line, what matters first."""
    failed = [r for r in records if r.failed]
    acted = [r for r in records if not r.failed and r.did != "nothing" and r.used]
    parts = []
    for number, word in ((len(failed), "failed"), (len(acted), "acted")):
        if number:
            parts.append(f"{number} {word}")
    if not parts:
        return f"Extensions: {count(len(records), 'call')}, nothing done"
    return f"Extensions: {count(len(records), 'call')}, {', '.join(parts)}"


class HandlerCallsView(QWidget):
    """Shows nothing where no extension was asked; opens by itself when one failed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows = QWidget(self)
        self._grid = QGridLayout(self._rows)
        self._grid.setContentsMargins(S16, 0, 0, 0)
        self._grid.setHorizontalSpacing(S8)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(1, 1)
        self.section = CollapsibleSection("Extensions", self._rows, parent=self)
        column = column_in(self)
        column.addWidget(self.section)
        self._shown: tuple[HookRecord, ...] | None = None
        self.show_records(())

    def show_records(self, records: Sequence[HookRecord]) -> None:
        """Show these calls, in the order in which they were made."""
        if self._shown == tuple(records):
            return
        self._shown = tuple(records)
        self.setVisible(bool(records))
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        self.section.set_title(summary_of(records))
        for row, record in enumerate(records[:MOST_ROWS]):
            self._add(row, record)
        if len(records) > MOST_ROWS:
            more = Caption(f"and {count(len(records) - MOST_ROWS, 'more call')}", self._rows)
            self._grid.addWidget(more, MOST_ROWS, 0, 1, 3)
        self.section.set_expanded(any(record.failed for record in records))

    def lines(self) -> list[str]:
        """The rows as they are read out."""
        return [line_of(record) for record in self._shown or ()]

    def _add(self, row: int, record: HookRecord) -> None:
        tone = "lost" if record.failed else "dim"
        name = Caption(record.extension, self._rows)
        caption = Caption(
            f"{TITLES.get(record.event, record.event)}: {record.sentence}", self._rows, wraps=True
        )
        caption.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        taken = Caption(f"{record.elapsed_ms:,.0f} ms", self._rows)
        for at, label in enumerate((name, caption, taken)):
            set_tone(label, tone)
            label.setAccessibleName(line_of(record) if at == 0 else label.text())
            self._grid.addWidget(label, row, at, Qt.AlignmentFlag.AlignTop)


def line_of(record: HookRecord) -> str:
    """A call in one line, for tool tips and readers."""
    when = TITLES.get(record.event, record.event)
    return f"{record.extension}, {when}: {record.sentence} ({record.elapsed_ms:,.0f} ms)"
