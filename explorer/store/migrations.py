"""Bringing an older database forward, one version at a time, with a copy made first.

What each version brought:

1. sessions, entries, payloads, packed columns, asides, sources, drafts, settings, token counts;
2. labels findable across sessions, and a name of the database, to which the search index
   is tied;
3. the tool that made a result, all file tools, what prune entries prune: read from the entries
   once more;
4. what a session is to its parent session, the version of the agent that wrote it, what it took
   by day and model, its branches, archive, trash and notes;
5. labels of sessions, and those that were used last found without looking at all;
6. what a session took by the size of the prompts too, since prices go by it: summed up once more in
   the background; and what audits found in sessions;
7. the same sums, made once more;
8. what went into a cache for an hour, which costs more, and branches without compactions that were
   undone: all is summed up once more.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable
from pathlib import Path

from explorer import private_files
from explorer.formats.registry import read_record
from explorer.session.describe import describe
from explorer.session.entries import Entry
from explorer.session.kinds import Flag, Kind
from explorer.store.database import (
    INDEX_BITS,
    SCHEMA_VERSION,
    check_version,
    sync_commits,
    transaction,
    translated,
)
from explorer.store.entry_rows import from_json, index_of, rare_json, shown, text_in, text_out
from explorer.store.rows import StoreError


def new_library_id() -> str:
    """A random name for a database."""
    return secrets.token_hex(16)


def _to_2(db: sqlite3.Connection) -> None:
    db.execute(
        "CREATE TABLE labels (session INTEGER NOT NULL, entry INTEGER NOT NULL,"
        " target_id VARCHAR NOT NULL, label VARCHAR NOT NULL, PRIMARY KEY (session, entry),"
        " FOREIGN KEY (session) REFERENCES sessions (key) ON DELETE CASCADE)"
    )
    db.execute(
        "CREATE TABLE library (name VARCHAR NOT NULL, value VARCHAR NOT NULL, PRIMARY KEY (name))"
    )
    db.execute("INSERT INTO library VALUES ('id', ?)", (new_library_id(),))
    rows = db.execute("SELECT id, rare FROM entries WHERE rare LIKE '%\"label\"%'").fetchall()
    for identifier, rare in rows:
        label = from_json(rare).get("label")
        if label is not None:
            values = (identifier >> INDEX_BITS, index_of(identifier), *map(text_in, label))
            db.execute("INSERT INTO labels VALUES (?, ?, ?, ?)", values)


_ROWS = 500
"""Entries read at once: their lines may be large."""
_DESCRIBED_ANEW = (int(Kind.ASSISTANT), int(Kind.TOOL_RESULT), int(Kind.CUSTOM))


def _to_3(db: sqlite3.Connection) -> None:
    db.execute("ALTER TABLE entries ADD COLUMN tool VARCHAR")
    marks = ", ".join("?" * len(_DESCRIBED_ANEW))
    after = 0
    while rows := db.execute(
        "SELECT e.id, e.flags, p.raw FROM entries e JOIN payloads p ON p.id = e.id"
        f" WHERE e.id > ? AND e.kind IN ({marks}) ORDER BY e.id LIMIT {_ROWS}",
        (after, *_DESCRIBED_ANEW),
    ).fetchall():
        after = rows[-1][0]
        rows_described = [_described_anew(*row) for row in rows]
        db.executemany(
            "UPDATE entries SET flags = ?, rare = ?, tool = ? WHERE id = ?",
            [values for values in rows_described if values is not None],
        )
    db.execute("DELETE FROM columns")


def _described_anew(
    identifier: int, flags: int, raw: str | bytes
) -> tuple[int, str | None, str | None, int] | None:
    """The values of a row that version 3 knows more of; None for a line that cannot be read."""
    # Databases of that version hold sessions of pi and oh-my-pi alone, whose dialect is one.
    entry = read_record("pi", text_out(raw))
    if entry is Entry.NONE:
        return None
    facts = describe(entry)
    rare = rare_json(facts)
    kept = flags & Flag.LARGE
    return (
        facts.flags | kept,
        None if rare == "{}" else rare,
        shown(facts.tool) or None,
        identifier,
    )


def _to_4(db: sqlite3.Connection) -> None:
    for column in (
        "relation VARCHAR", "parent_call VARCHAR", "agent_version VARCHAR", "summed INTEGER",
        "branches INTEGER", "archived_ms FLOAT", "trashed_ms FLOAT", "note VARCHAR",
    ):  # fmt: skip
        db.execute(f"ALTER TABLE sessions ADD COLUMN {column}")
    db.execute(
        "CREATE TABLE totals (session INTEGER NOT NULL, day INTEGER NOT NULL,"
        " model VARCHAR NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL,"
        " cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL, cost FLOAT NOT NULL,"
        " calls INTEGER NOT NULL, unpriced INTEGER NOT NULL, uncounted INTEGER NOT NULL,"
        " PRIMARY KEY (session, day, model),"
        " FOREIGN KEY (session) REFERENCES sessions (key) ON DELETE CASCADE)"
    )


def _to_5(db: sqlite3.Connection) -> None:
    db.execute("ALTER TABLE sessions ADD COLUMN labels VARCHAR")
    db.execute("CREATE INDEX ix_sessions_changed_ms ON sessions (changed_ms)")


def _to_6(db: sqlite3.Connection) -> None:
    db.execute("DROP TABLE totals")
    db.execute(
        "CREATE TABLE totals (session INTEGER NOT NULL, day INTEGER NOT NULL,"
        " model VARCHAR NOT NULL, size INTEGER NOT NULL, input INTEGER NOT NULL,"
        " output INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL,"
        " cost FLOAT NOT NULL, calls INTEGER NOT NULL, unpriced INTEGER NOT NULL,"
        " uncounted INTEGER NOT NULL, PRIMARY KEY (session, day, model, size),"
        " FOREIGN KEY (session) REFERENCES sessions (key) ON DELETE CASCADE)"
    )
    db.execute("UPDATE sessions SET summed = NULL, branches = NULL")
    db.execute(
        "CREATE TABLE audits (session INTEGER NOT NULL, stamp VARCHAR NOT NULL, figures JSON,"
        " PRIMARY KEY (session),"
        " FOREIGN KEY (session) REFERENCES sessions (key) ON DELETE CASCADE)"
    )


def _to_7(db: sqlite3.Connection) -> None:
    db.execute("DELETE FROM totals")
    db.execute("UPDATE sessions SET summed = NULL, branches = NULL")


def _to_8(db: sqlite3.Connection) -> None:
    db.execute("DROP TABLE totals")
    db.execute(
        "CREATE TABLE totals (session INTEGER NOT NULL, day INTEGER NOT NULL,"
        " model VARCHAR NOT NULL, size INTEGER NOT NULL, input INTEGER NOT NULL,"
        " output INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL,"
        " cache_write_1h INTEGER NOT NULL, cost FLOAT NOT NULL, calls INTEGER NOT NULL,"
        " unpriced INTEGER NOT NULL, uncounted INTEGER NOT NULL,"
        " PRIMARY KEY (session, day, model, size),"
        " FOREIGN KEY (session) REFERENCES sessions (key) ON DELETE CASCADE)"
    )
    db.execute("UPDATE sessions SET summed = NULL, branches = NULL")


MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {
    1: _to_2, 2: _to_3, 3: _to_4, 4: _to_5, 5: _to_6, 6: _to_7, 7: _to_8,
}  # fmt: skip
"""By the version that they start from."""


def migrate(db: sqlite3.Connection, path: Path) -> Path | None:
    """Bring the database to the current version; returns the copy made before, None when there
    was nothing to do.

    Raises StoreError; the database is as it was then, and so is the copy.
    """
    version = _version(db)
    check_version(path, version)
    if version == SCHEMA_VERSION:
        return None
    if version not in MIGRATIONS:
        raise StoreError(path, f"has the layout {version}, which no release ever wrote")
    copy = _back_up(db, path, version)
    try:
        while (version := _version(db)) < SCHEMA_VERSION:
            _step(db, version)
        # The header of the file itself tells the version to older programs.
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        reason = translated(path, error).reason
        raise StoreError(
            path, f"could not be brought up to date: {reason}. A copy from before is {copy}"
        ) from error
    return copy


def _step(db: sqlite3.Connection, version: int) -> None:
    with transaction(db):
        # Another window may have done it while this one waited for the lock.
        if _version(db) == version:
            MIGRATIONS[version](db)
            db.execute(f"PRAGMA user_version = {version + 1}")


def _version(db: sqlite3.Connection) -> int:
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    return version


def _back_up(db: sqlite3.Connection, path: Path, version: int) -> Path:
    number = 0
    copy = Path(f"{path}.version-{version}")
    while copy.exists():
        number += 1
        copy = Path(f"{path}.version-{version}.{number}")
    try:
        private_files.create_empty(copy)
        target = sqlite3.connect(copy)
        try:
            sync_commits(target)
            db.backup(target)
        finally:
            target.close()
    except (sqlite3.Error, OSError) as error:
        copy.unlink(missing_ok=True)
        raise StoreError(
            path, f"was not brought up to date, because no copy could be made: {error}"
        ) from error
    return copy
