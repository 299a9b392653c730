"""Removing a session: hidden at once, then taken out in steps that let other writes through."""

from __future__ import annotations

import sqlite3

from sqlalchemy import Connection

from explorer.store.database import driver
from explorer.store.schema import row_id
from explorer.store.writer import Writer

_STEP = 2000
"""Entries removed in one transaction."""


def remove_session(writer: Writer, key: int) -> bool:
    """Remove a session and all that belongs to it; returns whether there was one.

    Interrupted half-way the session is not shown, and the rest goes when the database is next
    opened. Raises StoreError.
    """
    if not writer.submit(lambda c: _hide(driver(c), key)).result():
        return False
    while writer.submit(lambda c: _remove_some(driver(c), key)).result():
        pass

    def last(connection: Connection) -> None:
        driver(connection).execute("DELETE FROM sessions WHERE key = ?", (key,))

    writer.submit(last).result()
    return True


def _hide(db: sqlite3.Connection, key: int) -> bool:
    cursor = db.execute("UPDATE sessions SET complete = 0 WHERE key = ?", (key,))
    return cursor.rowcount == 1


def _remove_some(db: sqlite3.Connection, key: int) -> bool:
    low, high = row_id(key, 0), row_id(key + 1, 0) - 1
    removed = 0
    for table in ("payloads", "entries"):
        cursor = db.execute(
            f"DELETE FROM {table} WHERE id IN"
            f" (SELECT id FROM {table} WHERE id BETWEEN ? AND ? LIMIT ?)",
            (low, high, _STEP),
        )
        removed += cursor.rowcount
    return removed > 0
