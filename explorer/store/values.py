"""Small things kept for a session: settings, and the counts of a tokenizer."""

from __future__ import annotations

import sqlite3
import sys
from array import array
from collections.abc import Sequence
from typing import Any

from explorer.store.codec import from_json_column, text_out, to_json

_CHUNK = 4096
"""Counts per row: a session of 200,000 entries is read in 49 rows."""
NOT_COUNTED = -1


def read_settings(db: sqlite3.Connection, key: int) -> dict[str, Any]:
    """The settings of a session."""
    rows = db.execute("SELECT name, value FROM session_settings WHERE session = ?", (key,))
    return {name: from_json_column(value) for name, value in rows}


def write_setting(db: sqlite3.Connection, key: int, name: str, value: Any) -> None:
    """Keep a setting; None forgets it. Fails when the session is gone."""
    if value is None:
        db.execute("DELETE FROM session_settings WHERE session = ? AND name = ?", (key, name))
        return
    db.execute(
        "INSERT OR REPLACE INTO session_settings (session, name, value) VALUES (?, ?, ?)",
        (key, name, to_json(value)),
    )


def read_counts(db: sqlite3.Connection, key: int, counter: str, entries: int) -> array[int]:
    """Tokens per entry by a counter, ``NOT_COUNTED`` where there is none yet."""
    counts = array("i", [NOT_COUNTED]) * entries
    rows = db.execute(
        "SELECT chunk, tokens FROM token_counts WHERE session = ? AND counter = ?", (key, counter)
    )
    for chunk, data in rows:
        part = _unpacked(data)
        start = chunk * _CHUNK
        part = part[: max(0, entries - start)]
        counts[start : start + len(part)] = part
    return counts


def write_counts(
    db: sqlite3.Connection, key: int, counter: str, first: int, tokens: Sequence[int]
) -> None:
    """Keep the counts of the entries from ``first`` on."""
    at = 0
    while at < len(tokens):
        chunk, offset = divmod(first + at, _CHUNK)
        part = array("i", tokens[at : at + _CHUNK - offset])
        found = db.execute(
            "SELECT tokens FROM token_counts WHERE session = ? AND counter = ? AND chunk = ?",
            (key, counter, chunk),
        ).fetchone()
        kept = _unpacked(found[0]) if found else array("i")
        if len(kept) < offset:
            kept.extend([NOT_COUNTED] * (offset - len(kept)))
        kept[offset : offset + len(part)] = part
        db.execute(
            "INSERT OR REPLACE INTO token_counts (session, counter, chunk, tokens)"
            " VALUES (?, ?, ?, ?)",
            (key, counter, chunk, _packed(kept)),
        )
        at += len(part)


def _packed(values: array[int]) -> bytes:
    if sys.byteorder != "little":
        values = values[:]
        values.byteswap()
    return values.tobytes()


def _unpacked(data: bytes) -> array[int]:
    values = array("i")
    values.frombytes(data)
    if sys.byteorder != "little":
        values.byteswap()
    return values


def read_labels(db: sqlite3.Connection, key: int | None) -> list[tuple[int, str, str]]:
    """Labels in force: session key, target's id, label. The last one of a target counts."""
    rows = db.execute(
        "SELECT l.session, l.target_id, l.label, max(l.entry) FROM labels l"
        " JOIN sessions s ON s.key = l.session AND s.complete = 1"
        " WHERE ?1 IS NULL OR l.session = ?1 GROUP BY l.session, l.target_id"
        " ORDER BY l.session, max(l.entry)",
        (key,),
    )
    return [
        (session, text_out(target), text_out(label)) for session, target, label, _ in rows if label
    ]
