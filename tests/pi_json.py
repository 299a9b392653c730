"""Entries that tests write in pi's JSON, as the typed ones that the program works with."""

from __future__ import annotations

from typing import Any

from explorer.formats.pi.entries import read_entry
from explorer.session.entries import Body


def entry_body(entry_type: str, **fields: Any) -> Body:
    """What an entry of a type says; fields by pi's names, or in Python's spelling."""
    return read_entry({"type": entry_type, **{_camel(name): fields[name] for name in fields}}).body


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in rest)
