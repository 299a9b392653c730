"""Whole outputs of which a result holds a part, as files that the model may read."""

from __future__ import annotations

import re
import secrets
from pathlib import Path

from explorer import paths, private_files

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_SUFFIX = ".txt"


class Outputs:
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

    def is_own(self, path: Path) -> bool:
        """Whether a resolved path is one of the outputs."""
        return path.parent == self.folder.resolve() and path.suffix == _SUFFIX and path.is_file()
