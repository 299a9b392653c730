"""The tools that the window's agent works with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from explorer.agent.tools import ToolBox, ToolOutcome, read_only_tools, run_tool
from explorer.agent.workspace import Workspace
from explorer.models.door import CancelToken, ToolCall, ToolSpec
from explorer.work.document import Document
from explorer.work.transcript import transcripts_of
from ui.control.talking.folder import FolderControl
from ui.control.talking.permission import PermissionControl


class _Looking:
    """Tools that only look."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def specs(self) -> tuple[ToolSpec, ...]:
        return read_only_tools()

    def is_exclusive(self, call: ToolCall) -> bool:
        return False

    async def run(
        self, call: ToolCall, cancel: CancelToken, on_output: Callable[[str], None]
    ) -> ToolOutcome:
        return await asyncio.to_thread(run_tool, self._workspace, call.name, call.arguments, cancel)


def tool_box(
    document: Document, folder: FolderControl, permission: PermissionControl
) -> ToolBox | None:
    """The tools for a turn of a session; None where no folder is chosen, or it is gone."""
    root = folder.folder
    if root is None:
        return None
    # What a summary points to can be read, wherever the database is (A51).
    return _Looking(Workspace(root).with_reading(transcripts_of(document).is_own))
