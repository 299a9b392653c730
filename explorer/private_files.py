"""Files of the program, readable by their owner alone, whatever the umask of the process is.

Sessions hold source code and what commands printed, and the settings decide what an agent may do:
nobody else on the machine reads or changes them. Folders are made by `explorer.paths.ensure`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

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
    temporary = path.with_name(f".{secrets.token_hex(8)}.part")
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
