"""What each stored session took, by day and model: made in the background from its replies, so that
thousands of sessions are summed up at once."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from dataclasses import dataclass

from explorer.session.kinds import Flag, Kind
from explorer.session.spending import NOTHING, Spent, spent_of
from explorer.session.tree import SessionTree
from explorer.store.database import Readers, driver
from explorer.store.entry_rows import index_of, shown
from explorer.store.payloads import stored_payloads
from explorer.store.schema import row_id
from explorer.store.stored_columns import load_columns
from explorer.store.writer import Writer

STEP = 500
"""Entries per transaction."""
_CALLS = (int(Kind.ASSISTANT), int(Kind.COMPACTION), int(Kind.BRANCH_SUMMARY))
_DAY_MS = 86_400_000
_FIGURES = "input, output, cache_read, cache_write, cost, calls, unpriced, uncounted"


@dataclass(frozen=True, slots=True)
class Total:
    """What one session took of one model on one day."""

    key: int
    day: int
    """Days since 1970, UTC; 0 where no time is recorded."""
    model: str
    """``provider/model``; empty where none is recorded."""
    spent: Spent


def next_behind(db: sqlite3.Connection) -> tuple[int, int, int] | None:
    """A session of which not all entries are summed up: key, entries that are, entries in all;
    the newest first."""
    found: tuple[int, int, int] | None = db.execute(
        "SELECT key, coalesce(summed, 0), entries FROM sessions"
        " WHERE complete = 1 AND coalesce(summed, 0) < entries ORDER BY key DESC LIMIT 1"
    ).fetchone()
    return found


def sum_up(writer: Writer, readers: Readers, key: int, first: int, entries: int) -> None:
    """Sum up the next entries of a session, from the index ``first`` on. Entries that a fork
    repeats from its origin count there. Raises StoreError."""
    stop = min(first + STEP, entries)
    sums = _sums(readers, key, first, stop)
    branches = _branches(readers, key, entries) if stop == entries else None

    def job(db: sqlite3.Connection) -> None:
        row = db.execute(
            "UPDATE sessions SET summed = ?, branches = coalesce(?, branches)"
            " WHERE key = ? AND coalesce(summed, 0) = ?",
            (stop, branches, key, first),
        )
        if row.rowcount != 1:
            return  # another program was quicker, or the session is gone
        db.executemany(
            f"INSERT INTO totals (session, day, model, {_FIGURES})"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session, day, model) DO UPDATE"
            " SET input = input + excluded.input, output = output + excluded.output,"
            " cache_read = cache_read + excluded.cache_read,"
            " cache_write = cache_write + excluded.cache_write, cost = cost + excluded.cost,"
            " calls = calls + excluded.calls, unpriced = unpriced + excluded.unpriced,"
            " uncounted = uncounted + excluded.uncounted",
            [(key, day, model, *_figures(spent)) for (day, model), spent in sums.items()],
        )

    writer.submit(lambda connection: job(driver(connection))).result()


def _figures(spent: Spent) -> tuple[float, ...]:
    return (
        spent.input, spent.output, spent.cache_read, spent.cache_write, spent.cost,
        spent.calls, spent.unpriced, spent.uncounted,
    )  # fmt: skip


def _sums(readers: Readers, key: int, first: int, stop: int) -> dict[tuple[int, str], Spent]:
    marks = ", ".join("?" * len(_CALLS))
    with readers.read() as db:
        rows = db.execute(
            "SELECT id, time_ms, model, kind, usage FROM entries WHERE id BETWEEN ? AND ?"
            f" AND kind IN ({marks}) AND flags & ? = 0 ORDER BY id",
            (row_id(key, first), row_id(key, stop - 1), *_CALLS, int(Flag.INHERITED)),
        ).fetchall()
    asked = [(index_of(row[0]), row[4]) for row in rows if row[3] != Kind.ASSISTANT or row[4] > 0]
    usages = dict(stored_payloads(readers, key).usages(asked))
    sums: dict[tuple[int, str], Spent] = defaultdict(lambda: NOTHING)
    for identifier, time_ms, model, kind, _ in rows:
        usage = usages.get(index_of(identifier))
        if kind == Kind.ASSISTANT or usage is not None:
            sums[max(0, int(time_ms // _DAY_MS)), shown(model or "")] += spent_of(usage)
    return sums


def _branches(readers: Readers, key: int, entries: int) -> int:
    with readers.snapshot() as db:
        columns, _ = load_columns(db, key, entries, readers.path)
    return len(SessionTree(columns).leaves())


def totals(db: sqlite3.Connection) -> list[Total]:
    """Of all sessions, as far as they are summed up."""
    rows = db.execute(
        f"SELECT t.session, t.day, t.model, {', '.join('t.' + one for one in _FIGURES.split(', '))}"
        " FROM totals t JOIN sessions s ON s.key = t.session AND s.complete = 1"
    ).fetchall()
    return [Total(key, day, model, Spent(*figures)) for key, day, model, *figures in rows]
