"""Pictures and files that a person puts into the message."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog

from explorer.models.request import ImagePart
from ui.agent.completion import mention
from ui.agent.composer_pictures import (
    Attachment,
    PictureRefused,
    from_bytes,
    from_file,
    from_image,
    is_picture,
)
from ui.control.desk import Desk
from ui.control.talking.folder import FolderControl
from ui.widgets.figures import count

SESSIONS = ".jsonl"
MOST_PICTURES = 20
"""Pictures in one message; providers take no more of them."""


class AttachControl(QObject):
    """Pictures become chips; files of the agent's folder become mentions."""

    def __init__(self, desk: Desk, folder: FolderControl) -> None:
        super().__init__(desk)
        self._desk = desk
        self._folder = folder
        self._pasted = 0
        self._one_by_one = asyncio.Lock()
        """Pictures come in the order in which they were given."""
        pane = desk.window.agent
        pane.composer.picture_given.connect(self._picture)
        pane.composer.files_given.connect(self.take_files)
        pane.chips.changed.connect(self.show_warning)

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
        self._desk.tasks.start("Adding a picture", self._adding(name, make))

    async def _adding(self, name: str, make: Callable[[], Attachment]) -> None:
        document, chips = self._desk.document, self._desk.window.agent.chips
        try:
            async with self._one_by_one:
                made = await asyncio.to_thread(make)
        except PictureRefused as error:
            self._desk.notice("warning", f"{error}.", "Nothing was added to the message.")
            return
        except OSError as error:
            why = error.strerror or str(error)
            self._desk.notice("warning", f"{name}: {why}.", "Nothing was added to the message.")
            return
        if self._desk.document is not document or document is None:
            return
        if len(chips.attachments) >= MOST_PICTURES:
            self._desk.say(f"A message takes {MOST_PICTURES} pictures at most.")
            return
        chips.add(made)

    # what the model takes ------------------------------------------------------------------------

    @property
    def model_is_blind(self) -> bool:
        """Whether it is known that the chosen model takes no pictures."""
        if self._desk.bench is None:
            return False
        return self._desk.bench.client.info(self._desk.agent_model()).images is False

    def show_warning(self) -> None:
        """Tell beside the pictures that the chosen model does not take them."""
        chips = self._desk.window.agent.chips
        if chips.attachments and self.model_is_blind:
            model = self._desk.agent_model()
            chips.set_warning(
                f"{model} takes no pictures. Choose a model that does, or remove them."
            )
        else:
            chips.set_warning("")

    # files ---------------------------------------------------------------------------------------

    def look_for(self) -> None:
        """Choose files in a dialog."""
        dialog = QFileDialog(self._desk.window, "Pictures, or files of the agent's folder")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        if self._folder.folder is not None:
            dialog.setDirectory(str(self._folder.folder))
        dialog.filesSelected.connect(self.take_files)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def take_files(self, names: Sequence[str]) -> None:
        """Put files into the message: pictures as such, others as a mention of their path."""
        root = self._folder.folder
        outside: list[str] = []
        sessions: list[str] = []
        composer = self._desk.window.agent.composer
        for path in (Path(name) for name in names):
            inside = _inside(path, root)
            if is_picture(path):
                self._add(path.name, _file_reader(path))
            elif inside:
                composer.insert_word(mention(inside))
            elif path.suffix == SESSIONS:
                sessions.append(str(path))
            else:
                outside.append(path.name)
        if sessions:
            # As everywhere else in the window a session's file is one to import.
            self._desk.window.files_dropped.emit(sessions)
        if outside:
            self._tell_outside(outside, root)
        composer.setFocus()

    def _tell_outside(self, names: list[str], root: Path | None) -> None:
        told = names[0] if len(names) == 1 else count(len(names), "file")
        lies, reads = ("is", "it") if len(names) == 1 else ("are", "them")
        if root is None:
            what = f"No folder is chosen for the agent, so it cannot read {told}."
            todo = "Choose the folder that it lies in below the message box."
        else:
            what = f"{told} {lies} outside of {root}, so the agent cannot read {reads}."
            todo = "Copy it there, choose another folder, or paste the text."
        self._desk.notice("warning", what, "Nothing was added to the message.", todo)


def _inside(path: Path, root: Path | None) -> str:
    """The path below the agent's folder; empty where it does not lie there."""
    if root is None:
        return ""
    full, top = path.resolve(), root.resolve()
    return full.relative_to(top).as_posix() if full.is_relative_to(top) and full != top else ""


def _file_reader(path: Path) -> Callable[[], Attachment]:
    return lambda: from_file(path)


def _decoder(part: ImagePart, name: str) -> Callable[[], Attachment]:
    return lambda: from_bytes(base64.b64decode(part.data_base64), name)
