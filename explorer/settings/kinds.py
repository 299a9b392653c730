"""Kinds of values: what a setting may contain, defined once for the check, the schema and the
screen."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Protocol, TypeGuard

from msgspec import Struct

MOST = 10_000_000
"""No size in tokens or milliseconds is larger than this."""


class ValueKind(Protocol):
    """What a setting may hold."""

    def problem(self, value: object) -> str:
        """Why a JSON value does not fit, as the end of a sentence; empty when it does."""
        ...

    def schema(self) -> dict[str, Any]:
        """The same as JSON Schema (2020-12)."""
        ...


class OnOff(Struct, frozen=True):
    """``true`` or ``false``."""

    def problem(self, value: object) -> str:
        return "" if isinstance(value, bool) else f"expected true or false, not {shown(value)}"

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


class Whole(Struct, frozen=True):
    """A whole number from ``minimum`` to ``maximum``; ``unit`` is tokens, ms, rounds."""

    minimum: int
    maximum: int
    unit: str

    def problem(self, value: object) -> str:
        if not is_number(value) or value != int(value):
            return f"expected a whole number of {self.unit}, not {shown(value)}"
        return between(value, self.minimum, self.maximum)

    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.minimum, "maximum": self.maximum}


class Percent(Struct, frozen=True):
    """A number of per cent, from ``minimum`` to ``maximum``."""

    minimum: float
    maximum: float

    def problem(self, value: object) -> str:
        if not is_number(value):
            return f"expected a number of per cent, not {shown(value)}"
        return between(value, self.minimum, self.maximum)

    def schema(self) -> dict[str, Any]:
        return {"type": "number", "minimum": self.minimum, "maximum": self.maximum}


class RatioOrTokens(Struct, frozen=True):
    """A share in (0, 1], or a whole number of tokens from ``lowest`` on; between them lies a gap
    in which it is not clear which one was meant (A46)."""

    lowest: int = 100

    def problem(self, value: object) -> str:
        if not is_number(value) or value <= 0:
            return f"expected a share above 0 up to 1, or tokens, not {shown(value)}"
        if value <= 1:
            return ""
        if value < self.lowest:
            return (
                f"{shown(value)} is neither a share (above 0 up to 1)"
                f" nor a number of tokens ({self.lowest} or more)"
            )
        if value != int(value):
            return f"expected a whole number of tokens, not {shown(value)}"
        return between(value, self.lowest, MOST)

    def schema(self) -> dict[str, Any]:
        share = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
        tokens = {"type": "integer", "minimum": self.lowest, "maximum": MOST}
        return {"anyOf": [share, tokens]}


class ChoiceKind(Struct, frozen=True):
    """One of several words; ``options`` says what each does."""

    options: Mapping[str, str]

    def problem(self, value: object) -> str:
        if isinstance(value, str) and value in self.options:
            return ""
        words = ", ".join(f'"{word}"' for word in self.options)
        return f"expected one of {words}, not {shown(value)}"

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.options), "enumDescriptions": list(self.options.values())}


class TextKind(Struct, frozen=True):
    """A text that a pattern describes; ``what`` says it in words."""

    pattern: str
    what: str

    def problem(self, value: object) -> str:
        if isinstance(value, str) and re.search(self.pattern, value):
            return ""
        return f"expected {self.what}, not {shown(value)}"

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": self.pattern}


class Names(Struct, frozen=True):
    """A list of words without blanks at their ends. ``single``: one alone may stand without a
    list; ``least``: how many there must be."""

    what: str
    single: bool = False
    least: int = 0
    pattern: str = r"^\S(.*\S)?$(?!\n)"

    def problem(self, value: object) -> str:
        if self.single and isinstance(value, str):
            value = [value]
        if not isinstance(value, list):
            alone = f"the name of {self.what} or " if self.single else ""
            return f"expected {alone}a list of {self.what}s, not {shown(value)}"
        wrong = [n for n in value if not (isinstance(n, str) and re.search(self.pattern, n))]
        if wrong:
            return f"expected names of {self.what}s, and {shown(wrong[0])} is none"
        return "" if len(value) >= self.least else f"expected at least {self.least} {self.what}"

    def schema(self) -> dict[str, Any]:
        one = {"type": "string", "pattern": self.pattern}
        several = {"type": "array", "items": one, "minItems": self.least}
        return {"anyOf": [one, several]} if self.single else several


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a JSON value is a number that can be compared; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or abs(value) < float("inf")


def between(value: Any, minimum: float, maximum: float) -> str:
    """Why a number is out of its range; empty when it is not."""
    if minimum <= value <= maximum:
        return ""
    return f"expected a number from {minimum:,} to {maximum:,}, not {shown(value)}"


def shown(value: object) -> str:
    """A value as it is written in a file, shortened."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= 60 else f"{text[:57]}…"


def tidy(kind: ValueKind, value: Any) -> Any:
    """A value that fits, as the program uses it: whole numbers as int, single names as a list."""
    if isinstance(kind, Names) and isinstance(value, str):
        return [value]
    if isinstance(value, float) and isinstance(kind, Whole | RatioOrTokens) and value > 1:
        return int(value)
    if isinstance(value, float) and isinstance(kind, Whole):
        return int(value)
    return value


def parsed(kind: ValueKind, text: str) -> Any:
    """What a person typed, as a value of this kind. Raises ValueError saying what was expected.

    JSON is taken as such, a list of names also with commas alone, and words without quotes.
    """
    readings: list[Any] = []
    try:
        readings.append(json.loads(text))
    except (ValueError, RecursionError):
        if isinstance(kind, OnOff) and text.strip().lower() in ("on", "off", "yes", "no"):
            readings.append(text.strip().lower() in ("on", "yes"))
    if isinstance(kind, Names):
        readings.append([name.strip() for name in text.split(",") if name.strip()])
    readings.append(text)
    for value in readings:
        if not kind.problem(value):
            return tidy(kind, value)
    raise ValueError(kind.problem(readings[0]))
