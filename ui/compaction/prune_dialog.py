"""What pruning would do, shown before it is done: how much, what first and why.

Nothing is stored before the button is pressed. Escape changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from explorer.compaction.profile.rules import Pruning
from explorer.compaction.pruning import PruningPlan
from explorer.session.tree import SessionTree
from ui import theme
from ui.compaction.prune_model import Column, PruneModel
from ui.widgets.dialogs import fit
from ui.widgets.entry_table import EntryTable
from ui.widgets.figures import count, full

MOST_TOKENS = 10_000_000
_STEP = 1_000
_WHY_FROM = 620
"""Width of the table from which it has room for the reasons."""


class PruneDialog(QDialog):
    """The plan, with the two limits that decide it."""

    prune_chosen = Signal(object)
    """The plan as it is shown."""
    entry_requested = Signal(int)
    """Show this entry on the map."""

    def __init__(
        self,
        tree: SessionTree,
        previews_of: Callable[[Sequence[int]], list[str]],
        plan_of: Callable[[Pruning], PruningPlan],
        policy: Pruning,
        lent: str,
        size: tuple[int, str],
        parent: QWidget,
    ) -> None:
        """``lent``: why these are the rules, or empty. ``size``: of the context, and who
        counted."""
        super().__init__(parent)
        self.setWindowTitle("Prune tool output")
        self._plan_of, self._policy, self._size, self._lent = plan_of, policy, size, lent
        self.plan = plan_of(policy)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.S24, theme.S24, theme.S24, theme.S16)
        layout.setSpacing(theme.S12)
        self.outcome = QLabel(self)
        self.outcome.setFont(theme.ui_font(1, bold=True))
        self.outcome.setWordWrap(True)
        self.facts = QLabel(self)
        self.facts.setWordWrap(True)
        theme.set_tone(self.facts, "dim")
        layout.addWidget(self.outcome)
        layout.addWidget(self.facts)
        layout.addLayout(self._limits())
        self.model = PruneModel(tree, previews_of, self)
        self.table = EntryTable(
            Column.RESULT,
            (Column.TOKENS, Column.SAVED),
            {Column.WHY: _WHY_FROM},
            self,
        )
        self.table.setModel(self.model)
        self.table.setAccessibleName("Tool results that would be pruned")
        self.table.restyle()
        self.table.horizontalHeader().resizeSection(Column.WHY, theme.scaled(320))
        self.table.entry_chosen.connect(self.entry_requested)
        layout.addWidget(self.table, 1)
        layout.addLayout(self._buttons())
        self._show()
        fit(self, 820, 560)

    def _limits(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.S12)
        self.protect = self._box(self._policy.protect_tokens, "Protected tool output in tokens")
        self.minimum = self._box(self._policy.minimum_savings, "Least saving in tokens")
        for row, (words, box) in enumerate(
            (("&Keep the newest tool output", self.protect), ("&Save at least", self.minimum))
        ):
            label = QLabel(words, self)
            label.setBuddy(box)
            grid.addWidget(label, row, 0)
            grid.addWidget(box, row, 1)
        grid.setColumnStretch(2, 1)
        return grid

    def _box(self, value: int, name: str) -> QSpinBox:
        box = QSpinBox(self)
        box.setRange(0, MOST_TOKENS)
        box.setSingleStep(_STEP)
        box.setGroupSeparatorShown(True)
        box.setSuffix(" tokens")
        box.setValue(value)
        box.setAccessibleName(name)
        box.valueChanged.connect(self._changed)
        return box

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addStretch(1)
        self.cancel = QPushButton("Cancel", self)
        self.cancel.setAutoDefault(False)
        self.cancel.clicked.connect(self.reject)
        self.go = QPushButton("Prune", self)
        self.go.setDefault(True)
        self.go.setProperty("kind", "primary")
        self.go.clicked.connect(self._go)
        row.addWidget(self.cancel)
        row.addWidget(self.go)
        return row

    def _changed(self) -> None:
        policy = replace(
            self._policy,
            protect_tokens=self.protect.value(),
            minimum_savings=self.minimum.value(),
        )
        self.plan = self._plan_of(policy)
        self._show()

    def _show(self) -> None:
        plan, (size, source) = self.plan, self._size
        can = bool(plan.results)
        if can:
            what = count(len(plan.results), "tool result")
            gives = "gives way to a note" if len(plan.results) == 1 else "give way to notes"
            self.outcome.setText(f"{what} {gives}: {full(plan.saved)} tokens are saved.")
            said = (
                f"{plan.reason} The context takes {full(size)} tokens now ({source}). The session "
                "keeps every result whole, and undo takes this back."
            )
        else:
            self.outcome.setText("Nothing would be pruned.")
            said = plan.reason
        self.facts.setText(" ".join(filter(None, (said, self._lent))))
        self.model.show_plan(plan)
        self.table.setVisible(can)
        self.go.setEnabled(can)
        self.cancel.setText("Cancel" if can else "Close")

    def _go(self) -> None:
        self.prune_chosen.emit(self.plan)
        self.accept()
