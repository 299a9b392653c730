"""Files that are locked for as long as their process lives, however it ends."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


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
