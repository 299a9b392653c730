"""The bar of a compaction that asks first: its sentences and its buttons."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QComboBox, QFrame, QLabel, QPushButton, QVBoxLayout, QWidget

from explorer.services.auto_compaction.guards import CompactionQuestion, NotNow
from ui import theme
from ui.widgets.choice import ChoiceBox
from ui.widgets.figures import short
from ui.widgets.flow import wrapping_row
from ui.widgets.labels import Caption, LinkButton


class QuestionWords(NamedTuple):
    """Sentences and names of buttons for one question."""

    short: str
    """For one line."""
    what: str
    then: str
    compact: str
    compact_tip: str
    review: str
    review_tip: str
    not_now_tip: str
    until: str


_REVIEW = "Compact with changes…"
_REVIEW_TIP = (
    "Change cut, rules or instructions, summarize, read and edit the summary; Commit lets the turn"
    " go on"
)
_WAITS = "The turn waits, and nothing is sent meanwhile. Cut and instructions below count."


def question_words(question: CompactionQuestion) -> QuestionWords:
    """What is asked for one question."""
    if question.trigger == "background":
        return _ready(question)
    figures = f"{short(question.tokens)} of {short(question.window)} tokens"
    tip = "Compact with the cut and the instructions as they are, and let the turn go on"
    if question.trigger == "overflow":
        return QuestionWords(
            "Larger than the model's window: compact?",
            f"The model refused the request: it is larger than its window. ({figures})", _WAITS,
            "&Compact", tip, _REVIEW, _REVIEW_TIP,
            "Leave it; the turn fails, since its request does not fit", "at the next message",
        )  # fmt: skip
    if question.trigger == "prompt":
        return QuestionWords(
            "Larger than the prompt's budget: compact?",
            f"The prompt does not fit its budget: {figures}.",
            "The turn waits, and nothing is sent meanwhile.",
            "&Compact", "Summarize the older rounds, and let the turn go on", _REVIEW, _REVIEW_TIP,
            "Leave it; the oldest history is left out of the prompt instead", "at the next message",
        )  # fmt: skip
    over = f"{figures}, compaction is due above {short(question.threshold)}"
    return QuestionWords(
        f"Too full ({short(question.tokens)} of {short(question.window)}): compact?",
        f"The context is too full: {over}.", _WAITS, "&Compact", tip, _REVIEW, _REVIEW_TIP,
        "Leave it for now, and let the turn go on with all of the context", "at the next message",
    )  # fmt: skip


def _ready(question: CompactionQuestion) -> QuestionWords:
    """A summary that was made ahead."""
    figures = f"{short(question.tokens)} of {short(question.window)} tokens"
    return QuestionWords(
        "The summary made ahead is ready: apply it?",
        f"A summary that was made ahead is ready ({figures} are taken).",
        "The turn waits. The summary takes the place of the older rounds once it is applied.",
        "&Apply", "Put the summary in the place of what it tells, and let the turn go on",
        "Read and &edit…", "Read the summary, change it, and commit it; that lets the turn go on",
        "Throw the summary away, and let the turn go on with all of the context",
        "at the next message",
    )  # fmt: skip


LOW = 400
"""Height of the tab, at a text scale of 100 %, below which only what must be there is."""
SHARE = 20
"""One part in so many of the window is what the context may grow before it is asked again."""


class AutomaticBar(QFrame):
    """Asks, or tells that a summary is being written out of sight. Hidden otherwise."""

    compact_asked = Signal()
    review_asked = Signal()
    left = Signal(object)
    """``NotNow``: the person does not want it now."""
    watch_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("strip", True)
        self.question: CompactionQuestion | None = None
        self.words = QLabel(self)
        self.words.setWordWrap(True)
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        theme.bind_font(self.words, lambda: theme.ui_font(0, bold=True))
        self.then = Caption(parent=self, wraps=True)
        self.compact = QPushButton(self)
        self.compact.setProperty("kind", "primary")
        self.review = QPushButton(self)
        self.not_now = QPushButton("&Not now", self)
        self.again = ChoiceBox(self)
        self.again.setAccessibleName("When to ask again after Not now")
        self.again.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.watch = LinkButton("Watch", self)
        for button in (self.compact, self.review, self.not_now):
            button.setAutoDefault(False)
        self.compact.clicked.connect(self.compact_asked)
        self.review.clicked.connect(self.review_asked)
        self.not_now.clicked.connect(lambda: self.left.emit(self.answer()))
        self.watch.clicked.connect(self.watch_asked)
        self._has_more = False
        """Whether a second sentence tells what follows."""
        self._lay_out()
        theme.on_theme_changed(self._restyle)
        if parent is not None:
            parent.installEventFilter(self)
        self.hide()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.S16, theme.S8, theme.S16, theme.S8)
        column.setSpacing(theme.S4)
        column.addWidget(self.words)
        column.addWidget(self.then)
        self._buttons = QWidget(self)
        buttons = (self.compact, self.review, self.not_now, self.again)
        self._buttons.setLayout(wrapping_row(*buttons))
        column.addWidget(self._buttons)
        column.addWidget(self.watch)

    def eventFilter(self, watched: QObject, event: QEvent, /) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._make_room()
        return super().eventFilter(watched, event)

    def _make_room(self) -> None:
        """In a low tab the words and two buttons are enough: the line above the message box has
        the third."""
        around = self.parentWidget()
        low = around is not None and around.height() < theme.scaled(LOW)
        self.then.setVisible(not low and self._has_more)
        for part in (self.review, self.again):
            part.setVisible(not low)

    def _restyle(self) -> None:
        self.again.setMinimumWidth(theme.scaled(90))
        self.again.setMaximumWidth(theme.scaled(240))

    def ask(self, question: CompactionQuestion) -> None:
        """Ask; a question that stands there already keeps what was chosen with it."""
        if question is self.question:
            return
        self.question = question
        question_text = question_words(question)
        self._say(question_text.what, question_text.then)
        self._name(question_text)
        self.again.clear()
        self.again.addItem(f"Ask again: {question_text.until}", 0)
        if question.trigger != "overflow":
            more = max(1_000, question.window // SHARE // 1_000 * 1_000)
            self.again.addItem(f"Ask again: {short(more)} tokens later", more)
        self._buttons.show()
        self._make_room()
        self.watch.hide()
        self.show()

    def _name(self, words: QuestionWords) -> None:
        self.compact.setText(words.compact)
        self.compact.setToolTip(f"{words.compact_tip} (Ctrl+Alt+K)")
        self.review.setText(words.review)
        self.review.setToolTip(words.review_tip)
        self.not_now.setToolTip(f"{words.not_now_tip} (Ctrl+Alt+N)")
        for button in (self.compact, self.review, self.not_now):
            button.setAccessibleDescription(button.toolTip())

    def answer(self) -> NotNow:
        """What Not now means with what is chosen beside it."""
        return NotNow(int(self.again.currentData() or 0))

    def tell(self, words: str) -> None:
        """Say that something happens out of sight, with a way to watch it."""
        self.question = None
        self._say(words, "")
        self._buttons.hide()
        self.watch.show()
        self.show()

    def _say(self, words: str, then: str) -> None:
        self.words.setText(words)
        self._has_more = bool(then)
        self.then.setText(then)
        self.then.setVisible(self._has_more)
        self.setAccessibleName(words)
        self.setAccessibleDescription(then)

    def clear(self) -> None:
        """There is nothing to ask or to tell."""
        self.question = None
        self.hide()
