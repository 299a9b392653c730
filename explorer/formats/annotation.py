"""What a reader knows of an entry that its record does not say.

An entry is read again from its stored record alone. Where other records were needed to understand
it (the tokens before a compaction, the entry that its kept tail begins with), a line of ours at the
record's end keeps what they said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from msgspec import to_builtins
from msgspec.structs import replace

from explorer.session.entries import Entry, RepeatedEntry, TokenUsage
from explorer.session.json_values import read_json

_BEGIN = '{"sessionExplorer":"note"'
_ON_ENTRY = ("id", "parent_id", "time_ms")


def annotated(record: str, entry: Entry, names: Iterable[str]) -> str:
    """The record with these fields of the entry or of its body: texts, numbers, None, or the
    body's usage or the entries that it repeats."""
    note = {name: getattr(entry if name in _ON_ENTRY else entry.body, name) for name in names}
    return f"{record}\n{note_of(note)}" if note else record


def note_of(values: Mapping[str, Any]) -> str:
    """The line of ours that keeps these fields."""
    return orjson.dumps({"sessionExplorer": "note", **values}, default=to_builtins).decode()


def split_annotation(record: str) -> tuple[str, str]:
    """The agent's own lines, and ours; empty where there is none."""
    start = record.rfind("\n") + 1
    if record.startswith(_BEGIN, start):
        return record[: max(0, start - 1)], record[start:]
    return record, ""


def apply_annotation(entry: Entry, note: str) -> Entry:
    """The entry with what a line of ours says; a field that the entry does not have is left out.

    Raises ValueError when the line is no JSON object.
    """
    values = read_json(note)
    if not isinstance(values, dict):
        raise ValueError("the note of a record is not a JSON object")
    known = set(entry.body.__struct_fields__)
    on_body = {name: values[name] for name in values if name in known}
    if isinstance(on_body.get("usage"), dict):
        on_body["usage"] = TokenUsage(**on_body["usage"])
    if "repeated_entries" in on_body:
        on_body["repeated_entries"] = tuple(
            RepeatedEntry(*one) for one in on_body["repeated_entries"]
        )
    on_entry = {name: values[name] for name in _ON_ENTRY if name in values}
    return replace(entry, body=replace(entry.body, **on_body), **on_entry)
