"""The question asked when a navigation leaves a branch behind, and the summary before it is stored.

The leaf only moves when the last page is accepted. Escape, at any page, changes nothing (A37).
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from ui import theme
from ui.widgets.dialogs import fit, grow
from ui.widgets.model_box import ModelBox

NO_SUMMARY, SUMMARIZE, WITH_INSTRUCTIONS = range(3)


class LeavingDialog(QDialog):
    """Three pages: the question, the summary as it streams in, the summary to be stored."""

    plain_chosen = Signal()
    summary_chosen = Signal(str, str)
    """(instructions, model)"""
    store_chosen = Signal(str)
    """The summary as edited."""

    def __init__(
        self, question: str, facts: str, models: list[tuple[str, str]], model: str, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Leave this branch")
        self.pages = QStackedWidget(self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.S24, theme.S24, theme.S24, theme.S16)
        layout.addWidget(self.pages)
        self._ask_page(question, facts, models, model)
        self._stream_page()
        self._store_page()
        fit(self, 560, 330)

    # the question --------------------------------------------------------------------------------

    def _ask_page(
        self, question: str, facts: str, models: list[tuple[str, str]], model: str
    ) -> None:
        page = QWidget(self)
        layout = QVBoxLayout(page)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.S12)
        self.question = title = QLabel(question, page)
        title.setFont(theme.ui_font(1, bold=True))
        title.setWordWrap(True)
        note = QLabel(facts, page)
        theme.set_tone(note, "dim")
        note.setWordWrap(True)
        layout.addWidget(title)
        layout.addWidget(note)
        self.choices = QButtonGroup(self)
        for number, text in enumerate(
            ("&No summary", "&Summarize what is left behind", "Summarize with &instructions")
        ):
            button = QRadioButton(text, page)
            self.choices.addButton(button, number)
            layout.addWidget(button)
        self.choices.button(NO_SUMMARY).setChecked(True)
        self.choices.idToggled.connect(lambda _id, _on: self._choice_changed())
        self.instructions = QPlainTextEdit(page)
        self.instructions.setAccessibleName("Instructions for the branch summary")
        self.instructions.setPlaceholderText("What the summary should dwell on")
        self.instructions.setTabChangesFocus(True)
        self.instructions.setMaximumHeight(theme.scaled(90))
        self.instructions.setToolTip("Ctrl+Enter summarizes")
        enter = QShortcut(QKeySequence("Ctrl+Return"), self.instructions)
        enter.setContext(Qt.ShortcutContext.WidgetShortcut)
        enter.activated.connect(self._go)
        layout.addWidget(self.instructions)
        self.models = ModelBox(page)
        self.models.setAccessibleName("Model that summarizes")
        self.models.set_models(models, model)
        layout.addWidget(self.models)
        layout.addStretch(1)
        self.go = QPushButton("Go there", page)
        self.go.setDefault(True)
        self.go.clicked.connect(self._go)
        layout.addLayout(self._buttons(self.go))
        self.pages.addWidget(page)
        self._choice_changed()

    def of_a_range(self) -> None:
        """Ask about a summary in place of the end of the path: going without one is no choice."""
        self.setWindowTitle("Summarize from here")
        self.choices.button(NO_SUMMARY).hide()
        self.choices.button(SUMMARIZE).setText("&Summarize it")
        self.choices.button(SUMMARIZE).setChecked(True)
        self.store.setText("Store and go on from there")

    def summarize_at_once(self) -> None:
        """Pass over the question: what is left behind is summarized, and shown as ever."""
        self.choices.button(SUMMARIZE).setChecked(True)
        self._go()

    def _choice_changed(self) -> None:
        choice = self.choices.checkedId()
        self.instructions.setVisible(choice == WITH_INSTRUCTIONS)
        self.models.setVisible(choice != NO_SUMMARY)
        self.go.setText("Go there" if choice == NO_SUMMARY else "Summarize")
        if choice == WITH_INSTRUCTIONS:
            grow(self, 0, 420)
            self.instructions.setFocus()

    def _go(self) -> None:
        choice = self.choices.checkedId()
        if choice == NO_SUMMARY:
            self.plain_chosen.emit()
            self.accept()
            return
        words = self.instructions.toPlainText().strip() if choice == WITH_INSTRUCTIONS else ""
        self.stream.clear()
        grow(self, 600, 460)
        self.pages.setCurrentIndex(1)
        self.summary_chosen.emit(words, str(self.models.currentData()))

    # the summary ---------------------------------------------------------------------------------

    def _stream_page(self) -> None:
        page = QWidget(self)
        layout = QVBoxLayout(page)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(QLabel("Summarizing the branch… the leaf has not moved.", page))
        self.stream = QPlainTextEdit(page)
        self.stream.setReadOnly(True)
        self.stream.setAccessibleName("Branch summary as it arrives")
        layout.addWidget(self.stream, 1)
        layout.addLayout(self._buttons())
        self.pages.addWidget(page)

    def feed(self, text: str) -> None:
        """The next piece of the summary."""
        self.stream.moveCursor(self.stream.textCursor().MoveOperation.End)
        self.stream.insertPlainText(text)

    def _store_page(self) -> None:
        page = QWidget(self)
        layout = QVBoxLayout(page)
        layout.setContentsMargins(0, 0, 0, 0)
        self.outcome = QLabel(page)
        self.outcome.setWordWrap(True)
        self.summary = QPlainTextEdit(page)
        self.summary.setAccessibleName("Branch summary, editable")
        self.summary.setTabChangesFocus(True)
        layout.addWidget(self.outcome)
        layout.addWidget(self.summary, 1)
        self.store = QPushButton("Store and go there", page)
        self.store.clicked.connect(self._store)
        layout.addLayout(self._buttons(self.store))
        self.pages.addWidget(page)

    def show_summary(self, text: str, outcome: str) -> None:
        """The summary is complete; it is stored only when accepted here."""
        self.outcome.setText(outcome)
        self.summary.setPlainText(text)
        self.pages.setCurrentIndex(2)
        self.store.setDefault(True)
        self.summary.setFocus()

    def show_failure(self, message: str) -> None:
        """Back to the question, with what went wrong above it."""
        self.pages.setCurrentIndex(0)
        self.question.setText(f"{message} The leaf has not moved.")

    def _store(self) -> None:
        text = self.summary.toPlainText()
        if text.strip():
            self.store_chosen.emit(text)
            self.accept()
        else:
            self.outcome.setText("An empty summary cannot be stored.")

    def _buttons(self, *primary: QPushButton) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addStretch(1)
        cancel = QPushButton("Cancel", self)
        cancel.setAutoDefault(False)
        cancel.clicked.connect(self.reject)
        row.addWidget(cancel)
        for button in primary:
            button.setProperty("kind", "primary")
            row.addWidget(button)
        return row
