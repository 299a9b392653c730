"""The page on which two sizes are swept over a grid, and taken for the session."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from msgspec.structs import replace
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QWidget,
)

from explorer.audit.simulation import Policy, WalkStopped
from explorer.audit.simulation.walk import Sweep, SweepCell
from ui.audit.what_if.heat_map import FIGURES, HeatMap
from ui.theme import S8, S12, S16, set_tone
from ui.widgets.choice import ChoiceBox
from ui.widgets.figures import full
from ui.widgets.flow import wrapping_row
from ui.widgets.labels import Caption
from ui.widgets.loader import Loader
from ui.widgets.panels import column_in, labelled, push_button
from ui.widgets.progress import ProgressBar

BREATH_S = 0.002
"""Between two cells: the window's thread gets its turn."""

Progress = Callable[[int, int], None]
MakeSweep = Callable[[Policy, Progress, Callable[[], bool]], Sweep]
"""Sweeps; for a worker thread. Raises Stopped."""


class _Signals(QObject):
    moved = Signal(int, int)


class SweepPage(QWidget):
    """A profile, a figure, and the map of two sizes."""

    use_asked = Signal(object)
    """A ``Policy`` to take for the session."""
    undo_asked = Signal()

    def __init__(self, make: MakeSweep, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._make = make
        self._policies: list[Policy] = []
        self._in_force: Policy | None = None
        self._cell: SweepCell | None = None
        self._stop = threading.Event()
        self.sweep: Sweep | None = None
        self._signals = _Signals(self)
        self._signals.moved.connect(self._moved)
        self._loader = Loader(self)
        self._loader.loaded.connect(self._loaded)
        self._loader.failed.connect(self._failed)
        self._make_head()
        self._make_foot()
        self._lay_out()
        self._busy(False)

    def _make_head(self) -> None:
        self.profile = ChoiceBox(self)
        self.profile.setAccessibleName("Profile to sweep the sizes of")
        self.figure = ChoiceBox(self)
        self.figure.setAccessibleName("Figure in the cells")
        for one in FIGURES:
            self.figure.addItem(one.title, one.key)
        self.figure.activated.connect(lambda _row: self._show_figure())
        self.start = push_button(
            "S&weep", self, "Walk the session with every pair of sizes; no model is asked"
        )
        self.start.clicked.connect(self._start)
        self.stop = push_button("S&top", self)
        self.stop.clicked.connect(self.cancel)
        self.progress = ProgressBar(self)
        self.progress.setAccessibleName("Cells walked")
        self.heat = HeatMap(self)
        self.heat.described.connect(self._tell)
        self.heat.chosen.connect(self._chose)
        self.heat.use_asked.connect(lambda _cell: self._ask())
        self.key = Caption("", self, wraps=True)
        self.words = QLabel(self)
        self.words.setWordWrap(True)
        self.words.setTextFormat(Qt.TextFormat.PlainText)

    def _make_foot(self) -> None:
        self.use = push_button("&Use these sizes…", self)
        self.use.clicked.connect(self._ask)
        self.question = QLabel(self)
        self.question.setWordWrap(True)
        self.yes, self.no = QPushButton("&Use them", self), QPushButton("&Leave it", self)
        self.undo = QPushButton("&Undo", self)
        for button in (self.yes, self.no, self.undo):
            button.setAutoDefault(False)
        self.yes.clicked.connect(self._use)
        self.no.clicked.connect(lambda: self._show_question("", asks=False))
        self.undo.clicked.connect(self._undo)

    def _lay_out(self) -> None:
        head = QWidget(self)
        profile, figure = (labelled("&Profile", self.profile, head),
                           labelled("Fi&gure", self.figure, head))  # fmt: skip
        head.setLayout(wrapping_row(profile, figure, self.start, self.stop))
        foot = QHBoxLayout()
        foot.setSpacing(S8)
        foot.addWidget(self.use)
        foot.addWidget(self.question, 1)
        for button in (self.yes, self.no, self.undo):
            foot.addWidget(button)
        column = column_in(self, S8, (S16, S12, S16, S12))
        column.addWidget(head)
        column.addWidget(self.progress)
        column.addWidget(self.heat, 1)
        column.addWidget(self.key)
        column.addWidget(self.words)
        # Without the map the words stand at the top.
        column.addStretch(0)
        column.addLayout(foot)
        self._show_question("", asks=False)

    # what is shown -----------------------------------------------------------------------------

    def show_policies(self, policies: Sequence[Policy], in_force: Policy) -> None:
        """The profiles to choose among, each with its sizes; the one in force is
        marked on its map."""
        self._policies, self._in_force = list(policies), in_force
        chosen = self.profile.currentData() or in_force.profile.name
        self.profile.clear()
        for policy in policies:
            self.profile.addItem(policy.profile.title, policy.profile.name)
        self.profile.setCurrentIndex(max(0, self.profile.findData(chosen)))
        self._mark_in_force()

    def forget(self) -> None:
        """Forget the results of another session."""
        self.cancel()
        self.sweep = None
        self._cell = None
        self.heat.setVisible(False)
        self._show_question("", asks=False)
        self.use.setEnabled(False)
        self.key.setText("")
        self.words.setText(INTRODUCTION)

    def _policy(self) -> Policy | None:
        name = self.profile.currentData()
        return next((one for one in self._policies if one.profile.name == name), None)

    def _mark_in_force(self) -> None:
        in_force, sweep = self._in_force, self.sweep
        if in_force is None or sweep is None or sweep.policy.profile.name != in_force.profile.name:
            self.heat.show_in_force(-1, -1)
            return
        settings = in_force.settings
        self.heat.show_in_force(settings.keep_recent_tokens, settings.reserve_tokens)

    # sweeping ----------------------------------------------------------------------------------

    def _start(self) -> None:
        policy = self._policy()
        if policy is None:
            return
        self._stop.set()
        stop = self._stop = threading.Event()
        signals, make = self._signals, self._make

        def progress(done: int, total: int) -> None:
            signals.moved.emit(done, total)
            time.sleep(BREATH_S)

        self._busy(True)
        self.words.setText(f"Walking the session under {policy.profile.title}…")

        def work() -> Sweep | None:
            try:
                return make(policy, progress, stop.is_set)
            except WalkStopped:
                return None

        self._loader.load(work)

    def cancel(self) -> None:
        """Give up a sweep that is under way."""
        self._stop.set()
        self._loader.forget()
        if self.stop.isVisibleTo(self):
            self._busy(False)
            self.words.setText("Stopped; nothing was changed.")

    def _busy(self, busy: bool) -> None:
        self.start.setVisible(not busy)
        self.stop.setVisible(busy)
        self.progress.setVisible(busy)
        self.progress.setRange(0, 0)

    def _moved(self, done: int, total: int) -> None:
        self.progress.setRange(0, total)
        self.progress.setValue(done)

    def _failed(self, message: str) -> None:
        self._busy(False)
        self.words.setText(f"{message} Nothing was changed.")

    def _loaded(self, sweep: Sweep | None) -> None:
        if sweep is None:
            return
        self._busy(False)
        self.sweep = sweep
        self.heat.setVisible(True)
        self.use.setEnabled(True)
        sizes = sweep.policy.settings
        priced = any(cell.cost is not None for cell in sweep.cells)
        at = self.figure.findData("cost")
        if not priced and self.figure.currentIndex() == at:
            self.figure.setCurrentIndex(0)
        model = self.figure.model()
        model.item(at).setEnabled(priced)  # type: ignore[attr-defined]
        self.heat.show_sweep(sweep, sizes.keep_recent_tokens, sizes.reserve_tokens)
        self._mark_in_force()
        self._show_figure()
        self.heat.setFocus()

    def _show_figure(self) -> None:
        figure = next(one for one in FIGURES if one.key == self.figure.currentData())
        self.heat.show_figure(figure)
        if self.sweep is None:
            return
        low = min(self.sweep.cells, key=figure.value)
        high = max(self.sweep.cells, key=figure.value)
        facts = [
            f"Faint: {figure.less}, {figure.text(low)}. "
            f"Strong: {figure.more}, {figure.text(high)}.",
            "Dashed frame: the sizes in force." if self._is_swept() else "",
            "Red stroke: some requests do not fit the window."
            if any(cell.too_large for cell in self.sweep.cells)
            else "",
        ]
        if not self.sweep.keep_matters:
            facts.append("This profile keeps rounds, not tokens: its columns are alike.")
        if not self.sweep.reserve_matters:
            facts.append("It does not go by the reserve: its rows are all but alike.")
        self.key.setText(" ".join(part for part in facts if part))

    def _is_swept(self) -> bool:
        in_force, sweep = self._in_force, self.sweep
        return bool(in_force and sweep and sweep.policy.profile.name == in_force.profile.name)

    # taking the sizes --------------------------------------------------------------------------

    def _tell(self, words: str) -> None:
        self.words.setText(words)

    def _chose(self, cell: SweepCell) -> None:
        self._cell = cell
        if self.yes.isVisibleTo(self):
            self._show_question("", asks=False)

    def _ask(self) -> None:
        cell, sweep = self._cell, self.sweep
        if cell is None or sweep is None:
            return
        self._show_question(
            f"From now on this session keeps {full(cell.keep)} and reserves {full(cell.reserve)} "
            f"tokens, by the rules of {sweep.policy.profile.title}?",
            asks=True,
        )
        self.yes.setFocus()

    def _use(self) -> None:
        cell, sweep = self._cell, self.sweep
        if cell is None or sweep is None:
            return
        self.use_asked.emit(policy_with(sweep.policy, cell))
        words = f"The session keeps {full(cell.keep)} and reserves {full(cell.reserve)} tokens now."
        self._show_question(words, asks=False, undo=True)
        self.undo.setFocus()

    def _undo(self) -> None:
        self.undo_asked.emit()
        self._show_question("The rules are what they were.", asks=False)
        self.heat.setFocus()

    def _show_question(self, words: str, *, asks: bool, undo: bool = False) -> None:
        self.question.setText(words)
        set_tone(self.question, "" if asks else "dim")
        self.use.setVisible(not asks)
        self.yes.setVisible(asks)
        self.no.setVisible(asks)
        self.undo.setVisible(undo)


INTRODUCTION = (
    "Every pair of keep-recent and reserve is tried on this session: how often it would be "
    "compacted, how much is sent, how large the context gets. No model is asked."
)


def policy_with(policy: Policy, cell: SweepCell) -> Policy:
    """The policy with the sizes of a cell."""
    sizes = replace(policy.settings, keep_recent_tokens=cell.keep, reserve_tokens=cell.reserve)
    return replace(policy, settings=sizes)
