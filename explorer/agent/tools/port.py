"""What a turn needs of tools, what a tool is given, and what it gives; and what the tools of one
session share: the folder, the contents that the model knows, and files for whole outputs.
"""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct, field

from explorer import private_files
from explorer.agent.workspace import Workspace
from explorer.models.events import CancelToken
from explorer.models.request import ImagePart, ToolCall, ToolSpec
from explorer.settings import paths

Arguments = Mapping[str, Any]


class ToolError(Exception):
    """A call that came to nothing; its words are for the model."""


def text_of(arguments: Arguments, key: str, default: str | None = None) -> str:
    """A text; not an empty one where there is no default. Raises ToolError."""
    value = arguments.get(key)
    if value is None:
        value = default
    if not isinstance(value, str) or (default is None and not value):
        raise ToolError(f"the argument {key!r} must be a text")
    return value


def path_of(arguments: Arguments) -> str:
    """The path of a call; models write an ``@`` before it, as people do in a message."""
    name = text_of(arguments, "path")
    return name[1:] if name.startswith("@") and len(name) > 1 else name


def content_of(arguments: Arguments, key: str) -> str:
    """A text that may be empty and must be there. Raises ToolError."""
    value = arguments.get(key)
    if not isinstance(value, str):
        raise ToolError(f"the argument {key!r} must be a text")
    return value


def number_of(arguments: Arguments, key: str, default: int, least: int = 1) -> int:
    """A whole number; models also send it as a text. Raises ToolError."""
    value = arguments.get(key)
    if value is None:
        return default
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            value = None
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= least:
        raise ToolError(f"the argument {key!r} must be a number of at least {least}")
    return int(min(value, 10**9))


def flag_of(arguments: Arguments, key: str) -> bool:
    """A boolean argument; False where it is missing. Raises ToolError."""
    value = arguments.get(key)
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if value is not None and not isinstance(value, bool):
        raise ToolError(f"the argument {key!r} must be true or false")
    return bool(value)


class ToolOutcome(Struct, frozen=True):
    """What a tool call gave."""

    text: str
    """For the model."""
    is_error: bool = False
    images: tuple[ImagePart, ...] = ()
    """For the model too, after the text."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """For people and views, stored with the result and never sent: plain JSON values. As pi
    spells them: ``diff`` and ``firstChangedLine`` of an edit, ``truncation`` and
    ``fullOutputPath`` of what was cut, ``exitCode`` of a command."""


class ToolSet(Protocol):
    """The tools of one turn. Used on the loop that the turn runs on."""

    def specs(self) -> tuple[ToolSpec, ...]:
        """What is offered to the model now."""

    def is_exclusive(self, call: ToolCall) -> bool:
        """Whether the call may change things, so that no other may run beside it."""

    async def run(
        self, call: ToolCall, cancel: CancelToken, on_output: Callable[[str], None]
    ) -> ToolOutcome:
        """Run one call to its end, asking the person first where that is needed.

        ``on_output`` is given pieces of the output as they come, on the loop. Whatever goes wrong
        becomes an outcome that says so. When cancelled it returns soon, with what had come, after
        everything that it started is dead.
        """


_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_SUFFIX = ".txt"


class OutputFiles:
    """A folder of outputs, one file each, which only the person can read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()

    def new(self, tool: str, call_id: str) -> Path:
        """The path of a file that does not exist yet; its folder is made. Raises OSError."""
        paths.ensure(self.folder)
        name = _UNSAFE.sub("-", f"{tool}-{call_id}")[:80]
        return self.folder / f"{name}-{secrets.token_hex(4)}{_SUFFIX}"

    def keep(self, tool: str, call_id: str, text: str) -> Path:
        """Write a whole output; returns its file. Raises OSError."""
        path = self.new(tool, call_id)
        with private_files.create(path) as file:
            file.write(text.encode("utf-8", "replace"))
        return path

    def is_output(self, path: Path) -> bool:
        """Whether a resolved path is one of the outputs."""
        return path.parent == self.folder.resolve() and path.suffix == _SUFFIX and path.is_file()


class KnownContents:
    """Which contents of which files the model knows, as marks; from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._marks: dict[Path, str] = {}

    def keep(self, path: Path, mark: str) -> None:
        """The model was shown this content, or wrote it."""
        with self._lock:
            self._marks[path] = mark

    def changed(self, path: Path, mark: str | None) -> bool:
        """Whether the model knows another content than this; not, where it knows none."""
        with self._lock:
            known = self._marks.get(path)
        return known is not None and known != mark


class ToolContext(Struct, frozen=True):
    """What a tool works with."""

    workspace: Workspace
    outputs: OutputFiles | None = None
    """None: what a result leaves out is not stored."""
    seen: KnownContents = field(default_factory=KnownContents)


class ToolRun(Struct, frozen=True):
    """One call at work."""

    tool: str
    call_id: str = ""
    cancel: CancelToken = field(default_factory=CancelToken)
