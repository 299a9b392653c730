"""Entries as rows of the tables, and back."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from explorer.session.describe import BranchFacts, CompactionFacts, Facts, describe
from explorer.session.file_tools import FileOp
from explorer.session.json_values import read_json, without_depths
from explorer.session.kinds import Flag, Kind
from explorer.session.pruned import PruneFacts
from explorer.session.records import EntryRecord
from explorer.session.shaping import ShapeFacts
from explorer.store.schema import INDEX_BITS

Row = tuple[Any, ...]

ENTRY_COLUMNS = (
    "id, entry_id, parent, line, kind, flags, time_ms, estimate, usage, model, preview, call_id,"
    " rare, tool"
)
ENTRY_WIDTH = ENTRY_COLUMNS.count(",") + 1
PAYLOAD_COLUMNS = "id, raw"
LARGE_UNITS = 65_536
"""Characters from which an entry is marked ``Flag.LARGE``."""
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
    """The text with what UTF-8 cannot carry replaced, for what is only shown."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def to_json(value: Any) -> str:
    """Compact JSON, whatever strings and numbers are in the value."""
    try:
        return orjson.dumps(value, default=tuple).decode()
    except TypeError:
        return json.dumps(value, separators=(",", ":"))


from_json = read_json


def entry_of(raw: str | bytes) -> dict[str, Any]:
    """The JSON object of an entry's line. What earlier versions stored may be nested more deeply
    than is read now: it is there as deep as that, and an empty object where no parser reads it."""
    try:
        value = without_depths(raw, read_json(raw))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def from_json_column(value: str | bytes | float) -> Any:
    """The value of a column that SQLAlchemy calls JSON: SQLite takes a number in it for one."""
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


def made_here(
    entry: Mapping[str, Any], entry_id: str, estimate: Callable[[dict[str, Any]], int]
) -> EntryRecord:
    """The record of an entry that this program makes, its parent still open."""
    raw = to_json(entry)
    facts = describe(entry)
    if len(raw) > LARGE_UNITS:
        facts = facts._replace(flags=facts.flags | Flag.LARGE)
    return sound_record(EntryRecord(entry_id, -1, 0, raw, facts, estimate(dict(entry))))


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


_NEWER: tuple[Any, ...] = ((), (), 0)
"""What compactions that were stored earlier do not tell: created files, deleted ones, and the
tokens of the user's messages."""


def compaction_facts(value: list[Any]) -> CompactionFacts:
    """The facts from their JSON list."""
    first_kept, before, read, modified, extension, *rest = value
    created, deleted, user_tokens = [*rest, *_NEWER[len(rest) :]]
    return CompactionFacts(
        first_kept, before, tuple(read), tuple(modified), extension,
        tuple(created), tuple(deleted), user_tokens,
    )  # fmt: skip


def branch_facts(value: list[Any]) -> BranchFacts:
    """The facts from their JSON list."""
    from_id, read, modified, extension, *rest = value
    return BranchFacts(from_id, tuple(read), tuple(modified), extension, *map(tuple, rest))


def prune_facts_of(value: list[Any]) -> PruneFacts:
    """The facts from their JSON list."""
    results, saved, reason, undoes = value
    return PruneFacts(tuple((one[0], one[1], one[2]) for one in results), saved, reason, undoes)


def shape_facts_of(value: list[Any]) -> ShapeFacts:
    """The facts from their JSON list."""
    kind, entries, lifts, undoes, tokens, reason = value
    named = tuple((one[0], one[1]) for one in entries)
    return ShapeFacts(kind, named, tuple(lifts), undoes, tokens, reason)


def record_of(row: Row, raw: str | bytes) -> EntryRecord:
    """The record in a row of ``entries`` and its payload."""
    return EntryRecord(text_out(row[1]), row[2], row[3], text_out(raw), facts_of(row), row[7])
