"""Records of formats that are not lines: compact JSON of an object, read back without raising; and
counts of what a reader does not know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from explorer.formats.errors import FormatError
from explorer.formats.jsonl import BYTE_ORDER_MARK, BadLine, parse
from explorer.session.records import Problem, remark


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
