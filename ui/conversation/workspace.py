"""The folder that the agent works in, its tools there, and what it may always do."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMenu

from explorer.agent.approval import Approvals
from explorer.agent.tools.workspace_tools import (
    WorkspaceTools,
)
from explorer.agent.workspace import Workspace
from explorer.services.document import Document
from explorer.services.session_files import tools_of
from explorer.settings.files import SettingsError
from ui.app_state import AppState
from ui.conversation.agent_bar import AgentBar
from ui.conversation.permissions import PermissionController
from ui.shell.dialogs import choose_folder

WORKSPACE_CHOICE = "workspace"
"""Under which a session keeps its folder."""


class FolderController(QObject):
    """Knows the folder of the session shown."""

    changed = Signal()

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._state = state
        state.window.agent.workspace_requested.connect(self.ask)
        self._shown: Document | None = None
        self._chosen = ""
        state.document_changed.connect(self._document_changed)

    @property
    def chosen(self) -> str:
        """The folder that a person chose for the session shown; empty for none."""
        return self._chosen

    def _document_changed(self) -> None:
        document = self._state.document
        if document is not self._shown:
            self._shown = document
            stored = document.choices.all().get(WORKSPACE_CHOICE) if document is not None else None
            self._chosen = stored if isinstance(stored, str) else ""
        self.show()

    @property
    def folder(self) -> Path | None:
        """The same, where it is there."""
        path = Path(self.chosen)
        return path if self.chosen and path.is_dir() else None

    def show(self) -> None:
        """Name the folder in the bar; tell where it is gone."""
        self._state.window.agent.bar.set_folder(self.chosen)
        if self.chosen and self.folder is None:
            self._state.say(f"The agent's folder {self.chosen} is not there any more.")

    def choose(self, folder: str) -> None:
        """Let the agent of the session shown work in a folder; empty: in none."""
        if self._state.document is None:
            return
        self._chosen = folder
        self._state.document.choices.set(WORKSPACE_CHOICE, folder or None)
        if folder:
            self._state.preferences.workspace = folder
        self.show()
        self.changed.emit()

    def offered(self) -> list[tuple[str, str]]:
        """(what it is, folder) of the folders that a person may mean, without the chosen one."""
        document = self._state.document
        recorded = document.header.cwd if document is not None else ""
        found = [
            ("Where the session was recorded", recorded),
            ("Chosen last", self._state.preferences.workspace),
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
        bar = self._state.window.agent.bar
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
        start = self.chosen or self._state.preferences.workspace
        title = "Folder that the agent may work in"
        choose_folder(self._state.window, title, self.choose, start)


KEY = "agent.allow"


class AlwaysAllowed:
    """The ``AllowList`` of the window: what the person's settings say, and a trusted project's."""

    def __init__(self, state: AppState) -> None:
        self._state = state

    def patterns(self) -> Sequence[str]:
        """The patterns that apply now, read from the files each time."""
        self._state.live.refresh()
        patterns = self._state.live.values().get(KEY, ())
        here = self._state.values.get(KEY, ())
        return tuple(dict.fromkeys((*patterns, *here)))

    def add(self, pattern: str) -> None:
        """Store one more in the user's settings; shows a notice where that fails."""
        patterns = list(self._state.live.values().get(KEY, ()))
        if pattern in patterns:
            return
        try:
            self._state.live.set(KEY, [*patterns, pattern])
        except SettingsError as error:
            self._state.notice(
                "warning", str(error), f"{pattern} is allowed in this session all the same.",
                "Add it to “Allowed without asking” in the settings.",
            )  # fmt: skip


class _SessionTools(Struct, frozen=True):
    """What was allowed for this session, and its tools in one folder."""

    document: Document
    folder: Path
    tools: WorkspaceTools


class ToolsController(QObject):
    """Makes the tools of the session shown, and keeps them in step with what may be done."""

    def __init__(
        self, state: AppState, folder: FolderController, permission: PermissionController
    ) -> None:
        super().__init__(state)
        self._state = state
        self._folder = folder
        self._permission = permission
        self._always = AlwaysAllowed(state)
        self._made: _SessionTools | None = None
        permission.mode_changed.connect(self._follow)
        state.document_changed.connect(self._let_go)

    def _let_go(self) -> None:
        """What was allowed for a session ends with it."""
        if self._made is not None and self._made.document is not self._state.document:
            self._made = None

    def _follow(self) -> None:
        """A change of mode holds at once, for a turn that runs too."""
        if self._made is not None and self._made.document is self._state.document:
            self._made.tools.approvals.mode = self._permission.mode

    def tool_set(self) -> WorkspaceTools | None:
        """The tools for a turn of the session shown; None where no folder is chosen, or it is
        gone."""
        document, root = self._state.document, self._folder.folder
        if document is None or root is None:
            return None
        made = self._made
        if made is None or made.document is not document or made.folder != root:
            approvals = Approvals(
                self._permission.mode, always=self._always, approver=self._permission
            )
            made = self._made = _SessionTools(
                document, root, tools_of(document, Workspace(root), approvals)
            )
        made.tools.approvals.mode = self._permission.mode
        return made.tools
