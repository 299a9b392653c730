"""The database of sessions: SQLite, described with SQLModel, written by one thread.

Importing this package imports SQLModel, which takes half a second: the window does it after its
first paint.
"""

from explorer.store.rows import (
    DamagedError,
    ImportCancelled,
    ImportReport,
    LoadedSession,
    NewerVersionError,
    SessionRow,
    StoreError,
)
from explorer.store.store import Store

__all__ = [
    "DamagedError",
    "ImportCancelled",
    "ImportReport",
    "LoadedSession",
    "NewerVersionError",
    "SessionRow",
    "Store",
    "StoreError",
]
