"""One step of a lesson: its words, the prediction, and the answer beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from msgspec.structs import replace
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCursor, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QCheckBox,
    QLabel,
    QLineEdit,
    QRadioButton,
    QSizePolicy,
    QToolTip,
    QWidget,
)

from explorer.services.lessons.answer import Judged, Prediction
from explorer.services.lessons.context_answers import WalkLine
from explorer.services.lessons.lesson import Lesson, Step
from ui import theme
from ui.lessons.walk import WalkPicture
from ui.lessons.words import meaning_of, plain, rich
from ui.theme import S4, S8, S12, S16
from ui.widgets.labels import Caption, ClickLabel, Hairline, LinkButton
from ui.widgets.panels import column_in, enable_unless, push_button, row

HOW = {
    "entry": "Click an entry on the map, the marked one too, or go to it with the arrow keys.",
    "cut": "Drag the cut on the map, or step it with Alt+Up and Alt+Down.",
    "choose": "",
    "number": "",
}


class TermLabel(ClickLabel):
    """Words in which a term says what it means, under the mouse or when it is followed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.link.connect(self._explain)
        self.linkHovered.connect(self._explain)

    def say(self, text: str) -> None:
        """Show words of a lesson."""
        self.set_words(rich(text), plain(text))
        self.setVisible(bool(text))

    def _explain(self, link: str) -> None:
        words = meaning_of(link.removeprefix("term:")) if link else ""
        if words:
            QToolTip.showText(QCursor.pos(), words, self)
        else:
            QToolTip.hideText()


def _wrap_text(button: QAbstractButton, width: int) -> None:
    """Break the words of a button into lines of a width in pixels: Qt has one line for them."""
    words, metrics = button.accessibleName(), button.fontMetrics()
    shown = max(map(metrics.horizontalAdvance, button.text().split("\n")))
    room = width - (button.sizeHint().width() - shown)
    lines: list[str] = []
    for word in words.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and metrics.horizontalAdvance(longer) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    button.setText("\n".join(lines).replace("&", "&&"))


class StepView(QWidget):
    """Shows one step at a time; the controller knows the lesson."""

    answer_asked = Signal()
    next_asked = Signal()
    back_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._step: Step | None = None
        self._options: list[QCheckBox | QRadioButton] = []
        self.where = Caption("", self, wraps=True)
        self.progress = Caption("", self)
        self.title = QLabel(self)
        self.title.setWordWrap(True)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        theme.bind_font(self.title, lambda: theme.ui_font(1, bold=True))
        self.text = TermLabel(self)
        self.walk = WalkPicture(self)
        self.how = Caption("", self, wraps=True)
        self.chosen = QLabel(self)
        self.chosen.setWordWrap(True)
        self.chosen.setTextFormat(Qt.TextFormat.PlainText)
        self._group: QButtonGroup | None = None
        self.number = QLineEdit(self)
        self.number.setAccessibleName("Your prediction, a number")
        self.number.setPlaceholderText("a number; 12k is 12,000")
        self.number.textChanged.connect(lambda _text: self._tell())
        self._make_answer()
        self._lay_out()

    def _make_answer(self) -> None:
        self.verdict = QLabel(self)
        self.difference, self.reason = QLabel(self), QLabel(self)
        for label in (self.verdict, self.difference, self.reason):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        theme.bind_font(self.verdict, lambda: theme.ui_font(0, bold=True))
        self.after = TermLabel(self)
        self.show_answer_button = push_button("Show the answer", self, primary=True)
        self.show_answer_button.clicked.connect(self.answer_asked)
        self.skip = LinkButton("Just show it", self)
        self.skip.setToolTip("Show the answer without a prediction")
        self.skip.clicked.connect(self.answer_asked)
        self.total = Caption("", self, wraps=True)
        self.next = push_button("&Next", self, primary=True)
        self.next.clicked.connect(self.next_asked)
        self.back = LinkButton("Back", self)
        self.back.setToolTip("The step before this one")
        self.back.clicked.connect(self.back_asked)
        self._line = Hairline(parent=self)

    def _lay_out(self) -> None:
        column = column_in(self, S8, (S16, S8, S16, S12))
        column.addWidget(self.progress)
        column.addWidget(self.title)
        column.addWidget(self.where)
        column.addSpacing(S4)
        column.addWidget(self.text)
        column.addWidget(self.walk)
        column.addWidget(self.how)
        choices = QWidget(self)
        self._choices = column_in(choices, S4)
        self._choices_place = choices
        column.addWidget(choices)
        column.addWidget(self.number)
        column.addWidget(self.show_answer_button)
        column.addWidget(self.skip)
        # Below what is pressed next, which keeps its place when this comes and grows.
        column.addWidget(self.chosen)
        column.addWidget(self._line)
        for part in (self.verdict, self.difference, self.reason, self.after):
            column.addWidget(part)
        column.addWidget(self.total)
        column.addSpacing(S4)
        column.addLayout(row(self.next, 1, self.back, spacing=S12))
        column.addStretch(1)

    # what is shown -------------------------------------------------------------------------------

    def show_step(
        self,
        lesson: Lesson,
        at: int,
        where: str,
        options: Sequence[tuple[str, str]],
        filled: Callable[[str], str],
    ) -> None:
        """Begin a step. ``where``: which place of which session, in a sentence; ``filled`` puts
        the place's figures into words."""
        found = lesson.steps[at]
        step = replace(found, text=filled(found.text), after=filled(found.after))
        self._step = step
        self.progress.setText(f"Step {at + 1} of {len(lesson.steps)} · {lesson.title}")
        self.progress.setWordWrap(True)
        self.title.setText(step.title)
        self.where.setText(where)
        self.text.say(step.text)
        self.how.setText(HOW.get(step.kind or "", ""))
        self.how.setVisible(bool(self.how.text()))
        self._offer(step, options)
        self.number.setVisible(step.kind == "number")
        self.number.setReadOnly(False)
        self.number.clear()
        self.chosen.setVisible(False)
        self.back.setVisible(at > 0)
        last = at + 1 == len(lesson.steps)
        self.next.setText("End lesson" if last else "&Next")
        self.total.hide()
        self._show_parts(answered=step.kind is None)
        for label in (self.verdict, self.difference, self.reason, self.after, self.walk):
            label.setVisible(False)
        self._line.setVisible(False)
        if step.kind is None:
            self.after.say(step.after)
        self._let_answer(False)

    def _let_answer(self, is_predicted: bool) -> None:
        enable_unless(self.show_answer_button, "" if is_predicted else "Predict first.")

    def _show_parts(self, *, answered: bool) -> None:
        self.show_answer_button.setVisible(not answered)
        self.skip.setVisible(not answered)
        self.next.setVisible(answered)

    def _offer(self, step: Step, options: Sequence[tuple[str, str]]) -> None:
        for button in self._options:
            button.hide()
            button.deleteLater()
        self._options = []
        self._group = None
        if step.kind != "choose":
            self._choices_place.hide()
            return
        self._group = QButtonGroup(self)
        self._group.setExclusive(not step.several)
        for name, words in options:
            made = QCheckBox(self) if step.several else QRadioButton(self)
            made.setText(words.replace("&", "&&"))
            made.setAccessibleName(words)
            # As wide as its place, or all of the step would be wider than the panel.
            made.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            made.setProperty("option", name)
            made.toggled.connect(lambda _on: self._tell())
            self._group.addButton(made)
            self._options.append(made)
            self._choices.addWidget(made)
        self._choices_place.show()
        self._wrap_options()
        # They were made last; the Tab key goes to them before the button below them.
        chain = (self.text, *self._options, self.number)
        for one, other in pairwise(chain):
            QWidget.setTabOrder(one, other)

    def _wrap_options(self) -> None:
        for button in self._options:
            _wrap_text(button, self.width() - 2 * S16)

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        self._wrap_options()

    def show_pointed(self, words: str) -> None:
        """Show what was pointed at on the map; empty: nothing yet."""
        self.chosen.setText(f"Your prediction: {words}")
        self.chosen.setVisible(bool(words))
        self._let_answer(bool(words))

    def show_answer(self, judged: Judged | None, reason: str) -> None:
        """Show the engine's answer; ``judged``: None where nothing was predicted."""
        if judged is None:
            self.verdict.setText("The answer")
        else:
            self.verdict.setText("✓ Right" if judged.is_right else "≠ Not quite")
        self.difference.setText(judged.difference if judged is not None else "")
        self.reason.setText(reason)
        self.after.say(self._step.after if self._step is not None else "")
        for label in (self.verdict, self.difference, self.reason):
            label.setVisible(bool(label.text()))
        self._line.setVisible(True)
        self.how.setVisible(False)
        # It stands in what is said of it.
        self.chosen.setVisible(False)
        self.number.setReadOnly(True)
        for button in self._options:
            button.setEnabled(False)
        self._show_parts(answered=True)
        self.next.setFocus()

    def show_walk(self, kept: int, lines: Sequence[WalkLine]) -> None:
        """Show the rule of the cut and the walk back to it, in the place of question and answer."""
        self.title.setText("How the cut is found")
        self.text.say(
            "From the newest entry, at the bottom, the tokens are added up backwards: each bar is "
            f"the sum so far. The dashed line is *Keep recent*, {kept:,}; at the first bar that "
            "reaches it there is enough. The cut, the thick line, falls there, or at the next "
            "valid place: never between a call and its result."
        )
        self.walk.show_walk(kept, lines)
        self.how.setVisible(False)
        self.after.say(self._step.after if self._step is not None else "")
        self._show_parts(answered=True)
        self.next.setFocus()

    def show_total(self, right: int, predicted: int) -> None:
        """Show how many of the lesson's predictions were right."""
        self.total.setText(f"{right} of {predicted} predicted rightly")
        self.total.show()

    # what was done -------------------------------------------------------------------------------

    def focus_first(self) -> None:
        """Put the keyboard where the prediction is made in the panel, else on its button."""
        for widget in (*self._options, self.number, self.show_answer_button, self.next, self.skip):
            if widget.isVisibleTo(self) and widget.isEnabled():
                widget.setFocus()
                return

    def predicted_number(self) -> int:
        """The number that was typed; -1 while it is none."""
        text = self.number.text().strip().lower().replace(",", "").replace(" ", "")
        factor = 1_000 if text.endswith("k") else 1
        try:
            value = float(text.removesuffix("k"))
        except ValueError:
            return -1
        return round(value * factor) if 0 <= value < 1e12 else -1

    def prediction(self) -> Prediction:
        """What was chosen or typed here."""
        chosen = frozenset(
            str(button.property("option")) for button in self._options if button.isChecked()
        )
        return Prediction(chosen=chosen, number=self.predicted_number())

    def _tell(self) -> None:
        predicted = self.prediction()
        is_number = self._step is not None and self._step.kind == "number"
        ready = predicted.number >= 0 if is_number else bool(predicted.chosen)
        self._let_answer(ready)

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            for button in (self.show_answer_button, self.next):
                if button.isVisible() and button.isEnabled():
                    button.click()
                    return
        super().keyPressEvent(event)
