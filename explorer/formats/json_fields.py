"""Fields of a JSON object from a file, as the kind of value that they should be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.session.entries import Content, TextBlock, UnknownBlock

_EMPTY: Mapping[str, Any] = {}


def object_field(value: object, name: str) -> Mapping[str, Any]:
    """An object of an object; an empty one where either is something else."""
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, dict) else _EMPTY


def list_field(value: object, name: str) -> Sequence[Any]:
    """A list of an object; an empty one where either is something else."""
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, list) else ()


def text_field(value: object, name: str) -> str:
    """A text of an object; an empty one where either is something else."""
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, str) else ""


def text_blocks(value: object) -> Content:
    """The blocks of what should be a text: none where it is empty or null; anything else is
    carried."""
    if isinstance(value, str):
        return (TextBlock(value),) if value else ()
    return () if value is None else (UnknownBlock("", value),)
