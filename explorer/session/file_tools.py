"""Which tools of coding agents touch which files: the table, and how their calls are read (A28).

The names and parameters are those of pi and oh-my-pi, Claude Code, Codex and Copilot Chat. A tool
that is not here touches nothing that is known: what a shell command does is not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

OpKind = Literal["read", "write", "edit", "create", "delete"]
"""``write`` and ``edit`` change a file of which nothing more is known; ``create`` says that it is
new, ``delete`` that it is gone."""
KnownBy = Literal["tool", "argument", "result"]
"""How a kind is known: the tool does nothing else, an argument of the call says so, or the
result does."""


class FileOp(NamedTuple):
    """One file touched by a tool call of a reply (A28)."""

    kind: OpKind
    path: str
    call_id: str
    part: str = ""
    """Of a read: which part of the file, as the call asked for it; empty is all of it."""
    known: KnownBy = "tool"
    wide: bool = False
    """Known only to this wide table, not to pi, which looks at ``path`` of its three tools."""


class _Touch(NamedTuple):
    kind: OpKind
    path: str
    known: KnownBy = "tool"


Arguments = Mapping[str, Any]
_Reader = Callable[[Arguments], Iterator[_Touch]]

PI_TOOLS: dict[str, OpKind] = {"read": "read", "write": "write", "edit": "edit"}
"""The three tools whose ``path`` pi looks at."""

_PATHS = ("path", "file_path", "filePath", "notebook_path", "filename", "file")
_PARTS = frozenset({
    "offset", "limit", "lines", "line", "start_line", "end_line", "startLine", "endLine",
    "view_range", "pages", "range",
})  # fmt: skip
_USUAL = frozenset({"path", "content", "edits", "oldText", "newText", "old_text", "new_text"})
"""Arguments of a call of pi's tools that touches all of one file and does nothing else."""
_PATCH_TEXTS = ("input", "patch", "patchText", "patch_text", "command")
_PATCH_LINE = re.compile(r"^\*\*\* (Add File|Update File|Delete File|Move to): (.+?)\s*$", re.M)
_PATCH_KINDS: dict[str, OpKind] = {
    "Add File": "create",
    "Update File": "edit",
    "Delete File": "delete",
    "Move to": "create",
}


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        if value:
            yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item.get("path") if isinstance(item, dict) else item)


def _named(arguments: Arguments, names: tuple[str, ...] = _PATHS) -> str:
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def _does(kind: OpKind, *names: str) -> _Reader:
    """A tool that does one thing to the file that an argument names."""

    def read(arguments: Arguments) -> Iterator[_Touch]:
        path = _named(arguments, names or _PATHS)
        if path:
            yield _Touch(kind, path)

    return read


def _does_to_all(kind: OpKind, *lists: str) -> _Reader:
    """A tool that does one thing to every file of a list, or to the one that it names."""

    def read(arguments: Arguments) -> Iterator[_Touch]:
        paths = [path for name in lists for path in _texts(arguments.get(name))]
        for path in paths or _texts(_named(arguments)):
            yield _Touch(kind, path)

    return read


def _edit(arguments: Arguments) -> Iterator[_Touch]:
    """oh-my-pi's edit may also create, delete and rename: with ``op`` or with flags."""
    path = _named(arguments)
    if not path:
        return
    new = _named(arguments, ("rename", "move"))
    operation = arguments.get("op")
    if operation == "create":
        yield _Touch("create", path, "argument")
    elif operation == "delete" or arguments.get("delete") is True or (new and new != path):
        yield _Touch("delete", path, "argument")
    else:
        yield _Touch("edit", path)
    if new and new != path:
        yield _Touch("create", new, "argument")


_COMMANDS: dict[str, OpKind] = {
    "view": "read",
    "create": "create",
    "str_replace": "edit",
    "insert": "edit",
    "undo_edit": "edit",
    "delete": "delete",
}


def _by_command(arguments: Arguments) -> Iterator[_Touch]:
    """Anthropic's text editor: the argument ``command`` says what is done to ``path``."""
    kind, path = _COMMANDS.get(str(arguments.get("command"))), _named(arguments)
    if kind and path:
        yield _Touch(kind, path, "argument")
    new = _named(arguments, ("new_path",))
    if arguments.get("command") == "rename" and new:
        yield from _moved(_named(arguments, ("old_path", "path")), new)


def _notebook(arguments: Arguments) -> Iterator[_Touch]:
    """A notebook's cells: deleting one changes the file."""
    path = _named(arguments)
    if path:
        yield _Touch("read" if arguments.get("action") == "read" else "edit", path)


def _moved(old: str, new: str) -> Iterator[_Touch]:
    if old and new:
        yield _Touch("delete", old)
        yield _Touch("create", new)


def _move(arguments: Arguments) -> Iterator[_Touch]:
    old = _named(arguments, ("source", "from", "old_path", "src", "path"))
    yield from _moved(
        old, _named(arguments, ("destination", "to", "new_path", "dest", "dst", "target"))
    )


def _patch(arguments: Arguments) -> Iterator[_Touch]:
    """Codex's patch names its files in its text."""
    for name in _PATCH_TEXTS:
        value = arguments.get(name)
        if isinstance(value, list):
            value = "\n".join(item for item in value if isinstance(item, str))
        if isinstance(value, str) and "*** " in value:
            yield from _patched(value)
            return


def _patched(text: str) -> Iterator[_Touch]:
    last: _Touch | None = None
    for what, path in _PATCH_LINE.findall(text):
        if what == "Move to" and last is not None:
            # The file that was updated is gone: it goes on under the new name.
            yield last._replace(kind="delete")
            yield _Touch("create", path, "argument")
            last = None
            continue
        if last is not None:
            yield last
        last = _Touch(_PATCH_KINDS[what], path, "argument")
    if last is not None:
        yield last


def _shell_patch(arguments: Arguments) -> Iterator[_Touch]:
    """Codex also runs its patch as a command: ``["apply_patch", text]``."""
    command = arguments.get("command")
    if isinstance(command, list) and command[:1] == ["apply_patch"]:
        yield from _patch(arguments)


def _replacements(arguments: Arguments) -> Iterator[_Touch]:
    """Copilot's many replacements at once, each with its file."""
    listed = arguments.get("replacements")
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict) and (path := _named(one)):
            yield _Touch("edit", path)


FILE_TOOLS: dict[str, _Reader] = {
    # pi, oh-my-pi
    "read": _does("read"),
    "write": _does("write"),
    "edit": _edit,
    "multi_edit": _does("edit"),
    "multiedit": _does("edit"),
    "notebook": _notebook,
    "apply_patch": _patch,
    # Claude Code
    "Read": _does("read"),
    "Write": _does("write"),
    "Edit": _does("edit"),
    "MultiEdit": _does("edit"),
    "NotebookRead": _does("read"),
    "NotebookEdit": _notebook,
    "str_replace_based_edit_tool": _by_command,
    "str_replace_editor": _by_command,
    # Copilot CLI
    "view": _does("read"),
    "create": _does("create"),
    # Codex
    "shell": _shell_patch,
    "local_shell": _shell_patch,
    "view_image": _does("read"),
    # Copilot Chat, and names that several agents share
    "read_file": _does("read"),
    "read_many_files": _does_to_all("read", "paths", "files"),
    "read_multiple_files": _does_to_all("read", "paths", "files"),
    "create_file": _does("create"),
    "write_file": _does("write"),
    "edit_file": _does("edit", *_PATHS, "target_file"),
    "replace": _does("edit", "file_path"),
    "insert_edit_into_file": _does("edit"),
    "replace_string_in_file": _does("edit"),
    "multi_replace_string_in_file": _replacements,
    "create_new_jupyter_notebook": _does("create"),
    "edit_notebook_file": _notebook,
    "delete": _does_to_all("delete", "paths", "files"),
    "delete_file": _does("delete", *_PATHS, "target_file"),
    "remove_file": _does("delete"),
    "rm": _does_to_all("delete", "paths", "files"),
    "mv": _move,
    "move": _move,
    "move_file": _move,
    "rename_file": _move,
}
"""Tools by name. A dedicated tool is one whose name says what it does; shells are not."""


def file_ops(tool: str, arguments: object, call_id: str) -> tuple[FileOp, ...]:
    """The files that a call touches, in order; nothing for a tool that is not in the table.

    Unknown shapes of arguments are no files, and nothing is raised.
    """
    reader = FILE_TOOLS.get(tool)
    if reader is None or not isinstance(arguments, dict):
        return ()
    kind = PI_TOOLS.get(tool)
    if kind is not None and _USUAL.issuperset(arguments):
        # What nearly all calls look like, and imports read hundreds of thousands of.
        path = arguments.get("path")
        if type(path) is str and path:
            return (FileOp(kind, path, call_id),)
    seen_by_pi = arguments.get("path") if tool in PI_TOOLS else None
    found: list[FileOp] = []
    for kind, path, known in reader(arguments):
        part = _part(arguments) if kind == "read" else ""
        wide = path != seen_by_pi or bool(found)
        found.append(FileOp(kind, path, call_id, part, known, wide))
    return tuple(found)


def _part(arguments: Arguments) -> str:
    given = sorted(arguments.keys() & _PARTS)
    return " ".join(f"{name}={arguments[name]}" for name in given if arguments[name] is not None)
