"""The tools that only look, by name; they run on a worker thread, side by side."""

from __future__ import annotations

from collections.abc import Callable

from explorer.agent.tools.arguments import Arguments, ToolError
from explorer.agent.tools.desk import Desk, Job
from explorer.agent.tools.finding import find, ls
from explorer.agent.tools.port import ToolOutcome
from explorer.agent.tools.reading import read
from explorer.agent.tools.searching import grep
from explorer.agent.workspace import WorkspaceError

_TOOLS: dict[str, Callable[[Desk, Arguments, Job], ToolOutcome]] = {
    "read": read,
    "ls": ls,
    "find": find,
    "grep": grep,
}


def look(desk: Desk, arguments: Arguments, job: Job) -> ToolOutcome:
    """Run one call. Whatever goes wrong becomes a result that says so, for the model to read."""
    tool = _TOOLS.get(job.tool)
    if tool is None:
        return ToolOutcome(f"there is no tool named {job.tool!r}", is_error=True)
    try:
        return tool(desk, arguments, job)
    except (ToolError, WorkspaceError) as error:
        return ToolOutcome(str(error), is_error=True)
    except OSError as error:
        return failed(job.tool, error)


def failed(name: str, error: OSError) -> ToolOutcome:
    """What the system refused, as a result."""
    where = error.filename if isinstance(error.filename, str) else name
    return ToolOutcome(f"{where}: {error.strerror or error}", is_error=True)
