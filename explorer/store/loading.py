"""Opening a stored session: the packed columns, and the rows that came after them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from explorer.session.columns import ColumnBuilder, SessionColumns
from explorer.session.records import EntryRecord
from explorer.store.codec import ENTRY_COLUMNS, Row, facts_of, record_of, text_out
from explorer.store.columns_blob import pack, unpack
from explorer.store.rows import DamagedError
from explorer.store.schema import row_id

REPACK_ROWS = 1000
"""Rows after the packed columns from which they are packed anew."""


def load_columns(
    db: sqlite3.Connection, key: int, count: int, path: Path
) -> tuple[SessionColumns, int]:
    """The columns of a session's ``count`` entries, and how many of them had been packed.

    Packed columns that are absent or damaged are made again from the rows. Raises DamagedError
    when rows are missing.
    """
    found = db.execute("SELECT entries, data FROM columns WHERE session = ?", (key,)).fetchone()
    columns = unpack(found[1]) if found is not None else None
    if columns is None or not len(columns.ids) == len(columns) == found[0] <= count:
        columns = SessionColumns()
    packed = len(columns)
    if packed < count:
        try:
            _fold(db, key, columns, count)
        except ValueError as error:
            raise DamagedError(path, f"session {key} cannot be put together: {error}") from error
    if len(columns) != count:
        raise DamagedError(
            path, f"session {key} has {len(columns)} readable entries where {count} were stored"
        )
    return columns, packed


def _fold(db: sqlite3.Connection, key: int, columns: SessionColumns, count: int) -> None:
    builder = ColumnBuilder(columns)
    for row in entry_rows_from(db, key, len(columns), count - 1):
        builder.append(text_out(row[1]), row[2], facts_of(row), row[7])


def entry_rows_from(db: sqlite3.Connection, key: int, first: int, last: int) -> Iterator[Row]:
    """Rows of ``entries`` with the indices ``first`` to ``last``."""
    return iter(
        db.execute(
            f"SELECT {ENTRY_COLUMNS} FROM entries WHERE id BETWEEN ? AND ? ORDER BY id",
            (row_id(key, first), row_id(key, last)),
        )
    )


def records_from(db: sqlite3.Connection, key: int, first: int, last: int) -> list[EntryRecord]:
    """The entries ``first`` to ``last`` with their payloads."""
    names = ", ".join(f"e.{name.strip()}" for name in ENTRY_COLUMNS.split(","))
    rows: Sequence[Row] = db.execute(
        f"SELECT {names}, p.raw FROM entries e JOIN payloads p ON p.id = e.id"
        " WHERE e.id BETWEEN ? AND ? ORDER BY e.id",
        (row_id(key, first), row_id(key, last)),
    ).fetchall()
    return [record_of(row[:-1], row[-1]) for row in rows]


def store_columns(db: sqlite3.Connection, key: int, block: bytes, entries: int) -> None:
    """Keep packed columns, unless newer ones are kept or the session is gone."""
    db.execute(
        "INSERT INTO columns (session, entries, data)"
        " SELECT key, ?, ? FROM sessions WHERE key = ?"
        " ON CONFLICT (session) DO UPDATE SET entries = excluded.entries, data = excluded.data"
        " WHERE excluded.entries >= columns.entries OR length(columns.data) = 0",
        (entries, block, key),
    )


__all__ = ["REPACK_ROWS", "load_columns", "pack", "records_from", "store_columns"]
