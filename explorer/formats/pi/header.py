"""pi's session files, versions 1 to 3: one header line, then one entry per line.

Version 1 has no ids: its entries are one chain, and a compaction names the first kept entry by
its place in the file. Version 2 brought ids and parents; version 3 renamed the message role
``hookMessage`` to ``custom``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.session.json_values import time_ms
from explorer.session.records import FormatName, SessionHeader

VERSION = 3
HEADER_TYPE = "session"
EXTENSION_KEY = "fromHook"
ENTRY_TYPES = frozenset(
    {
        "message",
        "compaction",
        "branch_summary",
        "custom_message",
        "custom",
        "label",
        "session_info",
        "model_change",
        "thinking_level_change",
        "context_edit",
    }
)
LEAF_TYPE = "session-explorer/leaf"
"""``customType`` of the entry that an export adds where the leaf is not the last line, so that
an agent, which takes the last line for the leaf, goes on from the same place."""


def is_header(value: object) -> bool:
    return isinstance(value, dict) and value.get("type") == HEADER_TYPE


def read_header(
    value: Mapping[str, Any], raw: str, format_name: FormatName, version: int
) -> SessionHeader:
    """A header line, as far as its fields are what they should be."""

    def text(key: str) -> str:
        field = value.get(key)
        return field if isinstance(field, str) else ""

    return SessionHeader(
        session_id=text("id"),
        format=format_name,
        version=version,
        cwd=text("cwd"),
        time_ms=time_ms(value.get("timestamp")),
        parent_session=text("parentSession"),
        raw=raw,
        title=text("title"),
    )


def positional_id(place: int) -> str:
    """The id that an entry of a version 1 file gets: its place among the JSON values of the file,
    the header included, so that reading the file again gives the same ids."""
    return f"{place:08x}"


def with_kept_id(entry: dict[str, Any]) -> dict[str, Any]:
    """A version 1 compaction with its ``firstKeptEntryIndex`` turned into the id of that entry.

    The index counts the values of the file from the header, which is 0 and never kept.
    """
    index = entry.get("firstKeptEntryIndex")
    if isinstance(index, bool) or not isinstance(index, int):
        return entry
    changed = {key: value for key, value in entry.items() if key != "firstKeptEntryIndex"}
    if index > 0:
        changed["firstKeptEntryId"] = positional_id(index)
    return changed


def model_change(provider: str, model_id: str) -> dict[str, Any]:
    """The fields of a model change as pi writes them."""
    return {"provider": provider, "modelId": model_id}
