"""Two branches of a session side by side, in a window of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QTableWidget,
    QTableWidgetItem,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from explorer.session.branch_difference import BranchDifference, as_markdown
from ui.branching.difference_parts import FiguresGrid, MarkedText
from ui.branching.turns_table import Pair, TurnsTable, table_rows
from ui.inspector.gather import Loader
from ui.theme import S4, S8, S12, S16, bind_font, scaled, set_tone, ui_font
from ui.widgets.choice import Choice
from ui.widgets.dialogs import fit
from ui.widgets.labels import Caption, Hairline
from ui.widgets.panels import row

NARROW = 800
"""Pixels, at a text scale of 100 %."""
BETWEEN = " · "
"""Between the parts of a branch's name, the first of which names it alone."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch that can be chosen: its last entry, and what it is called."""

    leaf: int
    name: str


class DifferenceWindow(QDialog):
    """Does not block the window: Return on a message selects it on the map."""

    entry_requested = Signal(int)
    go_requested = Signal(int)
    """The leaf of the branch to go on with."""
    summaries_requested = Signal(int, int)
    """The leaves of two branches whose branch summaries are to be compared."""

    def __init__(
        self, compare: Callable[[int, int], BranchDifference], parent: QWidget | None = None
    ) -> None:
        """``compare``: compares the branches that end in two entries; for a worker thread."""
        super().__init__(parent)
        self.setWindowTitle("Branches compared")
        self.setModal(False)
        self._compare = compare
        self.found: BranchDifference | None = None
        self._loader = Loader(self)
        self._loader.loaded.connect(self._show)
        self._loader.failed.connect(self._failed)
        self._make_head()
        self._make_pages()
        self._lay_out()
        fit(self, 1040, 720)

    def _make_head(self) -> None:
        self.title = QLabel("Comparing…", self)
        bind_font(self.title, lambda: ui_font(1, bold=True))
        self.facts = QLabel(self)
        self.facts.setWordWrap(True)
        self.facts.setTextFormat(Qt.TextFormat.PlainText)
        set_tone(self.facts, "dim")
        self.left, self.right = self._chooser("Left branch"), self._chooser("Right branch")
        self.go_left, self.go_right = self._goer(self.left, "left"), self._goer(self.right, "right")

    def _chooser(self, name: str) -> Choice:
        choice = Choice(self)
        choice.setAccessibleName(name)
        choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        choice.setMinimumContentsLength(8)
        choice.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        choice.activated.connect(lambda _row: self._ask())
        return choice

    def _goer(self, choice: Choice, side: str) -> QPushButton:
        button = QPushButton("Go on with this", self)
        button.setAutoDefault(False)
        button.setAccessibleName(f"Go on with the {side} branch")
        button.setToolTip("Make its last entry the leaf; the other stays as a branch")
        button.clicked.connect(lambda: self.go_requested.emit(int(choice.currentData())))
        return button

    def _make_pages(self) -> None:
        self.pages = QTabWidget(self)
        self.pages.setDocumentMode(True)
        self.pages.setAccessibleName("Parts of the comparison")
        self.figures = FiguresGrid(self)
        self.left_answer = MarkedText("Final answer of the left branch", self)
        self.right_answer = MarkedText("Final answer of the right branch", self)
        overview = QWidget(self)
        column = QVBoxLayout(overview)
        column.setContentsMargins(0, S8, 0, 0)
        column.setSpacing(S8)
        column.addWidget(self.figures)
        column.addWidget(Hairline(parent=overview))
        answers = QGridLayout()
        answers.setContentsMargins(S16, 0, S16, S8)
        answers.setSpacing(S8)
        words = Caption(
            "Final answers; what the other one does not say is marked and underlined.", overview
        )
        answers.addWidget(words, 0, 0, 1, 2)
        answers.addWidget(self.left_answer, 1, 0)
        answers.addWidget(self.right_answer, 1, 1)
        answers.setRowStretch(1, 1)
        for answer in (self.left_answer, self.right_answer):
            answer.setMinimumHeight(scaled(110))
        column.addLayout(answers, 1)
        area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(overview)
        self.turns = TurnsTable(self)
        self.turns.entry_chosen.connect(self.entry_requested)
        self.files = QTableWidget(0, 3, self)
        self.files.setAccessibleName("Files that both branches touched")
        self.files.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.files.setShowGrid(False)
        self.files.verticalHeader().hide()
        self.files.setTabKeyNavigation(False)
        columns = self.files.horizontalHeader()
        columns.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        columns.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for page, title in (
            (area, "&Overview"), (self.turns, "&Turn by turn"), (self.files, "&Files"),
        ):  # fmt: skip
            self.pages.addTab(page, title)

    def _lay_out(self) -> None:
        head = QVBoxLayout()
        head.setContentsMargins(S16, S12, S16, S8)
        head.setSpacing(S4)
        head.addWidget(self.title)
        head.addWidget(self.facts)
        head.addSpacing(S8)
        chosen = QHBoxLayout()
        chosen.setSpacing(S16)
        self._chosen = [row(self.left, self.go_left), row(self.right, self.go_right)]
        for line in self._chosen:
            chosen.addLayout(line, 1)
        head.addLayout(chosen)
        self.copy = QPushButton("&Copy as Markdown", self)
        self.copy.setAutoDefault(False)
        self.copy.setEnabled(False)
        self.copy.clicked.connect(self._copy)
        swap = QPushButton("S&wap sides", self)
        swap.setAutoDefault(False)
        swap.clicked.connect(self._swap)
        self.summaries = QPushButton("Their su&mmaries…", self)
        self.summaries.setAutoDefault(False)
        self.summaries.setToolTip("The branch summaries that tell of these branches, side by side")
        self.summaries.clicked.connect(
            lambda: self.summaries_requested.emit(
                int(self.left.currentData()), int(self.right.currentData())
            )
        )
        close = QPushButton("C&lose", self)
        close.setAutoDefault(False)
        close.clicked.connect(self.close)
        self.told = Caption("", self)
        foot = row(self.copy, swap, self.summaries, self.told, 1, close)
        foot.setContentsMargins(S16, S8, S16, S12)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.pages, 1)
        column.addWidget(Hairline(parent=self))
        column.addLayout(foot)
        shortcut = QShortcut(QKeySequence("Ctrl+Shift+C"), self)
        shortcut.activated.connect(self._copy)
        self.copy.setToolTip("The whole comparison as Markdown (Ctrl+Shift+C)")

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        """In a narrow window a branch and its button stand below each other."""
        super().resizeEvent(event)
        wide = self.width() >= scaled(NARROW)
        way = QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom
        for line in self._chosen:
            line.setDirection(way)

    # what is shown -------------------------------------------------------------------------------

    def compare(self, branches: Sequence[Branch], left: int, right: int) -> None:
        """Offer branches, and compare two of them by their last entries."""
        for choice, wanted in ((self.left, left), (self.right, right)):
            choice.clear()
            for branch in branches:
                choice.addItem(branch.name, branch.leaf)
            choice.setCurrentIndex(max(0, choice.findData(wanted)))
        self._ask()

    def _ask(self) -> None:
        left, right = int(self.left.currentData()), int(self.right.currentData())
        self.told.setText("")
        self._loader.load(lambda: _prepared(self._compare(left, right)))

    def _swap(self) -> None:
        left, right = self.left.currentIndex(), self.right.currentIndex()
        self.left.setCurrentIndex(right)
        self.right.setCurrentIndex(left)
        self._ask()

    def _failed(self, message: str) -> None:
        self.title.setText("These branches cannot be compared")
        self.facts.setText(f"{message}. The session is as it was; choose others, or try again.")

    def _show(self, prepared: tuple[BranchDifference, Sequence[Pair]]) -> None:
        self.found, rows = prepared
        found = self.found
        left, right = self.left.currentText(), self.right.currentText()
        if found.left.leaf == found.right.leaf:
            self.title.setText("Twice the same branch")
            self.facts.setText("Choose another one on either side.")
        else:
            where = f"below #{found.ancestor}" if found.ancestor >= 0 else "from the first entry on"
            self.title.setText(f"Two branches that part {where}")
            self.facts.setText(
                "What both have up to there is left out. Return on a message shows it on the map."
            )
        self.figures.show_difference(found, left, right)
        self.left_answer.show_pieces(found.left_answer, "This branch has no answer yet.")
        self.right_answer.show_pieces(found.right_answer, "This branch has no answer yet.")
        short = (left.split(BETWEEN)[0], right.split(BETWEEN)[0])
        self.turns.show_rows(rows, *short)
        self._show_files(found, *short)
        self.copy.setEnabled(True)

    def _show_files(self, found: BranchDifference, left: str, right: str) -> None:
        paths = list(dict.fromkeys([*found.left.files, *found.right.files]))
        self.pages.setTabText(2, f"&Files ({len(paths)})")
        self.files.setHorizontalHeaderLabels(["File", left, right])
        self.files.setRowCount(len(paths))
        for line, path in enumerate(paths):
            done = [", ".join(side.files.get(path, ())) for side in (found.left, found.right)]
            for at, text in enumerate((path, *(words or "—" for words in done))):
                self.files.setItem(line, at, QTableWidgetItem(text))

    def _copy(self) -> None:
        if self.found is not None:
            text = as_markdown(self.found, self.left.currentText(), self.right.currentText())
            QGuiApplication.clipboard().setText(text)
            self.told.setText("Copied.")


def _prepared(found: BranchDifference) -> tuple[BranchDifference, Sequence[Pair]]:
    return found, table_rows(found)
