"""Lines of older or other sessions as pi's version 3."""

from __future__ import annotations

import json
import re
import secrets
from collections import Counter
from typing import Any

from explorer.formats import omp, pi
from explorer.formats.jsonl import Verbatim, parse_exactly
from explorer.session.records import FormatName, SessionHeader


class PiUpgrade:
    """Turns the lines of one session, in the order of its file, into pi's version 3.

    What needs no change stays as it was written. Types that pi does not know are kept: it reads
    over them.
    """

    def __init__(self, header: SessionHeader) -> None:
        self.unknown_types: Counter[str] = Counter()
        """How many entries of each type that pi does not know were written."""
        self._format: FormatName = header.format
        self._linear = header.version == 1
        self._last_id: str | None = None

    def header(self, value: dict[str, Any]) -> str:
        """The header's line with version 3."""
        return dumps(value | {"version": pi.VERSION})

    def entry(self, raw: str, place: int) -> str:
        """An entry's line. ``place`` counts the JSON values of the file from the header, which
        is 0; it is -1 for an entry made here, which is in order already."""
        value = _exactly(raw)
        before = value
        if self._linear and place >= 0:
            value = self._with_ids(value, place)
        value = _renamed_role(value)
        if self._format == "omp":
            value = _from_omp(value)
        self._last_id = value.get("id")
        kind = value.get("type")
        if isinstance(kind, str) and kind not in pi.ENTRY_TYPES:
            self.unknown_types[kind] += 1
        return raw if value is before else dumps(value)

    def _with_ids(self, value: dict[str, Any], place: int) -> dict[str, Any]:
        head = {
            "type": value.get("type"),
            "id": pi.positional_id(place),
            "parentId": self._last_id,
        }
        rest = {key: field for key, field in value.items() if key not in head}
        if value.get("type") == "compaction":
            rest = pi.with_kept_id(rest)
        return head | rest


def _exactly(raw: str) -> dict[str, Any]:
    value = parse_exactly(raw.encode("utf-8", "surrogatepass"))
    return value if isinstance(value, dict) else {}


def _renamed_role(value: dict[str, Any]) -> dict[str, Any]:
    message = value.get("message")
    if isinstance(message, dict) and message.get("role") == "hookMessage":
        return value | {"message": message | {"role": "custom"}}
    return value


def _from_omp(value: dict[str, Any]) -> dict[str, Any]:
    if omp.EXTENSION_KEY in value:
        value = {
            pi.EXTENSION_KEY if key == omp.EXTENSION_KEY else key: field
            for key, field in value.items()
        }
    model = value.get("model")
    if value.get("type") == "model_change" and isinstance(model, str) and "modelId" not in value:
        rest = {key: field for key, field in value.items() if key != "model"}
        return rest | pi.model_change(*omp.split_model(model))
    return value


# Stands for a number until the rest is written; no file can know it.
_MARK = secrets.token_hex(16)
_MARKED = re.compile(f'"{_MARK}([^"]*)"')


def dumps(value: Any) -> str:
    """A JSON value on one line as the agents write it: no spaces, no needless escapes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_marked)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(value, separators=(",", ":"), default=_marked)
    return _MARKED.sub(r"\1", text) if _MARK in text else text


def _marked(value: object) -> str:
    if not isinstance(value, Verbatim):
        raise TypeError(f"{type(value).__name__} is not a JSON value")
    return _MARK + value.digits
