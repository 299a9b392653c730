"""The folder that the agent may look into, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path


class WorkspaceError(Exception):
    """A path that the agent may not use, or that is not what it takes it for."""


class Workspace:
    """Paths inside one folder; symbolic links are resolved before the decision."""

    def __init__(self, root: Path, may_read: Callable[[Path], bool] | None = None) -> None:
        """``may_read``: says of a resolved path outside whether it may be read all the same; it
        may not be listed or searched."""
        self.root = root.resolve()
        self._may_read = may_read

    def with_reading(self, may_read: Callable[[Path], bool]) -> Workspace:
        """The same folder, and single files outside that may be read (A51)."""
        return Workspace(self.root, may_read)

    def resolve(self, name: str) -> Path:
        """The absolute path of ``name``.

        Raises WorkspaceError when it lies outside the workspace or does not exist.
        """
        candidate = Path(name).expanduser()
        full = (candidate if candidate.is_absolute() else self.root / candidate).resolve()
        if full != self.root and not full.is_relative_to(self.root):
            raise WorkspaceError(f"{name}: outside the workspace {self.root}")
        if not full.exists():
            raise WorkspaceError(f"{name}: no such file or folder")
        return full

    def readable(self, name: str) -> Path:
        """The absolute path of a file to read; as ``resolve``, and what may be read besides."""
        candidate = Path(name).expanduser()
        if self._may_read is not None and candidate.is_absolute():
            full = candidate.resolve()
            if self._may_read(full):
                return full
        return self.resolve(name)

    def shown(self, path: Path) -> str:
        """The path as the model is told it: relative to the workspace, with forward slashes."""
        if not path.is_relative_to(self.root):
            return path.as_posix()
        return path.relative_to(self.root).as_posix() or "."

    def files(self, start: Path, most: int) -> tuple[list[Path], bool]:
        """Files below ``start`` in name order, hidden folders left out; True when cut at ``most``.

        Links are not followed, so that a walk stays inside the workspace.
        """
        if start.is_file():
            return [start], False
        found: list[Path] = []
        for folder, folders, names in os.walk(start):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                path = Path(folder) / name
                if path.is_symlink():
                    continue
                if len(found) >= most:
                    return found, True
                found.append(path)
        return found, False
