"""Files of a workspace opened so that no link can lead out of it, made at whatever moment.

A path is resolved first and decided on; what is opened then is walked to from the workspace's
folder, one step at a time, and a step that has become a link in between is refused.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from explorer.agent.workspace import Workspace, WorkspaceError

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
