"""Removing a session: hidden at once; the background takes it out in small steps."""

from __future__ import annotations

import sqlite3


def hide_session(db: sqlite3.Connection, key: int) -> bool:
    """Stop showing a session, for good; returns whether there was one.

    Whatever happens after this commit, the rest of it goes when a store next has time.
    """
    cursor = db.execute(
        "UPDATE sessions SET complete = 0, claim = '' WHERE key = ? AND complete = 1", (key,)
    )
    return cursor.rowcount == 1


def disclaim(db: sqlite3.Connection, key: int, claim: str) -> None:
    """Give up an import whose process is gone. After this commit it can never be completed."""
    db.execute(
        "UPDATE sessions SET claim = '' WHERE key = ? AND complete = 0 AND claim = ?", (key, claim)
    )
