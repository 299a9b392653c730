"""Appending entries: the index is given out while the database is locked for writing."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from explorer.session.records import EntryRecord
from explorer.store.codec import (
    ENTRY_COLUMNS,
    ENTRY_WIDTH,
    Row,
    entry_rows,
    made_here,
    text_in,
    text_out,
)
from explorer.store.columns_blob import unpack
from explorer.store.rows import StoreError
from explorer.store.schema import row_id
from explorer.store.sessions import Summary, extend_session, now_ms

NewEntry = tuple[Mapping[str, Any], str | None]
"""An entry's JSON and the id of its parent, None for a root."""

_ROWS = 250
"""Rows per statement: SQLite then works for a while without Python's lock, so that the next
entries are parsed meanwhile."""
_SESSIONS_KEPT = 2


def _insert(table: str, columns: str, width: int, rows: int) -> str:
    one = f"({', '.join('?' * width)})"
    return f"INSERT INTO {table} ({columns}) VALUES {', '.join([one] * rows)}"


_ENTRIES_MANY = _insert("entries", ENTRY_COLUMNS, ENTRY_WIDTH, _ROWS)
_ENTRIES_ONE = _insert("entries", ENTRY_COLUMNS, ENTRY_WIDTH, 1)
_PAYLOADS_MANY = _insert("payloads", "id, raw", 2, _ROWS)
_PAYLOADS_ONE = _insert("payloads", "id, raw", 2, 1)


def _insert_rows(db: sqlite3.Connection, many: str, one: str, rows: Sequence[Row]) -> None:
    whole = len(rows) - len(rows) % _ROWS
    for at in range(0, whole, _ROWS):
        db.execute(many, list(chain.from_iterable(rows[at : at + _ROWS])))
    if whole < len(rows):
        db.executemany(one, rows[whole:])


def payload_rows(first_id: int, records: Sequence[EntryRecord]) -> list[Row]:
    """Rows of ``payloads`` for records whose ids run on from ``first_id``."""
    raws: list[str | bytes] = [record.raw for record in records]
    return list(zip(range(first_id, first_id + len(records)), raws, strict=True))


def insert_entries(db: sqlite3.Connection, entries: list[Row], payloads: list[Row]) -> None:
    """Insert rows; those with texts that UTF-8 cannot carry are put in another way."""
    try:
        _insert_rows(db, _ENTRIES_MANY, _ENTRIES_ONE, entries)
        _insert_rows(db, _PAYLOADS_MANY, _PAYLOADS_ONE, payloads)
    except UnicodeEncodeError:
        low, high = entries[0][0], entries[-1][0]
        db.execute("DELETE FROM entries WHERE id BETWEEN ? AND ?", (low, high))
        db.execute("DELETE FROM payloads WHERE id BETWEEN ? AND ?", (low, high))
        db.executemany(_ENTRIES_ONE, map(_texts_in, entries))
        db.executemany(_PAYLOADS_ONE, map(_texts_in, payloads))


def _texts_in(row: Row) -> Row:
    return tuple(text_in(value) if isinstance(value, str) else value for value in row)


def insert_labels(
    db: sqlite3.Connection, key: int, first: int, records: Iterable[EntryRecord]
) -> None:
    """Note the label entries among records whose indices run on from ``first``."""
    rows = [
        (key, first + at, text_in(label[0]), text_in(label[1]))
        for at, record in enumerate(records)
        if (label := record.facts.label) is not None
    ]
    if rows:
        db.executemany(
            "INSERT INTO labels (session, entry, target_id, label) VALUES (?, ?, ?, ?)", rows
        )


class Appender:
    """Appends on the writer's thread. Remembers the ids of the sessions last appended to."""

    def __init__(self, path: Path, estimate: Callable[[dict[str, Any]], int]) -> None:
        self._path = path
        self._estimate = estimate
        self._ids: OrderedDict[int, dict[str, int]] = OrderedDict()

    def append(
        self, db: sqlite3.Connection, key: int, entries: Sequence[NewEntry], leaf_id: str | None
    ) -> list[int]:
        """Append entries made here; returns their indices. See ``Store.append``."""
        records = [(self._record(entry), parent_id) for entry, parent_id in entries]
        ids, count = self.ids(db, key)
        fresh = self._placed(records, ids, count, key)
        leaf = None
        if leaf_id is not None:
            named = {record.entry_id: count + at for at, record in enumerate(fresh)}
            leaf = named.get(leaf_id, ids.get(leaf_id))
            if leaf is None:
                raise StoreError(self._path, f"session {key} has no entry {leaf_id!r} to be leaf")
        self.insert(db, key, count, fresh, leaf)
        return list(range(count, count + len(fresh)))

    def insert(
        self,
        db: sqlite3.Connection,
        key: int,
        first: int,
        records: Sequence[EntryRecord],
        leaf: int | None,
    ) -> None:
        """Insert records whose parents are indices already, from the index ``first``."""
        if records:
            first_id = row_id(key, first)
            parents = [record.parent for record in records]
            insert_entries(
                db, entry_rows(first_id, records, parents), payload_rows(first_id, records)
            )
            insert_labels(db, key, first, records)
        summary = Summary()
        summary.take(records)
        extend_session(db, key, len(records), summary, leaf)

    def _record(self, entry: Mapping[str, Any]) -> EntryRecord:
        entry_id = entry.get("id")
        if not isinstance(entry_id, str) or not entry_id:
            raise StoreError(self._path, "an entry without an id cannot be appended")
        return made_here(entry, entry_id, self._estimate)

    def _placed(
        self,
        records: Sequence[tuple[EntryRecord, str | None]],
        ids: Mapping[str, int],
        count: int,
        key: int,
    ) -> list[EntryRecord]:
        placed: dict[str, int] = {}
        out: list[EntryRecord] = []
        for record, parent_id in records:
            name = record.entry_id
            if name in ids or name in placed:
                raise StoreError(self._path, f"session {key} has an entry {name!r} already")
            parent = -1
            if parent_id is not None:
                parent = placed.get(parent_id, ids.get(parent_id, -1))
                if parent < 0:
                    raise StoreError(
                        self._path, f"session {key} has no entry {parent_id!r} to be parent"
                    )
            placed[name] = count + len(out)
            out.append(record._replace(parent=parent))
        return out

    def ids(self, db: sqlite3.Connection, key: int) -> tuple[dict[str, int], int]:
        """The index of every id of a session, and how many entries it has.

        The mapping only ever holds what is committed: it is brought up to date here, from the
        rows, whoever wrote them. Raises StoreError when there is no such session.
        """
        found = db.execute(
            "SELECT entries FROM sessions WHERE key = ? AND complete = 1", (key,)
        ).fetchone()
        if found is None:
            raise StoreError(
                self._path, f"holds no session {key}; it may have been deleted elsewhere"
            )
        count: int = found[0]
        ids = self._ids.pop(key, None)
        if ids is None or len(ids) > count:
            ids = self._packed_ids(db, key)
        if len(ids) < count:
            rows = db.execute(
                "SELECT entry_id FROM entries WHERE id BETWEEN ? AND ? ORDER BY id",
                (row_id(key, len(ids)), row_id(key, count - 1)),
            )
            for (name,) in rows.fetchall():
                ids[text_out(name)] = len(ids)
        self._ids[key] = ids
        while len(self._ids) > _SESSIONS_KEPT:
            self._ids.popitem(last=False)
        return ids, count

    def _packed_ids(self, db: sqlite3.Connection, key: int) -> dict[str, int]:
        found = db.execute("SELECT data FROM columns WHERE session = ?", (key,)).fetchone()
        columns = unpack(found[0]) if found is not None else None
        return {name: at for at, name in enumerate(columns.ids)} if columns is not None else {}


def move_leaf(db: sqlite3.Connection, key: int, index: int, path: Path) -> None:
    """Store the leaf of a session; -1 is before any entry. Raises StoreError out of range."""
    cursor = db.execute(
        "UPDATE sessions SET leaf = ?, changed_ms = ?"
        " WHERE key = ? AND complete = 1 AND ? BETWEEN -1 AND entries - 1",
        (index, now_ms(), key, index),
    )
    if cursor.rowcount != 1:
        raise StoreError(path, f"session {key} has no entry {index} to be leaf")
