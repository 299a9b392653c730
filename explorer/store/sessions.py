"""Rows of the sessions table: read, begun, counted up, finished."""

from __future__ import annotations

import sqlite3
import time
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from explorer.session.kinds import Kind
from explorer.session.records import SessionHeader
from explorer.session.secrets import mask_each
from explorer.session.text import first_topic, legible, title_line
from explorer.store.database import id_range
from explorer.store.entry_rows import Batch, from_json_column, shown, text_in, text_out, to_json
from explorer.store.rows import SessionRow, SourceFile, StoreError

_SELECT = (
    "SELECT s.key, s.session_id, s.format, s.version, s.cwd, s.parent_session, s.name,"
    " s.first_said, s.entries, s.compactions, s.size, s.header_ms, s.started_ms, s.last_ms,"
    " s.leaf, coalesce(o.path, ''), s.header, s.relation, s.parent_call, s.agent_version,"
    " s.branches, s.archived_ms, s.trashed_ms, s.note, s.labels, coalesce(o.mtime_ns, 0)"
    " FROM sessions s LEFT JOIN sources o ON o.session = s.key WHERE s.complete = 1"
)


def now_ms() -> float:
    """The time, in milliseconds since 1970."""
    return time.time() * 1000


_SHOWN = " AND s.archived_ms IS NULL AND s.trashed_ms IS NULL"


def session_rows(
    db: sqlite3.Connection, all_places: bool, most: int | None = None
) -> list[SessionRow]:
    """The sessions that are complete, the last used first; ``all_places``: those in the archive and
    in the trash too; ``most``: how many at most."""
    shown = "" if all_places else _SHOWN
    order = " ORDER BY s.changed_ms DESC, s.key DESC"
    first = ""
    if most is not None:
        # Only keys are sorted, not whole rows of all sessions.
        first = f" AND s.key IN (SELECT s.key FROM sessions s WHERE s.complete = 1{shown}{order}"
        first += f" LIMIT {int(most)})"
    rows = db.execute(f"{_SELECT}{shown}{first}{order}").fetchall()
    return _rows(rows)


_FAMILY = (
    " AND (s.key = ?1 OR s.session_id = ?2 OR o.path = ?2 OR instr(?2, '_' || s.session_id) > 0"
    " OR s.parent_session = ?3 OR s.parent_session = ?4 OR instr(s.parent_session, '_' || ?3) > 0)"
)


def family_rows(db: sqlite3.Connection, key: int) -> list[SessionRow]:
    """A session with those that may be its parent or name it as theirs, by id or file, wherever
    they were put. Few rows are made of many: a library may hold tens of thousands."""
    this = db.execute(f"{_SELECT} AND s.key = ?", (key,)).fetchone()
    if this is None:
        return []
    (row,) = _rows([this])
    # What is empty names nothing.
    names = (text_in(one or "\0") for one in (row.parent_session, row.session_id, row.path))
    return _rows(db.execute(f"{_SELECT}{_FAMILY}", (key, *names)).fetchall())


def session_row(db: sqlite3.Connection, key: int, path: Path) -> tuple[SessionRow, SessionHeader]:
    """One session with its header. Raises StoreError when there is none of that key."""
    found = db.execute(f"{_SELECT} AND s.key = ?", (key,)).fetchone()
    if found is None:
        raise StoreError(path, f"holds no session {key}; it may have been deleted elsewhere")
    (row,) = _rows([found])
    header = SessionHeader(
        row.session_id,
        row.format,
        row.version,
        row.cwd,
        found[11],
        row.parent_session,
        text_out(found[16]),
        relation=row.relation,
        parent_call=row.parent_call,
        agent_version=row.agent_version,
    )
    return row, header


def _rows(found: Sequence[tuple[Any, ...]]) -> list[SessionRow]:
    titles = mask_each([legible(one[6] or title_line(one[7])) for one in found])
    return list(map(_row, found, titles))


def _row(found: tuple[Any, ...], title: str) -> SessionRow:
    key, session_id, form, version, cwd, parent, _, _, entries, compactions, size = found[:11]
    _, started, last, leaf, path, _, relation, parent_call, agent_version, *library = found[11:]
    branches, archived, trashed, note, labels, file_ns = library
    return SessionRow(
        key,
        text_out(session_id),
        form,
        version,
        text_out(cwd),
        text_out(parent),
        title,
        entries,
        compactions,
        size,
        started,
        last,
        leaf,
        text_out(path),
        relation or "",
        text_out(parent_call or ""),
        text_out(agent_version or ""),
        branches or 0,
        archived or 0.0,
        trashed or 0.0,
        text_out(note or ""),
        tuple(text_out(labels).split("\n")) if labels else (),
        file_ns / 1e6,
    )


def source_files(db: sqlite3.Connection) -> list[SourceFile]:
    """The files of all sessions that came from one, those in the archive and trash too."""
    rows = db.execute(
        "SELECT o.session, s.session_id, o.path, o.size, o.mtime_ns FROM sources o"
        " JOIN sessions s ON s.key = o.session WHERE s.complete = 1"
    )
    return [
        SourceFile(text_out(path), size, mtime_ns, key, text_out(session_id))
        for key, session_id, path, size, mtime_ns in rows
    ]


def begin_session(db: sqlite3.Connection, header: SessionHeader, claim: str) -> int:
    """Add a session that is not shown yet, named by its agent's title; returns its key."""
    texts = (
        header.session_id, header.cwd, header.parent_session, header.raw,
        header.parent_call, header.agent_version,
    )  # fmt: skip
    session_id, cwd, parent, raw, parent_call, agent_version = map(text_in, texts)
    cursor = db.execute(
        "INSERT INTO sessions (session_id, format, version, cwd, parent_session, header, complete,"
        " claim, entries, leaf, name, first_said, compactions, size, header_ms, started_ms,"
        " last_ms, changed_ms, relation, parent_call, agent_version)"
        " VALUES (?, ?, ?, ?, ?, ?, 0, ?, 0, -1, ?, '', 0, 0, ?, ?, 0, ?, ?, ?, ?)",
        (
            session_id,
            header.format,
            header.version,
            cwd,
            parent,
            raw,
            claim,
            shown(header.title),
            header.time_ms,
            header.time_ms,
            now_ms(),
            header.relation,
            parent_call,
            agent_version,
        ),
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def create_session(db: sqlite3.Connection, header: SessionHeader) -> int:
    """Add an empty session that is shown at once; returns its key."""
    key = begin_session(db, header, "")
    db.execute("UPDATE sessions SET complete = 1 WHERE key = ?", (key,))
    return key


class SessionSummary(Struct):
    """What the library shows of entries, gathered as they come."""

    name: str | None = None
    first_said: str = ""
    compactions: int = 0
    size: int = 0
    started_ms: float = 0
    last_ms: float = 0

    def take(self, batch: Batch) -> None:
        self.size += batch.characters
        self.compactions += batch.kinds.count(Kind.COMPACTION)
        self.first_said = first_topic((self.first_said, batch.first_said()))
        name = batch.name()
        self.name = self.name if name is None else name
        times = [time for time in batch.times if time > 0]
        if times:
            self.started_ms = self.started_ms or times[0]
            self.last_ms = max(self.last_ms, *times)


def extend_session(
    db: sqlite3.Connection, key: int, entries: int, summary: SessionSummary, leaf: int | None
) -> None:
    """Count ``entries`` more entries into a session's row, and move its leaf unless None."""
    db.execute(
        "UPDATE sessions SET entries = entries + ?, leaf = coalesce(?, leaf),"
        " name = coalesce(?, name), first_said = iif(first_said = '', ?, first_said),"
        " compactions = compactions + ?, size = size + ?,"
        " started_ms = iif(started_ms = 0, ?, started_ms), last_ms = max(last_ms, ?),"
        " changed_ms = ? WHERE key = ?",
        (
            entries,
            leaf,
            summary.name,
            summary.first_said,
            summary.compactions,
            summary.size,
            summary.started_ms,
            summary.last_ms,
            now_ms(),
            key,
        ),
    )


def count_compactions(db: sqlite3.Connection, key: int) -> None:
    """Count the compactions of a session anew, without those that were undone: nothing follows
    them, and they are not the leaf."""
    first, last = id_range(key)
    db.execute(
        "UPDATE sessions SET compactions = (SELECT count(*) FROM entries e"
        " WHERE e.id BETWEEN ?2 AND ?3 AND e.kind = ?4 AND (e.id = ?2 + sessions.leaf OR EXISTS ("
        " SELECT 1 FROM entries f WHERE f.id > e.id AND f.id <= ?3 AND f.parent = e.id - ?2)))"
        " WHERE key = ?1",
        (key, first, last, Kind.COMPACTION),
    )


def is_undone(db: sqlite3.Connection, key: int, index: int) -> bool:
    """Whether a compaction was undone: nothing follows it, and it is not the leaf."""
    first, last = id_range(key)
    return not db.execute(
        "SELECT EXISTS (SELECT 1 FROM sessions WHERE key = ?1 AND leaf = ?2) OR EXISTS ("
        " SELECT 1 FROM entries WHERE id > ?3 AND id <= ?4 AND parent = ?2)",
        (key, index, first + index, last),
    ).fetchone()[0]


def take_title(db: sqlite3.Connection, key: int, title: str) -> None:
    """Name a session by its agent's title, unless an entry names it: a name that a person or the
    agent wrote down stands before a title."""
    name = shown(title)
    db.execute(
        "UPDATE sessions SET name = ?1 WHERE key = ?2 AND name <> ?1 AND NOT EXISTS ("
        " SELECT 1 FROM entries WHERE id BETWEEN ?3 AND ?4 AND kind = ?5)",
        (name, key, *id_range(key), int(Kind.SESSION_INFO)),
    )


def hide_session(db: sqlite3.Connection, key: int) -> bool:
    """Stop showing a session, for good; returns whether there was one.

    Whatever happens after this commit, the rest of it goes when a store next has time.
    """
    cursor = db.execute(
        "UPDATE sessions SET complete = 0, claim = '' WHERE key = ? AND complete = 1", (key,)
    )
    return cursor.rowcount == 1


Arranged = Literal["archived_ms", "trashed_ms", "note", "labels"]


def arrange_sessions(
    db: sqlite3.Connection, keys: Sequence[int], field: Arranged, value: float | str | None
) -> None:
    """Set what a person arranges of sessions; None for nothing."""
    stored = text_in(value) if isinstance(value, str) else value
    db.executemany(
        f"UPDATE sessions SET {field} = ? WHERE key = ? AND complete = 1",
        [(stored, key) for key in keys],
    )


def disclaim(db: sqlite3.Connection, key: int, claim: str) -> None:
    """Give up an import whose process is gone. After this commit it can never be completed."""
    db.execute(
        "UPDATE sessions SET claim = '' WHERE key = ? AND complete = 0 AND claim = ?", (key, claim)
    )


def read_audits(db: sqlite3.Connection) -> dict[int, tuple[str, Any]]:
    """By session key: the stamp and the figures of its last audit."""
    rows = db.execute(
        "SELECT a.session, a.stamp, a.figures FROM audits a"
        " JOIN sessions s ON s.key = a.session AND s.complete = 1"
    )
    return {key: (text_out(stamp), from_json_column(figures)) for key, stamp, figures in rows}


def write_audit(db: sqlite3.Connection, key: int, stamp: str, figures: Any) -> None:
    """Keep what an audit found in place of the one before; nothing where the session is gone."""
    db.execute(
        "INSERT OR REPLACE INTO audits (session, stamp, figures)"
        " SELECT key, ?, ? FROM sessions WHERE key = ? AND complete = 1",
        (stamp, to_json(figures), key),
    )


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
        part = array("i", data)
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
        row = db.execute(
            "SELECT tokens FROM token_counts WHERE session = ? AND counter = ? AND chunk = ?",
            (key, counter, chunk),
        ).fetchone()
        kept = array("i", row[0]) if row else array("i")
        if len(kept) < offset:
            kept.extend([NOT_COUNTED] * (offset - len(kept)))
        kept[offset : offset + len(part)] = part
        db.execute(
            "INSERT OR REPLACE INTO token_counts (session, counter, chunk, tokens)"
            " VALUES (?, ?, ?, ?)",
            (key, counter, chunk, kept.tobytes()),
        )
        at += len(part)


def counted_sessions(db: sqlite3.Connection, counter: str) -> set[int]:
    """The sessions of which all entries are counted by a counter."""
    rows = db.execute(
        "SELECT s.key FROM sessions s JOIN token_counts t ON t.session = s.key AND t.counter = ?"
        " GROUP BY s.key HAVING sum(length(t.tokens)) >= s.entries * ?",
        (counter, array("i").itemsize),
    )
    return {key for (key,) in rows}


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
