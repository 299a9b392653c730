"""What each stored session took, by day, model and size of the prompts: made in the background from
its replies, so that thousands of sessions are summed up at once."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter
from pathlib import Path

from msgspec import Struct

from explorer.formats.registry import usage_in
from explorer.session.kinds import Flag, Kind
from explorer.session.tree import SessionTree
from explorer.session.usage_sums import NOTHING, UsageSum, price_size, usage_sum
from explorer.store.database import Readers, row_id
from explorer.store.entry_rows import index_of, shown, text_out
from explorer.store.payloads import format_of
from explorer.store.stored_columns import load_columns
from explorer.store.writer import Writer

STEP = 500
"""Entries per transaction."""
_CALLS = (int(Kind.ASSISTANT), int(Kind.COMPACTION), int(Kind.BRANCH_SUMMARY))
_COPYING = ("pi", "omp")
"""Agents whose forks repeat replies, and do not say so of each."""
_DAY_MS = 86_400_000
_FIGURES = (
    "input", "output", "cache_read", "cache_write", "cost", "calls", "unpriced", "uncounted",
    "cache_write_1h",
)  # fmt: skip
"""The first of a ``UsageSum``, in their order: those that are recorded."""
_ADD = (
    f"INSERT INTO totals (session, day, model, size, {', '.join(_FIGURES)})"
    f" VALUES (?, ?, ?, ?, {', '.join('?' * len(_FIGURES))})"
    " ON CONFLICT (session, day, model, size) DO UPDATE"
    f" SET {', '.join(f'{name} = {name} + excluded.{name}' for name in _FIGURES)}"
)
_figures = attrgetter(*_FIGURES)


Sums = Mapping[tuple[int, str, int], UsageSum]
"""By day, model and ``price_size``."""


class Total(Struct, frozen=True):
    """What one session took of one model on one day, in calls of one size."""

    key: int
    day: int
    """Days since 1970, UTC; 0 where no time is recorded."""
    model: str
    """``provider/model``; empty where none is recorded."""
    size: int
    """See ``price_size``."""
    spent: UsageSum


def not_summed(db: sqlite3.Connection, most: int) -> list[int]:
    """The keys of sessions of which not all entries are summed up, up to so many, the newest
    last."""
    found = db.execute(
        "SELECT key FROM sessions WHERE complete = 1 AND coalesce(summed, 0) < entries"
        " ORDER BY key DESC LIMIT ?", (most,),
    )  # fmt: skip
    return [key for (key,) in found][::-1]


def left_to_sum(db: sqlite3.Connection, key: int) -> tuple[int, int]:
    """How many entries of a session are summed up, and how many it has; both 0 where it is gone."""
    found: tuple[int, int] | None = db.execute(
        "SELECT coalesce(summed, 0), entries FROM sessions WHERE key = ? AND complete = 1", (key,)
    ).fetchone()
    return found or (0, 0)


def sum_up(writer: Writer, readers: Readers, key: int, first: int, entries: int) -> None:
    """Sum up the next entries of a session, from the index ``first`` on. Entries that a fork
    repeats from its origin count there. Raises StoreError."""
    stop = min(first + STEP, entries)
    branches = leaf = None
    with readers.snapshot() as db:
        sums = _sums(db, key, range(first, stop))
        if stop == entries:
            leaf = _leaf(db, key)
            branches = _branches(db, key, entries, leaf, readers.path)

    def job(db: sqlite3.Connection) -> None:
        row = db.execute(
            "UPDATE sessions SET summed = ?1, branches = coalesce(?2, branches)"
            " WHERE key = ?3 AND coalesce(summed, 0) = ?4 AND leaf = coalesce(?5, leaf)",
            (stop, branches, key, first, leaf),
        )
        # Else another program was quicker, the leaf has moved, or the session is gone.
        if row.rowcount == 1:
            add_totals(db, key, sums)

    writer.submit(job).result()


def add_totals(db: sqlite3.Connection, key: int, sums: Sums) -> None:
    """Add what some entries of a session took to its sums."""
    db.executemany(_ADD, [(key, *name, *_figures(spent)) for name, spent in sums.items()])


def totals_of(db: sqlite3.Connection, key: int, indices: Sequence[int]) -> Sums:
    """What those of some entries, ascending, took that are summed up already."""
    row = db.execute("SELECT coalesce(summed, 0) FROM sessions WHERE key = ?", (key,)).fetchone()
    summed = row[0] if row is not None else 0
    return _sums(db, key, [index for index in indices if index < summed])


def _sums(db: sqlite3.Connection, key: int, indices: Sequence[int]) -> Sums:
    sums: dict[tuple[int, str, int], UsageSum] = defaultdict(lambda: NOTHING)
    format_name = format_of(db, key)
    if not indices:
        return sums
    # A fork of pi's begins after all that it copies.
    copied = "SELECT iif(parent_session = '', 0, header_ms) FROM sessions WHERE key = ?"
    row = db.execute(copied, (key,)).fetchone() if format_name in _COPYING else None
    marks = ", ".join("?" * len(_CALLS))
    rows = db.execute(
        "SELECT e.id, e.time_ms, e.model, e.kind, e.usage, p.raw FROM entries e"
        " JOIN payloads p ON p.id = e.id"
        f" WHERE e.id BETWEEN ? AND ? AND e.kind IN ({marks}) AND e.flags & ? = 0"
        " AND e.time_ms >= ? ORDER BY e.id",
        (
            row_id(key, indices[0]), row_id(key, indices[-1]), *_CALLS, int(Flag.INHERITED),
            row[0] if row is not None else 0,
        ),
    )  # fmt: skip
    wanted = indices if isinstance(indices, range) else frozenset(indices)
    for identifier, time_ms, model, kind, context, raw in rows:
        if index_of(identifier) not in wanted:
            continue
        usage = None
        if kind != Kind.ASSISTANT or context > 0:
            usage = usage_in(format_name, text_out(raw), context)
        if kind == Kind.ASSISTANT or usage is not None:
            spent = usage_sum(usage)
            sums[max(0, int(time_ms // _DAY_MS)), shown(model or ""), price_size(usage)] += spent
    return sums


def count_branches(db: sqlite3.Connection, key: int, path: Path) -> None:
    """Count the branches of a session anew, if they were counted: an end of one may have become
    none, or the other way round, without a new entry. ``path``: of the database. Raises
    DamagedError."""
    row = db.execute(
        "SELECT entries, leaf FROM sessions WHERE key = ? AND branches IS NOT NULL", (key,)
    ).fetchone()
    if row is not None:
        entries, leaf = row
        branches = _branches(db, key, entries, leaf, path)
        db.execute("UPDATE sessions SET branches = ? WHERE key = ?", (branches, key))


def _leaf(db: sqlite3.Connection, key: int) -> int:
    """The leaf of a session; -1, too, where the session is gone."""
    row = db.execute("SELECT leaf FROM sessions WHERE key = ?", (key,)).fetchone()
    return -1 if row is None else int(row[0])


def _branches(db: sqlite3.Connection, key: int, entries: int, leaf: int, path: Path) -> int:
    columns, _ = load_columns(db, key, entries, path)
    return len(SessionTree(columns).branch_ends(leaf))


def totals(db: sqlite3.Connection, keys: Collection[int] | None = None) -> list[Total]:
    """Of some sessions (None: of all), as far as they are summed up."""
    some = "" if keys is None else f" WHERE t.session IN ({', '.join(str(int(k)) for k in keys)})"
    rows = db.execute(
        "SELECT t.session, t.day, t.model, t.size,"
        f" {', '.join(f't.{name}' for name in _FIGURES)}"
        f" FROM totals t JOIN sessions s ON s.key = t.session AND s.complete = 1{some}"
    ).fetchall()
    return [
        Total(key, day, model, size, UsageSum(*figures)) for key, day, model, size, *figures in rows
    ]
