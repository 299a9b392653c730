"""Going on with a session in its own agent: the command, copied or run in a terminal."""

from __future__ import annotations

import shutil
import sys

from PySide6.QtCore import QObject, QProcess
from PySide6.QtGui import QGuiApplication

from explorer.services.resume_command import ResumeCommand, resume_command, terminal_command
from ui.actions import SESSION, ActionSpec, MenuEntry
from ui.app_state import AppState

TERMINAL = "sessions.terminal"
ACTIONS = ("copy_resume", "run_resume")


class ResumeController(QObject):
    """Offers the command of the session that is shown."""

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._state = state

    @property
    def command(self) -> ResumeCommand | None:
        """What goes on with the session shown; None where its agent has no such command."""
        document = self._state.document
        return resume_command(document.header) if document is not None else None

    def actions(self) -> list[MenuEntry]:
        """What is done with the command."""
        return [
            (ActionSpec("copy_resume", "Copy the command to res&ume",
                        "The command by which the session's own agent goes on with it",
                        SESSION, separator=True), self.copy),
            (ActionSpec("run_resume", "Resume in a &terminal",
                        "Go on with the session in its own agent, in a terminal", SESSION),
             self.run),
        ]  # fmt: skip

    def copy(self) -> None:
        """Put the command on the clipboard."""
        if (command := self.command) is not None:
            QGuiApplication.clipboard().setText(command.line(sys.platform == "win32"))
            self._state.say(f"Copied: {command.line(sys.platform == 'win32')}")

    def run(self) -> None:
        """Open a terminal that runs the command."""
        command = self.command
        if command is None:
            return
        line = command.line(sys.platform == "win32")
        chosen = str(self._state.values.get(TERMINAL) or "")
        arguments = terminal_command(line, sys.platform, chosen, shutil.which)
        if not arguments or not QProcess.startDetached(arguments[0], list(arguments[1:]))[0]:
            self._state.notice(
                "error",
                f"{arguments[0]} could not be started." if arguments else "No terminal was found.",
                f"The command is: {line}",
                "Name a terminal in Settings, Sessions, or run the copied command in one.",
            )
            QGuiApplication.clipboard().setText(line)
            return
        self._state.say(f"{command.agent} goes on in a terminal.")
