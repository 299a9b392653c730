"""The tools of a session: what is offered of them to a model, and how they are run. They work in a
folder, ask before they change anything, and clean up.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from explorer.agent.approval import (
    ApprovalRequest,
    Approvals,
    is_protected,
    suggested_for_command,
    suggested_for_file,
)
from explorer.agent.shell import clean_environment
from explorer.agent.tools.bash import bash
from explorer.agent.tools.edit import PlannedChange, apply_change, plan_edit, plan_write
from explorer.agent.tools.port import (
    Arguments,
    OutputFiles,
    ToolContext,
    ToolError,
    ToolOutcome,
    ToolRun,
    text_of,
)
from explorer.agent.tools.read_only import find, grep, ls, read
from explorer.agent.workspace import Workspace, WorkspaceError
from explorer.models.events import CancelToken
from explorer.models.request import ToolCall, ToolSpec
from explorer.settings.prompt_templates import load_prompt

READ_ONLY = ("read", "ls", "find", "grep")
CHANGES_FILES = ("write", "edit", "bash")

_TEXT: dict[str, Any] = {"type": "string"}
_NUMBER: dict[str, Any] = {"type": "number"}
_YES_NO: dict[str, Any] = {"type": "boolean"}
_PAIRS: dict[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "oldText": {"type": "string", "description": "What stands there now"},
            "newText": {"type": "string", "description": "What is to stand there"},
        },
        "required": ["oldText", "newText"],
    },
}
_FILE = (_TEXT, "File, relative to the workspace")
_ARGUMENTS: dict[str, dict[str, tuple[dict[str, Any], str]]] = {
    "read": {
        "path": _FILE,
        "offset": (_NUMBER, "First line, counted from 1"),
        "limit": (_NUMBER, "Number of lines"),
    },
    "ls": {
        "path": (_TEXT, "Folder; the workspace itself when left out"),
        "limit": (_NUMBER, "Number of names; 500 when left out"),
    },
    "find": {
        "pattern": (_TEXT, "Glob such as *.py or src/**/test_*.py"),
        "path": (_TEXT, "Folder to search; the workspace when left out"),
        "limit": (_NUMBER, "Number of files; 1,000 when left out"),
    },
    "grep": {
        "pattern": (_TEXT, "Regular expression"),
        "path": (_TEXT, "File or folder to search; the workspace when left out"),
        "glob": (_TEXT, "Only files that this glob meets, such as *.py"),
        "ignoreCase": (_YES_NO, "Upper and lower case are the same"),
        "literal": (_YES_NO, "The pattern is a plain text"),
        "context": (_NUMBER, "Lines before and after each hit"),
        "limit": (_NUMBER, "Number of hits; 100 when left out"),
    },
    "write": {"path": _FILE, "content": (_TEXT, "All of the file")},
    "edit": {"path": _FILE, "edits": (_PAIRS, "The passages to replace")},
    "bash": {
        "command": (_TEXT, "Command line"),
        "timeout": (_NUMBER, "Seconds it may take"),
    },
}
_REQUIRED = {
    "read": ["path"], "ls": [], "find": ["pattern"], "grep": ["pattern"],
    "write": ["path", "content"], "edit": ["path", "edits"], "bash": ["command"],
}  # fmt: skip


def specs_of(names: tuple[str, ...]) -> tuple[ToolSpec, ...]:
    """The tools of those names, in that order."""
    return tuple(
        ToolSpec(
            name,
            load_prompt(f"tools/{name}"),
            {
                "type": "object",
                "properties": {
                    key: {**kind, "description": description}
                    for key, (kind, description) in _ARGUMENTS[name].items()
                },
                "required": _REQUIRED[name],
            },
        )
        for name in names
    )


_READ_ONLY_TOOLS: dict[str, Callable[[ToolContext, Arguments, ToolRun], ToolOutcome]] = {
    "read": read,
    "ls": ls,
    "find": find,
    "grep": grep,
}


def run_read_only(context: ToolContext, arguments: Arguments, job: ToolRun) -> ToolOutcome:
    """Run one call. Whatever goes wrong becomes a result that says so, for the model to read."""
    tool = _READ_ONLY_TOOLS.get(job.tool)
    if tool is None:
        return ToolOutcome(f"there is no tool named {job.tool!r}", is_error=True)
    try:
        return tool(context, arguments, job)
    except (ToolError, WorkspaceError) as error:
        return ToolOutcome(str(error), is_error=True)
    except OSError as error:
        return _system_failure(job.tool, error)


def _system_failure(name: str, error: OSError) -> ToolOutcome:
    """What the system refused, as a result."""
    where = error.filename if isinstance(error.filename, str) else name
    return ToolOutcome(f"{where}: {error.strerror or error}", is_error=True)


COMMAND_NOTICE = (
    "A command is not held to the folder: it can read, change and send whatever you can. It runs"
    " without your keys in its environment."
)
_PROTECTED_NOTICE = (
    "This is no file of the project itself: git, a shell, an editor or an agent may run what is in"
    " it, or it says what is allowed without asking. It is asked about even where all is allowed."
)


class WorkspaceTools:
    """The ``ToolSet`` of a session. Lives as long as the session is open, so that it knows what
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
        kept = OutputFiles(outputs)
        self.approvals = approvals
        self._context = ToolContext(workspace.with_reading(kept.is_output), kept)
        self._environment = clean_environment(os.environ if environment is None else environment)
        self._plans: Mapping[str, Callable[[ToolContext, Mapping[str, object]], PlannedChange]] = {
            "write": plan_write,
            "edit": plan_edit,
        }

    @property
    def workspace(self) -> Workspace:
        """The folder."""
        return self._context.workspace

    @property
    def folder(self) -> str:
        """The folder, as shown to the model."""
        return str(self._context.workspace.root)

    def specs(self) -> tuple[ToolSpec, ...]:
        """All tools, or those that only look."""
        return specs_of(
            READ_ONLY if self.approvals.mode == "read-only" else READ_ONLY + CHANGES_FILES
        )

    def is_exclusive(self, call: ToolCall) -> bool:
        """Whether it is none of those that only look."""
        return call.name not in READ_ONLY

    async def run(
        self, call: ToolCall, cancel: CancelToken, on_output: Callable[[str], None]
    ) -> ToolOutcome:
        """See ``ToolSet.run``."""
        if cancel.cancelled:
            return ToolOutcome("stopped by the person before it ran", is_error=True)
        job = ToolRun(call.name, call.id, cancel)
        try:
            if call.name == "bash":
                return await self._command(call, job, on_output)
            if call.name in self._plans:
                return await self._change(call, job)
        except (ToolError, WorkspaceError) as error:
            return ToolOutcome(str(error), is_error=True)
        except OSError as error:
            return _system_failure(call.name, error)
        return await asyncio.to_thread(run_read_only, self._context, call.arguments, job)

    async def _change(self, call: ToolCall, job: ToolRun) -> ToolOutcome:
        change = await asyncio.to_thread(self._plans[call.name], self._context, call.arguments)
        root = self.workspace.root
        protected = await asyncio.to_thread(is_protected, change.name, root)
        what = "Change" if not change.is_new else "Create"
        request = ApprovalRequest(
            call,
            change.kind,
            f"{what} {change.name}",
            path=change.name,
            diff=change.diff.unified,
            folder=str(root),
            pattern="" if protected else suggested_for_file(change.name),
            notice=_PROTECTED_NOTICE if protected else _file_notice(change),
            protected=protected,
        )
        verdict = await self.approvals.decide(request, job.cancel)
        if not verdict.allowed:
            return ToolOutcome(verdict.reason, is_error=True)
        if job.cancel.cancelled:
            return ToolOutcome("stopped by the person before it ran", is_error=True)
        return await asyncio.to_thread(apply_change, self._context, change)

    async def _command(
        self, call: ToolCall, job: ToolRun, on_output: Callable[[str], None]
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

        return await _run_to_end(
            lambda: bash(self._context, call.arguments, job, self._environment, live), job
        )


async def _run_to_end(work: Callable[[], ToolOutcome], job: ToolRun) -> ToolOutcome:
    """Run blocking work in a thread; a task that is cancelled meanwhile ends it and waits."""
    thread = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        job.cancel.cancel()
        await asyncio.wait([thread])
        raise


def _file_notice(change: PlannedChange) -> str:
    if change.kind == "write" and not change.is_new:
        return "The whole file is replaced."
    return ""
