"""The tools ``ls`` and ``find``: what a folder holds, and files by their names."""

from __future__ import annotations

from typing import Any

from explorer.agent.tools.arguments import Arguments, ToolError, number_of, text_of
from explorer.agent.tools.desk import Desk, Job
from explorer.agent.tools.globs import glob_of
from explorer.agent.tools.port import ToolOutcome
from explorer.agent.tools.results import listed
from explorer.agent.walking import Walk

MOST_NAMES = 500
MOST_FOUND = 1_000


def ls(desk: Desk, arguments: Arguments, job: Job) -> ToolOutcome:
    """List a folder. Raises ToolError, WorkspaceError and OSError."""
    folder = desk.workspace.resolve(text_of(arguments, "path", "."))
    if not folder.is_dir():
        raise ToolError(f"{desk.workspace.shown(folder)} is not a folder")
    most = number_of(arguments, "limit", MOST_NAMES)
    names = sorted(
        (item.name + ("/" if item.is_dir() else "") for item in folder.iterdir()),
        key=lambda name: (name.lower(), name),
    )
    if not names:
        return ToolOutcome("(empty folder)")
    left = len(names) - most
    notes = [f"{left:,} more names; ask with limit={len(names)} for all"] if left > 0 else []
    details: dict[str, Any] = {"entryLimitReached": most} if left > 0 else {}
    return listed(desk, job, names[:most], notes, details)


def find(desk: Desk, arguments: Arguments, job: Job) -> ToolOutcome:
    """Find files by a glob. Raises ToolError, WorkspaceError and OSError."""
    glob = glob_of(text_of(arguments, "pattern"))
    start = desk.workspace.resolve(text_of(arguments, "path", "."))
    most = number_of(arguments, "limit", MOST_FOUND)
    walk = Walk(desk.workspace.root, start, lambda: job.cancel.cancelled)
    base = start if start.is_dir() else start.parent
    names: list[str] = []
    notes: list[str] = []
    details: dict[str, Any] = {}
    for path in walk.files():
        shown = desk.workspace.shown(path)
        # A pattern is met from the folder that is searched, or from the workspace.
        if not (glob.matches(path.relative_to(base).as_posix()) or glob.matches(shown)):
            continue
        if len(names) == most:
            details["resultLimitReached"] = most
            notes.append(f"stopped at {most:,} files; ask with a higher limit or narrow it")
            break
        names.append(shown)
    if walk.cut:
        notes.append("the folder holds too many files to look at them all; name a path below it")
    if not names:
        return ToolOutcome("\n".join(["No files found.", *(f"[{note}]" for note in notes)]))
    return listed(desk, job, names, notes, details)
