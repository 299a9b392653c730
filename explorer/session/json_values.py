"""JSON of session files: one reading for every place, whatever its nesting, and its times and token
counts as numbers that the columns can hold."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import orjson

MAX_COUNT = 10**9
"""A hundred times the largest context window there is: what says more is no count of tokens. Sums
of a count and of what one file can hold besides stay within 32 bits."""
_MAX_TIME = 8.64e15
"""Milliseconds; the range of JavaScript's Date."""


def time_ms(value: object) -> float:
    """Milliseconds since 1970 of an ISO text or a number; 0 when it is neither."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=UTC)
            return moment.timestamp() * 1000
        except (ValueError, OverflowError):
            return 0.0
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if abs(value) <= _MAX_TIME else 0.0
    return 0.0


def recorded_count(value: object) -> int | None:
    """A count of tokens from a file; None where it cannot be one: a text, a truth value, less than
    nothing, a fraction, or more than any context holds."""
    if type(value) is float and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= MAX_COUNT else None


def token_count(value: object) -> int:
    """A count of tokens from a file; 0 where none is recorded, see ``recorded_count``."""
    return recorded_count(value) or 0


MAX_DEPTH = 200
"""Objects and lists in each other. What reads a value later, the standard library among it, goes
down by recursion: at this depth all of it has room, and no agent writes a tenth of it."""
TOO_DEEP = f"nested too deeply, more than {MAX_DEPTH} levels"
_COUNTED = 8192
"""Characters up to which counting brackets is quicker than going through the values."""
_NESTED = (dict, list)
_LONGEST_INTEGER = 20
_INTEGERS = range(-(2**63), 2**64)


def read_json(text: str | bytes) -> Any:
    """The value of a JSON text; halves of surrogate pairs stay, NaN and Infinity are read.

    Numbers beyond 64 bits are floats, as JavaScript reads them. Raises ValueError for what is no
    JSON or is nested so deeply that no parser takes it.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return read_patiently(text)


def read_patiently(text: str | bytes) -> Any:
    """``read_json`` for what ``orjson`` refused."""
    try:
        return json.loads(text, parse_int=_integer)
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error


def _integer(digits: str) -> int | float:
    # Python refuses to read or write integers of some thousand digits.
    if len(digits) > _LONGEST_INTEGER:
        return float(digits)
    number = int(digits)
    return number if number in _INTEGERS else float(digits)


def is_too_deep(text: str | bytes, value: object, most: int = MAX_DEPTH) -> bool:
    """Whether the value of a JSON text has more than ``most`` levels. Nearly always a short text
    alone says that it has not; a long one has fewer values than characters."""
    length = len(text)
    if length < 2 * most or (length < _COUNTED and _openings(text) <= most):
        return False
    return any(_holds_more(one) for one in _deepest(value, most))


def without_depths(line: str | bytes, value: Any) -> Any:
    """The value of a line, with null in place of what lies deeper than ``MAX_DEPTH``."""
    if is_too_deep(line, value):
        for one in _deepest(value, MAX_DEPTH):
            for key, member in list(_members(one)):
                if isinstance(member, dict | list):
                    one[key] = None
    return value


def _deepest(value: object, most: int) -> list[Any]:
    """The objects and lists of the last level that may be."""
    level: list[Any] = [value] if isinstance(value, dict | list) else []
    for _ in range(most - 1):
        if not level:
            break
        level = [
            member
            for one in level
            for member in (one.values() if isinstance(one, dict) else one)
            if isinstance(member, _NESTED)
        ]
    return level


def _members(value: Any) -> Iterable[tuple[Any, Any]]:
    return value.items() if isinstance(value, dict) else enumerate(value)


def _holds_more(value: object) -> bool:
    return any(isinstance(member, dict | list) for _, member in _members(value))


def _openings(line: str | bytes) -> int:
    if isinstance(line, bytes):
        # Taking them out goes from one to the next; ``count`` looks at every byte.
        return 2 * len(line) - len(line.replace(b"[", b"")) - len(line.replace(b"{", b""))
    return line.count("[") + line.count("{")
