"""Where the old text of an edit stands in a file: exactly, or but for what nobody sees."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

Tolerance = Literal["", "line ends", "white space at line ends", "quotes, dashes and spaces"]
"""What was looked past to find a text; empty when it stands there exactly."""

_TOLERANCES: tuple[Tolerance, ...] = (
    "line ends", "white space at line ends", "quotes, dashes and spaces",
)  # fmt: skip
_SAME = {
    "'": "\u2018\u2019\u201a\u201b\u2032",
    '"': "\u201c\u201d\u201e\u201f\u2033",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212",
    " ": "\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000",
}
_PLAIN = str.maketrans({sign: plain for plain, signs in _SAME.items() for sign in signs})
"""One character for one, so that places in a line stay what they are."""
MOST_PLACES = 20
"""Places that are told of a text that stands in several."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text, and what was looked past to find it."""

    start: int
    end: int
    tolerance: Tolerance = ""


@dataclass(frozen=True, slots=True)
class Found:
    """Every place that a text stands in; the first tolerance that finds any decides."""

    spans: tuple[Span, ...]

    @property
    def only(self) -> Span | None:
        """The one place, where there is one and no more."""
        return self.spans[0] if len(self.spans) == 1 else None


def places_of(text: str, wanted: str) -> Found:
    """Where ``wanted``, which is not empty, stands in ``text``."""
    exact = tuple(Span(at, at + len(wanted)) for at in _starts(text, wanted))
    if exact:
        return Found(exact)
    for tolerance in _TOLERANCES:
        found = _Lines(text, tolerance).places(wanted)
        if found:
            return Found(found)
    return Found(())


def line_at(text: str, position: int) -> int:
    """The number of the line that a position is on, counted from 1."""
    return text.count("\n", 0, position) + 1


def plain_line(line: str) -> str:
    """A line as the widest tolerance sees it."""
    return line.translate(_PLAIN).rstrip()


def _starts(text: str, wanted: str) -> list[int]:
    """Up to one more than are told, overlapping ones too."""
    found: list[int] = []
    at = text.find(wanted)
    while at >= 0 and len(found) <= MOST_PLACES:
        found.append(at)
        at = text.find(wanted, at + 1)
    return found


class _Lines:
    """A text line by line as a tolerance sees it, with the way back to what stands there."""

    def __init__(self, text: str, tolerance: Tolerance) -> None:
        self._tolerance = tolerance
        self._raw = re.split(r"(?<=\n)", text) if text else [""]
        self._seen = [self._look(line) for line in self._raw]
        self._raw_starts = [0, *accumulate(len(line) for line in self._raw)]
        self._starts = [0, *accumulate(len(line) + 1 for line in self._seen)]

    def _look(self, line: str) -> str:
        line = line.removesuffix("\n")
        if self._tolerance == "line ends":
            return line.removesuffix("\r")
        if self._tolerance == "quotes, dashes and spaces":
            line = line.translate(_PLAIN)
        return line.rstrip()

    def places(self, wanted: str) -> tuple[Span, ...]:
        seen = "\n".join(self._look(line) for line in wanted.split("\n"))
        if not seen.strip():
            return ()
        joined = "\n".join(self._seen)
        return tuple(
            Span(self._back(at), self._back(at + len(seen), end=True), self._tolerance)
            for at in _starts(joined, seen)
        )

    def _back(self, position: int, end: bool = False) -> int:
        """The place in the text. An end at the end of a line takes the white space after it
        along, and not the line end."""
        line = min(bisect_right(self._starts, position) - 1, len(self._raw) - 1)
        column = position - self._starts[line]
        if end and column == len(self._seen[line]) and column:
            ending = "\r\n" if self._raw[line].endswith("\r\n") else "\n"
            return self._raw_starts[line] + len(self._raw[line].removesuffix(ending))
        return self._raw_starts[line] + column
