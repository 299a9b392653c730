"""The folder that the agent may work in: its paths, the files that its project does not ignore, and
files opened so that no link can lead out of it, made at whatever moment.

A path is resolved first and decided on; what is opened then is walked to from the workspace's
folder, one step at a time, and a step that has become a link in between is refused.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

from msgspec import Struct
from pathspec import GitIgnoreSpec

MOST_FILES = 100_000
"""Files that one search looks at."""
_LARGEST_RULES = 1_000_000
_RULE_FILES = (".gitignore", ".ignore")


class _IgnoreRules(Struct, frozen=True):
    """What one folder's files say of all below it."""

    base: str
    spec: GitIgnoreSpec

    def verdict(self, path: str, folder: bool) -> bool | None:
        """Whether to ignore a path below; None where these rules say nothing of it."""
        name = path[len(self.base) + 1 :]
        return self.spec.check_file(name + "/" if folder else name).include


class Walk:
    """Files below ``start``, folder by folder in the order of their names.

    ``start`` lies in ``root``, the outermost folder whose rules count. Links are not followed, so
    that a walk stays within; ``.git`` and what ``.gitignore`` files
    name is left out, hidden files are not. ``cut`` tells afterwards that it ended at
    ``MOST_FILES``.
    """

    def __init__(
        self,
        root: Path,
        start: Path,
        stopped: Callable[[], bool] = lambda: False,
        most: int = MOST_FILES,
    ) -> None:
        self._root = root
        self._start = start
        self._stopped = stopped
        self._most = most
        self.cut = False

    def files(self) -> Iterator[Path]:
        """The files; of a start that is a file, that one, ignored or not."""
        if self._start.is_file():
            yield self._start
            return
        rules = self._above()
        if self._start != self._root and _ignored(str(self._start), True, rules):
            # Who names an ignored folder wants to see into it.
            rules = ()
        for count, path in enumerate(self._below(self._start, rules)):
            if count >= self._most:
                self.cut = True
                return
            yield path

    def _above(self) -> tuple[_IgnoreRules, ...]:
        """The rules of the folders from the workspace's own down to the start's parent."""
        root = self._root
        found: list[_IgnoreRules] = []
        if excluded := _read_rules(root, (".git/info/exclude",)):
            found.append(excluded)
        folder = root
        for step in self._start.relative_to(root).parts:
            if rules := _read_rules(folder, _RULE_FILES):
                found.append(rules)
            folder = folder / step
        return tuple(found)

    def _below(self, folder: Path, rules: tuple[_IgnoreRules, ...]) -> Iterator[Path]:
        waiting = [(folder, rules)]
        while waiting and not self._stopped():
            folder, rules = waiting.pop()
            if nested := _read_rules(folder, _RULE_FILES):
                rules = (*rules, nested)
            folders: list[Path] = []
            for item in _items(folder):
                is_folder = item.is_dir(follow_symlinks=False)
                if (
                    item.is_symlink()
                    or item.name == ".git"
                    or _ignored(item.path, is_folder, rules)
                ):
                    continue
                if is_folder:
                    folders.append(Path(item.path))
                elif item.is_file(follow_symlinks=False):
                    yield Path(item.path)
            waiting.extend((below, rules) for below in reversed(folders))


def _items(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as items:
            return sorted(items, key=lambda item: item.name)
    except OSError:
        # A folder that went away or may not be listed holds nothing to be found.
        return []


def _ignored(path: str, folder: bool, rules: tuple[_IgnoreRules, ...]) -> bool:
    """What the innermost rules say that say anything."""
    for rule in reversed(rules):
        verdict = rule.verdict(path, folder)
        if verdict is not None:
            return verdict
    return False


def _read_rules(folder: Path, names: tuple[str, ...]) -> _IgnoreRules | None:
    lines: list[str] = []
    for name in names:
        path = folder / name
        try:
            if path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST_RULES:
                continue
            lines += path.read_text("utf-8", "replace").splitlines()
        except OSError:
            continue
    return _IgnoreRules(str(folder), GitIgnoreSpec.from_lines(_valid(lines))) if lines else None


def _valid(lines: list[str]) -> list[str]:
    """Lines that can be understood: one bad line does not take the others with it."""
    good = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        good.append(line)
    return good


class WorkspaceError(Exception):
    """A path that the agent may not use, or that is not what it takes it for."""


class Workspace:
    """Paths within one folder; symbolic links are resolved before the decision."""

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
        """The path as shown to the model: relative to the workspace, with forward slashes."""
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
        # A loop of links, an unknown user's home, a zero byte, a name that is too long.
        raise WorkspaceError(f"{name[:200]!r}: not a path that can be used ({error})") from error


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


LARGEST_EDIT = 16 * 1024 * 1024
"""Bytes of a file that is taken into memory whole."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_LINKS = {errno.ELOOP, errno.ENOTDIR, errno.EMLINK}


class Contents(Struct, frozen=True):
    """A file as it was at one moment."""

    data: bytes
    mark: str
    """The same for the same bytes."""


def mark_of(data: bytes) -> str:
    """What tells one content from another."""
    return sha256(data).hexdigest()


@contextlib.contextmanager
def folder_of(workspace: Workspace, path: Path, *, make: bool = False) -> Iterator[int]:
    """A descriptor of the folder that a resolved path of the workspace lies in.

    ``make``: folders that are missing are made. Raises WorkspaceError and OSError.
    """
    steps = path.relative_to(workspace.root).parts[:-1]
    at = os.open(workspace.root, _FOLDER)
    try:
        for step in steps:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(step, dir_fd=at)
            try:
                below = os.open(step, _FOLDER, dir_fd=at)
            except OSError as error:
                if error.errno in _LINKS:
                    raise WorkspaceError(
                        f"{workspace.shown(path)}: {step} is no folder, or became a link"
                    ) from error
                raise
            os.close(at)
            at = below
        yield at
    finally:
        os.close(at)


@contextlib.contextmanager
def opened(workspace: Workspace, path: Path) -> Iterator[int]:
    """A descriptor to read a resolved path with: of the workspace, or one that may be read
    besides. Raises WorkspaceError for what is no plain file, and OSError."""
    if workspace.contains(path):
        with folder_of(workspace, path) as folder:
            descriptor = _open(workspace, path, folder)
    elif workspace.is_extra(path):
        descriptor = _open(workspace, path, None)
    else:
        raise WorkspaceError(f"{path}: outside the workspace {workspace.root}")
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise WorkspaceError(f"{workspace.shown(path)} is no plain file")
        yield descriptor
    finally:
        os.close(descriptor)


def _open(workspace: Workspace, path: Path, folder: int | None) -> int:
    try:
        return os.open(path if folder is None else path.name, _FILE, dir_fd=folder)
    except OSError as error:
        if error.errno in _LINKS:
            raise WorkspaceError(f"{workspace.shown(path)}: became a link meanwhile") from error
        raise


def read_whole(workspace: Workspace, path: Path) -> Contents | None:
    """A file's bytes; None where there is none. Raises WorkspaceError for what is no plain file
    or larger than ``LARGEST_EDIT``, and OSError."""
    try:
        with opened(workspace, path) as descriptor:
            return _contents(workspace, path, descriptor)
    except FileNotFoundError:
        return None


def _contents(workspace: Workspace, path: Path, descriptor: int) -> Contents:
    size = os.fstat(descriptor).st_size
    if size > LARGEST_EDIT:
        raise WorkspaceError(
            f"{workspace.shown(path)} is too large for that ({size:,} bytes; at most"
            f" {LARGEST_EDIT:,})"
        )
    with os.fdopen(os.dup(descriptor), "rb") as file:
        data = file.read()
    return Contents(data, mark_of(data))


def _mark_in(workspace: Workspace, path: Path, folder: int) -> str | None:
    """The mark of the file of that name in an open folder; None where there is none."""
    try:
        descriptor = _open(workspace, path, folder)
    except FileNotFoundError:
        return None
    try:
        return _contents(workspace, path, descriptor).mark
    finally:
        os.close(descriptor)


def replace_whole(workspace: Workspace, path: Path, data: bytes, before: str | None) -> None:
    """Put ``data`` in the place of a file, whole or not at all; its mode is kept.

    ``before``: the mark that the file must still have, None for a file that must not exist yet.
    Raises WorkspaceError when it is not so, and OSError; then the file is as it was.
    """
    with folder_of(workspace, path, make=True) as folder:
        unfinished = f".{path.name[:80]}.{secrets.token_hex(6)}.part"
        mode = _mode(folder, path.name)
        descriptor = os.open(
            unfinished,
            os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC,
            # What takes the place of a private file is at no moment open to others.
            0o666 if mode is None else 0o600,
            dir_fd=folder,
        )
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                if mode is not None:
                    os.fchmod(file.fileno(), mode)
                os.fsync(file.fileno())
            if _mark_in(workspace, path, folder) != before:
                raise WorkspaceError(
                    f"{workspace.shown(path)} was changed by someone else meanwhile. Nothing was"
                    " written; read it again."
                )
            os.replace(unfinished, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(unfinished, dir_fd=folder)


def _mode(folder: int, name: str) -> int | None:
    try:
        return stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return None
