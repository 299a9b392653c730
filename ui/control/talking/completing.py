"""What is offered while a command or the name of a file is typed."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from PySide6.QtCore import QObject

from explorer.agent.workspace import Walk, Workspace
from ui.agent.completion import Suggestion, Wanted
from ui.agent.completion_match import best
from ui.control.desk import Desk
from ui.control.slash_commands import SlashCommands
from ui.control.talking.folder import FolderControl

MOST_FILES = 50_000
FRESH_S = 4.0
"""Seconds for which a list of files is taken as it is."""
MOST_ARGUMENTS = 40
_KEYS = "↑ ↓ choose   Tab or Enter takes   Esc closes"
_NO_FOLDER = "Choose a folder for the agent to mention its files."


class CompletionControl(QObject):
    """Answers what the message box asks for; files are listed and matched in a thread, without what
    the project's ignore files name."""

    def __init__(self, desk: Desk, folder: FolderControl, commands: SlashCommands) -> None:
        super().__init__(desk)
        self._desk = desk
        self._folder = folder
        self._commands = commands
        self._completion = desk.window.agent.completion
        self._names: tuple[Path | None, float, list[str]] = (None, 0.0, [])
        self._latest: Wanted | None = None
        self._is_looking = False
        self._completion.asked.connect(self._asked)

    def _asked(self, wanted: Wanted) -> None:
        if wanted.kind == "command":
            self._offer_commands(wanted)
        elif wanted.kind == "argument":
            self._offer_arguments(wanted)
        else:
            self._latest = wanted
            if not self._is_looking:
                self._is_looking = True
                self._desk.tasks.start("Looking for files", self._look())

    def _offer_commands(self, wanted: Wanted) -> None:
        found = [
            Suggestion(command.name, command.sentence, command.usage)
            for command in self._commands.matching(wanted.typed)
        ]
        self._completion.show(wanted, found, _KEYS)

    def _offer_arguments(self, wanted: Wanted) -> None:
        command = next((c for c in self._commands if c.name == wanted.command), None)
        if command is None:
            self._completion.close()
            return
        typed = wanted.typed.casefold()
        offers = [o for o in command.offers() if typed in o.text.casefold()]
        if len(offers) == 1 and offers[0].text == wanted.typed:
            offers = []
        found = [Suggestion(offer.text, offer.note) for offer in offers[:MOST_ARGUMENTS]]
        self._completion.show(wanted, found, f"{command.usage}: {command.sentence}")

    # files ---------------------------------------------------------------------------------------

    async def _look(self) -> None:
        """Answer the latest question; one that is asked meanwhile is answered next."""
        try:
            while (wanted := self._latest) is not None:
                self._latest = None
                names = await self._listed()
                found = await asyncio.to_thread(
                    best, wanted.typed, names, cancelled=lambda: self._latest is not None
                )
                if self._latest is None:
                    words = _KEYS if self._folder.folder is not None else _NO_FOLDER
                    self._completion.show(wanted, [Suggestion(name) for name in found], words)
        finally:
            self._is_looking = False

    async def _listed(self) -> list[str]:
        """The files of the agent's folder, relative to it."""
        root = self._folder.folder
        of, at, names = self._names
        if root is None:
            return []
        if of != root or time.monotonic() - at > FRESH_S:
            names = await asyncio.to_thread(_files_below, root)
            self._names = (root, time.monotonic(), names)
        return names


def _files_below(root: Path) -> list[str]:
    workspace = Workspace(root)
    walk = Walk(workspace.root, workspace.root, most=MOST_FILES)
    return [workspace.shown(path) for path in walk.files()]
