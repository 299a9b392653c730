"""The folder that the agent works in: chosen for each session by a person, never silently."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QMenu

from explorer.work.document import Document
from ui.agent.pane_bar import AgentBar
from ui.control.desk import Desk

CHOICE = "workspace"
"""Under which a session keeps its folder."""


class FolderControl(QObject):
    """Knows the folder of the session shown."""

    changed = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._desk = desk
        desk.window.agent.workspace_requested.connect(self.ask)
        self._shown: Document | None = None
        self._chosen = ""
        desk.document_changed.connect(self._document_changed)

    @property
    def chosen(self) -> str:
        """The folder that a person chose for the session shown; empty for none."""
        return self._chosen

    def _document_changed(self) -> None:
        document = self._desk.document
        if document is not self._shown:
            self._shown = document
            kept = document.choices().get(CHOICE) if document is not None else None
            self._chosen = kept if isinstance(kept, str) else ""
        self.show()

    @property
    def folder(self) -> Path | None:
        """The same, where it is there."""
        path = Path(self.chosen)
        return path if self.chosen and path.is_dir() else None

    def show(self) -> None:
        """Name the folder in the bar; tell where it is gone."""
        self._desk.window.agent.bar.set_folder(self.chosen)
        if self.chosen and self.folder is None:
            self._desk.say(f"The agent's folder {self.chosen} is not there any more.")

    def choose(self, folder: str) -> None:
        """Let the agent of the session shown work in a folder; empty: in none."""
        if self._desk.document is None:
            return
        self._chosen = folder
        self._desk.document.choose(CHOICE, folder or None)
        if folder:
            self._desk.preferences.workspace = folder
        self.show()
        self.changed.emit()

    def offered(self) -> list[tuple[str, str]]:
        """(what it is, folder) of the folders that a person may mean, without the chosen one."""
        document = self._desk.document
        recorded = document.header.cwd if document is not None else ""
        found = [
            ("Where the session was recorded", recorded),
            ("Chosen last", self._desk.preferences.workspace),
        ]
        seen = {self.chosen, ""}
        offers = []
        for words, folder in found:
            if folder not in seen and Path(folder).is_dir():
                seen.add(folder)
                offers.append((words, folder))
        return offers

    def ask(self) -> None:
        """Offer what is at hand; where nothing is, look for a folder at once."""
        offered = self.offered()
        if not offered and not self.chosen:
            self.look_for()
            return
        bar = self._desk.window.agent.bar
        menu = QMenu(bar)
        menu.aboutToHide.connect(menu.deleteLater)
        for words, folder in offered:
            action = menu.addAction(f"{words}: {folder}".replace("&", "&&"))
            action.triggered.connect(partial(self.choose, folder))
        menu.addAction("&Another folder…", self.look_for)
        if self.chosen:
            menu.addSeparator()
            menu.addAction("&No folder", partial(self.choose, ""))
        AgentBar.pop_up(menu, bar.workspace)

    def look_for(self) -> None:
        """Choose any folder in a dialog."""
        dialog = QFileDialog(self._desk.window, "Folder that the agent may work in")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        start = self.chosen or self._desk.preferences.workspace
        if start and Path(start).is_dir():
            dialog.setDirectory(start)
        dialog.fileSelected.connect(self.choose)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
