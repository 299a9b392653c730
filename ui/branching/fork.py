"""Forking a session at an entry: the question, and the new session."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from explorer.services.document import Document
from explorer.services.session_forks import plan_fork
from explorer.store.rows import ImportCancelled, StoreError
from ui import theme
from ui.app_state import (
    AppState,
)
from ui.branching.agent_stop import AgentStop
from ui.branching.related import RelatedSessionsController
from ui.library.controller import (
    SessionsController,
)
from ui.widgets.dialogs import fit
from ui.widgets.figures import count, place
from ui.widgets.panels import push_button, row

PATH, WHOLE = range(2)


class ForkDialog(QDialog):
    """Asks for the name and extent of a fork; makes none itself."""

    fork_chosen = Signal(bool, str)
    """(all branches, name)"""

    def __init__(
        self, where: str, on_path: int, in_all: int, notes: list[str], name: str, parent: QWidget
    ) -> None:
        """``where``: the entry that the fork goes on from; ``on_path`` and ``in_all``: how many
        entries are taken either way; ``notes``: what a fork of the path leaves behind."""
        super().__init__(parent)
        self.setWindowTitle("Fork to a new session")
        self.question = QLabel(f"A new session that goes on from {where}", self)
        self.question.setWordWrap(True)
        theme.bind_font(self.question, lambda: theme.ui_font(1, bold=True))
        facts = QLabel(
            "Every entry keeps its id and stays as it is; this session is not changed. Drafts and "
            "what stands in the message box are not copied.",
            self,
        )
        facts.setWordWrap(True)
        theme.set_tone(facts, "dim")
        self.choices = QButtonGroup(self)
        path = QRadioButton(f"Only the &path to it ({count(on_path, 'entry', 'entries')})", self)
        whole = QRadioButton(f"&All branches ({count(in_all, 'entry', 'entries')})", self)
        self.choices.addButton(path, PATH)
        self.choices.addButton(whole, WHOLE)
        path.setChecked(True)
        self.notes = QLabel("\n".join(notes), self)
        self.notes.setWordWrap(True)
        theme.set_tone(self.notes, "comp")
        self.notes.setVisible(bool(notes))
        path.toggled.connect(lambda on: self.notes.setVisible(on and bool(notes)))
        self.name = QLineEdit(name, self)
        self.name.setAccessibleName("Name of the fork")
        self.name.setPlaceholderText("as its first message")
        self.name.selectAll()
        label = QLabel("&Name", self)
        label.setBuddy(self.name)
        self.fork = QPushButton("&Fork", self)
        self.fork.setDefault(True)
        self.fork.setProperty("kind", "primary")
        self.fork.clicked.connect(self._fork)
        cancel = push_button("Cancel", self)
        cancel.clicked.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.S24, theme.S24, theme.S24, theme.S16)
        column.setSpacing(theme.S12)
        for part in (self.question, facts, path, whole, self.notes):
            column.addWidget(part)
        column.addLayout(row(label, self.name))
        column.addStretch(1)
        column.addLayout(row(1, cancel, self.fork))
        fit(self, 520, 270)
        path.setFocus()

    def _fork(self) -> None:
        self.fork_chosen.emit(self.choices.checkedId() == WHOLE, self.name.text().strip())
        self.accept()


class ForkController(QObject):
    """The fork is stored whole or not at all, and then opened."""

    def __init__(
        self,
        state: AppState,
        sessions: SessionsController,
        agent_stop: AgentStop,
        related: RelatedSessionsController,
    ) -> None:
        super().__init__(state)
        self._state, self._sessions, self._agent_stop = state, sessions, agent_stop
        self._related = related
        self.dialog: ForkDialog | None = None
        state.document_changed.connect(self._close)

    def _close(self) -> None:
        if self.dialog is not None:
            self.dialog.reject()

    def ask(self, entry: int) -> None:
        """Ask what to fork at an entry, by default the leaf."""
        self._state.tasks.start("Forking", self._ask(entry))

    async def _ask(self, entry: int) -> None:
        document = self._state.document
        if document is None:
            return
        at = entry if entry >= 0 else document.leaf
        if at < 0:
            self._state.say("There is no entry to fork at yet.")
            return
        plan = await asyncio.to_thread(plan_fork, document.tree, at)
        if self._state.document is not document or self.dialog is not None:
            return
        where = f"{place(at)}, the leaf" if at == document.leaf else place(at)
        dialog = ForkDialog(
            where, plan.count, len(document.tree), plan.notes(), f"{document.title} (fork)",
            self._state.window,
        )  # fmt: skip
        self.dialog = dialog
        dialog.fork_chosen.connect(
            lambda whole, name: self._agent_stop.then(
                "fork", lambda: self._start(document, at, whole, name)
            )
        )
        dialog.finished.connect(lambda _result: self._closed(dialog))
        dialog.open()

    def _closed(self, dialog: ForkDialog) -> None:
        if self.dialog is dialog:
            self.dialog = None
        dialog.deleteLater()

    def _start(self, document: Document, at: int, whole: bool, name: str) -> None:
        self._state.tasks.start("Forking", self.fork_now(document, at, whole, name))

    async def fork_now(self, document: Document, at: int, whole: bool, name: str) -> None:
        """Store the fork in a thread, with progress and a way to cancel, and open it."""
        bench = self._state.bench
        if bench is None:
            return
        loop = asyncio.get_running_loop()
        task = self._state.window.progress.begin("Forking the session")

        def progress(done: int, total: int) -> None:
            loop.call_soon_threadsafe(task.update, done, total)

        try:
            forked = await bench.fork(
                document.key, at, whole, name, progress, lambda: task.cancelled
            )
        except ImportCancelled:
            self._state.say("The fork was cancelled; nothing of it was kept.")
            return
        except (StoreError, ValueError) as error:
            self._state.notice(
                "error", f"Nothing was forked. {error}", "This session is as it was."
            )
            return
        finally:
            task.end()
        await self._sessions.open_now(forked.key)
        self._state.notice(
            "info",
            f"This is a fork of “{document.title}” at {place(at)}.",
            " ".join(forked.notes),
            action="Back to its origin",
            on_action=self._related.go_to_parent,
        )
