"""The real tools: they work in a folder, ask before they change anything, and clean up."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from explorer.agent.approval import ApprovalRequest, Approvals
from explorer.agent.patterns import is_kept_apart, suggested_for_command, suggested_for_file
from explorer.agent.shell_environment import clean_environment
from explorer.agent.tools.arguments import ToolError, text_of
from explorer.agent.tools.changing import Change, made, planned_edit, planned_write
from explorer.agent.tools.commands import bash
from explorer.agent.tools.desk import Desk, Job
from explorer.agent.tools.looking import failed, look
from explorer.agent.tools.offered import CHANGING, LOOKING, specs_of
from explorer.agent.tools.outputs import Outputs
from explorer.agent.tools.port import ToolOutcome
from explorer.agent.workspace import Workspace, WorkspaceError
from explorer.models.events import CancelToken
from explorer.models.request import ToolCall, ToolSpec

COMMAND_NOTICE = (
    "A command is not held to the folder: it can read, change and send whatever you can. It runs"
    " without your keys in its environment."
)
_KEPT_APART_NOTICE = (
    "This is no file of the project itself: git, a shell, an editor or an agent may run what is in"
    " it, or it says what is allowed without asking. It is asked about even where all is allowed."
)


class WorkspaceTools:
    """The ``ToolBox`` of a session. Lives as long as the session is open, so that it knows what
    the model has read; its mode may change at any time."""

    def __init__(
        self,
        workspace: Workspace,
        approvals: Approvals,
        outputs: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """``outputs``: the folder for outputs of which a result holds a part; the model may read
        them. ``environment``: what commands are given a clean part of; by default this process's.
        """
        kept = Outputs(outputs)
        self.approvals = approvals
        self._desk = Desk(workspace.with_reading(kept.is_own), kept)
        self._environment = clean_environment(os.environ if environment is None else environment)
        self._plans: Mapping[str, Callable[[Desk, Mapping[str, object]], Change]] = {
            "write": planned_write,
            "edit": planned_edit,
        }

    @property
    def workspace(self) -> Workspace:
        """The folder."""
        return self._desk.workspace

    @property
    def folder(self) -> str:
        """The folder, as the model is told it."""
        return str(self._desk.workspace.root)

    def specs(self) -> tuple[ToolSpec, ...]:
        """All tools, or those that only look."""
        return specs_of(LOOKING if self.approvals.mode == "read-only" else LOOKING + CHANGING)

    def is_exclusive(self, call: ToolCall) -> bool:
        """Whether it is none of those that only look."""
        return call.name not in LOOKING

    async def run(
        self, call: ToolCall, cancel: CancelToken, on_output: Callable[[str], None]
    ) -> ToolOutcome:
        """See ``ToolBox.run``."""
        if cancel.cancelled:
            return ToolOutcome("stopped by the person before it ran", is_error=True)
        job = Job(call.name, call.id, cancel)
        try:
            if call.name == "bash":
                return await self._command(call, job, on_output)
            if call.name in self._plans:
                return await self._change(call, job)
        except (ToolError, WorkspaceError) as error:
            return ToolOutcome(str(error), is_error=True)
        except OSError as error:
            return failed(call.name, error)
        return await asyncio.to_thread(look, self._desk, call.arguments, job)

    async def _change(self, call: ToolCall, job: Job) -> ToolOutcome:
        change = await asyncio.to_thread(self._plans[call.name], self._desk, call.arguments)
        root = self.workspace.root
        kept_apart = await asyncio.to_thread(is_kept_apart, change.shown, root)
        what = "Change" if not change.is_new else "Create"
        request = ApprovalRequest(
            call,
            change.kind,
            f"{what} {change.shown}",
            path=change.shown,
            diff=change.diff.unified,
            folder=str(root),
            pattern="" if kept_apart else suggested_for_file(change.shown),
            notice=_KEPT_APART_NOTICE if kept_apart else _file_notice(change),
            kept_apart=kept_apart,
        )
        verdict = await self.approvals.decide(request, job.cancel)
        if not verdict.allowed:
            return ToolOutcome(verdict.reason, is_error=True)
        if job.cancel.cancelled:
            return ToolOutcome("stopped by the person before it ran", is_error=True)
        return await asyncio.to_thread(made, self._desk, change)

    async def _command(
        self, call: ToolCall, job: Job, on_output: Callable[[str], None]
    ) -> ToolOutcome:
        command = text_of(call.arguments, "command")
        request = ApprovalRequest(
            call,
            "command",
            "Run a command",
            command=command,
            folder=str(self.workspace.root),
            pattern=suggested_for_command(command),
            notice=COMMAND_NOTICE,
        )
        verdict = await self.approvals.decide(request, job.cancel)
        if not verdict.allowed:
            return ToolOutcome(verdict.reason, is_error=True)
        loop = asyncio.get_running_loop()

        def live(text: str) -> None:
            loop.call_soon_threadsafe(on_output, text)

        return await _to_its_end(
            lambda: bash(self._desk, call.arguments, job, self._environment, live), job
        )


async def _to_its_end(work: Callable[[], ToolOutcome], job: Job) -> ToolOutcome:
    """Run blocking work in a thread; a task that is cancelled meanwhile ends it and waits."""
    thread = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        job.cancel.cancel()
        await asyncio.wait([thread])
        raise


def _file_notice(change: Change) -> str:
    if change.kind == "write" and not change.is_new:
        return "The whole file is replaced."
    return ""
