"""The tools that the window's agent works with, for as long as a session is open."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject

from explorer.agent.approval import Approvals
from explorer.agent.tools.box import WorkspaceTools
from explorer.agent.workspace import Workspace
from explorer.work.document import Document
from explorer.work.session_files import tools_of
from ui.control.desk import Desk
from ui.control.talking.allowed import AlwaysAllowed
from ui.control.talking.folder import FolderControl
from ui.control.talking.permission import PermissionControl


@dataclass(frozen=True, slots=True)
class _Kept:
    """What was allowed for this session, and its tools in one folder."""

    document: Document
    folder: Path
    tools: WorkspaceTools


class ToolsControl(QObject):
    """Makes the tools of the session shown, and keeps them in step with what may be done."""

    def __init__(self, desk: Desk, folder: FolderControl, permission: PermissionControl) -> None:
        super().__init__(desk)
        self._desk = desk
        self._folder = folder
        self._permission = permission
        self._always = AlwaysAllowed(desk)
        self._kept: _Kept | None = None
        permission.mode_changed.connect(self._follow)
        desk.document_changed.connect(self._let_go)

    def _let_go(self) -> None:
        """What was allowed for a session ends with it."""
        if self._kept is not None and self._kept.document is not self._desk.document:
            self._kept = None

    def _follow(self) -> None:
        """A change of mode holds at once, for a turn that runs too."""
        if self._kept is not None and self._kept.document is self._desk.document:
            self._kept.tools.approvals.mode = self._permission.mode

    def box(self) -> WorkspaceTools | None:
        """The tools for a turn of the session shown; None where no folder is chosen, or it is
        gone."""
        document, root = self._desk.document, self._folder.folder
        if document is None or root is None:
            return None
        kept = self._kept
        if kept is None or kept.document is not document or kept.folder != root:
            approvals = Approvals(
                self._permission.mode, always=self._always, approver=self._permission
            )
            kept = self._kept = _Kept(
                document, root, tools_of(document, Workspace(root), approvals)
            )
        kept.tools.approvals.mode = self._permission.mode
        return kept.tools
