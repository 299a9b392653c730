"""The folder that the agent may work in, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from explorer.agent.walking import Walk


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
        """The same folder, and more single files outside that may be read (A51)."""
        before = self._may_read
        if before is None:
            return Workspace(self.root, may_read)
        return Workspace(self.root, lambda path: before(path) or may_read(path))

    def contains(self, path: Path) -> bool:
        """Whether a resolved path is the folder or lies in it."""
        return path.is_relative_to(self.root)

    def resolve(self, name: str) -> Path:
        """The absolute path of ``name``, links resolved.

        Raises WorkspaceError when it lies outside the workspace or does not exist.
        """
        full = self.target(name)
        if not _exists(full):
            raise WorkspaceError(f"{name}: no such file or folder")
        return full

    def target(self, name: str) -> Path:
        """As ``resolve``, of what need not exist yet: the links on the way there are resolved.

        Raises WorkspaceError when it lies outside the workspace.
        """
        full = _real(self.root, name)
        if not self.contains(full):
            raise WorkspaceError(f"{name}: outside the workspace {self.root}")
        return full

    def readable(self, name: str) -> Path:
        """The absolute path of a file to read; as ``resolve``, and what may be read besides."""
        if self._may_read is not None:
            full = _real(self.root, name)
            if self.is_extra(full):
                return full
        return self.resolve(name)

    def is_extra(self, path: Path) -> bool:
        """Whether a resolved path lies outside and may be read all the same."""
        return self._may_read is not None and not self.contains(path) and self._may_read(path)

    def shown(self, path: Path) -> str:
        """The path as the model is told it: relative to the workspace, with forward slashes."""
        if not path.is_relative_to(self.root):
            return path.as_posix()
        return path.relative_to(self.root).as_posix() or "."

    def files(self, start: Path, most: int) -> tuple[list[Path], bool]:
        """Files below ``start`` that the project does not ignore, as ``Walk`` finds them; True
        when cut at ``most``."""
        walk = Walk(self.root, start, most=most)
        return list(walk.files()), walk.cut


def _real(root: Path, name: str) -> Path:
    """Where a name leads, all links followed."""
    try:
        candidate = Path(name).expanduser()
        return (candidate if candidate.is_absolute() else root / candidate).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        # A loop of links, a home of nobody, a zero byte, a name that is too long.
        raise WorkspaceError(f"{name[:200]!r}: not a path that can be used ({error})") from error


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False
