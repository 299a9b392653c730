"""Drafts of summaries: written down before they are sent, brought up to date as they come."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from explorer.session.text import well_formed
from explorer.store.entry_rows import from_json, to_json
from explorer.store.rows import DraftRow, StoreError

STREAMING = "streaming"
"""The status of a draft that is being made."""
BROKEN_OFF = "The program ended before the answer was complete."
_JSON = frozenset({"settings", "requests", "answers", "facts"})
_NEW: dict[str, Any] = {
    "kind": "compaction", "status": "", "leaf": -1, "model": "", "instructions": "",
    "summary": "", "problem": "", "elapsed_ms": 0.0,
}  # fmt: skip
_FIELDS = frozenset(DraftRow.__struct_fields__) - {"id", "key", "created_ms", "changed_ms"}


def add_draft(db: sqlite3.Connection, key: int, changes: Mapping[str, Any], path: Path) -> int:
    """Write a new draft down; returns its id. Raises StoreError for a field that is not known."""
    now = time.time() * 1000
    made = {"session": key, "created_ms": now, "changed_ms": now}
    row = _NEW | _values(changes, path) | made
    added = db.execute(
        f"INSERT INTO drafts ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
        tuple(row.values()),
    )
    assert added.lastrowid is not None
    return added.lastrowid


def update_draft(
    db: sqlite3.Connection, draft_id: int, changes: Mapping[str, Any], path: Path
) -> None:
    """Change fields of a draft. Raises StoreError when there is no such draft or field."""
    row = _values(changes, path) | {"changed_ms": time.time() * 1000}
    changed = db.execute(
        f"UPDATE drafts SET {', '.join(f'{name} = ?' for name in row)} WHERE id = ?",
        (*row.values(), draft_id),
    )
    if changed.rowcount != 1:
        raise StoreError(path, f"holds no draft {draft_id}")


def unfinished_drafts(db: sqlite3.Connection) -> list[tuple[int, str]]:
    """The drafts that are recorded as being generated: id, and the claim of who makes them."""
    rows = db.execute("SELECT id, facts FROM drafts WHERE status = ?", (STREAMING,))
    return [(draft_id, _claim(facts)) for draft_id, facts in rows.fetchall()]


def _claim(facts: object) -> str:
    value = from_json(facts) if isinstance(facts, str | bytes) else None
    claim = value.get("claim") if isinstance(value, dict) else None
    return claim if isinstance(claim, str) else ""


def break_off_draft(db: sqlite3.Connection, draft_id: int) -> None:
    """A draft whose maker is gone has failed; what was asked stays on record."""
    db.execute(
        "UPDATE drafts SET status = 'failed', problem = ? WHERE id = ? AND status = ?",
        (BROKEN_OFF, draft_id, STREAMING),
    )


_COLUMNS = {"key": "session"}


def read_drafts(db: sqlite3.Connection, key: int, *, with_requests: bool = True) -> list[DraftRow]:
    """The drafts of a session, the oldest first; requests, which are as long as the session, are
    None where they are not wanted."""
    names = DraftRow.__struct_fields__
    renamed = _COLUMNS if with_requests else _COLUMNS | {"requests": "NULL"}
    columns = ", ".join(renamed.get(name, name) for name in names)
    rows = db.execute(f"SELECT {columns} FROM drafts WHERE session = ? ORDER BY id", (key,))
    return [_row(dict(zip(names, row, strict=True))) for row in rows]


_USAGES = (
    "SELECT coalesce(json_extract(d.facts, '$.attempts[' || a.key || '].model'), d.model),"
    " json_extract(a.value, '$.usage') FROM drafts d, json_each(d.answers) a"
    " WHERE d.session = ? AND json_valid(d.answers) AND json_valid(coalesce(d.facts, '{}'))"
)


def draft_usages(db: sqlite3.Connection, key: int) -> list[tuple[str, Any]]:
    """Of every call that a session's drafts made: the model, and what was counted or None.

    Requests and answers are as long as the session; none of them is read out.
    """
    rows = db.execute(_USAGES, (key,)).fetchall()
    return [(model or "", None if usage is None else from_json(usage)) for model, usage in rows]


def _values(changes: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Fields of a draft as their columns hold them."""
    unknown = set(changes) - _FIELDS
    if unknown:
        raise StoreError(path, f"drafts have no field {', '.join(sorted(unknown))}")
    return {name: _value(name, value) for name, value in changes.items()}


def _value(name: str, value: Any) -> Any:
    if name in _JSON:
        return None if value is None else to_json(value)
    return well_formed(value) if isinstance(value, str) else value


def _row(found: dict[str, Any]) -> DraftRow:
    for name in _JSON:
        if found[name] is not None:
            found[name] = from_json(found[name])
    return DraftRow(**found)
