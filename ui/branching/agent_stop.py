"""Asking whether the running agent is to be stopped, and waiting until it has."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QDialog, QLabel, QPushButton, QVBoxLayout, QWidget

from ui import theme
from ui.app_state import AppState
from ui.widgets.dialogs import fit
from ui.widgets.panels import push_button, row


class StopAgentDialog(QDialog):
    """Says what is under way and what stopping it means. Escape stays."""

    def __init__(self, under_way: str, then: str, parent: QWidget) -> None:
        """``then``: what is done once it is stopped, as the end of "Stop it and …"."""
        super().__init__(parent)
        self._then = then
        self.setWindowTitle("The agent is working")
        self.question = QLabel(under_way, self)
        self.question.setWordWrap(True)
        theme.bind_font(self.question, lambda: theme.ui_font(1, bold=True))
        self.facts = QLabel(
            "Stopped, it keeps what has arrived so far, marked as stopped. A tool that runs is "
            "ended, with everything that it started, and messages that wait come back into the "
            "box.",
            self,
        )
        self.facts.setWordWrap(True)
        theme.set_tone(self.facts, "dim")
        self.stay = QPushButton("S&tay", self)
        self.stay.setDefault(True)
        self.stay.clicked.connect(self.reject)
        self.go = push_button(f"&Stop it and {then}", self)
        self.go.clicked.connect(self.accept)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.S24, theme.S24, theme.S24, theme.S16)
        column.setSpacing(theme.S12)
        column.addWidget(self.question)
        column.addWidget(self.facts)
        column.addStretch(1)
        column.addLayout(row(1, self.go, self.stay))
        fit(self, 480, 190)
        self.stay.setFocus()

    def show_done(self) -> None:
        """The agent came to its end while the question stood."""
        self.question.setText("The agent is done.")
        self.facts.setText("Nothing needs to be stopped any more.")
        self.go.setText(f"{self._then[:1].upper()}{self._then[1:]}")


class AgentStop(QObject):
    """Moves of the leaf wait until the person has stopped the agent."""

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._state = state
        self.dialog: StopAgentDialog | None = None
        state.state_changed.connect(self._state_changed)
        state.document_changed.connect(self._other_document)

    def then(self, what: str, do: Callable[[], object]) -> None:
        """Call ``do`` when the agent stands still: at once, or when the person has stopped it.

        ``what``: what ``do`` is, as the end of "Stop it and …".
        """
        if not self._state.agent_running:
            do()
            return
        if self.dialog is not None:
            self.dialog.reject()
        dialog = StopAgentDialog(self._under_way(), what, self._state.window)
        self.dialog = dialog
        dialog.accepted.connect(lambda: self._state.tasks.start("Stopping", self._stop(do)))
        dialog.finished.connect(lambda _result: self._closed(dialog))
        dialog.open()

    def _under_way(self) -> str:
        doing = self._state.window.agent.activity.strip().rstrip("….")
        if not doing.split(" ", 1)[0].endswith("ing"):
            doing = f"working: {doing}" if doing else "working"
        return f"The agent ({self._state.agent_model()}) is {doing}."

    def _closed(self, dialog: StopAgentDialog) -> None:
        if self.dialog is dialog:
            self.dialog = None
        dialog.deleteLater()

    async def _stop(self, do: Callable[[], object]) -> None:
        """Stop it, and wait for its last entry: what was there is stored before anything moves."""
        state, document = self._state, self._state.document
        if state.agent_running:
            still = asyncio.Event()

            def look() -> None:
                if not state.agent_running:
                    still.set()

            state.state_changed.connect(look)
            try:
                state.window.agent.stop_requested.emit()
                look()
                await still.wait()
            finally:
                state.state_changed.disconnect(look)
            # Whoever ran the turn has a last word after it.
            await asyncio.sleep(0)
        if state.document is document:
            do()

    def _state_changed(self) -> None:
        if self.dialog is not None and not self._state.agent_running:
            self.dialog.show_done()

    def _other_document(self) -> None:
        if self.dialog is not None:
            self.dialog.reject()
