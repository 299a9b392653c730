"""Several models answering the same message, in columns beside each other."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from explorer.work.parallel_runs import ParallelRuns
from ui import theme
from ui.branching.run_column import RunColumn
from ui.widgets.dialogs import fit
from ui.widgets.labels import Caption, ElidedLabel, Hairline
from ui.widgets.panels import row


class RunsWindow(QDialog):
    """Does not block the window. Closed, the models go on, and it can be shown again."""

    go_requested = Signal(int)
    """The last entry of the branch to go on with."""
    compare_requested = Signal(int, int)

    def __init__(self, runs: ParallelRuns, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.runs = runs
        self.setModal(False)
        self.setWindowTitle("Side by side")
        self.title = ElidedLabel(runs.prompt.text or "Pictures", self)
        theme.bind_font(self.title, lambda: theme.ui_font(1, bold=True))
        start = f"#{runs.start}" if runs.start >= 0 else "the start"
        self.facts = Caption("", self)
        self._start = start
        self.columns = [RunColumn(at, run, self) for at, run in enumerate(runs.runs, 1)]
        beside = QHBoxLayout()
        beside.setContentsMargins(0, 0, 0, 0)
        beside.setSpacing(0)
        for number, column in enumerate(self.columns):
            if number:
                beside.addWidget(Hairline(vertical=True, parent=self))
            beside.addWidget(column, 1)
            column.stop_pressed.connect(lambda at=number: runs.stop(at))
            column.go_pressed.connect(lambda at=number: self.go_requested.emit(runs.runs[at].leaf))
        self.stop_all = QPushButton("&Stop all", self)
        self.stop_all.setAutoDefault(False)
        self.stop_all.clicked.connect(lambda: runs.stop())
        self.compare = QPushButton("C&ompare", self)
        self.compare.setAutoDefault(False)
        self.compare.setToolTip("The first two that have an answer, in every detail")
        self.compare.clicked.connect(self._compare)
        self.close_button = QPushButton("C&lose", self)
        self.close_button.setAutoDefault(False)
        self.close_button.clicked.connect(self.close)
        self._lay_out(beside)
        self.show_state()
        fit(self, 480 * len(self.columns), 620)

    def _lay_out(self, beside: QHBoxLayout) -> None:
        head = QVBoxLayout()
        head.setContentsMargins(theme.S16, theme.S12, theme.S16, theme.S12)
        head.setSpacing(theme.S4)
        head.addWidget(self.title)
        head.addWidget(self.facts)
        foot = row(self.stop_all, self.compare, 1, self.close_button)
        foot.setContentsMargins(theme.S16, theme.S8, theme.S16, theme.S12)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(Hairline(parent=self))
        layout.addLayout(beside, 1)
        layout.addWidget(Hairline(parent=self))
        layout.addLayout(foot)
        self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint, True)

    @property
    def is_over(self) -> bool:
        return all(run.is_over for run in self.runs.runs)

    def show_state(self) -> None:
        """Some run is farther than before."""
        over = self.is_over
        for number, column in enumerate(self.columns):
            # While others still work nothing else may move the leaf.
            column.show_state(over and self.runs.has_answer(number))
        self.stop_all.setVisible(not over)
        self.compare.setVisible(over)
        self.compare.setEnabled(len(self._answers()) > 1)
        self.facts.setText(
            f"Each is a branch of its own below {self._start}. "
            + (
                "Choose the one to go on with; the others stay as branches."
                if over
                else "They look into the folder and change nothing."
            )
        )

    def _answers(self) -> list[int]:
        return [run.leaf for at, run in enumerate(self.runs.runs) if self.runs.has_answer(at)]

    def _compare(self) -> None:
        one, two, *_ = self._answers()
        self.compare_requested.emit(one, two)
