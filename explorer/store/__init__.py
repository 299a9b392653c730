"""The database of sessions: SQLite, described with SQLModel, written by one thread."""

from explorer.store.rows import (
    DamagedError,
    DraftRow,
    ImportCancelled,
    ImportReport,
    LoadedSession,
    NewerVersionError,
    SessionRow,
    StoreError,
)
from explorer.store.salvage import SalvagedSession, SalvageReport, salvage
from explorer.store.search import SearchHit, SearchState, SearchStep
from explorer.store.store import Store

__all__ = [
    "DamagedError",
    "DraftRow",
    "ImportCancelled",
    "ImportReport",
    "LoadedSession",
    "NewerVersionError",
    "SalvageReport",
    "SalvagedSession",
    "SearchHit",
    "SearchState",
    "SearchStep",
    "SessionRow",
    "Store",
    "StoreError",
    "salvage",
]
