"""The page Recall of a comparison: the same questions put with each of the summaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtGui import QColor, QShowEvent
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QWidget

from explorer.audit.recall import ClozeQuestion, Recall
from explorer.audit.recall_result import NOT_ASKED, RESULT_WORDS, ClozeResult, RecallResult, Side
from explorer.services.recall import RecallTest
from ui.audit.recall.results import SIDE_TITLES
from ui.audit.recall.window import NO_MODEL
from ui.theme import S8, S16, bind_font, theme, ui_font
from ui.widgets.flow import wrapping_row
from ui.widgets.labels import Caption
from ui.widgets.model_box import ModelBox
from ui.widgets.panels import column_in, labelled
from ui.widgets.table import Column, Table, TableModel

_SHORT = 15
"""Characters of the list box of models."""


class RecallSide(NamedTuple):
    """A summary, and what a model answered with it."""

    name: str
    test: RecallTest
    result: RecallResult | None
    """None where these questions were not put to this model yet."""


class ComparedRecall(NamedTuple):
    """The summaries with the same questions."""

    sides: tuple[RecallSide, ...]
    problem: str = ""
    """Why there are none."""

    @property
    def questions(self) -> Sequence[ClozeQuestion]:
        """The questions that all of them are asked."""
        return self.sides[0].test.questions.cloze if self.sides else ()

    @property
    def missing(self) -> list[RecallTest]:
        """The tests that were not run yet."""
        return [one.test for one in self.sides if one.result is None]

    @property
    def headline(self) -> str:
        """How much is remembered with each, in a line."""
        words, control = [], ""
        for one in self.sides:
            right = answers_right(one, self.questions)
            if right:
                words.append(f"{one.name}: {right}")
                control = control or answers_right(one, self.questions, is_control=True)
        if control:
            words.append(f"with everything: {control}")
        return f"Right answers by {' · '.join(words)}" if words else "Not asked yet"


def answers_right(
    side: RecallSide, questions: Sequence[ClozeQuestion], is_control: bool = False
) -> str:
    """``7 of 10``; empty where nothing was answered."""
    if side.result is None:
        return ""
    which: Side = "before" if is_control else "after"
    results = [found.results[which] for one in questions if (found := side.result.on(one))]
    asked = [one for one in results if one is not None]
    return f"{asked.count(Recall.RIGHT)} of {len(asked)}" if asked else ""


def _words(result: Recall | None) -> str:
    return NOT_ASKED if result is None else RESULT_WORDS[result]


def recall_columns(found: ComparedRecall) -> list[Column[ClozeQuestion]]:
    """Question, expected answer, a column per summary, the control, the source."""

    def of(side: RecallSide) -> Column[ClozeQuestion]:
        def result(row: ClozeQuestion) -> ClozeResult | None:
            return side.result.on(row) if side.result is not None else None

        def words(row: ClozeQuestion) -> str:
            one = result(row)
            return _words(None if one is None else one.results["after"])

        def answer(row: ClozeQuestion) -> str | None:
            one = result(row)
            return None if one is None else one.answers["after"]

        def colour(row: ClozeQuestion) -> QColor | None:
            one = result(row)
            return theme().lost if one is not None and one.is_lost else None

        return Column(side.name, words, sort_key=words, fits=True, detail=answer, colour=colour)

    def control(row: ClozeQuestion) -> str:
        results = [side.result.on(row) for side in found.sides if side.result is not None]
        given = [one.results["before"] for one in results if one is not None]
        return _words(next((one for one in given if one is not None), None))

    return [
        Column("Question", lambda row: row.text, stretch=True, detail=lambda row: row.text),
        Column("Expected", lambda row: row.answer, width=140),
        *map(of, found.sides),
        Column(SIDE_TITLES["before"], control, fits=True,
               tip="The control: with the context before the compaction"),
        Column("Entry", lambda row: f"#{row.entry}", fits=True),
    ]  # fmt: skip


class RecallPage(QWidget):
    """A click on a question, or Return, selects its source on the map."""

    seen = Signal()
    """It came into sight."""
    model_chosen = Signal()
    pressed = Signal()
    """What is missing is to be asked, or what is under way stopped."""
    entry_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.found = ComparedRecall(())
        self.is_running = False
        self.headline = QLabel(self)
        self.headline.setWordWrap(True)
        bind_font(self.headline, lambda: ui_font(bold=True))
        self.model = ModelBox(self)
        self.model.setAccessibleName("Model that is asked")
        self.model.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.model.setMinimumContentsLength(_SHORT)
        self.model.activated.connect(lambda _at: self.model_chosen.emit())
        self.button = QPushButton(self)
        self.button.setAutoDefault(False)
        self.button.clicked.connect(self.pressed)
        self.message = Caption("", self, wraps=True)
        self.table = Table(TableModel[ClozeQuestion](()), "Questions, and what came of them", self)
        self.table.clicked.connect(self._clicked)
        self.table.row_activated.connect(lambda row: self.entry_requested.emit(row.entry))
        self.table.restyle()
        self._form = QWidget(self)
        asked = labelled("Ask", self.model, self._form)
        self._form.setLayout(wrapping_row(asked, self.button))
        column = column_in(self, S8, (S16, S8, S16, S8))
        for part in (self.headline, self._form, self.message):
            column.addWidget(part)
        column.addWidget(self.table, 1)

    def showEvent(self, event: QShowEvent, /) -> None:
        super().showEvent(event)
        self.seen.emit()

    def offer(self, models: Sequence[tuple[str, str]], chosen: str) -> None:
        """Offer the models that can be asked; what was chosen before stays."""
        self.model.set_models(models, str(self.model.currentData() or chosen))
        self._form.setVisible(bool(models))

    def wait(self) -> None:
        """Show that the questions are being made; nothing is sent for that."""
        self._say("Reading what was summarized. Nothing is sent.")
        self.button.setEnabled(False)

    def show_found(self, found: ComparedRecall, price: str, words: str) -> None:
        """Show what was asked by now; ``price`` of what is missing; ``words``: where it goes."""
        self.found = found
        missing = len(found.missing)
        self.headline.setText(found.headline if found.sides else "")
        self.headline.setVisible(bool(found.sides))
        self._say(found.problem or (words if missing or not found.sides else ""))
        self.button.setText(f"Ask for {missing} missing, {price}")
        self.button.setEnabled(True)
        self.button.setVisible(bool(missing))
        self.table.rows.show(found.questions, recall_columns(found) if found.sides else [])

    def show_no_model(self) -> None:
        """Show that no model can be asked."""
        self.show_found(ComparedRecall((), ". ".join(NO_MODEL)), "", "")

    def show_running(self, is_running: bool, words: str = "") -> None:
        """Questions are being put, or not any more; ``words`` say how far it is, or how it
        ended."""
        self.is_running = is_running
        self.model.setEnabled(not is_running)
        if is_running:
            self.button.setText("Stop")
        self._say(words)

    def _say(self, words: str) -> None:
        self.message.setText(words)
        self.message.setVisible(bool(words))

    def _clicked(self, index: QModelIndex) -> None:
        row = self.table.rows.at(index.row())
        if row is not None:
            self.entry_requested.emit(row.entry)
