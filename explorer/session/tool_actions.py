"""What a tool call does, in one vocabulary for the tools of all agents: read, search, list, run,
edit, write. The files of calls that change them are those of ``file_tools``."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from explorer.session.file_tools import file_ops
from explorer.session.shell_commands import FileLines, ShellWork, shell_command


class ActionKind(StrEnum):
    """What an action is."""

    READ = "read"
    SEARCH = "search"
    LIST = "list"
    LOOK = "look"
    """A command that only prints what is there."""
    STATE = "state"
    """A command that prints how the work stands."""
    RUN = "run"
    """A command that may do anything, such as a test."""
    WAIT = "wait"
    EDIT = "edit"
    WRITE = "write"
    """A file written as a whole."""
    DELETE = "delete"
    OTHER = "other"
    """A tool that is not known, or that touches no file."""


class ToolAction(NamedTuple):
    """One thing that a call does."""

    kind: ActionKind
    path: str = ""
    """The file that is read or changed, backslashes and ``./`` put right; relative to ``folder``
    where it is relative."""
    first: int = 1
    """Of a read: the first line that is asked for, from 1."""
    last: int = 0
    """The last one; 0: to the end."""
    key: str = ""
    """Of what is asked or run: the same text for the same thing, with its folder."""
    text: str = ""
    """The command, or what is searched for, to be shown."""
    removed: str = ""
    """Of an edit: the text that it takes out."""
    added: str = ""
    """Of an edit: the text that it puts in; of a write: all of the file."""
    parts: tuple[tuple[str, str], ...] = ()
    """Of a patch: the whole lines that each of its parts takes out and puts in, with those that
    stay around them."""
    prints: tuple[FileLines | str, ...] = ()
    """Of a command that reads files: what it prints, in order; an empty text for what is not
    known."""
    finds_last: bool = False
    """Of such a command: it ends with a search, which prints nothing where it ends with 1."""
    everywhere: bool = False
    """Of an edit: it is made wherever its text stands."""
    written: tuple[str, ...] = ()
    """Of a command: files that it plainly changes."""
    changes_any: bool = False
    """It may change files that it does not name."""


SHELL_TOOLS: dict[str, tuple[str, ...]] = {
    "bash": ("command",),
    "Bash": ("command",),
    "powershell": ("command",),
    "exec_command": ("cmd", "command"),
    "shell": ("command", "cmd"),
    "local_shell": ("command",),
    "shell_command": ("command",),
    "container.exec": ("cmd",),
    "run_shell_command": ("command",),
    "run_in_terminal": ("command",),
    "run_terminal_cmd": ("command",),
    "execute_command": ("command",),
    "run_commands": ("commands",),
}
"""Tools that run a command line, with the arguments that hold it."""
SEARCH_TOOLS = frozenset({
    "grep", "Grep", "glob", "Glob", "find", "rg", "search", "search_files", "search_file_content",
    "grep_search", "file_search", "codebase_search", "semantic_search", "copilot_findTextInFiles",
    "copilot_findFiles", "WebFetch", "WebSearch", "web_search", "web_fetch", "google_web_search",
    "fetch_webpage",
})  # fmt: skip
LIST_TOOLS = frozenset({
    "ls", "LS", "list_dir", "list_directory", "list_files", "copilot_listDirectory",
})  # fmt: skip
AGENT_TOOLS = frozenset({"Task", "Agent", "task", "spawn_agent", "runSubagent", "new_task"})
"""Tools that let another agent work, which may change anything."""
_PLAN_TOOLS = frozenset({"TaskGet", "TaskList", "TodoRead"})
"""Tools that show what is planned."""
_READ_TOOLS = {"copilot_readFile": "filePath", "read_files": "files", "cat": "path"}
_SHELLS = ("bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh")
_KINDS = {
    ShellWork.READ: ActionKind.READ, ShellWork.SEARCH: ActionKind.SEARCH,
    ShellWork.LIST: ActionKind.LIST, ShellWork.LOOK: ActionKind.LOOK,
    ShellWork.STATE: ActionKind.STATE, ShellWork.RUN: ActionKind.RUN,
    ShellWork.WAIT: ActionKind.WAIT,
}  # fmt: skip
_OF_OPS = {
    "read": ActionKind.READ, "write": ActionKind.WRITE, "create": ActionKind.WRITE,
    "edit": ActionKind.EDIT, "delete": ActionKind.DELETE,
}  # fmt: skip
_HOW = frozenset({
    "description", "timeout", "yield_time_ms", "max_output_tokens", "initial_wait", "explanation",
    "num", "isBackground", "run_in_background", "requires_approval",
})  # fmt: skip
"""Arguments that change nothing of what is asked."""
_LINE_PAIRS = (
    ("startLine", "endLine"), ("start_line", "end_line"),
    ("startLineNumberBaseOne", "endLineNumberBaseOne"),
)  # fmt: skip
_OLD = ("old_string", "oldText", "oldString", "old_str", "old_text")
_NEW = ("new_string", "newText", "newString", "new_str", "new_text")
_EVERYWHERE = ("replace_all", "replaceAll", "allow_multiple")
_CONTENT = ("content", "file_text", "contents")

Arguments = Mapping[str, Any]


def tool_actions(tool: str, arguments: object) -> tuple[ToolAction, ...]:
    """What a call does, in order. Never raises for what a model wrote."""
    given: Arguments = arguments if isinstance(arguments, Mapping) else {}
    if tool in SHELL_TOOLS and (line := _command_line(tool, given)):
        return (shell_action(line, _folder(given)),)
    if tool in SEARCH_TOOLS or tool in LIST_TOOLS:
        kind = ActionKind.LIST if tool in LIST_TOOLS else ActionKind.SEARCH
        key = f"{tool} {_canonical(given)}"
        return (ToolAction(kind, key=key, text=_asked(given) or tool),)
    if tool in AGENT_TOOLS:
        return (ToolAction(ActionKind.OTHER, changes_any=True),)
    return tuple(_file_actions(tool, given)) or (ToolAction(ActionKind.OTHER),)


_ANY_FILE = {"path": "a", "file_path": "a", "filePath": "a", "paths": ["a"], "files": ["a"]}
_SHOWN = (ActionKind.READ, ActionKind.SEARCH, ActionKind.LIST)


@lru_cache(maxsize=256)
def shows_texts(tool: str) -> bool:
    """Whether what a tool returns are texts that were there, of files, of the web, of a plan or of
    another agent, and not what happened when it ran."""
    if tool in AGENT_TOOLS or tool in _PLAN_TOOLS:
        return True
    return tool_actions(tool, _ANY_FILE)[0].kind in _SHOWN


def shell_action(line: str, folder: str = "") -> ToolAction:
    """What a command line does."""
    found = shell_command(line)
    place = found.folder if is_absolute(found.folder) else joined(folder, found.folder)
    prints = tuple(
        one._replace(path=joined(place, one.path)) if isinstance(one, FileLines) else one
        for one in found.prints
    )
    if len(prints) == 1 and isinstance(one := prints[0], FileLines):
        return ToolAction(ActionKind.READ, one.path, one.first, one.last, text=line, prints=prints)
    words = " ".join(line.split())
    return ToolAction(
        _KINDS[found.work], key=f"{place}$ {words}", text=line, prints=prints,
        written=tuple(joined(place, path) for path in found.written),
        changes_any=found.changes_any, finds_last=found.finds_last,
    )  # fmt: skip


def is_absolute(path: str) -> bool:
    """Whether a path begins at a root, of whatever system."""
    return path[:1] in ("/", "~") or path[1:2] == ":"


def joined(folder: str, path: str) -> str:
    """A path from a folder, as one spelling: slashes, no ``./``, no ``..`` that can be resolved."""
    plain = path.replace("\\", "/")
    if folder and not is_absolute(plain):
        plain = f"{folder.replace(chr(92), '/')}/{plain}" if plain else folder
    return posixpath.normpath(plain) if plain else ""


def same_path(one: str, other: str) -> bool:
    """Whether two paths can be the same file, where one of them may be relative to a folder that
    is not known."""
    if one == other:
        return True
    if is_absolute(one) and is_absolute(other):
        return False
    return one.endswith(f"/{other}") or other.endswith(f"/{one}")


def _command_line(tool: str, given: Arguments) -> str:
    for name in SHELL_TOOLS[tool]:
        value = given.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
            if value[0] == "apply_patch":
                return ""
            if value[0] in _SHELLS and len(value) == 3:
                return str(value[2])
            return " && ".join(value) if name == "commands" else " ".join(value)
    return ""


def _folder(given: Arguments) -> str:
    return next(
        (value for name in ("workdir", "cwd", "directory")
         if isinstance(value := given.get(name), str)), ""
    )  # fmt: skip


def _canonical(given: Arguments) -> str:
    asked = {name: value for name, value in given.items() if name not in _HOW}
    try:
        return json.dumps(asked, sort_keys=True, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""


def _asked(given: Arguments) -> str:
    for name in ("pattern", "query", "url", "regex", "path"):
        if isinstance(value := given.get(name), str) and value:
            return value
    return ""


# files -------------------------------------------------------------------------------------------


def _file_actions(tool: str, given: Arguments) -> Iterator[ToolAction]:
    if tool in _READ_TOOLS:
        listed = given.get(_READ_TOOLS[tool])
        for one in listed if isinstance(listed, list) else (listed,):
            path = one.get("path") if isinstance(one, Mapping) else one
            if isinstance(path, str) and path:
                first, last = _lines(one if isinstance(one, Mapping) else given)
                yield ToolAction(ActionKind.READ, joined("", path), first, last)
        return
    ops = file_ops(tool, given, "")
    for op in ops:
        kind, path = _OF_OPS[op.kind], joined("", op.path)
        if kind is ActionKind.READ:
            first, last = _lines(given)
            yield ToolAction(kind, path, first, last)
        elif kind is ActionKind.WRITE:
            yield ToolAction(kind, path, added=_text(given, _CONTENT))
        elif kind is ActionKind.EDIT and len(ops) == 1 and tool == "apply_patch":
            yield _patch(path, given)
        elif kind is ActionKind.EDIT and len(ops) == 1:
            yield from _edits(path, given)
        else:
            yield ToolAction(kind, path)


def _edits(path: str, given: Arguments) -> Iterator[ToolAction]:
    listed = given.get("edits")
    pairs = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    for one in pairs or (given,):
        yield ToolAction(
            ActionKind.EDIT, path, removed=_text(one, _OLD), added=_text(one, _NEW),
            everywhere=any(one.get(name) is True for name in _EVERYWHERE),
        )  # fmt: skip


def _patch(path: str, given: Arguments) -> ToolAction:
    """A patch of one file: the lines that it takes out and puts in."""
    lines = next((v for v in given.values() if isinstance(v, str) and "*** " in v), "").split("\n")
    removed, added = (
        "\n".join(line[1:] for line in lines if line.startswith(sign)) for sign in "-+"
    )
    return ToolAction(
        ActionKind.EDIT, path, removed=removed, added=added, parts=tuple(_patch_parts(lines))
    )


def _patch_parts(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    part: list[str] = []
    for line in [*lines, "@@"]:
        if line.startswith((" ", "+", "-")) or (part and not line):
            part.append(line)
        elif part:
            # An empty line stands for an empty line of the file, but for the last ones.
            while part and not part[-1]:
                part.pop()
            old, new = ("".join(f"{one[1:]}\n" for one in part if one[:1] != sign) for sign in "+-")
            yield old, new
            part = []


def _text(given: Arguments, names: tuple[str, ...]) -> str:
    return next((v for name in names if isinstance(v := given.get(name), str)), "")


def _number(value: object) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _lines(given: Arguments) -> tuple[int, int]:
    """The lines that a read asks for: first, and last or 0."""
    for names in _LINE_PAIRS:
        first, last = (_number(given.get(name)) for name in names)
        if first or last:
            return first or 1, last
    view = given.get("view_range") or given.get("lines")
    if isinstance(view, list) and len(view) == 2:
        return _number(view[0]) or 1, _number(view[1])
    first, limit = _number(given.get("offset")) or 1, _number(given.get("limit"))
    return first, first + limit - 1 if limit else 0
