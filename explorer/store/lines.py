"""A session as the lines of its file."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge

from explorer.session.records import Aside
from explorer.store.codec import index_of
from explorer.store.payloads import StoredPayloads
from explorer.store.readers import Readers
from explorer.store.schema import row_id

_ASKED = 400


def session_lines(readers: Readers, key: int, entries: int) -> Iterator[tuple[int, str | bytes]]:
    """Line number and line in the order of the file: texts are entries, bytes what was kept
    aside. Entries made here have number 0 and come last. The header is not among them."""

    def place(line: tuple[int, str | bytes]) -> float:
        return line[0] or float("inf")

    return merge(_entry_lines(readers, key, entries), _aside_lines(readers, key), key=place)


def line_number(readers: Readers, key: int, index: int) -> int:
    """Where an entry stands in the file that it came with; 0 for one made here or not there."""
    with readers.read() as db:
        found = db.execute(
            "SELECT line FROM entries WHERE id = ?", (row_id(key, index),)
        ).fetchone()
    return int(found[0]) if found is not None else 0


def _entry_lines(readers: Readers, key: int, entries: int) -> Iterator[tuple[int, str | bytes]]:
    with readers.read() as db:
        rows = db.execute(
            "SELECT line, id FROM entries WHERE id BETWEEN ? AND ? ORDER BY line = 0, line, id",
            (row_id(key, 0), row_id(key, entries) - 1),
        ).fetchall()
    payloads = StoredPayloads(readers, key)
    for at in range(0, len(rows), _ASKED):
        part = rows[at : at + _ASKED]
        raws = dict(payloads.raws([index_of(identifier) for _, identifier in part]))
        for line, identifier in part:
            yield line, raws[index_of(identifier)]


def _aside_lines(readers: Readers, key: int) -> Iterator[tuple[int, str | bytes]]:
    for aside in asides(readers, key):
        yield aside.line, aside.raw


def asides(readers: Readers, key: int) -> Iterator[Aside]:
    """What was kept aside, in the order of the file."""
    last = -1
    while True:
        with readers.read() as db:
            rows = db.execute(
                "SELECT line, raw, reason FROM asides WHERE session = ? AND line > ?"
                " ORDER BY line LIMIT ?",
                (key, last, _ASKED),
            ).fetchall()
        if not rows:
            return
        for line, raw, reason in rows:
            last = line
            yield Aside(line, raw, reason)
