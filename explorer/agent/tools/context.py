"""What the tools of one session share: the folder, the contents that the model knows, and files for
whole outputs."""

from __future__ import annotations

import re
import secrets
import threading
from pathlib import Path

from msgspec import Struct, field

from explorer import private_files
from explorer.agent.workspace import Workspace
from explorer.models.events import CancelToken
from explorer.settings import paths

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
