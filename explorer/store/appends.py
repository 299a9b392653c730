"""Appending entries: the index is given out while the database is locked for writing."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from explorer.formats.registry import read_record
from explorer.formats.typed_source import entry_record
from explorer.session.kinds import Kind
from explorer.session.records import EntryRecord, FormatName
from explorer.store.database import row_id
from explorer.store.entry_rows import (
    ENTRY_COLUMNS,
    ENTRY_WIDTH,
    PAYLOAD_COLUMNS,
    Batch,
    sound_record,
    text_in,
    text_out,
)
from explorer.store.payloads import format_of
from explorer.store.rows import StoreError
from explorer.store.sessions import SessionSummary, count_compactions, extend_session, now_ms
from explorer.store.stored_columns import unpack
from explorer.store.totals import count_branches

NewEntry = tuple[str, str | None]
"""An entry's record, in the dialect of its session, and the id of its parent, None for a root."""

_ROWS = 64
"""Rows per statement at most: SQLite then works for a while without Python's lock, so that the
next entries are taken in meanwhile. Longer statements take longer per row."""
_SESSIONS_KEPT = 2


@lru_cache(maxsize=64)
def _insert(table: str, columns: str, marks: str, rows: int) -> str:
    return f"INSERT INTO {table} ({columns}) VALUES {', '.join([f'({marks})'] * rows)}"


def _insert_rows(
    db: sqlite3.Connection, table: str, columns: str, marks: str, values: list[Any]
) -> None:
    width = marks.count("?")
    rows = len(values) // width
    at = 0
    while at < rows:
        # Whole statements, then powers of two: few different ones, so they stay prepared.
        part = _ROWS if rows - at >= _ROWS else 1 << ((rows - at).bit_length() - 1)
        statement = _insert(table, columns, marks, part)
        db.execute(statement, values[at * width : (at + part) * width])
        at += part


def insert_entries(db: sqlite3.Connection, entries: list[Any], payloads: list[Any]) -> None:
    """Insert the values of rows, one after the other; see ``Batch``."""
    marks = ", ".join("?" * ENTRY_WIDTH)
    try:
        _insert_rows(db, "entries", ENTRY_COLUMNS, marks, entries)
        if isinstance(payloads[1], bytes):
            # Lines as they were in their file go in as they are: no making of texts.
            _insert_rows(db, "payloads", PAYLOAD_COLUMNS, "?, CAST(? AS TEXT)", payloads)
        else:
            _insert_rows(db, "payloads", PAYLOAD_COLUMNS, "?, ?", payloads)
    except UnicodeEncodeError:
        # Lone surrogates in ids: rare enough to find out by trying.
        low, high = payloads[0], payloads[-2]
        db.execute("DELETE FROM entries WHERE id BETWEEN ? AND ?", (low, high))
        db.execute("DELETE FROM payloads WHERE id BETWEEN ? AND ?", (low, high))
        _insert_rows(db, "entries", ENTRY_COLUMNS, marks, _texts_in(entries))
        _insert_rows(db, "payloads", PAYLOAD_COLUMNS, "?, ?", _texts_in(payloads))


def _texts_in(values: list[Any]) -> list[Any]:
    return [text_in(value) if isinstance(value, str) else value for value in values]


def insert_labels(
    db: sqlite3.Connection, key: int, labels: Sequence[tuple[int, tuple[str, str]]]
) -> None:
    """Note label entries: index, (target id, label)."""
    db.executemany(
        "INSERT INTO labels (session, entry, target_id, label) VALUES (?, ?, ?, ?)",
        [(key, index, text_in(target), text_in(label)) for index, (target, label) in labels],
    )


class Appender:
    """Appends on the writer's thread. Remembers the ids of the sessions last appended to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._ids: OrderedDict[int, dict[str, int]] = OrderedDict()

    def forget(self) -> None:
        """Forget the ids: a transaction from which some were read has been rolled back."""
        self._ids.clear()

    def append(
        self, db: sqlite3.Connection, key: int, entries: Sequence[NewEntry], leaf_id: str | None
    ) -> list[int]:
        """Append entries made here; returns their indices. See ``Store.append``."""
        ids, count = self.ids(db, key)
        name = format_of(db, key)
        records = [(self._record(name, record), parent_id) for record, parent_id in entries]
        fresh = self._placed(records, ids, count, key)
        leaf = None
        if leaf_id is not None:
            named = {record.entry_id: count + at for at, record in enumerate(fresh)}
            leaf = named.get(leaf_id, ids.get(leaf_id))
            if leaf is None:
                raise StoreError(self._path, f"session {key} has no entry {leaf_id!r} to be leaf")
        self.insert(db, key, count, fresh, leaf)
        return list(range(count, count + len(fresh)))

    def take_in(
        self,
        db: sqlite3.Connection,
        key: int,
        records: Sequence[tuple[EntryRecord, str | None]],
    ) -> dict[str, int]:
        """Add records of a file, each with its parent's id, but those whose id is here already;
        returns the index of each of them, by id."""
        ids, count = self.ids(db, key)
        fresh = [pair for pair in records if pair[0].entry_id not in ids]
        self.insert(db, key, count, self._placed(fresh, ids, count, key), None)
        placed = {record.entry_id: count + at for at, (record, _) in enumerate(fresh)}
        return placed | {r.entry_id: ids[r.entry_id] for r, _ in records if r.entry_id in ids}

    def insert(
        self,
        db: sqlite3.Connection,
        key: int,
        first: int,
        records: Sequence[EntryRecord],
        leaf: int | None,
    ) -> None:
        """Insert records whose parents are indices already, from the index ``first``."""
        summary = SessionSummary()
        if records:
            batch = Batch(records)
            first_id = row_id(key, first)
            insert_entries(db, batch.entry_values(first_id), batch.payload_values(first_id))
            insert_labels(db, key, [(first + at, label) for at, label in batch.labels()])
            summary.take(batch)
        extend_session(db, key, len(records), summary, leaf)

    def _record(self, format_name: FormatName, record: str) -> EntryRecord:
        entry = read_record(format_name, record)
        if not entry.id:
            raise StoreError(self._path, "an entry without an id cannot be appended")
        return sound_record(entry_record(entry, record))

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

        The mapping only ever holds what is in the rows, whichever program wrote them: it is brought
        up to date here, and ``forget`` empties it when rows of this transaction go again. Raises
        StoreError when there is no such session.
        """
        row = db.execute(
            "SELECT entries FROM sessions WHERE key = ? AND complete = 1", (key,)
        ).fetchone()
        if row is None:
            raise StoreError(
                self._path, f"holds no session {key}; it may have been deleted elsewhere"
            )
        count: int = row[0]
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
        row = db.execute("SELECT data FROM columns WHERE session = ?", (key,)).fetchone()
        columns = unpack(row[0]) if row is not None else None
        return {name: at for at, name in enumerate(columns.ids)} if columns is not None else {}


def move_leaf(db: sqlite3.Connection, key: int, index: int, path: Path) -> None:
    """Store the leaf of a session; -1 is before any entry. Raises StoreError out of range."""
    found = db.execute("SELECT leaf FROM sessions WHERE key = ?", (key,)).fetchone()
    cursor = db.execute(
        "UPDATE sessions SET leaf = ?, changed_ms = ?"
        " WHERE key = ? AND complete = 1 AND ? BETWEEN -1 AND entries - 1",
        (index, now_ms(), key, index),
    )
    if cursor.rowcount != 1:
        raise StoreError(path, f"session {key} has no entry {index} to be leaf")
    count_after_move(db, key, (found[0], index), path)


def count_after_move(db: sqlite3.Connection, key: int, leaves: tuple[int, int], path: Path) -> None:
    """Count anew what a move of the leaf from one entry to another may have changed: compactions
    are undone and redone by such moves. ``path``: of the database. Raises DamagedError."""
    ends = [row_id(key, leaf) for leaf in leaves if leaf >= 0]
    marks = ", ".join("?" * len(ends))
    moved = f"SELECT 1 FROM entries WHERE id IN ({marks}) AND kind = ?"
    if db.execute(moved, (*ends, Kind.COMPACTION)).fetchone():
        count_compactions(db, key)
        count_branches(db, key, path)
