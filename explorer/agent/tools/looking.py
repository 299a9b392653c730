"""The tools that only look: read, ls, find and grep, with pi's argument names."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Mapping
from typing import Any

from explorer.agent.tools.port import ToolOutcome
from explorer.agent.workspace import Workspace, WorkspaceError
from explorer.models.door import CancelToken, ToolSpec

MOST_LINES = 2000
MOST_BYTES = 50 * 1024
MOST_FILES = 20_000
MOST_HITS = 200


Arguments = Mapping[str, Any]
_Run = Callable[[Workspace, Arguments, CancelToken], str]


def _string(arguments: Arguments, key: str, default: str | None = None) -> str:
    value = arguments.get(key, default)
    if not isinstance(value, str) or (default is None and not value):
        raise WorkspaceError(f"the argument {key!r} must be a text")
    return value


def _number(arguments: Arguments, key: str, default: int) -> int:
    value = arguments.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 1:
        raise WorkspaceError(f"the argument {key!r} must be a number of at least 1")
    return int(value)


def _limited(lines: list[str], most: int, noun: str) -> str:
    """Lines up to the limits, with a note of what was left out."""
    out: list[str] = []
    size = 0
    for line in lines[:most]:
        size += len(line.encode("utf-8", "replace")) + 1
        if size > MOST_BYTES:
            break
        out.append(line)
    left = len(lines) - len(out)
    if left:
        out.append(f"[{left} more {noun} not shown]")
    return "\n".join(out)


def _read(workspace: Workspace, arguments: Arguments, cancel: CancelToken) -> str:
    path = workspace.readable(_string(arguments, "path"))
    if path.is_dir():
        raise WorkspaceError(f"{workspace.shown(path)} is a folder; use ls")
    data = path.read_bytes()
    if b"\0" in data[:8192]:
        raise WorkspaceError(f"{workspace.shown(path)} is not a text file ({len(data):,} bytes)")
    lines = data.decode("utf-8", "replace").splitlines()
    first = _number(arguments, "offset", 1)
    if first > max(1, len(lines)):
        raise WorkspaceError(f"line {first} is past the end ({len(lines)} lines)")
    most = min(_number(arguments, "limit", MOST_LINES), MOST_LINES)
    return _limited(lines[first - 1 :], most, "lines") or "(empty file)"


def _ls(workspace: Workspace, arguments: Arguments, cancel: CancelToken) -> str:
    folder = workspace.resolve(_string(arguments, "path", "."))
    if not folder.is_dir():
        raise WorkspaceError(f"{workspace.shown(folder)} is not a folder")
    names = sorted(item.name + ("/" if item.is_dir() else "") for item in folder.iterdir())
    return _limited(names, _number(arguments, "limit", 500), "names") or "(empty folder)"


def _find(workspace: Workspace, arguments: Arguments, cancel: CancelToken) -> str:
    pattern = _string(arguments, "pattern")
    files, cut = workspace.files(workspace.resolve(_string(arguments, "path", ".")), MOST_FILES)
    names = [workspace.shown(path) for path in files]
    bare = pattern.removeprefix("**/")
    hits = [
        name
        for name in names
        if fnmatch.fnmatch(name, pattern) or fnmatch.fnmatch(name.rsplit("/", 1)[-1], bare)
    ]
    note = f"\n[stopped after {MOST_FILES:,} files]" if cut else ""
    return (_limited(hits, _number(arguments, "limit", 1000), "files") or "no file found") + note


def _grep(workspace: Workspace, arguments: Arguments, cancel: CancelToken) -> str:
    pattern = _string(arguments, "pattern")
    flags = re.IGNORECASE if arguments.get("ignoreCase") else 0
    if arguments.get("literal"):
        pattern = re.escape(pattern)
    try:
        expression = re.compile(pattern, flags)
    except re.error as error:
        raise WorkspaceError(f"the pattern {pattern!r} is not valid: {error}") from error
    files, cut = workspace.files(workspace.resolve(_string(arguments, "path", ".")), MOST_FILES)
    glob = _string(arguments, "glob", "*")
    most = min(_number(arguments, "limit", MOST_HITS), MOST_HITS)
    hits: list[str] = []
    for path in files:
        if cancel.cancelled or len(hits) > most:
            break
        if fnmatch.fnmatch(path.name, glob):
            hits += _grep_file(workspace, path, expression, most + 1 - len(hits))
    note = f"\n[stopped after {MOST_FILES:,} files]" if cut else ""
    return (_limited(hits, most, "or more hits") or "no hit") + note


def _grep_file(
    workspace: Workspace, path: Any, expression: re.Pattern[str], most: int
) -> list[str]:
    try:
        data = path.read_bytes()
    except OSError as error:
        return [f"{workspace.shown(path)}: cannot be read ({error.strerror})"]
    if b"\0" in data[:8192]:
        return []
    name, hits = workspace.shown(path), []
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        if expression.search(line[:10_000]):
            hits.append(f"{name}:{number}: {line[:300]}")
            if len(hits) >= most:
                break
    return hits


def _spec(name: str, description: str, required: list[str], **properties: str) -> ToolSpec:
    kinds = {"limit": "number", "offset": "number", "ignoreCase": "boolean", "literal": "boolean"}
    return ToolSpec(
        name,
        description,
        {
            "type": "object",
            "properties": {
                key: {"type": kinds.get(key, "string"), "description": text}
                for key, text in properties.items()
            },
            "required": required,
        },
    )


_TOOLS: dict[str, tuple[ToolSpec, _Run]] = {
    "read": (
        _spec(
            "read",
            "Read a text file of the workspace.",
            ["path"],
            path="File, relative to the workspace",
            offset="First line, counted from 1",
            limit="Number of lines",
        ),
        _read,
    ),
    "ls": (
        _spec(
            "ls", "List a folder of the workspace.", [],
            path="Folder, the workspace itself when left out", limit="Number of names",
        ),
        _ls,
    ),
    "find": (
        _spec(
            "find", "Find files by name.", ["pattern"],
            pattern="Glob such as *.py or src/**/test_*.py", path="Folder to search",
            limit="Number of files",
        ),
        _find,
    ),
    "grep": (
        _spec(
            "grep", "Search the contents of files.", ["pattern"],
            pattern="Regular expression", path="File or folder to search",
            glob="Only files whose name matches", ignoreCase="Ignore upper and lower case",
            literal="Take the pattern as plain text", limit="Number of hits",
        ),
        _grep,
    ),
}  # fmt: skip


def read_only_tools() -> tuple[ToolSpec, ...]:
    """The tools offered to a model that may look but not change anything."""
    return tuple(spec for spec, _ in _TOOLS.values())


def run_tool(
    workspace: Workspace, name: str, arguments: Arguments, cancel: CancelToken
) -> ToolOutcome:
    """Run one call. Whatever goes wrong becomes a result that says so, for the model to read."""
    tool = _TOOLS.get(name)
    if tool is None:
        return ToolOutcome(f"there is no tool named {name!r}", is_error=True)
    try:
        return ToolOutcome(tool[1](workspace, arguments, cancel))
    except WorkspaceError as error:
        return ToolOutcome(str(error), is_error=True)
    except OSError as error:
        return ToolOutcome(f"{error.filename or name}: {error.strerror}", is_error=True)
