"""A box of the tools that only look, for whoever has no more than a folder."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from explorer.agent.tools import ToolOutcome, read_only_tools, run_tool
from explorer.agent.workspace import Workspace
from explorer.models.door import CancelToken, ToolCall, ToolSpec


class LookingBox:
    """The read-only tools in one workspace, as a ``ToolBox``."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @property
    def folder(self) -> str:
        """Where they look."""
        return str(self._workspace.root)

    def specs(self) -> tuple[ToolSpec, ...]:
        """See ``ToolBox``."""
        return read_only_tools()

    def is_exclusive(self, call: ToolCall) -> bool:
        """None changes anything."""
        return False

    async def run(
        self, call: ToolCall, cancel: CancelToken, on_output: Callable[[str], None]
    ) -> ToolOutcome:
        """See ``ToolBox``."""
        return await asyncio.to_thread(run_tool, self._workspace, call.name, call.arguments, cancel)
