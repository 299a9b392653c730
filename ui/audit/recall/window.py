"""The window of the recall test: whom to ask, what it costs, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QComboBox, QLabel, QSpinBox, QWidget

from explorer.audit.recall_result import RecallResult
from ui.audit.recall.results import RecallResults
from ui.models.busy import Busy
from ui.theme import S8, S12, S16, bind_font, set_tone, ui_font
from ui.widgets.choice import ChoiceBox
from ui.widgets.dialogs import Dialog, fit
from ui.widgets.flow import wrapping_row
from ui.widgets.labels import Caption
from ui.widgets.model_box import ModelBox
from ui.widgets.notice import NoticeStrip
from ui.widgets.panels import EmptyState, OnePage, column_of, labelled, push_button, row

NO_MODEL = (
    "No model can be asked",
    "Offline models follow rules and do not read, so they cannot answer questions on a context. "
    "Enter a key of a provider, or add a server of yours.",
)
NO_JUDGE = "No open questions"
QUESTIONS, MOST_QUESTIONS = 20, 60
_BOX = 14
"""Characters of a list box: in a narrow window the form takes two lines."""
_RUN = 30


class RecallWish(NamedTuple):
    """What is chosen in the window."""

    model: str
    judge: str
    """Empty: no open questions."""
    questions: int


class RecallWindow(Dialog):
    """Does not block the window. It can be used when ``building`` is done."""

    wish_changed = Signal()
    asked = Signal()
    """The questions are to be put."""
    run_chosen = Signal(int)
    """The id of the record whose results are to be shown; 0: the questions, not asked yet."""
    models_asked = Signal()
    entry_requested = Signal(int)
    closing = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Recall test", parent, is_modal=False)

    # building ------------------------------------------------------------------------------------

    def building(self) -> Iterator[None]:
        """Make its parts, in steps between which the window behind it answers."""
        self.notice = NoticeStrip(self)
        self.title = QLabel(self)
        self.title.setWordWrap(True)
        bind_font(self.title, lambda: ui_font(2, bold=True))
        self.facts = Caption(parent=self, wraps=True)
        self.plan = Caption(parent=self, wraps=True)
        yield
        self._make_form()
        yield
        self.results = RecallResults(self)
        self.results.entry_requested.connect(self.entry_requested)
        yield
        self._make_foot()
        yield
        self._lay_out()
        yield
        fit(self, 1000, 720)

    def _make_form(self) -> None:
        self.form = QWidget(self)
        self.model = ModelBox(self.form)
        self.model.setAccessibleName("Model that is asked")
        self.judge = ModelBox(self.form)
        self.judge.setAccessibleName("Model that grades the answers to open questions")
        self.judge.setToolTip(
            "Four open questions are asked too: what was wanted, which files, what next, and why. "
            "This model grades the answers by a rubric."
        )
        self.number = QSpinBox(self.form)
        self.number.setRange(1, MOST_QUESTIONS)
        self.number.setValue(QUESTIONS)
        self.number.setKeyboardTracking(False)
        self.number.setAccessibleName("Questions at most")
        self.runs = ChoiceBox(self)
        self.runs.setAccessibleName("Results that are shown")
        for box in (self.model, self.judge, self.runs):
            box.setSizeAdjustPolicy(
                QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
            )
            box.setMinimumContentsLength(_BOX)
        self.runs.setMinimumContentsLength(_RUN)
        for chooser in (self.model, self.judge):
            chooser.activated.connect(lambda _at: self.wish_changed.emit())
        self.number.valueChanged.connect(lambda _value: self.wish_changed.emit())
        self.runs.activated.connect(lambda _at: self.run_chosen.emit(self.runs.currentData()))
        self._runs = labelled("&Shown", self.runs, self)
        self.form.setLayout(
            wrapping_row(
                labelled("As&k", self.model, self.form),
                labelled("&Questions", self.number, self.form),
                labelled("Open ones graded &by", self.judge, self.form),
                across=S16,
            )
        )

    def _make_foot(self) -> None:
        self.busy = Busy(self)
        self.ask = push_button("&Ask", self, "Put the questions to this model", primary=True)
        self.ask.clicked.connect(self.asked)
        self.models = push_button("&Models…", self, "Keys of providers, and servers of yours")
        self.models.clicked.connect(self.models_asked)
        self.close_button = self.button("C&lose")
        self.close_button.clicked.connect(self.close)

    def _lay_out(self) -> None:
        self._pages = OnePage(self)
        self.empty = EmptyState("assistant", *NO_MODEL, action="&Models…", parent=self)
        self.empty.pressed.connect(self.models_asked)
        self._pages.add(self.results)
        self._pages.add(self.empty)
        head = column_of(
            self.notice, row(self.title, self._runs, wide=self.title), self.facts, self.form,
            spacing=S8, margins=(S16, S12, S16, S8),
        )  # fmt: skip
        buttons = wrapping_row(self.ask, self.models, self.close_button, closes=self.close_button)
        self.lay_out(head, self._pages, column_of(self.busy, self.plan, buttons, spacing=S8))

    # what is shown -------------------------------------------------------------------------------

    def offer_models(self, models: Sequence[tuple[str, str]], chosen: str) -> None:
        """Offer the models that can be asked; what was chosen before stays. Without any, what
        asks is not shown."""
        before = self.wish()
        self.model.set_models(models, before.model or chosen)
        self.judge.set_models([("", NO_JUDGE), *models], before.judge)
        for part in (self.form, self.ask):
            part.setVisible(bool(models))

    def wish(self) -> RecallWish:
        """What is chosen."""
        return RecallWish(
            str(self.model.currentData() or ""),
            str(self.judge.currentData() or ""),
            self.number.value(),
        )

    def wait(self, name: str) -> None:
        """What is asked is being worked out; nothing is sent for that."""
        self.setAccessibleDescription(f"Recall of {name}")
        self.show_plan("Reading what was summarized. Nothing is sent.", "", possible=False)

    def show_plan(self, words: str, price: str, possible: bool) -> None:
        """Show what the test takes, or why there is none; ``price`` in a word, or nothing."""
        self.plan.setText(words)
        self.ask.setText(f"&Ask, {price}" if price else "&Ask")
        self.ask.setEnabled(possible and not self.busy.running)

    def show_problem(self, words: str) -> None:
        """Why there is no test."""
        self.show_plan(words, "", possible=False)

    def offer_runs(self, runs: Sequence[tuple[int, str]], chosen: int) -> None:
        """Offer the results that there are, by the id of their record."""
        self.runs.clear()
        for number, name in runs:
            self.runs.addItem(name, number)
        self.runs.setCurrentIndex(max(0, self.runs.findData(chosen)))
        self._runs.setVisible(len(runs) > 1)

    def show_result(self, title: str, facts: str, result: RecallResult | None) -> None:
        """Show questions and answers, or that nobody can be asked."""
        self.title.setText(title)
        self.facts.setText(facts)
        self.facts.setVisible(bool(facts))
        set_tone(self.facts, "dim")
        self.results.show_result(result)
        is_empty = result is None and self.form.isHidden()
        self._pages.show_page(1 if is_empty else 0)
        self.models.setVisible(self.form.isHidden() and not is_empty)
        if is_empty:
            self.empty.button.setFocus()
        self.plan.setVisible(not is_empty)

    def show_running(self, is_running: bool) -> None:
        """The questions are being put, or not any more."""
        self.form.setEnabled(not is_running)
        self.ask.setEnabled(not is_running)
        if is_running:
            self.notice.dismiss()
            self.busy.cancel.setFocus()
        else:
            self.results.table.setFocus()

    def show_progress(self, done: int, calls: int) -> None:
        """Show how many of the calls were answered."""
        self.busy.bar.setRange(0, calls)
        self.busy.bar.setValue(done)

    def current(self) -> QModelIndex:
        """The row that is chosen."""
        return self.results.table.currentIndex()

    def hideEvent(self, event: QHideEvent, /) -> None:
        super().hideEvent(event)
        self.closing.emit()
