"""Summaries of a session side by side, in a separate window."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

from explorer.audit.difference import SectionRow
from explorer.compaction.profile import Profile
from explorer.models.catalogue import ModelInfo
from ui.audit.compare.pages import CandidateFigures, DriftView, FindingsTable, SectionsView
from ui.audit.compare.recall_page import RecallPage
from ui.audit.compare.subjects import ComparisonOutcome, Subject, SummaryKey
from ui.audit.words import sentence_case
from ui.compaction.words import price_text
from ui.theme import S8, scaled
from ui.widgets.choice import ChoiceBox
from ui.widgets.comparison import ComparisonWindow
from ui.widgets.dialogs import fit
from ui.widgets.figures import count
from ui.widgets.flow import wrapping_row
from ui.widgets.labels import Caption
from ui.widgets.model_box import ModelBox
from ui.widgets.panels import column_of, push_button, row, row_in
from ui.widgets.progress import ProgressBar
from ui.widgets.steps import StepRunner
from ui.widgets.table import Column, Table, TableModel
from ui.widgets.tabs import Tabs

SHORT = 15
"""Characters of a list box: the strip is to take one line, or two with large text."""


class TrialWish(NamedTuple):
    """What is to be tried."""

    model: str
    profile: str
    """Empty: the rules and the cut that the tab Compaction shows."""
    instructions: str


Sizes = Callable[[TrialWish], tuple[int, int]]
"""Tokens that a wish sends, and that its answer may take; -1 where it cannot be done."""


class TryStrip(QWidget):
    """Profile, model, instructions, and a button that names the price."""

    try_asked = Signal(object)
    """The ``TrialWish``."""
    stop_asked = Signal()

    def __init__(self, sizes: Sizes, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sizes = sizes
        self._models: dict[str, ModelInfo] = {}
        self.is_running = False
        self.profile = ChoiceBox(self)
        self.profile.setAccessibleName("Profile of the next draft")
        short = QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        self.profile.setSizeAdjustPolicy(short)
        self.profile.setMinimumContentsLength(SHORT)
        self.profile.activated.connect(lambda _at: self.follow())
        self.model = ModelBox(self)
        self.model.setAccessibleName("Model of the next draft")
        self.model.setSizeAdjustPolicy(short)
        self.model.setMinimumContentsLength(SHORT)
        self.model.currentIndexChanged.connect(lambda _at: self.follow())
        self.instructions = QLineEdit(self)
        self.instructions.setAccessibleName("Instructions of the next draft")
        self.instructions.setPlaceholderText("Other instructions: what must not be lost")
        self.instructions.setMinimumWidth(scaled(220))
        self.instructions.returnPressed.connect(self._press)
        self.button = QPushButton(self)
        self.button.setAutoDefault(False)
        self.button.clicked.connect(self._press)
        self.message = Caption("", self)
        parts = (self.profile, self.model, self.instructions, self.button, self.message)
        self.setLayout(wrapping_row(*parts))

    def offer(
        self, models: Sequence[ModelInfo], chosen: str, profiles: Mapping[str, Profile]
    ) -> None:
        """Offer models and profiles; what was chosen stays, a free model is chosen at first."""
        self._models = {model.id: model for model in models}
        before = str(self.model.currentData() or chosen)
        self.model.set_models([(model.id, model.label) for model in models], before)
        now = self.profile.currentData()
        self.profile.clear()
        self.profile.addItem("Present rules", "")
        self.profile.setItemData(0, "Those of the tab Compaction", Qt.ItemDataRole.ToolTipRole)
        for name, profile in profiles.items():
            self.profile.addItem(f"Rules of {profile.title}", name)
        self.profile.setCurrentIndex(max(0, self.profile.findData(now)))
        self.follow()

    def wish(self) -> TrialWish:
        """What is chosen."""
        return TrialWish(
            str(self.model.currentData() or ""),
            str(self.profile.currentData() or ""),
            self.instructions.text().strip(),
        )

    def follow(self) -> None:
        """Name the price of what is chosen now."""
        if self.is_running:
            self.button.setText("Stop")
            self.button.setEnabled(True)
            return
        wish = self.wish()
        sent, answer = self._sizes(wish)
        self.button.setEnabled(sent >= 0 and bool(wish.model))
        if sent < 0:
            self.button.setText("Try another")
            self.message.setText("Nothing would be summarized under these rules.")
            return
        model = self._models.get(wish.model)
        price = "" if model is None else price_text(
            sent, answer, model.input_price, model.output_price
        )  # fmt: skip
        if wish.model.startswith("offline/") or price == "$0":
            self.button.setText("Try a&nother, free")
            self.button.setToolTip("The summary is made on this computer; nothing is sent")
        else:
            self.button.setText(f"Try a&nother, {price or 'price unknown'}")
            self.button.setToolTip("One call to the model, by its listed prices")
        self.message.setText("")

    def show_running(self, is_running: bool, words: str = "") -> None:
        """A draft is on its way, or is no more; ``words`` say how it ended."""
        self.is_running = is_running
        self.follow()
        self.message.setText(words)

    def _press(self) -> None:
        if self.is_running:
            self.stop_asked.emit()
        elif self.button.isEnabled():
            self.try_asked.emit(self.wish())


NO_DRAFT = "None of them is a draft. One that you try here can be committed."


class CommitStrip(QWidget):
    """One button; a box before it where there are several drafts."""

    commit_asked = Signal(object)
    """The ``Subject`` that is to be committed, with its place as it was shown."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._drafts: dict[str, Subject] = {}
        self.taken = ChoiceBox(self)
        self.taken.setAccessibleName("Draft to commit")
        self.taken.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.taken.currentIndexChanged.connect(lambda _at: self._follow())
        self.commit = push_button(
            "Co&mmit", self, "Append the compaction with the chosen draft", primary=True
        )
        self.commit.clicked.connect(self._press)
        self.message = Caption("", self, wraps=True)
        line = row_in(self, S8)
        line.addWidget(self.taken)
        line.addWidget(self.commit)
        line.addWidget(self.message, 1)

    def offer(self, subjects: Sequence[Subject]) -> None:
        """Offer the drafts among these; what was chosen stays, else it is the last."""
        before = self.taken.currentData()
        self._drafts = {one.key.code: one for one in subjects if one.key.kind == "draft"}
        self.taken.blockSignals(True)
        self.taken.clear()
        for code, one in self._drafts.items():
            self.taken.addItem(one.name, code)
        row = self.taken.findData(before) if before is not None else -1
        self.taken.setCurrentIndex(row if row >= 0 else self.taken.count() - 1)
        self.taken.blockSignals(False)
        self.taken.setVisible(len(self._drafts) > 1)
        self._follow()

    def chosen(self) -> Subject | None:
        """The draft that the button commits."""
        return self._drafts.get(str(self.taken.currentData() or ""))

    def _follow(self) -> None:
        one = self.chosen()
        self.commit.setEnabled(one is not None)
        if one is None:
            self.commit.setText("Co&mmit")
            self.message.setText(NO_DRAFT)
            return
        name = f" {one.name}" if len(self._drafts) == 1 else ""
        self.commit.setText(f"{one.place.button}{name}")
        self.message.setText(one.place.words)
        self.commit.setAccessibleDescription(one.place.words)

    def _press(self) -> None:
        if (one := self.chosen()) is not None:
            self.commit_asked.emit(one)


def _sections_words(rows: Sequence[SectionRow]) -> str:
    """How many sections are the same, told otherwise, and not in all of the summaries."""
    same = sum(row.is_equal for row in rows)
    lacking = sum(bool(row.missing) for row in rows)
    told = len(rows) - same - lacking
    parts = [
        f"{number:,} {words}"
        for number, words in (
            (same, "the same in all"), (told, "in other words"), (lacking, "not in all"),
        )
        if number
    ]  # fmt: skip
    return f"{count(len(rows), 'section')}: {', '.join(parts)}"


MOST = 4
"""Summaries that stand side by side at most."""
KEY = int(Qt.ItemDataRole.UserRole)
SIDES, FINDINGS, FIGURES, DRIFT, RECALL = range(5)
ASK_RECALL = "Recall asks a model about what this summary replaced."


class CompareDraftsWindow(ComparisonWindow):
    """Return on a thing selects its source on the map. It can be used when ``building`` is done."""

    compare_asked = Signal(object, object)
    """The keys that are checked, and the one of them that the others are compared with."""
    commit_asked = Signal(object)
    """The ``Subject`` that is to be committed."""
    branches_asked = Signal(object)
    """The keys of two branch summaries whose branches are to be compared."""
    stop_asked = Signal()

    def __init__(self, sizes: Sizes, parent: QWidget | None = None) -> None:
        super().__init__("Summaries compared", parent)
        self.compared: ComparisonOutcome | None = None
        self._turns = StepRunner(self)
        self._subjects: dict[SummaryKey, Subject] = {}
        self._sizes = sizes

    def building(self) -> Iterator[None]:
        """Make its parts, in steps between which the window behind it answers."""
        self._make_head()
        yield
        self._make_sides()
        yield
        self._make_figures()
        yield
        self.trying = TryStrip(self._sizes, self)
        yield
        self._lay_out()
        yield
        fit(self, 1040, 760)

    def _make_head(self) -> None:
        self.title.setText("Summaries compared")
        columns: list[Column[SummaryKey]] = [Column("", self._name_and_facts, stretch=True)]
        model = TableModel(columns, has_ticks=True)
        self.list = Table(model, f"Summaries; check two to {MOST}", self)
        self.list.horizontalHeader().hide()
        self.list.rows.row_ticked.connect(lambda _key: self._ask())
        self.list.restyle()
        self.reference = ChoiceBox(self)
        self.reference.setAccessibleName("Reference that the others are compared with")
        self.reference.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.reference.setMinimumContentsLength(16)
        self.reference.activated.connect(lambda _at: self._ask())
        self.branches = self.button(
            "Compare the &branches…", "The two branches that these summaries tell of, turn by turn"
        )
        self.branches.clicked.connect(lambda: self.branches_asked.emit(self.checked()))
        self.branches.hide()
        self.progress = ProgressBar(self)
        self.progress.setAccessibleName("Progress of the comparison")
        self.stop = self.button("Stop")
        self.stop.clicked.connect(self.stop_asked)
        for part in (self.progress, self.stop):
            part.hide()

    def _make_sides(self) -> None:
        self.pages = Tabs(self)
        self.pages.setDocumentMode(True)
        self.pages.setAccessibleName("Parts of the comparison")
        self.sections = SectionsView(self)
        self.findings = FindingsTable(self)
        self.findings.entry_requested.connect(self.entry_requested)
        self.pages.addTab(self.sections, "&Side by side")
        self.pages.addTab(self.findings, "&Findings")

    def _make_figures(self) -> None:
        self.figures = CandidateFigures(self)
        self.drift = DriftView(self)
        self.drift.step_requested.connect(self._step_asked)
        self.pages.addTab(self.scrolling(self.figures), "&Figures")
        self.recall = RecallPage(self)
        self.pages.addTab(self.drift, "&Generations")
        self.pages.addTab(self.recall, "&Recall")

    def _lay_out(self) -> None:
        label = QLabel("&Held against", self)
        label.setBuddy(self.reference)
        line = row(label, self.reference, self.branches, self.progress, self.stop, 1)
        self.committing = CommitStrip(self)
        self.committing.commit_asked.connect(self.commit_asked)
        self.taken, self.commit = self.committing.taken, self.committing.commit
        last = row(self.committing, self.closing_button(), wide=self.committing)
        foot = column_of(self.trying, last)
        self.lay_out(self.head(self.list, line), self.pages, foot)

    # what is chosen ------------------------------------------------------------------------------

    def offer(self, subjects: Sequence[Subject], checked: Sequence[SummaryKey]) -> None:
        """Offer summaries, and compare those that are checked, the first being the reference."""
        self._subjects = {one.key: one for one in subjects}
        self.list.show_rows(list(self._subjects), checked[-1] if checked else None)
        self.check(checked)

    def _name_and_facts(self, key: SummaryKey) -> str:
        one = self._subjects[key]
        return f"{one.name} · {one.facts}" if one.facts else one.name

    def checked(self) -> list[SummaryKey]:
        """The summaries that are checked, in the order of the list."""
        return [key for key in self._subjects if key in self.list.rows.ticked]

    def check(self, keys: Sequence[SummaryKey]) -> None:
        """Compare other ones of those that are offered."""
        self.list.rows.tick(self._subjects, on=False)
        self.list.rows.tick(keys)
        self._ask(keys[0] if keys else None)

    def _ask(self, reference: SummaryKey | None = None) -> None:
        keys = self.checked()
        if reference is None and self.reference.currentData() is not None:
            reference = SummaryKey.of(self.reference.currentData())
        self.reference.clear()
        for key in keys:
            self.reference.addItem(self._subjects[key].name, key.code)
        names = [SummaryKey.of(self.reference.itemData(at)) for at in range(self.reference.count())]
        if reference in names:
            self.reference.setCurrentIndex(names.index(reference))
        if len(keys) > MOST:
            self.facts.setText(f"At most {MOST} stand side by side; uncheck one.")
            return
        chosen = self.reference.currentData()
        self.compare_asked.emit(keys, None if chosen is None else SummaryKey.of(chosen))

    def _step_asked(self, number: int) -> None:
        if self.compared is not None:
            self.check(self.compared.generations[number : number + 2])
            self.pages.setCurrentIndex(SIDES)

    # what is shown -------------------------------------------------------------------------------

    def wait(self) -> None:
        """Show that a comparison runs."""
        self.progress.setRange(0, 0)
        for part in (self.progress, self.stop):
            part.show()

    def show_progress(self, done: int, total: int) -> None:
        """Show how many entries were read."""
        self.progress.setRange(0, total)
        self.progress.setValue(done)

    def _waited(self) -> None:
        for part in (self.progress, self.stop):
            part.hide()

    def tell(self, title: str, facts: str) -> None:
        """What is shown, or why there is nothing to show; nothing is on its way any more."""
        self._waited()
        super().tell(title, facts)

    def show_compared(self, found: ComparisonOutcome, can_recall: bool) -> None:
        """Show a comparison. ``can_recall``: whether a model can be asked about one alone."""
        self._turns.start(self._showing(found), lambda: self._end(found, can_recall))

    def _showing(self, found: ComparisonOutcome) -> Iterator[None]:
        """One part after the other: the window answers between two of them."""
        shown = found.difference
        yield from self.sections.showing(shown or found.alone)
        self.findings.show_difference(shown)
        yield
        self.figures.show_difference(shown)
        yield
        self.drift.show_drift(found.drift)
        yield

    def _end(self, found: ComparisonOutcome, can_recall: bool) -> None:
        self._waited()
        self.compared, shown = found, found.difference
        self._tell(found, can_recall)
        self._follow_number(found, can_recall)
        steps = len(found.drift.steps)
        self.pages.setTabText(DRIFT, f"&Generations ({steps + 1 if steps else 0})")
        number = len(shown.findings) if shown is not None else 0
        self.pages.setTabText(FINDINGS, f"&Findings ({number:,})")
        self.branches.setVisible(
            len(found.keys) == 2
            and all("branch summary" in self._subjects[key].name for key in found.keys)
        )
        self.committing.offer([self._subjects[key] for key in found.keys if key in self._subjects])

    def _tell(self, found: ComparisonOutcome, can_recall: bool) -> None:
        shown = found.difference
        if shown is None:
            self._tell_alone(found.keys, can_recall)
            return
        names = [one.name for one in shown.candidates]
        closed = [
            one.name for one in shown.candidates if one.fidelity and not one.fidelity.is_readable
        ]
        words = (
            [f"Encrypted by the provider or not recorded: {', '.join(closed)}"] if closed else []
        )
        if len(closed) < len(names) and not shown.is_unmarked:
            words.append(_sections_words(shown.sections))
        if shown.findings and not closed:
            numbers = (sum(row.has(at) for row in shown.findings) for at in range(len(names)))
            having = (f"{name} has {mine:,}" for name, mine in zip(names, numbers, strict=True))
            words.append(f"Findings that not all have: {', '.join(having)}")
        self.tell(" and ".join([", ".join(names[:-1]), names[-1]]), " · ".join(words))

    def _tell_alone(self, keys: Sequence[SummaryKey], can_recall: bool) -> None:
        """Say what can be done with fewer than two."""
        if not keys:
            self.tell("Summaries compared", "Check two summaries in the list to compare.")
            return
        has_second = len(self._subjects) > 1
        check = ", or check a second summary in the list," if has_second else ""
        words = f"Make another draft below{check} to compare."
        name = self._subjects[keys[0]].name
        has_recall = can_recall and "branch summary" not in name
        recall = f"{ASK_RECALL} " if has_recall else ""
        self.tell(sentence_case(name), f"{recall}{words}")

    def _follow_number(self, found: ComparisonOutcome, can_recall: bool) -> None:
        """Of one summary alone there is no difference to be shown: its recall is, or its text
        where no model can be asked."""
        is_compared, was_compared = found.difference is not None, self.pages.isTabEnabled(FIGURES)
        self.pages.setTabEnabled(SIDES, is_compared or found.alone is not None)
        if is_compared == was_compared:
            return
        if not is_compared:
            self.pages.setCurrentIndex(RECALL if can_recall or found.alone is None else SIDES)
        for page in (FINDINGS, FIGURES):
            self.pages.setTabEnabled(page, is_compared)
        if is_compared:
            self.pages.setCurrentIndex(SIDES)

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        """In a low window the list gives its room to the texts."""
        super().resizeEvent(event)
        self.list.setMaximumHeight(min(scaled(92), self.height() // 8))
