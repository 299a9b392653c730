"""Moving the leaf to another entry, with the dialog about the branch that is left behind."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject, Qt, Signal
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
    QWidget,
)

from explorer.compaction.branch_summaries import BranchPreparation
from explorer.models.client import Cancelled, CancelToken
from explorer.services.document import Document
from explorer.services.draft_records import Draft, DraftFailed, SummaryOrder
from explorer.services.edits import CannotShape
from explorer.services.navigation import Leaving, NavigationPlan
from explorer.session.context import latest_on_path
from explorer.session.kinds import Kind
from explorer.store.rows import StoreError
from ui import theme
from ui.app_state import AppState
from ui.branching.agent_stop import AgentStop
from ui.branching.changed_files import ChangedFilesController, ChangedFilesLine
from ui.branching.new_version import (
    NewVersionController,
    decoded,
)
from ui.widgets.dialogs import fit, grow
from ui.widgets.figures import count
from ui.widgets.instructions_note import InstructionsNote
from ui.widgets.model_box import ModelBox
from ui.widgets.panels import column_in, push_button

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
        layout = column_in(self, margins=(theme.S24, theme.S24, theme.S24, theme.S16))
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
        layout = column_in(page, theme.S12)
        self.question = title = QLabel(question, page)
        title.setFont(theme.ui_font(1, bold=True))
        title.setWordWrap(True)
        note = QLabel(facts, page)
        theme.set_tone(note, "dim")
        note.setWordWrap(True)
        self.files = ChangedFilesLine(page, is_strip=False)
        layout.addWidget(title)
        layout.addWidget(note)
        layout.addWidget(self.files)
        self.choices = QButtonGroup(self)
        for number, text in enumerate(
            ("&No summary", "&Summarize the abandoned branch", "Summarize with &instructions")
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
        self.note = InstructionsNote(
            self.instructions, lambda: str(self.models.currentData()), page
        )
        self.models.currentIndexChanged.connect(self.note.refresh)
        layout.addWidget(self.note)
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
        self.note.refresh()
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
        layout = column_in(page)
        layout.addWidget(QLabel("Summarizing the branch… the leaf has not moved.", page))
        self.stream = QPlainTextEdit(page)
        self.stream.setReadOnly(True)
        self.stream.setAccessibleName("Branch summary as it arrives")
        layout.addWidget(self.stream, 1)
        layout.addLayout(self._buttons())
        self.pages.addWidget(page)

    def feed(self, text: str) -> None:
        """Append a piece of the summary."""
        self.stream.moveCursor(self.stream.textCursor().MoveOperation.End)
        self.stream.insertPlainText(text)

    def _store_page(self) -> None:
        page = QWidget(self)
        layout = column_in(page)
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
        """Show the complete summary; it is stored only when accepted here."""
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
        cancel = push_button("Cancel", self)
        cancel.clicked.connect(self.reject)
        row.addWidget(cancel)
        for button in primary:
            button.setProperty("kind", "primary")
            row.addWidget(button)
        return row


class NavigationController(QObject):
    """The leaf moves only when everything that was asked for has worked."""

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._state = state
        self.dialog: LeavingDialog | None = None
        self.agent_stop = AgentStop(state)
        self.files = ChangedFilesController(state)
        self.new_version = NewVersionController(state)
        state.opened.connect(self.new_version.ready)

    def go_to(self, target: int) -> None:
        """Point at an entry (-1: before the first) and go there; an agent that works is stopped
        first, if the person says so."""
        if self._state.refuses():
            return
        self.agent_stop.then(
            "go there", lambda: self._state.tasks.start("Going there", self._go_to(target))
        )

    async def _go_to(self, target: int) -> None:
        document = self._state.document
        if document is None:
            return
        plan = document.navigation.plan(target)
        if plan.is_noop:
            self._state.say("This entry is the leaf already.")
        elif not plan.leaves_branch or self._state.profile.branch_summaries == "off":
            await self._finish(plan, None, None)
        else:
            self._ask(plan)

    def message_of(self, entry: int) -> int:
        """The message of the person that an entry belongs to: itself, or the one that began its
        turn; -1 for none."""
        document = self._state.document
        if document is None or not 0 <= entry < len(document.tree):
            return -1
        path = document.tree.path(entry)
        at = latest_on_path(document.tree, path, Kind.USER)
        return path[at] if at >= 0 else -1

    def edit_again(self, entry: int) -> None:
        """Write the message of a turn anew: its parent becomes the leaf, and what is sent then
        goes beside it as a separate branch. Nobody is asked: cancelling goes all the way back."""
        if self._state.refuses():
            return
        message = self.message_of(entry)
        if message < 0:
            self._state.say("There is no message of yours here to edit.")
            return
        self.agent_stop.then(
            "edit the message",
            lambda: self._state.tasks.start("Editing the message", self._edit_again(message)),
        )

    async def _edit_again(self, message: int) -> None:
        document = self._state.document
        if document is None:
            return
        if self.new_version.entry == message:
            self._state.window.agent.focus_composer()
            return
        plan = document.navigation.plan(message, anew=True)
        prepared = document.branches.preparation(plan, self._state.profile, self._state.settings)
        await self._leave_plainly(plan, prepared)

    def summarize_from(self, entry: int) -> None:
        """Tell all from an entry on by a summary in its place, once the person has seen it."""
        if self._state.refuses():
            return
        self.agent_stop.then("summarize from there", lambda: self._summarize_from(entry))

    def _summarize_from(self, entry: int) -> None:
        document = self._state.document
        if document is None:
            return
        try:
            plan = document.navigation.plan_from(entry, self._state.profile)
        except CannotShape as error:
            self._state.say(str(error))
            return
        self._ask(plan)

    def _ask(self, plan: NavigationPlan, proposed: Leaving | None = None) -> None:
        """Ask what is to become of the branch. ``proposed``: an extension asks for a summary, of
        a person who wanted none."""
        document = self._state.document
        assert document is not None
        prepared = document.branches.preparation(plan, self._state.profile, self._state.settings)
        left = count(len(plan.left_behind), "entry", "entries")
        question = f"You leave {left} of this branch behind."
        if proposed is not None:
            who = proposed.outcome.summarize_by
            question = f"The extension {who} asks for a summary of this branch. {question}"
        tokens = sum(map(document.tokens.entry_tokens, plan.left_behind))
        facts = (
            f"About {tokens:,} tokens since #{plan.left_behind[0]}. They stay in the session and "
            "can be gone to again; the model no longer sees them unless a summary is stored where "
            f"you go. It would be made of {count(len(prepared.messages), 'message')}: of what was "
            "said and called, not of what tools answered."
        )
        if plan.keeps_shape:
            start = plan.left_behind[0]
            question = f"Summarize from #{start} on: {left}, about {tokens:,} tokens."
            facts = (
                f"Everything before #{start} stays word for word. What follows is covered by a"
                f" summary in its place, made of {count(len(prepared.messages), 'message')}: of"
                " what was said and called, not of what tools answered. It is stored as a branch"
                " summary, so pi and oh-my-pi follow it too; the model reads that it came back"
                " from a branch. All of it stays in the session: go to its last entry to have it"
                " back."
            )
        dialog = LeavingDialog(
            question,
            facts,
            self._state.models("summary"),
            self._state.summary_models()[0],
            self._state.window,
        )
        self.dialog = dialog
        if plan.keeps_shape:
            dialog.of_a_range()
        if proposed is not None:
            dialog.choices.button(SUMMARIZE).setChecked(True)
        session = _Leaving(self._state, self, plan, prepared, dialog, proposed)
        dialog.finished.connect(session.closed)
        dialog.open()
        self.files.ask_about(document, plan, dialog.files)
        if self._state.profile.branch_summaries == "on" and not plan.keeps_shape:
            dialog.summarize_at_once()

    async def _leave_plainly(self, plan: NavigationPlan, prepared: BranchPreparation) -> None:
        """Go without a summary, unless an extension asks for one: then the person is asked."""
        document = self._state.document
        if document is None:
            return
        try:
            asked = await document.navigation.before_leaving(plan, False, prepared=prepared)
        except ValueError as error:
            self._state.notice("error", str(error), "The leaf has not moved.")
            return
        if asked.outcome.summarize:
            self._ask(plan, asked)
        else:
            await self._finish(plan, None, None, asked)

    async def _finish(
        self,
        plan: NavigationPlan,
        draft: Draft | None,
        text: str | None,
        asked: Leaving | None = None,
    ) -> None:
        document = self._state.document
        if document is None:
            return
        try:
            leaf = await document.navigation.navigate(plan, draft, text, asked)
        except (ValueError, StoreError) as error:
            self._state.notice("error", str(error), "The leaf has not moved.")
            return
        if plan.writes_anew:
            await self._write_anew(document, plan)
        elif plan.seen_leaf not in (leaf, -1) and document.tree.kind(plan.seen_leaf) != Kind.USER:
            self._state.say(f"The leaf was #{plan.seen_leaf}: Enter on that entry goes back to it.")
        self._state.select(leaf if leaf >= 0 else plan.target)
        await self.files.left(document, plan)

    async def _write_anew(self, document: Document, plan: NavigationPlan) -> None:
        pictures, refused = await asyncio.to_thread(decoded, plan.pictures)
        if self._state.document is not document:
            return
        self.new_version.begin(document, plan, pictures, plan.seen_leaf)
        if refused:
            self._state.notice(
                "warning", f"Not all pictures of the message are in the box: {'; '.join(refused)}.",
                "The message itself still has them.",
            )  # fmt: skip
        self._state.say("The message is in the box below, to be written anew.")


class _Leaving(QObject):
    """One run of the question: what was chosen, and the summary that is being made."""

    def __init__(
        self,
        state: AppState,
        control: NavigationController,
        plan: NavigationPlan,
        prepared: BranchPreparation,
        dialog: LeavingDialog,
        proposed: Leaving | None,
    ) -> None:
        super().__init__(dialog)
        self._state, self._control, self._plan = state, control, plan
        self._prepared, self._dialog = prepared, dialog
        self._cancel = CancelToken()
        self._draft: Draft | None = None
        self._proposed = proposed
        dialog.plain_chosen.connect(lambda: self._finish(None))
        dialog.summary_chosen.connect(self._summarize)
        dialog.store_chosen.connect(self._finish)

    def _finish(self, text: str | None) -> None:
        control, plan = self._control, self._plan
        if text is None and self._proposed is None:
            work = control._leave_plainly(plan, self._prepared)
        else:
            draft = self._draft if text is not None else None
            work = control._finish(plan, draft, text, self._proposed)
        self._state.tasks.start("Going there", work)

    def _summarize(self, instructions: str, model: str) -> None:
        self._cancel = CancelToken()
        self._state.tasks.start("The branch summary", self._run(instructions, model))

    async def _run(self, instructions: str, model: str) -> None:
        document = self._state.document
        if document is None:
            return
        order = SummaryOrder(
            instructions,
            model,
            lambda _purpose, piece: self._dialog.feed(piece),
            self._cancel,
            fallbacks=self._state.after(model),
            on_restart=lambda _purpose: self._dialog.stream.clear(),
        )
        try:
            draft = await document.branches.summarize(self._plan, self._prepared, order)
        except Cancelled:
            self._state.say("Cancelled; the leaf has not moved.")
            return
        except (DraftFailed, StoreError, ValueError) as error:
            self._dialog.show_failure(str(error))
            return
        self._draft = draft
        size = document.tokens.count_text(draft.summary, self._state.profile)
        self._dialog.show_summary(
            draft.summary,
            f"This is what the new branch will see, about {size:,} tokens by {draft.model}. "
            "Change what you like; it is stored when you go.",
        )

    def closed(self) -> None:
        """The dialog is gone, by Escape too: stop what still runs."""
        self._cancel.cancel()
        self._control.dialog = None
        self._dialog.deleteLater()
