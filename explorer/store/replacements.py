"""Entries that their own agent wrote more of since they were read: stored again, in their place."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from explorer.session.kinds import Kind
from explorer.session.records import EntryRecord
from explorer.store.appends import insert_entries, insert_labels
from explorer.store.entry_rows import Batch
from explorer.store.schema import row_id
from explorer.store.sessions import NOT_COUNTED, write_counts
from explorer.store.totals import add_totals, totals_of


def replace_entries(db: sqlite3.Connection, key: int, records: Mapping[int, EntryRecord]) -> None:
    """Store entries anew, by index; their parents stay. What was worked out from them (packed
    columns, sums, counts of tokens) is rebuilt too, but the search index."""
    indices = sorted(records)
    before = totals_of(db, key, indices)
    for index in indices:
        _replace(db, key, index, records[index])
    add_totals(db, key, {name: -spent for name, spent in before.items()})
    add_totals(db, key, totals_of(db, key, indices))
    db.execute("DELETE FROM columns WHERE session = ? AND entries > ?", (key, indices[0]))
    for (counter,) in db.execute(
        "SELECT DISTINCT counter FROM token_counts WHERE session = ?", (key,)
    ).fetchall():
        for index in indices:
            write_counts(db, key, counter, index, [NOT_COUNTED])


def _replace(db: sqlite3.Connection, key: int, index: int, record: EntryRecord) -> None:
    identifier = row_id(key, index)
    parent, kind, size = db.execute(
        "SELECT e.parent, e.kind, length(p.raw) FROM entries e JOIN payloads p ON p.id = e.id"
        " WHERE e.id = ?",
        (identifier,),
    ).fetchone()
    batch = Batch([record._replace(parent=parent)])
    db.execute("DELETE FROM entries WHERE id = ?", (identifier,))
    db.execute("DELETE FROM payloads WHERE id = ?", (identifier,))
    insert_entries(db, batch.entry_values(identifier), batch.payload_values(identifier))
    db.execute("DELETE FROM labels WHERE session = ? AND entry = ?", (key, index))
    insert_labels(db, key, [(index, label) for _, label in batch.labels()])
    compactions = batch.kinds.count(Kind.COMPACTION) - (kind == Kind.COMPACTION)
    db.execute(
        "UPDATE sessions SET size = size + ?, compactions = compactions + ? WHERE key = ?",
        (batch.characters - size, compactions, key),
    )
