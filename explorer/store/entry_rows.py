"""Entries as rows of the tables, and back; and what rows say of entries that earlier rules
described, worked out anew from the stored lines, which stay as they are.

One mark tells how far that is: sessions above it, and the entries before it in its own session, are
described by ``WORDS_VERSION``. What is imported later has a higher key.
"""

from __future__ import annotations

import json
import math
import sqlite3
from array import array
from collections.abc import Iterator, Mapping, Sequence
from operator import lt
from typing import Any, NamedTuple

import orjson

from explorer.formats.registry import read_record
from explorer.session.columns import ColumnBuilder
from explorer.session.describe import WORDS_VERSION, BranchFacts, CompactionFacts, Facts, describe
from explorer.session.edit_entries import PruneFacts, ShapeFacts
from explorer.session.entries import PutBack, RepeatedEntry
from explorer.session.file_tools import FileOp
from explorer.session.json_values import read_json
from explorer.session.kinds import Flag, Kind
from explorer.session.records import EntryBatch, EntryRecord, Ops
from explorer.session.text import first_topic, is_command
from explorer.store.database import INDEX_BITS, Readers, row_id
from explorer.store.writer import Writer

Row = tuple[Any, ...]

ENTRY_COLUMNS = (
    "id, entry_id, parent, line, kind, flags, time_ms, estimate, usage, model, preview, call_id,"
    " rare, tool"
)
ENTRY_WIDTH = ENTRY_COLUMNS.count(",") + 1
PAYLOAD_COLUMNS = "id, raw"
_INDEX_MASK = (1 << INDEX_BITS) - 1
_INT_MAX = 2**31 - 1


def index_of(identifier: int) -> int:
    """The entry's index in the integer that names it."""
    return identifier & _INDEX_MASK


def text_in(text: str) -> str | bytes:
    """The text as SQLite takes it: one with lone surrogates goes in as bytes."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def text_out(value: str | bytes) -> str:
    """The text that ``text_in`` stored."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")


def shown(text: str) -> str:
    """The text with lone surrogates replaced, for display only."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def to_json(value: Any) -> str:
    """Compact JSON, whatever strings and numbers are in the value."""
    try:
        return orjson.dumps(value, default=tuple).decode()
    except TypeError:
        return json.dumps(value, separators=(",", ":"))


from_json = read_json


def from_json_column(value: str | bytes | float) -> Any:
    """The value of a column whose type is JSON: SQLite takes a number in it for one."""
    return value if isinstance(value, int | float) else from_json(value)


# out of records ----------------------------------------------------------------------------------


def rare_json(facts: Facts) -> str:
    """The facts that few entries have, as JSON."""
    found: dict[str, Any] = {}
    if facts.user_images:
        found["images"] = facts.user_images
    if facts.ops:
        found["ops"] = [tuple(op) for op in facts.ops]
    if facts.compaction is not None:
        found["compaction"] = tuple(facts.compaction)
    if facts.branch is not None:
        found["branch"] = tuple(facts.branch)
    if facts.thinking_level:
        found["thinking"] = facts.thinking_level
    if facts.label is not None:
        found["label"] = facts.label
    if facts.name is not None:
        found["name"] = facts.name
    if facts.error:
        found["error"] = facts.error
    if facts.prune is not None:
        found["prune"] = tuple(facts.prune)
    if facts.shape is not None:
        found["shape"] = tuple(facts.shape)
    return to_json(found)


def sound_record(record: EntryRecord) -> EntryRecord:
    """The record with numbers that fit the columns and shown texts that UTF-8 can carry."""
    facts = record.facts
    return record._replace(
        estimate=min(record.estimate, _INT_MAX),
        facts=facts._replace(
            time_ms=facts.time_ms if math.isfinite(facts.time_ms) else 0.0,
            usage=max(-1, min(facts.usage, _INT_MAX)),
            model=shown(facts.model),
            preview=shown(facts.preview),
            call_id=shown(facts.call_id),
            tool=shown(facts.tool),
        ),
    )


# back into records -------------------------------------------------------------------------------


def facts_of(row: Row) -> Facts:
    """The facts in a row of ``entries`` (all of ``ENTRY_COLUMNS``)."""
    _, _, _, _, kind, flags, time_ms, _, usage, model, preview, call_id, rare, tool = row
    facts = Facts(
        Kind(kind), flags, time_ms, usage, model or "", preview, 0,
        call_id=call_id or "", tool=tool or "",
    )  # fmt: skip
    if rare is None:
        return facts
    found = from_json(rare)
    compaction, branch, label = (found.get(key) for key in ("compaction", "branch", "label"))
    prune, shape = found.get("prune"), found.get("shape")
    return facts._replace(
        user_images=found.get("images", 0),
        ops=tuple(FileOp(*op) for op in found.get("ops", ())),
        compaction=None if compaction is None else compaction_facts(compaction),
        branch=None if branch is None else branch_facts(branch),
        thinking_level=found.get("thinking", ""),
        label=None if label is None else (label[0], label[1]),
        name=found.get("name"),
        error=found.get("error", 0),
        prune=None if prune is None else prune_facts_of(prune),
        shape=None if shape is None else shape_facts_of(shape),
    )


_NEWER: tuple[Any, ...] = ((), (), 0, "exact", 0, None, ())
"""What compactions that were stored earlier do not tell: created files, deleted ones, the tokens
of the user's messages, how certain it is, what the context holds again, and which entries."""


def compaction_facts(value: list[Any]) -> CompactionFacts:
    """The facts from their JSON list."""
    first_kept, before, read, modified, extension, *rest = value
    newer = [*rest, *_NEWER[len(rest) :]]
    created, deleted, user_tokens, certainty, repeated, back, entries = newer
    return CompactionFacts(
        first_kept, before, tuple(read), tuple(modified), extension,
        tuple(created), tuple(deleted), user_tokens, certainty,
        repeated, None if back is None else PutBack(*back),
        tuple(RepeatedEntry(*one) for one in entries),
    )  # fmt: skip


def branch_facts(value: list[Any]) -> BranchFacts:
    """The facts from their JSON list."""
    from_id, read, modified, extension, *rest = value
    return BranchFacts(from_id, tuple(read), tuple(modified), extension, *map(tuple, rest))


def prune_facts_of(value: list[Any]) -> PruneFacts:
    """The facts from their JSON list."""
    results, saved, reason, undoes = value
    return PruneFacts(
        tuple((result[0], result[1], result[2]) for result in results), saved, reason, undoes
    )


def shape_facts_of(value: list[Any]) -> ShapeFacts:
    """The facts from their JSON list."""
    kind, entries, lifts, undoes, tokens, reason = value
    named = tuple((entry[0], entry[1]) for entry in entries)
    return ShapeFacts(kind, named, tuple(lifts), undoes, tokens, reason)


def record_of(row: Row, raw: str | bytes) -> EntryRecord:
    """The record in a row of ``entries`` and its payload."""
    return EntryRecord(text_out(row[1]), row[2], row[3], text_out(raw), facts_of(row), row[7])


_NOTHING = (0, (), None, None, "", None, None, 0, None, None)
"""images, ops, compaction, branch, thinking level, label, name, error, prune, shape of an entry
that has none."""


class Batch:
    """The columns of some records. Numbers fit and texts can be stored, whatever came in."""

    def __init__(self, records: Sequence[EntryRecord]) -> None:
        if isinstance(records, EntryBatch):
            self._take(records)
        else:
            self._transpose(records)
            if not self._fits():
                self._transpose([sound_record(record) for record in records])

    def _take(self, batch: EntryBatch) -> None:
        self.ids, self.parents, self.lines = batch.ids, batch.parents, batch.lines
        self.raws: Sequence[str | bytes] = batch.raws
        self.kinds, self.flags, self.times = batch.kinds, batch.flags, batch.times
        self.usages, self.models, self.previews = batch.usages, batch.models, batch.previews
        self.calls, self.tools, self.estimates = batch.calls, batch.tools, batch.estimates
        self.ops: Mapping[int, Ops] = batch.ops
        """By position: the file operations of entries that are not in ``rare``."""
        self.rare: Mapping[int, Facts] = batch.rare
        """By position: all facts of the entries that have some which few have."""
        self.characters = batch.characters

    def _transpose(self, records: Sequence[EntryRecord]) -> None:
        self.ids, self.parents, self.lines, self.raws, facts, self.estimates = zip(
            *records, strict=True
        )
        kinds, self.flags, self.times, self.usages, self.models, self.previews, *rest = zip(
            *facts, strict=True
        )
        self.kinds = bytes(kinds)
        images, ops, self.calls, self.tools, *rare = rest
        self.ops = {}
        self.rare = {
            at: facts[at]
            for at, found in enumerate(zip(images, ops, *rare, strict=True))
            if found != _NOTHING
        }
        self.characters = sum(map(len, self.raws))

    def _fits(self) -> bool:
        return (
            math.isfinite(sum(self.times))
            and max(self.usages) <= _INT_MAX
            and min(self.usages) >= -1
            and max(self.estimates) <= _INT_MAX
            and isinstance(text_in("".join(self.previews)), str)
            and isinstance(text_in("".join(self.models)), str)
            and isinstance(text_in("".join(self.calls)), str)
            and isinstance(text_in("".join(self.tools)), str)
        )

    def __len__(self) -> int:
        return len(self.ids)

    def entry_values(self, first_id: int) -> list[Any]:
        """The values of all rows of ``entries``, row after row, named from ``first_id`` on."""
        count = len(self)
        extra: list[str | None] = [None] * count
        for at, ops in self.ops.items():
            extra[at] = to_json({"ops": ops})
        for at, facts in self.rare.items():
            extra[at] = rare_json(facts)
        values: list[Any] = [None] * (count * ENTRY_WIDTH)
        columns: tuple[Sequence[Any], ...] = (
            range(first_id, first_id + count),
            self.ids,
            self.parents,
            self.lines,
            self.kinds,
            self.flags,
            self.times,
            self.estimates,
            self.usages,
            [model or None for model in self.models],
            self.previews,
            [call or None for call in self.calls],
            extra,
            [tool or None for tool in self.tools],
        )
        for at, column in enumerate(columns):
            values[at::ENTRY_WIDTH] = column
        return values

    def payload_values(self, first_id: int) -> list[Any]:
        """The values of all rows of ``payloads``."""
        count = len(self)
        values: list[Any] = [None] * (count * 2)
        values[0::2] = range(first_id, first_id + count)
        values[1::2] = self.raws
        return values

    def labels(self) -> list[tuple[int, tuple[str, str]]]:
        """The label entries: position in the batch, (target id, label)."""
        labels = ((at, facts.label) for at, facts in self.rare.items())
        return [(at, label) for at, label in labels if label is not None]

    def name(self) -> str | None:
        """The last name that the entries give the session, None when they give none."""
        names = [facts.name for facts in self.rare.values() if facts.name is not None]
        return shown(names[-1]) if names else None

    def first_said(self) -> str:
        """The first line of the first message that a person typed and that says something of the
        session, or empty; see ``first_topic``."""
        return first_topic(self._typed())

    def _typed(self) -> Iterator[str]:
        at = self.kinds.find(Kind.USER)
        while at >= 0:
            if not self.flags[at] & Flag.SYNTHETIC or is_command(self.previews[at]):
                yield self.previews[at]
            at = self.kinds.find(Kind.USER, at + 1)


class BatchBuilder(ColumnBuilder):
    """A builder of columns that takes batches."""

    def extend(self, batch: Batch) -> int:
        """Add all entries of a batch; returns the index of the first.

        Raises ValueError when a parent is not an earlier entry.
        """
        columns = self.columns
        first = len(columns)
        parents = batch.parents
        if min(parents) < -1 or not all(map(lt, parents, range(first, first + len(batch)))):
            wrong = next(at for at, one in enumerate(parents) if not -1 <= one < first + at)
            raise ValueError(
                f"entry {batch.ids[wrong]!r}: parent index {parents[wrong]} is not an earlier entry"
            )
        columns.ids.extend(batch.ids)
        columns.parent += array("i", parents)
        columns.kind.extend(batch.kinds)
        columns.flags += array("I", batch.flags)
        columns.time += array("d", batch.times)
        columns.estimate += array("i", batch.estimates)
        columns.usage += array("i", batch.usages)
        known = self._models
        for name in dict.fromkeys(batch.models):
            if name not in known:
                self._model(name)
        columns.model += array("H", [known[name] for name in batch.models])
        tools = {"": 0} | {name: self._tool(name) for name in set(batch.tools) if name}
        columns.tool += array("H", [tools[name] for name in batch.tools])
        self._extend_rare(first, batch)
        return first

    def _extend_rare(self, first: int, batch: Batch) -> None:
        ops, rare = batch.ops, batch.rare
        answers = [at for at, call in enumerate(batch.calls) if call and at not in rare]
        # Three runs that are in order each: sorting only merges them.
        for at in sorted([*rare, *ops, *answers]):
            if at in ops:
                self._append_ops(first + at, [FileOp(*op) for op in ops[at]])
            elif at not in rare:
                self._close_call(batch.calls[at], first + at, batch.flags[at])
            else:
                self._append_few(first + at, rare[at])


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
