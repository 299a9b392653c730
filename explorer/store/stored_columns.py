"""A session's columns as one block of bytes, and opening a stored session: the packed columns, then
the rows that came after them."""

from __future__ import annotations

import sqlite3
import struct
import zlib
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from explorer.session.columns import ColumnBuilder, FileOpColumns, SessionColumns
from explorer.session.records import EntryRecord
from explorer.store.database import row_id
from explorer.store.entry_rows import (
    ENTRY_COLUMNS,
    Row,
    branch_facts,
    compaction_facts,
    facts_of,
    from_json,
    prune_facts_of,
    record_of,
    shape_facts_of,
    text_out,
    to_json,
)
from explorer.store.rows import DamagedError

__all__ = [
    "REPACK_ROWS",
    "load_columns",
    "pack",
    "records_from",
    "renew_columns",
    "store_columns",
]


_MAGIC = b"SXC3"
"""The number goes up with every change of what is packed: an older block is made again."""
_START = struct.Struct("<4sII")
_ARRAYS = (
    ("parent", "i"),
    ("flags", "I"),
    ("time", "d"),
    ("estimate", "i"),
    ("usage", "i"),
    ("model", "H"),
    ("tool", "H"),
)
_OP_ARRAYS = ("entry", "path", "result", "part")
_OP_BYTES = ("kind", "failed", "known", "wide")


def pack(columns: SessionColumns) -> bytes:
    """The block of a session's columns."""
    sections: list[tuple[str, bytes]] = [("ids", _pack_texts(columns.ids))]
    sections += [(name, getattr(columns, name).tobytes()) for name, _ in _ARRAYS]
    sections.append(("kind", bytes(columns.kind)))
    ops = columns.ops
    sections += [(f"op_{name}", getattr(ops, name).tobytes()) for name in _OP_ARRAYS]
    sections += [(f"op_{name}", bytes(getattr(ops, name))) for name in _OP_BYTES]
    sections.append(("rare", to_json(_rare(columns)).encode()))
    head = to_json({"sizes": [(name, len(section)) for name, section in sections]}).encode()
    body = b"".join([struct.pack("<I", len(head)), head, *(section for _, section in sections)])
    return _START.pack(_MAGIC, len(body), zlib.crc32(body)) + body


def unpack(block: bytes) -> SessionColumns | None:
    """The columns in a block; None when it is damaged or of another layout."""
    if len(block) < _START.size:
        return None
    magic, length, checksum = _START.unpack_from(block)
    body = memoryview(block)[_START.size :]
    if magic != _MAGIC or length != len(body) or checksum != zlib.crc32(body):
        return None
    (head_size,) = struct.unpack_from("<I", body)
    at = 4 + head_size
    head = from_json(bytes(body[4:at]))
    sections: dict[str, memoryview] = {}
    for name, size in head["sizes"]:
        sections[name] = body[at : at + size]
        at += size
    return _columns(sections)


def _columns(sections: dict[str, memoryview]) -> SessionColumns:
    rare = from_json(bytes(sections["rare"]))
    columns = SessionColumns(
        ids=_unpack_texts(bytes(sections["ids"])),
        kind=bytearray(sections["kind"]),
        models=rare["models"],
        tools=rare["tools"],
        errors=dict(rare["errors"]),
        prunes={at: prune_facts_of(value) for at, value in rare["prunes"]},
        shapes={at: shape_facts_of(value) for at, value in rare.get("shapes", ())},
        user_images=dict(rare["images"]),
        compactions={at: compaction_facts(value) for at, value in rare["compactions"]},
        branches={at: branch_facts(value) for at, value in rare["branches"]},
        thinking=dict(rare["thinking"]),
        labels={at: (value[0], value[1]) for at, value in rare["labels"]},
        names=dict(rare["names"]),
        ops=FileOpColumns(paths=rare["paths"], parts=rare["parts"]),
        open_calls={call: (first, count) for call, (first, count) in rare["open_calls"]},
    )
    for name in _OP_ARRAYS:
        setattr(columns.ops, name, array("i", bytes(sections[f"op_{name}"])))
    for name in _OP_BYTES:
        setattr(columns.ops, name, bytearray(sections[f"op_{name}"]))
    for name, code in _ARRAYS:
        setattr(columns, name, array(code, bytes(sections[name])))
    return columns


def _rare(columns: SessionColumns) -> dict[str, Any]:
    return {
        "models": columns.models,
        "tools": columns.tools,
        "paths": columns.ops.paths,
        "parts": columns.ops.parts,
        "open_calls": list(columns.open_calls.items()),
        "errors": list(columns.errors.items()),
        "prunes": list(columns.prunes.items()),
        "shapes": list(columns.shapes.items()),
        "images": list(columns.user_images.items()),
        "compactions": list(columns.compactions.items()),
        "branches": list(columns.branches.items()),
        "thinking": list(columns.thinking.items()),
        "labels": list(columns.labels.items()),
        "names": list(columns.names.items()),
    }


def _pack_texts(texts: list[str]) -> bytes:
    joined = "\n".join(texts)
    if joined.count("\n") != max(len(texts) - 1, 0):
        return b"J" + to_json(texts).encode()
    return b"L" + joined.encode("utf-8", "surrogatepass")


def _unpack_texts(section: bytes) -> list[str]:
    if section[:1] == b"J":
        texts: list[str] = from_json(section[1:])
        return texts
    joined = section[1:].decode("utf-8", "surrogatepass")
    return joined.split("\n") if joined else []


REPACK_ROWS = 1000
"""Rows after the packed columns from which they are packed anew."""


def load_columns(
    db: sqlite3.Connection, key: int, count: int, path: Path
) -> tuple[SessionColumns, int]:
    """The columns of a session's ``count`` entries, and how many of them had been packed.

    Packed columns that are absent or damaged are made again from the rows. Raises DamagedError
    when rows are missing.
    """
    row = db.execute("SELECT data FROM columns WHERE session = ?", (key,)).fetchone()
    columns = unpack(row[0]) if row is not None else None
    if columns is None or len(columns) > count:
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


def renew_columns(
    db: sqlite3.Connection, key: int, columns: SessionColumns, replaced: Sequence[int], count: int
) -> None:
    """Bring columns up to date with the rows of a session: entries that were replaced, and those
    that came after them, up to ``count``."""
    builder = ColumnBuilder(columns)
    for index in sorted(set(replaced)):
        if index < len(columns):
            for row in entry_rows_from(db, key, index, index):
                builder.replace(index, facts_of(row), row[7])
    _fold(db, key, columns, count)


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
