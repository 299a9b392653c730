"""What pruning would do, shown before it is done: how much, what first and why.

Nothing is stored before the button is pressed. Escape changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace
from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from explorer.compaction.profile.rules import Pruning
from explorer.compaction.pruning import PlannedResult, PruningPlan
from explorer.session.records import Previews
from explorer.session.tree import SessionTree
from ui import theme
from ui.theme.verdicts import PRUNED
from ui.widgets.choice import NumberBox
from ui.widgets.dialogs import fit
from ui.widgets.entry_table import EntryCells, EntryModel, EntryTableView
from ui.widgets.figures import count, full
from ui.widgets.panels import EmptyState, OnePage, push_button
from ui.widgets.table import RIGHT, Column

MOST_TOKENS = 10_000_000
_STEP = 1_000
_WHY_FROM = 620
"""Width of the table from which it has room for the reasons."""


class PruneModel(EntryModel[PlannedResult]):
    """The results of a plan in the order in which they go."""

    def __init__(self, tree: SessionTree, read: Previews, parent: QWidget) -> None:
        super().__init__(
            "What goes, the first first",
            (
                Column("Why", lambda one: one.reason, width=320, shown_from=_WHY_FROM),
                Column("Tokens", lambda one: full(one.tokens), RIGHT, lambda one: one.tokens),
                Column("Saved", lambda one: full(one.saved), RIGHT, lambda one: one.saved),
            ),
            EntryCells(
                lambda one: one.entry,
                self._description,
                verdict=lambda _one: PRUNED,
                lead=lambda one: f"{one.tool} " if one.tool else "",
            ),
            parent,
        )
        self.use_session(tree, read)

    def _description(self, one: PlannedResult, line: str) -> str:
        assert self.tree is not None
        columns = self.tree.columns
        name = theme.role_name(columns.kind[one.entry], columns.flags[one.entry])
        return (
            f"#{one.entry}, {name} of {one.tool or 'a tool'}: {line}\n"
            f"{one.reason} {full(one.tokens)} tokens, {full(one.saved)} saved by “{one.note}”."
        )


class PruneDialog(QDialog):
    """The plan, with the two limits that decide it."""

    prune_chosen = Signal(object)
    """The plan as it is shown."""
    entry_requested = Signal(int)
    """Show this entry on the map."""

    def __init__(
        self,
        tree: SessionTree,
        previews_of: Previews,
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
        self.listed = OnePage(self)
        self.table = EntryTableView(self.model, "Tool results that would be pruned", self.listed)
        self.table.entry_chosen.connect(self.entry_requested)
        self.nothing = EmptyState(
            "prune", "Nothing goes yet", "With lower limits, what would go is listed here.",
            parent=self.listed,
        )  # fmt: skip
        for page in (self.table, self.nothing):
            self.listed.add(page)
        layout.addWidget(self.listed, 1)
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

    def _box(self, value: int, name: str) -> NumberBox:
        box = NumberBox(0, MOST_TOKENS, self)
        box.setSingleStep(_STEP)
        box.setSuffix(" tokens")
        box.setValue(value)
        box.setAccessibleName(name)
        box.valueChanged.connect(self._changed)
        return box

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addStretch(1)
        self.cancel = push_button("Cancel", self)
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
            sentence = (
                f"{plan.reason} The context takes {full(size)} tokens now ({source}). The session "
                "keeps every result whole, and undo takes this back."
            )
        else:
            self.outcome.setText("Nothing would be pruned.")
            sentence = plan.reason
        self.facts.setText(" ".join(filter(None, (sentence, self._lent))))
        self.model.show(plan.results)
        self.listed.show_page(0 if can else 1)
        self.go.setEnabled(can)
        self.cancel.setText("Cancel" if can else "Close")

    def _go(self) -> None:
        self.prune_chosen.emit(self.plan)
        self.accept()
