"""Splitting prose into sentences and list items, each with its offsets and its heading."""

from __future__ import annotations

import re
from typing import NamedTuple

from explorer.facts.message import Ranges
from explorer.session.text import LINE_LIMIT

_ITEM = re.compile(
    r"[ \t]*(?:>[ \t]*)*(?:[-*+•–]|\d{1,3}[.)])[ \t]+(?:\[(?P<box>[ xX~-])\][ \t]+)?"
)
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+")
# Begins with one set of marks, so that the search leaps from mark to mark.
_END = re.compile(
    r"[.!?…;\-–—](?:(?<=[.!?…])[.!?…]*[\"'”’)\]*`]*(?P<gap>\s+)(?=[\"'“‘(\[`*_\w/~.$])"
    r"|(?<=;)(?P<after>\s+)|(?<=[\-–—])(?<=\s.)-?(?P<dash>\s+))"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|approx|cf|dr|mr|mrs|prof|fig|eq|resp|incl|esp|nr|bzw|"
    r"(?<!\d )(?<!\d\s)[A-Za-z])\.|\.\.)$",
    re.IGNORECASE,
)
# Begins with one set of marks, as above.
_JOINT = re.compile(
    r"(?<=\S)[,\s](?:(?:(?<=,)\s+|(?<=\s)\s*)(?:but|however|"
    r"and\s+(?=(?:please|never|always|don['’]?t|do\s+not|only|also)\b)|"
    r"(?:oh\s+)?and\s+also|btw|(?<=,)\s*also|also(?=\s+(?:i|we|please|can|could|don['’]?t|it|no|the)\b))[,]?\s+(?=\S)|"
    r"(?<=,)\s+(?:so\s+)?(?=(?:please|never|always|don['’]?t|do\s+not)\s))",
    re.IGNORECASE,
)
"""Where the second part of a sentence begins: ", but never ..."."""
_ENDING = 12
"""Characters before a point that tell whether it closes an abbreviation."""
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
    box: str = ""
    """The mark in a checklist item's box: blank or ``x``; empty without a box."""
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
        box = ""
        if item is not None:
            begin = start + item.end()
            box = item["box"] or ""
        else:
            begin = start + line.find(bare)
            if under and line[0] not in " \t":
                under = ""
        for first, last in _split(text, begin, end):
            found.append(
                Sentence(text[first:last], first, last, item is not None, box, under, section)
            )
        if bare[-1] == ":":
            under = bare
    return found


def _lines(text: str, skip: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Lines as ranges; those of a paragraph that is wrapped at a column are joined."""
    found: list[tuple[int, int]] = []
    start = 0
    before = ""
    skipped = Ranges(skip)
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
