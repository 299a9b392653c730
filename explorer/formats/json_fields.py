"""JSON objects of files: their fields, as the kind of value that they should be; records that are
not lines, as compact JSON that is read back without raising; and counts of what a reader does not
know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from explorer.formats.adapter import FormatError
from explorer.formats.jsonl import BYTE_ORDER_MARK, BadLine, parse
from explorer.session.entries import Content, TextBlock, UnknownBlock
from explorer.session.records import Problem, remark

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


def compact(value: Any) -> str:
    """A JSON value that ``parse`` gave, as one line."""
    return orjson.dumps(value).decode()


def read_document(path: Path) -> Any:
    """The JSON value of a file. Raises FormatError when it is none, OSError."""
    try:
        return parse(path.read_bytes().removeprefix(BYTE_ORDER_MARK))
    except BadLine as error:
        raise FormatError(str(path), 1, str(error)) from error


def objects_of(record: str | bytes) -> list[dict[str, Any]]:
    """The JSON objects among the lines of a record; what is none is passed over."""
    data = record if isinstance(record, bytes) else record.encode("utf-8", "surrogatepass")
    found = []
    for line in data.removeprefix(BYTE_ORDER_MARK).split(b"\n"):
        try:
            value = parse(line)
        except BadLine:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def recorded(values: list[dict[str, Any]]) -> Mapping[str, Any]:
    """The objects of a record as ``Entry.recorded`` shows them."""
    return values[0] if len(values) == 1 else {"lines": values} if values else {}


class UnknownTypes:
    """Counts records of types that are not known, to name each type once."""

    def __init__(self, unit: str = "line") -> None:
        """``unit``: what the numbers of records count."""
        self._unit = unit
        self._counts: dict[str, int] = {}
        self._lines: dict[str, int] = {}

    def add(self, kind: str, line: int) -> None:
        """One more record of a type."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        self._lines.setdefault(kind, line)

    def problems(self) -> Iterator[Problem]:
        """One for each type, at its first line."""
        for kind, count in self._counts.items():
            are = "record of the type {!r} is not known; it is kept"
            if count > 1:
                are = "records of the type {!r} are not known; they are kept"
            yield remark(self._lines[kind], f"{count} {are.format(kind[:80])}", self._unit)
