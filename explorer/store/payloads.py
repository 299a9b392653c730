"""The payloads of a stored session, read when they are asked for."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from heapq import merge
from typing import NamedTuple

from msgspec.structs import replace

from explorer.formats.registry import read_record, usage_in
from explorer.session.describe import describe
from explorer.session.entries import (
    AssistantMessage,
    Entry,
    TokenUsage,
    ToolCallBlock,
    ToolResultMessage,
)
from explorer.session.kinds import Flag, Kind
from explorer.session.records import Aside, FormatName
from explorer.session.rows import large_row, result_row, stored_row
from explorer.store.database import Readers, row_id
from explorer.store.entry_rows import index_of, text_out, words_mark

_BLOCK = 64
"""Previews are read and kept by blocks of this many entries."""
_BLOCKS_KEPT = 512
_ASKED = 400
"""Entries asked for in one statement."""


_WORDS_KEPT = 8_192
_CALLER_STEPS = 64
"""Entries between a result and the reply that called: other results, mostly."""


class _Stored(NamedTuple):
    """What is stored of an entry that its row needs."""

    preview: str
    kind: int
    flags: int
    parent: int
    tokens: int
    call: str
    tool: str
    is_old: bool
    """Whether earlier rules may have made its words."""

    @property
    def needs_payload(self) -> bool:
        """Whether the first line does not say what happened, or not as it is said now."""
        if self.kind == Kind.TOOL_RESULT:
            return not self.flags & Flag.PRUNING
        return self.is_old and not self.flags & Flag.LARGE

    def row(self, folder: str) -> str:
        return stored_row(self.preview, self.kind, self.flags, folder)


_Blocks = dict[int, list[_Stored]]


def _result_row(row: _Stored, entry: Entry | None, call: ToolCallBlock | None, folder: str) -> str:
    if entry is None:
        return large_row(call, row.tool, row.tokens, folder)
    if not isinstance(entry.body, ToolResultMessage):
        return row.row(folder)
    return result_row(replace(entry.body, tool=row.tool or entry.body.tool), call, folder)


def _call_of(entry: Entry | None, call: str) -> ToolCallBlock | None:
    if entry is None or not isinstance(entry.body, AssistantMessage):
        return None
    blocks = (one for one in entry.body.content if isinstance(one, ToolCallBlock))
    return next((one for one in blocks if one.id == call), None)


class StoredPayloads:
    """Payloads by entry index. May be called from any thread; raises StoreError.

    An index that the session does not have raises IndexError.
    """

    def __init__(
        self, readers: Readers, key: int, format_name: FormatName, folder: str = ""
    ) -> None:
        """``folder``: the session's, from which the paths in rows are shown."""
        self._readers = readers
        self._key = key
        self.format = format_name
        self._folder = folder
        self._blocks: OrderedDict[int, list[_Stored]] = OrderedDict()
        self._words: OrderedDict[int, str] = OrderedDict()
        self._lock = threading.Lock()
        self._changes = 0
        """How often entries changed: what was read before is not cached after."""

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

    def reply_to(self, result: int) -> Entry | None:
        """The reply whose call a result answers; None of any other entry, and where it is not
        near."""
        blocks: _Blocks = {}
        row = self._stored(result, blocks)
        if row is None or row.kind != Kind.TOOL_RESULT:
            return None
        caller = self._caller(row, blocks)
        return self.entry(caller) if caller >= 0 else None

    def usages(self, wanted: Sequence[tuple[int, int]]) -> Iterator[tuple[int, TokenUsage | None]]:
        """What providers reported for entries, given in ascending order, each with the tokens of
        context that it is known to report."""
        context = dict(wanted)
        for at, raw in self.raws([at for at, _ in wanted]):
            yield at, usage_in(self.format, raw, context[at])

    def previews(self, indices: Sequence[int]) -> list[str]:
        """What rows say of entries, for lists and the map; empty for entries that are not there."""
        blocks: _Blocks = {}
        found = {at: row for at in indices if (row := self._stored(at, blocks)) is not None}
        words = self._words_of([at for at, row in found.items() if row.needs_payload], blocks)
        return [
            words.get(index) or (found[index].row(self._folder) if index in found else "")
            for index in indices
        ]

    def first_words(self, indices: Sequence[int]) -> tuple[list[str], list[int]]:
        """What rows can say without payloads, and the entries of which ``previews`` says more."""
        blocks: _Blocks = {}
        words, unmade = [], []
        for index in indices:
            row = self._stored(index, blocks)
            made = self._words.get(index)
            words.append(made or (row.row(self._folder) if row is not None else ""))
            if made is None and row is not None and row.needs_payload:
                unmade.append(index)
        return words, unmade

    def _words_of(self, indices: Sequence[int], blocks: _Blocks) -> dict[int, str]:
        """The rows that are made of payloads, when they are shown: stored words could not get
        better."""
        with self._lock:
            known = {at: self._words[at] for at in indices if at in self._words}
            changes = self._changes
        missing = sorted({at for at in indices if at not in known})
        made: dict[int, str] = {}
        for at in range(0, len(missing), _ASKED):
            made |= self._made(missing[at : at + _ASKED], blocks)
        with self._lock:
            if changes == self._changes:
                self._words.update(made)
            while len(self._words) > _WORDS_KEPT:
                self._words.popitem(last=False)
        return known | made

    def _made(self, indices: Sequence[int], blocks: _Blocks) -> dict[int, str]:
        rows = {at: row for at in indices if (row := self._stored(at, blocks)) is not None}
        callers = {
            at: self._caller(row, blocks)
            for at, row in rows.items()
            if row.kind == Kind.TOOL_RESULT
        }
        small = {at for at, row in rows.items() if not row.flags & Flag.LARGE}
        wanted = small.union(at for at in callers.values() if at >= 0)
        entries = dict(self.found(sorted(wanted)))
        made = {}
        for at, row in rows.items():
            entry = entries.get(at)
            if at in callers:
                call = _call_of(entries.get(callers[at]), row.call)
                made[at] = _result_row(row, entry, call, self._folder)
            elif entry is not None:
                made[at] = stored_row(describe(entry).preview, row.kind, row.flags, self._folder)
        return made

    def _stored(self, index: int, blocks: _Blocks) -> _Stored | None:
        number, at = divmod(index, _BLOCK)
        block = blocks.get(number, [])
        if at >= len(block):
            block = blocks[number] = self._block(number, at)
        return block[at] if at < len(block) else None

    def _caller(self, row: _Stored, blocks: _Blocks) -> int:
        """The reply whose call a result answers, -1 where it is not near."""
        at = row.parent
        for _ in range(_CALLER_STEPS):
            found = self._stored(at, blocks) if at >= 0 else None
            if found is None:
                return -1
            if found.kind == Kind.ASSISTANT:
                return at
            at = found.parent
        return -1

    def forget(self, indices: Sequence[int]) -> None:
        """Read the first lines of these entries again: they have changed."""
        with self._lock:
            self._changes += 1
            for index in indices:
                self._blocks.pop(index // _BLOCK, None)
                self._words.pop(index, None)

    def _block(self, number: int, at: int) -> list[_Stored]:
        """The rows of a block. The last one may grow, here or in another window: it is read again
        where the row ``at`` was not in it."""
        with self._lock:
            found = self._blocks.get(number, [])
            if at < len(found):
                self._blocks.move_to_end(number)
                return found
            changes = self._changes
        first = row_id(self._key, number * _BLOCK)
        with self._readers.read() as db:
            rows = db.execute(
                "SELECT preview, kind, flags, parent, estimate, coalesce(call_id, ''),"
                " coalesce(tool, '') FROM entries WHERE id BETWEEN ? AND ? ORDER BY id",
                (first, first + _BLOCK - 1),
            ).fetchall()
            mark = words_mark(db)
        block = [
            _Stored._make((*row, mark.is_old(self._key, number * _BLOCK + at)))
            for at, row in enumerate(rows)
        ]
        with self._lock:
            if changes == self._changes:
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
