"""Two branches of the session side by side: their window and its controller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec import Struct
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from explorer.compaction.context_size import entries_size
from explorer.services.document import Document
from explorer.session.branch_difference import (
    FIGURES,
    BranchDifference,
    Side,
    as_markdown,
    compare_branches,
)
from explorer.session.tree import SessionTree
from ui.app_state import (
    AppState,
)
from ui.branching.turns_table import Pair, TurnsTable, table_rows
from ui.map.navigation import (
    NavigationController,
)
from ui.theme import S8, S16, scaled
from ui.widgets.choice import ChoiceBox
from ui.widgets.comparison import (
    ComparisonRow,
    ComparisonWindow,
    FiguresGrid,
)
from ui.widgets.dialogs import fit
from ui.widgets.labels import Caption, Hairline
from ui.widgets.loader import Loader
from ui.widgets.marked import (
    MarkedText,
)
from ui.widgets.panels import column_in, row
from ui.widgets.table import Column, Table, TableModel
from ui.widgets.tabs import Tabs

NARROW = 800
"""Pixels, at a text scale of 100 %."""
BETWEEN = " · "
"""Between the parts of a branch's name, the first of which names it alone."""


class Branch(Struct, frozen=True):
    """A branch that can be chosen: its last entry, and what it is called."""

    leaf: int
    name: str


BARS: dict[str, Callable[[Side], float]] = {
    "Messages": lambda side: side.messages,
    "Context": lambda side: 0 if side.freed else side.tokens,
    "Cost": lambda side: side.spent.whole_cost,
    "Time": lambda side: side.elapsed_ms,
}
"""Figures that are drawn as bars beside each other as well."""


class FileRow(NamedTuple):
    """A file, and what each branch did to it."""

    path: str
    left: str
    right: str


class DifferenceWindow(ComparisonWindow):
    """Does not block the window: Return on a message selects it on the map."""

    go_requested = Signal(int)
    """The leaf of the branch to go on with."""
    summaries_requested = Signal(int, int)
    """The leaves of two branches whose branch summaries are to be compared."""

    def __init__(
        self, compare: Callable[[int, int], BranchDifference], parent: QWidget | None = None
    ) -> None:
        """``compare``: compares the branches that end in two entries; for a worker thread."""
        super().__init__("Branches compared", parent)
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
        self.left, self.right = self._chooser("Left branch"), self._chooser("Right branch")
        self.go_left, self.go_right = self._goer(self.left, "left"), self._goer(self.right, "right")

    def _chooser(self, name: str) -> ChoiceBox:
        choice = ChoiceBox(self)
        choice.setAccessibleName(name)
        choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        choice.setMinimumContentsLength(8)
        choice.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        choice.activated.connect(lambda _row: self._ask())
        return choice

    def _goer(self, choice: ChoiceBox, side: str) -> QPushButton:
        tip = "Make its last entry the leaf; the other stays as a branch"
        button = self.button("Go on with this", tip)
        button.setAccessibleName(f"Go on with the {side} branch")
        button.clicked.connect(lambda: self.go_requested.emit(int(choice.currentData())))
        return button

    def _make_pages(self) -> None:
        self.pages = Tabs(self)
        self.pages.setDocumentMode(True)
        self.pages.setAccessibleName("Parts of the comparison")
        self.figures = FiguresGrid("Figures of both branches", self)
        self.figures.setContentsMargins(S16, S8, S16, S8)
        self.left_answer = MarkedText("Final answer of the left branch", self)
        self.right_answer = MarkedText("Final answer of the right branch", self)
        overview = QWidget(self)
        column = column_in(overview, S8, (0, S8, 0, 0))
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
        self.turns = TurnsTable(self)
        self.turns.entry_chosen.connect(self.entry_requested)
        self.files = Table(TableModel[FileRow](()), "Files that both branches touched", self)
        for page, title in (
            (self.scrolling(overview), "&Overview"), (self.turns, "&Turn by turn"),
            (self.files, "&Files"),
        ):  # fmt: skip
            self.pages.addTab(page, title)

    def _lay_out(self) -> None:
        chosen = QHBoxLayout()
        chosen.setSpacing(S16)
        self._chosen = [row(self.left, self.go_left), row(self.right, self.go_right)]
        for line in self._chosen:
            chosen.addLayout(line, 1)
        self.copy = self.button("&Copy as Markdown", "The whole comparison (Ctrl+Shift+C)")
        self.copy.setEnabled(False)
        self.copy.clicked.connect(self._copy)
        swap = self.button("S&wap sides")
        swap.clicked.connect(self._swap)
        self.summaries = self.button(
            "Their su&mmaries…", "The branch summaries that tell of these branches, side by side"
        )
        self.summaries.clicked.connect(
            lambda: self.summaries_requested.emit(
                int(self.left.currentData()), int(self.right.currentData())
            )
        )
        self.message = Caption("", self)
        foot = row(self.copy, swap, self.summaries, self.message, 1, self.closing_button())
        head = self.head(chosen)
        head.insertSpacing(2, S8)
        self.lay_out(head, self.pages, foot)
        shortcut = QShortcut(QKeySequence("Ctrl+Shift+C"), self)
        shortcut.activated.connect(self._copy)

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
        self.message.setText("")
        self._loader.load(lambda: _prepared(self._compare(left, right)))

    def _swap(self) -> None:
        left, right = self.left.currentIndex(), self.right.currentIndex()
        self.left.setCurrentIndex(right)
        self.right.setCurrentIndex(left)
        self._ask()

    def _failed(self, message: str) -> None:
        self.tell(
            "These branches cannot be compared",
            f"{message}. The session is as it was; choose others, or try again.",
        )

    def _show(self, prepared: tuple[BranchDifference, Sequence[Pair]]) -> None:
        self.found, rows = prepared
        found = self.found
        left, right = self.left.currentText(), self.right.currentText()
        if found.left.leaf == found.right.leaf:
            self.tell("Twice the same branch", "Choose another one on either side.")
        else:
            where = f"below #{found.ancestor}" if found.ancestor >= 0 else "from the first entry on"
            self.tell(
                f"Two branches that part {where}",
                "What both have up to there is left out. Return on a message shows it on the map.",
            )
        self.figures.show_figures((left, right), _figures(found))
        self.left_answer.show_pieces(found.left_answer, _no_answer(found.left))
        self.right_answer.show_pieces(found.right_answer, _no_answer(found.right))
        short = (left.split(BETWEEN)[0], right.split(BETWEEN)[0])
        self.turns.show_pairs(rows, *short)
        self._show_files(found, *short)
        self.copy.setEnabled(True)

    def _show_files(self, found: BranchDifference, left: str, right: str) -> None:
        paths = list(dict.fromkeys([*found.left.files, *found.right.files]))
        self.pages.setTabText(2, f"&Files ({len(paths)})")
        sides = (found.left, found.right)
        rows = [
            FileRow(path, *(", ".join(side.files.get(path, ())) or "—" for side in sides))
            for path in paths
        ]
        columns: list[Column[FileRow]] = [
            Column("File", lambda file: file.path, sort_key=lambda file: file.path, stretch=True),
            Column(left, lambda file: file.left, stretch=True),
            Column(right, lambda file: file.right, stretch=True),
        ]
        self.files.rows.show(rows, columns)

    def _copy(self) -> None:
        if self.found is not None:
            text = as_markdown(self.found, self.left.currentText(), self.right.currentText())
            QGuiApplication.clipboard().setText(text)
            self.message.setText("Copied.")


def _prepared(found: BranchDifference) -> tuple[BranchDifference, Sequence[Pair]]:
    return found, table_rows(found)


def _no_answer(side: Side) -> str:
    """Why a branch has no final answer."""
    if side.freed and side.messages == 1:
        return "Its compaction is all of this branch: the session did not go on after it."
    return "This branch has no answer yet."


def _figures(found: BranchDifference) -> list[ComparisonRow]:
    sides = (found.left, found.right)
    return [
        ComparisonRow(
            title,
            [words(side) for side in sides],
            [BARS[title](side) for side in sides] if title in BARS else (),
        )
        for title, words in FIGURES
    ]


MOST_OFFERED = 60
"""Branches that are offered to choose from, the newest first."""


class DifferenceController(QObject):
    """Owns the window of the comparison."""

    summaries_requested = Signal(int, int)
    """Show the branch summaries of two branches, by the branches' last entries."""

    def __init__(self, state: AppState, navigation: NavigationController) -> None:
        super().__init__(state)
        self._state, self._navigation = state, navigation
        self.window: DifferenceWindow | None = None
        self._measured: Sequence[int] | None = None
        """Tokens of the entries that there were when branches were last offered."""
        state.document_changed.connect(self._other_document)

    def _other_document(self) -> None:
        if self.window is not None:
            self.window.close()
            self.window.deleteLater()
            self.window = None

    def compare_with_active(self, entry: int) -> None:
        """Compare the branch that an entry is on with the active path. On the active path itself
        the branch that was left last stands beside it."""
        document = self._state.document
        if document is None or document.leaf < 0:
            return
        other = branch_of(document.tree, entry, document.leaf)
        if other < 0:
            self._state.say("There is only one branch; nothing can be compared yet.")
            return
        self.compare(document.leaf, other)

    def compare(self, left: int, right: int) -> None:
        """Compare the branches that end in two entries."""
        document = self._state.document
        if document is None:
            return
        self._measured = document.tokens.weights_for(document.tokens.profile)
        if self.window is None:
            tree, payloads, cost = (
                document.tree,
                document.payloads.shown,
                document.usage.listed_cost,
            )

            def size_at(entry: int) -> int:
                return entries_size(tree, entry, self._measured)

            self.window = DifferenceWindow(
                lambda one, other: compare_branches(tree, payloads, one, other, cost, size_at),
                self._state.window,
            )
            self.window.entry_requested.connect(self._state.window.map.select)
            self.window.go_requested.connect(self._navigation.go_to)
            self.window.summaries_requested.connect(self.summaries_requested)
        self.window.compare(branches_of(document, (left, right)), left, right)
        self.window.show()
        self.window.raise_()
        self.window.activateWindow()


def branch_of(tree: SessionTree, entry: int, leaf: int) -> int:
    """The end of the branch that an entry is on, where that is another than the active one; else
    of the one that was added to last; -1 for none."""
    if 0 <= entry < len(tree) and not tree.is_ancestor(entry, leaf):
        return tree.deepest_leaf(entry)
    ends = (end for end in reversed(tree.leaves()) if not tree.is_ancestor(end, leaf))
    return next(ends, -1)


def branches_of(document: Document, always: tuple[int, ...] = ()) -> list[Branch]:
    """The branches to choose from, the active one first, then the newest."""
    tree = document.tree
    ends = [end for end in reversed(tree.leaves()) if end not in always][:MOST_OFFERED]
    listed = list(dict.fromkeys([*always, *ends]))
    labels = tree.labels()
    names = document.payloads.shown.previews(listed)
    found = []
    for end, first in zip(listed, names, strict=True):
        what = labels.get(end) or first
        model = _model(tree, end)
        place = f"#{end}" + (", the leaf" if end == document.leaf else "")
        found.append(Branch(end, BETWEEN.join(part for part in (place, model, what) if part)))
    return found


def _model(tree: SessionTree, end: int) -> str:
    columns = tree.columns
    path = tree.path(end)
    for at in reversed(path[max(0, len(path) - 20) :].indices()):
        if columns.model[at]:
            return columns.models[columns.model[at]].rpartition("/")[2]
    return ""
