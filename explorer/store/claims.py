"""Which unfinished work (imports, drafts) still has a living process behind it."""

from __future__ import annotations

import secrets
from pathlib import Path
from types import TracebackType

from explorer.private_files import FileLock
from explorer.store.rows import StoreError


class Claim:
    """A locked file beside the database for as long as the work runs.

    When the process is killed the system lets go of the lock, which tells the next one to open
    the database that the work will never end.
    """

    def __init__(self, name: str, lock: FileLock) -> None:
        self.name = name
        self._lock = lock

    @classmethod
    def make(cls, database: Path) -> Claim:
        """Raises StoreError when no file can be made beside the database."""
        name = secrets.token_hex(8)
        path = claim_path(database, name)
        try:
            lock = FileLock.take(path)
        except OSError as error:
            raise StoreError(path, f"cannot be created: {error.strerror or error}") from error
        if lock is None:
            raise StoreError(path, "is locked by another program")
        return cls(name, lock)

    def __enter__(self) -> Claim:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def release(self) -> None:
        """The work has ended."""
        self._lock.release()


def claim_path(database: Path, name: str) -> Path:
    """The lock file of a claim."""
    return Path(f"{database}.claim-{name}")


def is_abandoned(database: Path, name: str) -> bool:
    """Whether nobody holds the claim any more; its file is removed then."""
    path = claim_path(database, name)
    if not name or not path.exists():
        return True
    try:
        lock = FileLock.take(path)
    except OSError:
        return False
    if lock is None:
        return False
    lock.release()
    return True
