"""The payloads of a stored session, read when they are asked for."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from heapq import merge

from explorer.formats.registry import read_record, usage_in
from explorer.session.entries import Entry, TokenUsage
from explorer.session.records import Aside, FormatName
from explorer.store.database import Readers
from explorer.store.entry_rows import index_of, text_out
from explorer.store.schema import row_id

_BLOCK = 64
"""Previews are read and kept by blocks of this many entries."""
_BLOCKS_KEPT = 512
_ASKED = 400
"""Entries asked for in one statement."""


class StoredPayloads:
    """Payloads by entry index. May be called from any thread; raises StoreError.

    An index that the session does not have raises IndexError.
    """

    def __init__(self, readers: Readers, key: int, format_name: FormatName) -> None:
        self._readers = readers
        self._key = key
        self.format = format_name
        self._blocks: OrderedDict[int, list[str]] = OrderedDict()
        self._lock = threading.Lock()

    def raw(self, index: int) -> str:
        """The line of the entry, verbatim."""
        with self._readers.read() as db:
            row = db.execute(
                "SELECT raw FROM payloads WHERE id = ?", (row_id(self._key, index),)
            ).fetchone()
        if row is None or index < 0:
            raise IndexError(f"session {self._key} has no entry {index}")
        return text_out(row[0])

    def entry(self, index: int) -> Entry:
        """The entry."""
        return read_record(self.format, self.raw(index))

    def entries(self, indices: Sequence[int]) -> list[Entry]:
        """Several entries, in the order asked for."""
        by_index = dict(self.found(sorted(set(indices))))
        try:
            return [by_index[at] for at in indices]
        except KeyError as error:
            raise IndexError(f"session {self._key} has no entry {error.args[0]}") from error

    def found(self, indices: Sequence[int]) -> Iterator[tuple[int, Entry]]:
        """Several entries, given in ascending order; those that are there."""
        for at, raw in self.raws(indices):
            yield at, read_record(self.format, raw)

    def raws(self, indices: Sequence[int]) -> Iterator[tuple[int, str]]:
        """The lines of several entries, given in ascending order, a few hundred at a time."""
        for at in range(0, len(indices), _ASKED):
            part = [row_id(self._key, index) for index in indices[at : at + _ASKED] if index >= 0]
            with self._readers.read() as db:
                rows = db.execute(
                    "SELECT id, raw FROM payloads WHERE id IN (SELECT value FROM json_each(?))"
                    " ORDER BY id",
                    (json.dumps(part),),
                ).fetchall()
            for identifier, raw in rows:
                yield index_of(identifier), text_out(raw)

    def usages(self, wanted: Sequence[tuple[int, int]]) -> Iterator[tuple[int, TokenUsage | None]]:
        """What providers reported for entries, given in ascending order, each with the tokens of
        context that it is known to report."""
        context = dict(wanted)
        for at, raw in self.raws([at for at, _ in wanted]):
            yield at, usage_in(self.format, raw, context[at])

    def previews(self, indices: Sequence[int]) -> list[str]:
        """First lines, for lists and the map; empty for entries that are not there."""
        blocks: dict[int, list[str]] = {}
        out: list[str] = []
        for index in indices:
            number, at = divmod(index, _BLOCK)
            block = blocks.get(number)
            if block is None:
                block = blocks[number] = self._block(number)
            out.append(block[at] if at < len(block) else "")
        return out

    def forget(self, indices: Sequence[int]) -> None:
        """Read the first lines of these entries again: they have changed."""
        with self._lock:
            for index in indices:
                self._blocks.pop(index // _BLOCK, None)

    def _block(self, number: int) -> list[str]:
        with self._lock:
            found = self._blocks.get(number)
            if found is not None:
                self._blocks.move_to_end(number)
                return found
        first = row_id(self._key, number * _BLOCK)
        with self._readers.read() as db:
            rows = db.execute(
                "SELECT preview FROM entries WHERE id BETWEEN ? AND ? ORDER BY id",
                (first, first + _BLOCK - 1),
            ).fetchall()
        block = [row[0] for row in rows]
        # The last block may still grow, here or in another window.
        if len(block) == _BLOCK:
            with self._lock:
                self._blocks[number] = block
                while len(self._blocks) > _BLOCKS_KEPT:
                    self._blocks.popitem(last=False)
        return block


def format_of(db: sqlite3.Connection, key: int) -> FormatName:
    """The format of a session's records; pi's where there is no such session."""
    row = db.execute("SELECT format FROM sessions WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row is not None else "pi"


def stored_payloads(readers: Readers, key: int) -> StoredPayloads:
    """The payloads of a session of which nothing is loaded."""
    with readers.read() as db:
        return StoredPayloads(readers, key, format_of(db, key))


def session_lines(readers: Readers, key: int, entries: int) -> Iterator[tuple[int, str | bytes]]:
    """Line number and line in the order of the file: texts are entries, bytes what was kept
    aside. Entries made here have number 0 and come last. The header is not among them."""

    def place(line: tuple[int, str | bytes]) -> float:
        return line[0] or float("inf")

    return merge(_entry_lines(readers, key, entries), _aside_lines(readers, key), key=place)


def line_number(readers: Readers, key: int, index: int) -> int:
    """Where an entry stands in the file that it came with; 0 for one made here or not there."""
    with readers.read() as db:
        row = db.execute("SELECT line FROM entries WHERE id = ?", (row_id(key, index),)).fetchone()
    return int(row[0]) if row is not None else 0


def _entry_lines(readers: Readers, key: int, entries: int) -> Iterator[tuple[int, str | bytes]]:
    with readers.read() as db:
        rows = db.execute(
            "SELECT line, id FROM entries WHERE id BETWEEN ? AND ? ORDER BY line = 0, line, id",
            (row_id(key, 0), row_id(key, entries) - 1),
        ).fetchall()
    payloads = stored_payloads(readers, key)
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
