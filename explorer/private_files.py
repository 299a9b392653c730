"""Files of the program, readable by their owner alone, whatever the umask of the process is; and
locks on files, which last as long as their process, however it ends.

Sessions hold source code and what commands printed, and the settings decide what an agent may do:
no other user of the machine reads or changes them. Folders are made by `settings.paths.ensure`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

PRIVATE = 0o600
_CANNOT = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EACCES)
"""Of a file system that cannot sync a folder, as some on a network, or a folder that may be written
to and not read."""


def create(path: Path, mode: int = PRIVATE) -> BinaryIO:
    """A new file, open for writing. ``mode`` is what the umask leaves of it.

    Raises FileExistsError when there is something of that name, OSError.
    """
    return open(path, "xb", opener=partial(os.open, mode=mode))


def create_empty(path: Path) -> None:
    """An empty file where there is none, for a library that would make it with the umask's mode.
    Raises OSError."""
    with contextlib.suppress(FileExistsError):
        create(path).close()


@contextlib.contextmanager
def replacement(path: Path, *, keeps_mode: bool = False, mode: int = PRIVATE) -> Iterator[BinaryIO]:
    """A file that takes the place of ``path`` when the block ends, whole and on the disk; when the
    block raises, ``path`` is as it was.

    ``keeps_mode``: a file that is there keeps its permissions. Raises OSError.
    """
    temporary = path.with_name(f".{os.urandom(8).hex()}.part")
    try:
        with create(temporary, mode) as file:
            yield file
            if keeps_mode:
                with contextlib.suppress(FileNotFoundError):
                    temporary.chmod(stat.S_IMODE(path.stat().st_mode))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def write(path: Path, data: bytes, *, keeps_mode: bool = False) -> None:
    """Write a file whole or not at all. See `replacement`."""
    with replacement(path, keeps_mode=keeps_mode) as file:
        file.write(data)


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk: what was created, renamed or removed there.

    Nothing on Windows, where a folder cannot be opened, and where a file system cannot do it: names
    last as long as that makes them last. Raises OSError when the disk reports an error.
    """
    if sys.platform == "win32":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in _CANNOT:
            raise


class FileLock:
    """A lock on a file. The system lets go of it when the process dies."""

    def __init__(self, path: Path, handle: int) -> None:
        self.path = path
        self._handle = handle

    @classmethod
    def take(cls, path: Path) -> FileLock | None:
        """Lock the file, making it when absent; None when someone holds it.

        Raises OSError when the file cannot be made.
        """
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(handle)
        except OSError:
            os.close(handle)
            return None
        if not _is_at(path, handle):
            # Its last owner let go of it and removed it between the two steps: nobody else would
            # find this lock.
            os.close(handle)
            return None
        return cls(path, handle)

    def release(self) -> None:
        """Let go and remove the file."""
        if sys.platform == "win32":
            os.close(self._handle)
            # There a file that someone looks at cannot be removed; who looks removes it.
            with contextlib.suppress(PermissionError):
                self.path.unlink(missing_ok=True)
        else:
            self.path.unlink(missing_ok=True)
            os.close(self._handle)


def _is_at(path: Path, handle: int) -> bool:
    """Whether an open file is the one of that name."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _lock(handle: int) -> None:
    if sys.platform == "win32":
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
