"""The fold that tells how a draft was made: calls, waits, reminders, and what extensions did."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from explorer.extensions.records import records_of
from ui.compaction.made_words import Step, headline, origin, step
from ui.compaction.ports import ShownDraft
from ui.extensions.did import DidView
from ui.theme import S4, S8, S16
from ui.widgets.figures import count
from ui.widgets.labels import Caption
from ui.widgets.panels import CollapsibleSection

MOST_STEPS = 40
"""Calls that are shown one by one at most."""


class MadeView(QWidget):
    """Folded, it is one line; opens by itself where a call's answer was not taken."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._inside = QWidget(self)
        self.origin = Caption(parent=self._inside)
        self.origin.setWordWrap(True)
        self.short = Caption(parent=self._inside)
        self.short.setWordWrap(True)
        self.short.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.did = DidView(self._inside)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(S8)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(0, 1)
        column = QVBoxLayout(self._inside)
        column.setContentsMargins(S16, 0, 0, 0)
        column.setSpacing(S4)
        column.addWidget(self.origin)
        column.addLayout(self._grid)
        column.addWidget(self.short)
        column.addWidget(self.did)
        self.section = CollapsibleSection("How it was made", self._inside, parent=self)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.section)
        self.steps: tuple[Step, ...] = ()
        self._shown: object = None

    def show_draft(self, draft: ShownDraft) -> None:
        """Show what is recorded with a draft; one without a record shows nothing."""
        if draft is self._shown:
            return
        self._shown = draft
        facts, short = draft.facts, draft.short_summary
        records = records_of(facts)
        self.steps = tuple(step(each) for each in draft.attempts)
        self._fill()
        self.origin.setText(origin(facts))
        self.origin.setVisible(bool(self.origin.text()))
        self.short.setText(f"Shown for it in the map: {short}" if short else "")
        self.short.setVisible(bool(short))
        self.did.show_records(records)
        self.section.set_title(headline(draft.attempts, len(records)))
        failed = any(each.problem for each in self.steps) or any(each.failed for each in records)
        self.section.set_expanded(failed)
        self.setVisible(bool(self.steps or records or self.origin.text() or short))

    def _fill(self) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        at = 0
        for each in self.steps[:MOST_STEPS]:
            self._line(at, f"{each.what}, {each.by}", each.took)
            at += 1
            if each.problem:
                self._line(at, each.problem, "", "lost")
                at += 1
        if len(self.steps) > MOST_STEPS:
            self._line(at, f"and {count(len(self.steps) - MOST_STEPS, 'more call')}", "")

    def _line(self, at: int, words: str, took: str, tone: str = "dim") -> None:
        said = Caption(words, self._inside, tone=tone)
        said.setWordWrap(True)
        said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._grid.addWidget(said, at, 0, Qt.AlignmentFlag.AlignTop)
        if took:
            figure = Caption(took, self._inside)
            self._grid.addWidget(
                figure, at, 1, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight
            )
