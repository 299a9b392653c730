"""What rows say of entries that earlier rules described: worked out anew from the stored lines,
which stay as they are.

One mark tells how far that is: sessions above it, and the entries before it in its own session, are
described by ``WORDS_VERSION``. What is imported later has a higher key.
"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from explorer.formats.registry import read_record
from explorer.session.describe import WORDS_VERSION, describe
from explorer.session.kinds import Kind
from explorer.store.database import Readers, row_id
from explorer.store.entry_rows import (
    compaction_facts,
    from_json,
    rare_json,
    shown,
    text_out,
)
from explorer.store.writer import Writer

STEP = 200
"""Entries that are described in one transaction."""
_NAME = "words"


class WordsMark(NamedTuple):
    """Up to where rows are described by earlier rules."""

    key: int
    """Of the newest session that has such rows; 0: none has."""
    done: int
    """How many of its entries are described anew."""

    def is_old(self, key: int, index: int) -> bool:
        """Whether the row of an entry may be one that earlier rules described."""
        return key < self.key or (key == self.key and index >= self.done)


def words_mark(db: sqlite3.Connection) -> WordsMark:
    """How far it is. Raises sqlite3.Error."""
    return _mark(db, _stored(db))


def describe_anew(writer: Writer, readers: Readers) -> bool:
    """Describe the next few rows anew; false where none is left. Raises StoreError."""
    with readers.read() as db:
        known = _stored(db)
        mark = _mark(db, known)
        session = db.execute(
            "SELECT entries, format FROM sessions WHERE key = ? AND complete = 1", (mark.key,)
        ).fetchone()
        entries, form = session or (0, "")
        stop = min(mark.done + STEP, entries)
        words, facts = _changed(db, form, mark, stop)
        following = WordsMark(mark.key, stop)
        if stop >= entries:
            below = db.execute("SELECT max(key) FROM sessions WHERE key < ?", (mark.key,))
            following = WordsMark(below.fetchone()[0] or 0, 0)
    value = " ".join(map(str, (WORDS_VERSION, *following)))
    if value == known:
        return False

    def job(db: sqlite3.Connection) -> None:
        if _stored(db) != known:
            return  # Another program was quicker.
        db.executemany("UPDATE entries SET preview = ? WHERE id = ?", words)
        db.executemany("UPDATE entries SET rare = ? WHERE id = ?", facts)
        if facts:
            # They are packed anew from the rows when they are next read.
            db.execute("DELETE FROM columns WHERE session = ?", (mark.key,))
        db.execute("INSERT OR REPLACE INTO library VALUES (?, ?)", (_NAME, value))

    writer.submit(job).result()
    return True


def _stored(db: sqlite3.Connection) -> str:
    row = db.execute("SELECT value FROM library WHERE name = ?", (_NAME,)).fetchone()
    return row[0] if row is not None else ""


def _mark(db: sqlite3.Connection, known: str) -> WordsMark:
    version, *place = map(int, known.split() or (0,))
    if version == WORDS_VERSION:
        return WordsMark(*place)
    return WordsMark(db.execute("SELECT max(key) FROM sessions").fetchone()[0] or 0, 0)


def _changed(
    db: sqlite3.Connection, form: str, mark: WordsMark, stop: int
) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Of the rows that are described otherwise than before the words, and of compactions the facts,
    each with the row's id. Results say what is made of their lines whenever they are shown."""
    rows = db.execute(
        "SELECT e.id, e.kind, e.preview, e.rare, p.raw FROM entries e JOIN payloads p"
        " ON p.id = e.id WHERE e.id BETWEEN ? AND ? AND e.kind <> ? ORDER BY e.id",
        (row_id(mark.key, mark.done), row_id(mark.key, stop) - 1, int(Kind.TOOL_RESULT)),
    )
    words, compactions = [], []
    for identifier, kind, before, rare, raw in rows:
        facts = describe(read_record(form, text_out(raw)))
        if facts.kind != kind:
            continue  # It cannot be read any more.
        if (preview := shown(facts.preview)) != before:
            words.append((preview, identifier))
        if facts.compaction is not None:
            known = from_json(rare).get("compaction") if rare is not None else None
            if known is None or compaction_facts(known) != facts.compaction:
                compactions.append((rare_json(facts), identifier))
    return words, compactions
