"""From each compaction of the path to the next: what was added, dropped and changed."""

from __future__ import annotations

from collections import Counter

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLabel,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from explorer.audit.drift import Drift, Step
from explorer.facts import FactKind
from ui.audit.fidelity.charts import GenerationChart, Point
from ui.audit.fidelity.words import ONE_KIND, kind_title, percent
from ui.theme import S4, S8, S16
from ui.widgets.figures import count
from ui.widgets.labels import Caption

MOST_ATOMS = 200
"""Facts of a step that are listed at most for each kind."""
_STEP = int(Qt.ItemDataRole.UserRole)
_KIND = _STEP + 1


def step_words(step: Step) -> str:
    """A step in a line."""
    changes = Counter(each.change for each in step.sections)
    names = ("added", "dropped", "changed")
    sections = [f"{changes[name]} {name}" for name in names if changes[name]]
    told = f"sections: {', '.join(sections)}; " if sections else "no section changed; "
    return f"{told}{len(step.added):,} things added, {len(step.dropped):,} dropped"


class DriftView(QWidget):
    """A chart of what the first summary's things come to, and a tree of the steps."""

    step_requested = Signal(int)
    """The number of a step whose two summaries are to stand side by side."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.drift: Drift | None = None
        title = QLabel("Of the things in the first summary, each later one still has", self)
        title.setWordWrap(True)
        self.chart = GenerationChart("What is left of the first summary", self)
        self.tree = QTreeWidget(self)
        self.tree.setAccessibleName("From each summary to the next")
        self.tree.setColumnCount(2)
        self.tree.setHeaderLabels(["From one to the next", "What changed"])
        self.tree.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.tree.itemExpanded.connect(self._fill)
        self.tree.itemActivated.connect(lambda item, _column: self._activated(item))
        self.note = Caption("", self)
        self.note.setWordWrap(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(S16, S8, S16, S8)
        column.setSpacing(S4)
        column.addWidget(title)
        column.addWidget(self.chart)
        column.addWidget(self.note)
        column.addWidget(self.tree, 1)
        column.addSpacing(S8)

    def show_drift(self, drift: Drift) -> None:
        """Show the summaries of a path."""
        self.drift = drift
        self.chart.show_points(
            [
                Point(
                    one.name.rpartition(" ")[2],
                    share,
                    1,
                    f"{one.name}: {percent(share)} of the first summary's things.",
                )
                for one, share in zip(drift.summaries, drift.from_first, strict=True)
            ]
        )
        self.note.setText(
            "Return on a step puts its two summaries side by side."
            if drift.steps
            else "There are fewer than two compactions on this path: nothing can drift yet."
        )
        self.tree.clear()
        for number, step in enumerate(drift.steps):
            item = QTreeWidgetItem([f"{step.earlier.name} → {step.later.name}", step_words(step)])
            item.setData(0, _STEP, number)
            item.setToolTip(1, step_words(step))
            item.setChildIndicatorPolicy(QTreeWidgetItem.ChildIndicatorPolicy.ShowIndicator)
            self.tree.addTopLevelItem(item)
            item.setExpanded(len(drift.steps) == 1)
        if (first := self.tree.topLevelItem(0)) is not None:
            self.tree.setCurrentItem(first)

    def _fill(self, item: QTreeWidgetItem) -> None:
        """A step's parts are made when it is opened, a kind's things when that is: there may be
        thousands."""
        number, drift = item.data(0, _STEP), self.drift
        if item.childCount() or drift is None:
            return
        if isinstance(number, int):
            self._sections(item, drift.steps[number])
            self._kinds(item, drift.steps[number])
        elif (parent := item.parent()) is not None and item.data(0, _KIND) is not None:
            self._atoms(item, drift.steps[parent.data(0, _STEP)], FactKind(item.data(0, _KIND)))

    @staticmethod
    def _sections(item: QTreeWidgetItem, step: Step) -> None:
        for each in step.sections:
            if each.change != "same":
                item.addChild(QTreeWidgetItem([each.row.title, f"section {each.change}"]))

    @staticmethod
    def _kinds(item: QTreeWidgetItem, step: Step) -> None:
        for kind in FactKind:
            added, dropped = step.count(kind)
            if not added and not dropped:
                continue
            part = QTreeWidgetItem([kind_title(kind), f"+ {added:,}, − {dropped:,}"])
            part.setData(0, _KIND, kind.value)
            part.setChildIndicatorPolicy(QTreeWidgetItem.ChildIndicatorPolicy.ShowIndicator)
            item.addChild(part)

    @staticmethod
    def _atoms(item: QTreeWidgetItem, step: Step, kind: FactKind) -> None:
        for sign, what, atoms in (("+", "added", step.added), ("−", "dropped", step.dropped)):
            found = [atom for atom in atoms if atom.kind is kind]
            for atom in found[:MOST_ATOMS]:
                text = " ".join(atom.text[:200].split())
                item.addChild(QTreeWidgetItem([f"{sign} {ONE_KIND[kind]} {what}", text]))
            if len(found) > MOST_ATOMS:
                more = count(len(found) - MOST_ATOMS, "more", "more")
                item.addChild(QTreeWidgetItem([sign, more]))

    def _activated(self, item: QTreeWidgetItem) -> None:
        number = item.data(0, _STEP)
        if isinstance(number, int):
            self.step_requested.emit(number)

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        item = self.tree.currentItem()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and item is not None:
            self._activated(item)
            return
        super().keyPressEvent(event)
