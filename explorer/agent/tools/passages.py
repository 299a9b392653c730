"""Where the old text of an edit stands in a file: exactly, but for invisible differences, or
the passage that is most like it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from difflib import get_close_matches
from itertools import accumulate
from typing import Literal

from msgspec import Struct

from explorer.agent.tools.truncation import split_lines

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
_PLAIN_SIGNS = str.maketrans({sign: plain for plain, signs in _SAME.items() for sign in signs})
"""One character for one, so that places in a line stay what they are."""
MOST_PLACES = 20
"""Places listed for a text that occurs several times."""


class PassageSpan(Struct, frozen=True):
    """A piece of a text, and what was looked past to find it."""

    start: int
    end: int
    tolerance: Tolerance = ""


class FoundPassages(Struct, frozen=True):
    """Every place that a text stands in; the first tolerance that finds any decides."""

    spans: tuple[PassageSpan, ...]

    @property
    def only(self) -> PassageSpan | None:
        """The only occurrence; None where there are none or several."""
        return self.spans[0] if len(self.spans) == 1 else None


def places_of(text: str, wanted: str) -> FoundPassages:
    """Where ``wanted``, which is not empty, stands in ``text``."""
    exact = tuple(PassageSpan(at, at + len(wanted)) for at in _starts(text, wanted))
    if exact:
        return FoundPassages(exact)
    for tolerance in _TOLERANCES:
        places = _Lines(text, tolerance).places(wanted)
        if places:
            return FoundPassages(places)
    return FoundPassages(())


def line_at(text: str, position: int) -> int:
    """The number of the line that a position is on, counted from 1."""
    return text.count("\n", 0, position) + 1


def plain_line(line: str) -> str:
    """A line as the widest tolerance sees it."""
    return line.translate(_PLAIN_SIGNS).rstrip()


def _starts(text: str, wanted: str) -> list[int]:
    """Up to one more place than is listed, overlapping ones too."""
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
            line = line.translate(_PLAIN_SIGNS)
        return line.rstrip()

    def places(self, wanted: str) -> tuple[PassageSpan, ...]:
        seen = "\n".join(self._look(line) for line in wanted.split("\n"))
        if not seen.strip():
            return ()
        joined = "\n".join(self._seen)
        return tuple(
            PassageSpan(self._back(at), self._back(at + len(seen), end=True), self._tolerance)
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


_ALIKE = 0.6
"""From 0 to 1: how alike a line must be to be taken for the one that was meant."""
_MOST_COMPARED = 20_000
"""Lines that are compared letter by letter."""
_MOST_SHOWN = 30
_LONGEST = 300
_COMPARED = 199
"""Characters of a line that are compared; from 200 on ``difflib`` ignores frequent ones."""


def nearest_passage(text: str, wanted: str) -> str:
    """What stands there instead, with line numbers, and what differs; empty for nothing alike."""
    rows = [row.removesuffix("\r") for row in split_lines(text)]
    meant = [row.removesuffix("\r") for row in split_lines(wanted)]
    while meant and not meant[0].strip():
        meant = meant[1:]
    while meant and not meant[-1].strip():
        meant.pop()
    if not rows or not meant:
        return ""
    start = _same_lines(rows, meant)
    if start is None:
        start = _alike_line(rows, meant)
    if start is None:
        return ""
    start = max(0, min(start, len(rows) - 1))
    there = rows[start : start + len(meant)]
    return f"{_passage(there, start)}\n{_differences(there, meant, start)}"


def _same_lines(rows: list[str], meant: list[str]) -> int | None:
    """Where the most lines stand that are the same but for what is around them."""
    where: dict[str, list[int]] = {}
    for number, row in enumerate(meant):
        if len(row.strip()) > 2:
            where.setdefault(plain_line(row).strip(), []).append(number)
    votes: Counter[int] = Counter()
    for at, row in enumerate(rows):
        for number in where.get(plain_line(row).strip(), ()):
            votes[at - number] += 1
    return min(votes, key=lambda start: (-votes[start], start)) if votes else None


def _alike_line(rows: list[str], meant: list[str]) -> int | None:
    """Where a line stands that is like the longest one."""
    number, longest = max(enumerate(meant), key=lambda item: len(item[1].strip()))
    compared = [row.strip()[:_COMPARED] for row in rows[:_MOST_COMPARED]]
    alike = get_close_matches(longest.strip()[:_COMPARED], compared, n=1, cutoff=_ALIKE)
    return compared.index(alike[0]) - number if alike else None


def _passage(there: list[str], start: int) -> str:
    shown = [f"{start + at + 1}: {row[:_LONGEST]}" for at, row in enumerate(there[:_MOST_SHOWN])]
    if len(there) > _MOST_SHOWN:
        shown.append(f"... {len(there) - _MOST_SHOWN} more lines")
    return "\n".join(shown)


def _differences(there: list[str], meant: list[str], start: int) -> str:
    """Up to three lines that differ, in words and side by side."""
    differences: list[str] = []
    for at, row in enumerate(meant):
        stands = there[at] if at < len(there) else None
        if stands is None:
            differences.append(f"The file ends before your line {at + 1}.")
            break
        if plain_line(stands) == plain_line(row):
            continue
        if len(differences) == 3:
            differences.append("More lines differ.")
            break
        differences.append(
            f"Line {start + at + 1} {_how(stands, row)}: there is {stands[:_LONGEST]!r},"
            f" you have {row[:_LONGEST]!r}."
        )
    return "\n".join(differences)


def _how(stands: str, row: str) -> str:
    if stands.strip() == row.strip():
        tabs = ("\t" in stands) != ("\t" in row)
        return "is indented otherwise" + (", by tabs and spaces" if tabs else "")
    if "".join(stands.split()) == "".join(row.split()):
        return "is spaced otherwise"
    if stands.lower() == row.lower():
        return "differs in upper and lower case"
    return "differs"
