"""What the readers of a text share: its words, ranges of it, its sentences with their offsets."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from explorer.session.late_pattern import late_pattern
from explorer.session.text import LINE_LIMIT


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def any_of(*patterns: str, flags: int = 0) -> re.Pattern[str]:
    """One pattern that matches where any of these does."""
    return re.compile("|".join(patterns), flags)


STOP = word_set(
    """
    a about after again all also an and any are as at be because been before but by can could
    did do does done for from had has have here how i if in into is it its just let like make
    may me my now of off on one or our out please should so some such than that the their them
    then there these they this to too up us use used using very was we were what when where
    which while who will with would yes you your ok okay thanks not no never don't dont must
    only always
    """
)
_WORD = late_pattern(r"[^\W\d_][\w'’]*|\d+(?:[.,]\d+)*", re.UNICODE)
_ENDINGS = ("ations", "ation", "ings", "ing", "ied", "ies", "ed", "es", "s")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A word in lower case without its common English ending: retries, retried, retry."""
    low = word.lower().replace("’", "'").removesuffix("'s")
    if not low.isalpha():
        return low
    for ending in _ENDINGS:
        if low.endswith(ending) and len(low) - len(ending) >= 3 and not low.endswith("ss"):
            base = low[: -len(ending)]
            if ending in ("ied", "ies"):
                return base + "y"
            if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz":
                base = base[:-1]
            return base.removesuffix("e") if len(base) > 3 else base
    return low.removesuffix("e") if len(low) > 4 else low


@lru_cache(maxsize=16384)
def terms(text: str) -> frozenset[str]:
    """The stems of a sentence's telling words, stop words left out, and its numbers."""
    return terms_of_message(text)


def terms_of_message(text: str) -> frozenset[str]:
    """The same for a long text; not cached."""
    return frozenset(
        stem(word)
        for word in _WORD.findall(text)
        if word.lower() not in STOP and (len(word) > 1 or word.isdigit())
    )


_MARKS = late_pattern(r"[`*_\"“”'‘’]+|(?<=\s)[-•]\s")


@lru_cache(maxsize=4096)
def statement_key(text: str) -> str:
    """A sentence in lower case without emphasis, quotes and final punctuation, blanks collapsed."""
    return " ".join(_MARKS.sub("", text).lower().split()).rstrip(".!?;:, ")


_WIDE = late_pattern(r"[\U00010000-\U0010ffff]")


class TextRanges:
    """Ranges of a text that are already assigned; they may overlap. ``at in ranges``: whether one
    contains an offset."""

    __slots__ = ("_ends", "_merged", "_ranges", "_starts")

    def __init__(self, ranges: Iterable[tuple[int, int]] = ()) -> None:
        self._ranges = list(ranges)
        self._merged = False
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, start: int, end: int) -> None:
        """Add one range, ``end`` exclusive."""
        self._ranges.append((start, end))
        self._merged = False

    def __contains__(self, at: int) -> bool:
        if not self._ranges:
            return False
        if not self._merged:
            self._merge()
        before = bisect_right(self._starts, at) - 1
        return before >= 0 and at < self._ends[before]

    def _merge(self) -> None:
        self._starts, self._ends = [], []
        for start, end in sorted(self._ranges):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            elif end > start:
                self._starts.append(start)
                self._ends.append(end)
        self._merged = True


def wide_places(text: str) -> list[int]:
    """Offsets of the characters that take two UTF-16 units, ascending."""
    return [] if text.isascii() else [found.start() for found in _WIDE.finditer(text)]


def units(at: int, wide: Sequence[int]) -> int:
    """An offset in characters as UTF-16 units; ``wide``: see ``wide_places``."""
    return at + bisect_left(wide, at)


_ITEM = late_pattern(
    r"[ \t]*(?:>[ \t]*)*(?:[-*+•–]|\d{1,3}[.)])[ \t]+(?:\[(?P<box>[ xX~-])\][ \t]+)?"
)
_HEADING = late_pattern(r"[ \t]*#{1,6}[ \t]+")
# Begins with one set of marks, so that the search leaps from mark to mark.
_END = late_pattern(
    r"[.!?…;\-–—](?:(?<=[.!?…])[.!?…]*[\"'”’)\]*`]*(?P<gap>\s+)(?=[\"'“‘(\[`*_\w/~.$])"
    r"|(?<=;)(?P<after>\s+)|(?<=[\-–—])(?<=\s.)-?(?P<dash>\s+))"
)
_ABBREVIATION = late_pattern(
    r"(?:\b(?:e\.g|i\.e|etc|vs|approx|cf|dr|mr|mrs|prof|fig|eq|resp|incl|esp|nr|bzw|"
    r"(?<!\d )(?<!\d\s)[A-Za-z])\.|\.\.)$",
    re.IGNORECASE,
)
# Begins with one set of marks, as above.
_JOINT = late_pattern(
    r"(?<=\S)[,\s](?:(?:(?<=,)\s+|(?<=\s)\s*)(?:but|however|"
    r"and\s+(?=(?:please|never|always|don['’]?t|do\s+not|only|also)\b)|"
    r"(?:oh\s+)?and\s+also|btw|(?<=,)\s*also|also(?=\s+(?:i|we|please|can|could|don['’]?t|it|no|the)\b))[,]?\s+(?=\S)|"
    r"(?<=,)\s+(?:so\s+)?(?=(?:please|never|always|don['’]?t|do\s+not)\s))",
    re.IGNORECASE,
)
"""Where the second part of a sentence begins: ", but never ..."."""
_ENDING = 12
"""Characters before a point that show whether it closes an abbreviation."""
_LONG = 60
"""Characters from which a line may go on in the next."""
_SHORTEST_PART = 12
"""Characters of each part of a sentence that is split."""


class Sentence(NamedTuple):
    """A sentence or a list item; offsets in characters of the text."""

    text: str
    start: int
    end: int
    item: bool = False
    checkbox: str = ""
    """The mark in a checklist item: blank or ``x``; empty without a checkbox."""
    under: str = ""
    """The line ending in a colon, or the heading, above a list."""
    section: str = ""
    """The last heading before it."""


def sentences(text: str, skip: list[tuple[int, int]]) -> list[Sentence]:
    """The sentences and list items of a text in order; ``skip``: ranges of code blocks, which are
    left out."""
    found: list[Sentence] = []
    under = section = ""
    for start, end in _lines(text, skip):
        line = text[start:end]
        bare = line.strip()
        if not bare:
            continue
        heading = _HEADING.match(line) if bare[0] == "#" else None
        if heading:
            under = section = line[heading.end() :].strip()
            continue
        item = None if bare[0].isalpha() else _ITEM.match(line)
        checkbox = ""
        if item is not None:
            begin = start + item.end()
            checkbox = item["box"] or ""
        else:
            begin = start + line.find(bare)
            if under and line[0] not in " \t":
                under = ""
        for first, last in _split(text, begin, end):
            found.append(
                Sentence(text[first:last], first, last, item is not None, checkbox, under, section)
            )
        if bare[-1] == ":":
            under = bare
    return found


def _lines(text: str, skip: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Lines as ranges; those of a paragraph that is wrapped at a column are joined."""
    found: list[tuple[int, int]] = []
    start = 0
    before = ""
    skipped = TextRanges(skip)
    for line in text.split("\n"):
        end = start + len(line)
        if skip and start in skipped:
            before = ""
        elif len(before) >= _LONG and end - found[-1][0] <= LINE_LIMIT and _continues(before, line):
            found[-1] = (found[-1][0], end)
            before = line
        else:
            found.append((start, end))
            before = line
        start = end + 1
    return found


def _continues(before: str, line: str) -> bool:
    bare = line.lstrip()
    if not bare or _ITEM.match(line) or _HEADING.match(line):
        return False
    return (
        before.rstrip()[-1:] not in ".!?:;|"
        and (bare[0].islower() or bare[0] in "`(\"'")
        and "|" not in bare[:1]
    )


def _split(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The sentences between two offsets, compound ones in their parts."""
    found: list[tuple[int, int]] = []
    at = start
    for match in _END.finditer(text, start, end):
        stop = match.start()
        if match.lastgroup == "gap":
            if text[stop] == "." and _ABBREVIATION.search(text[max(at, stop - _ENDING) : stop + 1]):
                continue
            stop = match.start("gap")
        _add_parts(text, at, stop, found)
        at = match.end()
    _add_parts(text, at, end, found)
    return found


def _add_parts(text: str, start: int, end: int, found: list[tuple[int, int]]) -> None:
    """Adds a sentence, split where a second statement is joined to the first."""
    if end - start >= 2 * _SHORTEST_PART:
        for match in _JOINT.finditer(text, start, end):
            if min(match.start() - start, end - match.end()) < _SHORTEST_PART:
                continue
            if _balanced(text[start : match.start()]):
                _add(text, start, match.start(), found)
                start = match.end()
    _add(text, start, end, found)


def _balanced(text: str) -> bool:
    return (
        text.count("(") == text.count(")") and text.count('"') % 2 == 0 and text.count("`") % 2 == 0
    )


def _add(text: str, start: int, end: int, found: list[tuple[int, int]]) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and (text[end - 1].isspace() or text[end - 1] in ",;"):
        end -= 1
    if end - start > 2:
        found.append((start, end))
