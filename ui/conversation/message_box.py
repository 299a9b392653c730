"""What the message box holds and offers: unsent text, history, pictures and files, completions."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtGui import QImage

from explorer.agent.turn_interface import UserPrompt
from explorer.agent.workspace import (
    Walk,
    Workspace,
)
from explorer.models.request import ImagePart
from explorer.services.changes import LeafMoved
from explorer.services.document import Document
from explorer.session.kinds import Kind, selector
from ui.app_state import AppState
from ui.conversation.attachments import (
    Attachment,
    AttachmentRefused,
    from_bytes,
    from_file,
    from_image,
    is_picture,
)
from ui.conversation.completion import Suggestion, Wanted, best, mention
from ui.conversation.slash_commands import SlashCommands
from ui.conversation.workspace import FolderController
from ui.shell.dialogs import choose_files
from ui.widgets.figures import count

UNSENT = "unsent"
"""Under which a session keeps what was written and not sent."""
MOST_HISTORY = 50
_USER = selector(frozenset({Kind.USER}))


class HistoryController(QObject):
    """Unsent words go with their session; history is the path's messages and what was sent."""

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._state = state
        self._shown: Document | None = None
        self._sent: dict[int, list[str]] = {}
        """What was sent from the box since the window was opened, by session: commands, and
        messages of other branches too."""
        self._chips, self._composer = state.window.agent.chips, state.window.agent.composer
        state.bus.on_shown(LeafMoved, self._leaf_moved)

    def remember(self, text: str) -> None:
        """Add a sent text to the history."""
        document = self._state.document
        if document is None or not text:
            return
        sent = self._sent.setdefault(document.key, [])
        if text in sent:
            sent.remove(text)
        sent.append(text)
        del sent[:-MOST_HISTORY]

    def keep_unsent(self) -> None:
        """Store the composer's text with the session that it was written in."""
        if self._shown is not None:
            text = self._composer.toPlainText()
            self._shown.choices.set(UNSENT, text or None)

    def document_changed(self) -> bool:
        """Put what was not sent into the box; whether another session is shown."""
        document = self._state.document
        if self._shown is document:
            return False
        self.keep_unsent()
        self._shown = document
        self._chips.clear()
        unsent = document.choices.all().get(UNSENT) if document is not None else ""
        self._composer.setPlainText(unsent if isinstance(unsent, str) else "")
        return True

    def put_back(self, document: Document, prompts: Sequence[UserPrompt]) -> None:
        """Texts that the agent did not get return to the box of their session."""
        text = "\n\n".join(prompt.text for prompt in prompts if prompt.text)
        if document is self._state.document:
            self._composer.put_back(text)
        elif text:
            stored = document.choices.all().get(UNSENT)
            document.choices.set(UNSENT, f"{text}\n\n{stored}" if isinstance(stored, str) else text)

    def _leaf_moved(self, change: LeafMoved) -> None:
        """A leaf that only grew by an entry leaves the messages above it as they were."""
        document = self._state.document
        assert document is not None
        if change.new < 0 or document.tree.columns.parent[change.new] != change.old:
            self.fill()

    def fill(self) -> None:
        """What was asked on the path, and sent here, can be called back into the box."""
        document = self._state.document
        if document is None:
            return
        columns = document.tree.columns
        asked = document.tree.path(document.leaf).select(columns.kind, _USER)[-MOST_HISTORY:]
        texts = [entry.text for entry in document.payloads.stored.entries(asked)]
        sent = self._sent.get(document.key, [])
        path = [text for text in texts if text and text not in sent]
        self._composer.set_history([*path, *sent])


SESSIONS = ".jsonl"
MOST_PICTURES = 20
"""Pictures in one message; providers take no more of them."""


class AttachmentController(QObject):
    """Pictures become chips; files of the agent's folder become mentions."""

    def __init__(self, state: AppState, folder: FolderController) -> None:
        super().__init__(state)
        self._state = state
        self._folder = folder
        self._pasted = 0
        self._one_by_one = asyncio.Lock()
        """Pictures come in the order in which they were given."""
        self._chips, self._composer = state.window.agent.chips, state.window.agent.composer
        self._composer.picture_given.connect(self._picture)
        self._composer.files_given.connect(self.take_files)
        self._chips.changed.connect(self.show_warning)

    # pictures ------------------------------------------------------------------------------------

    def _picture(self, image: QImage) -> None:
        self._pasted += 1
        name = f"pasted {self._pasted}"
        self._add(name, lambda: from_image(image, name))

    def take_back(self, parts: Sequence[ImagePart]) -> None:
        """Pictures of messages that the agent did not get are chips again."""
        for at, part in enumerate(parts, 1):
            self._add(f"picture {at}", _decoder(part, f"picture {at}"))

    def _add(self, name: str, make: Callable[[], Attachment]) -> None:
        self._state.tasks.start("Adding a picture", self._adding(name, make))

    async def _adding(self, name: str, make: Callable[[], Attachment]) -> None:
        document, chips = self._state.document, self._chips
        try:
            async with self._one_by_one:
                made = await asyncio.to_thread(make)
        except AttachmentRefused as error:
            self._state.notice("warning", f"{error}.", "Nothing was added to the message.")
            return
        except OSError as error:
            why = error.strerror or str(error)
            self._state.notice("warning", f"{name}: {why}.", "Nothing was added to the message.")
            return
        if self._state.document is not document or document is None:
            return
        if len(chips.attachments) >= MOST_PICTURES:
            self._state.say(f"A message takes {MOST_PICTURES} pictures at most.")
            return
        chips.add(made)

    # what the model takes ------------------------------------------------------------------------

    @property
    def model_is_blind(self) -> bool:
        """Whether it is known that the chosen model takes no pictures."""
        if self._state.bench is None:
            return False
        return self._state.bench.client.info(self._state.agent_model()).images is False

    def show_warning(self) -> None:
        """Tell beside the pictures that the chosen model does not take them."""
        chips = self._chips
        if chips.attachments and self.model_is_blind:
            model = self._state.agent_model()
            chips.set_warning(
                f"{model} takes no pictures. Choose a model that does, or remove them."
            )
        else:
            chips.set_warning("")

    # files ---------------------------------------------------------------------------------------

    def look_for(self) -> None:
        """Choose files in a dialog."""
        folder = self._folder.folder
        choose_files(
            self._state.window,
            "Pictures, or files of the agent's folder",
            self.take_files,
            start="" if folder is None else str(folder),
        )

    def take_files(self, names: Sequence[str]) -> None:
        """Put files into the message: pictures as such, others as a mention of their path."""
        root = self._folder.folder
        outside: list[str] = []
        sessions: list[str] = []
        composer = self._state.window.agent.composer
        for path in (Path(name) for name in names):
            relative = _relative_to(path, root)
            if is_picture(path):
                self._add(path.name, _file_reader(path))
            elif relative:
                composer.insert_word(mention(relative))
            elif path.suffix == SESSIONS:
                sessions.append(str(path))
            else:
                outside.append(path.name)
        if sessions:
            # As everywhere else in the window a session's file is one to import.
            self._state.window.files_dropped.emit(sessions)
        if outside:
            self._tell_outside(outside, root)
        composer.setFocus()

    def _tell_outside(self, names: list[str], root: Path | None) -> None:
        named = names[0] if len(names) == 1 else count(len(names), "file")
        lies, reads = ("is", "it") if len(names) == 1 else ("are", "them")
        if root is None:
            what = f"No folder is chosen for the agent, so it cannot read {named}."
            todo = "Choose the folder that it lies in below the message box."
        else:
            what = f"{named} {lies} outside of {root}, so the agent cannot read {reads}."
            todo = "Copy it there, choose another folder, or paste the text."
        self._state.notice("warning", what, "Nothing was added to the message.", todo)


def _relative_to(path: Path, root: Path | None) -> str:
    """The path below the agent's folder; empty where it does not lie there."""
    if root is None:
        return ""
    full, top = path.resolve(), root.resolve()
    return full.relative_to(top).as_posix() if full.is_relative_to(top) and full != top else ""


def _file_reader(path: Path) -> Callable[[], Attachment]:
    return lambda: from_file(path)


def _decoder(part: ImagePart, name: str) -> Callable[[], Attachment]:
    return lambda: from_bytes(base64.b64decode(part.data_base64), name)


MOST_FILES = 50_000
FRESH_S = 4.0
"""Seconds for which a list of files is taken as it is."""
MOST_ARGUMENTS = 40
_KEYS = "↑ ↓ choose   Tab or Enter takes   Esc closes"
_NO_FOLDER = "Choose a folder for the agent to mention its files."


class CompletionController(QObject):
    """Answers what the message box asks for; files are listed and matched in a thread, without what
    the project's ignore files name."""

    def __init__(self, state: AppState, folder: FolderController, commands: SlashCommands) -> None:
        super().__init__(state)
        self._state = state
        self._folder = folder
        self._commands = commands
        self._completion = state.window.agent.completion
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
                self._state.tasks.start("Looking for files", self._look())

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
