"""Fields of a JSON object from a file, as the kind of value that they should be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from explorer.session.entries import Content, TextBlock, UnknownBlock

# JSON objects are asked for as ``dict``: asking for any mapping takes ten times as long.


def object_field(value: object, name: str) -> dict[str, Any]:
    """An object of an object; an empty one where either is something else."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def list_field(value: object, name: str) -> Sequence[Any]:
    """A list of an object; an empty one where either is something else."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, list) else ()


def text_field(value: object, name: str) -> str:
    """A text of an object; an empty one where either is something else."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def text_at(value: object, *names: str) -> str:
    """The text that is found by these names, each in the object of the one before; else empty."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""


def first_text(value: object, *names: str) -> str:
    """The first of these fields that is a text and not empty; else an empty text."""
    if isinstance(value, dict):
        for name in names:
            found = value.get(name)
            if found and isinstance(found, str):
                return found
    return ""


def texts_in(value: object) -> list[str]:
    """The texts of a list; none of anything else."""
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def text_blocks(value: object) -> Content:
    """The blocks of what should be a text: none where it is empty or null; anything else is
    carried."""
    if isinstance(value, str):
        return (TextBlock(value),) if value else ()
    return () if value is None else (UnknownBlock("", value),)
