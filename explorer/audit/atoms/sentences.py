"""Prose in sentences, with where each begins."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_ITEM = re.compile(
    r"[ \t]*(?:>[ \t]*)*(?:[-*+•–]|\d{1,3}[.)])[ \t]+(?:\[(?P<box>[ xX~-])\][ \t]+)?"
)
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+")
# Each branch begins with a mark, so that the search leaps from mark to mark.
_END = re.compile(
    r"[.!?…]+[\"'”’)\]*`]*(?P<gap>\s+)(?=[\"'“‘(\[`*_\w/~.$])|;(?P<after>\s+)"
    r"|[-–—](?<=\s.)-?(?P<dash>\s+)"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|approx|cf|dr|mr|mrs|prof|fig|eq|resp|incl|esp|nr|bzw|"
    r"(?<!\d )(?<!\d\s)[A-Za-z])\.|\.\.)$",
    re.IGNORECASE,
)
_JOINT = re.compile(
    r",?\s+(?:but|however|and\s+(?=(?:please|never|always|don['’]?t|do\s+not|only|also)\b)|"
    r"(?:oh\s+)?and\s+also|"
    r"btw|also)[,]?\s+(?=\S)|,\s+(?:so\s+)?(?=(?:please|never|don['’]?t|do\s+not|always)\s)",
    re.IGNORECASE,
)
_JOINTS = (" but ", "however", "and ", "also", "btw", ", ")
_LONG = 60
"""Characters from which a line may go on in the next."""
_TWO = 24
"""Characters from which a sentence may say two things."""


class Sentence(NamedTuple):
    """A sentence or a list item; offsets in characters of the text."""

    text: str
    start: int
    end: int
    item: bool = False
    box: str = ""
    """The mark of a checklist's item: blank, ``x``, or empty where there is none."""
    under: str = ""
    """The line, closed with a colon, or the heading that a list stands under."""
    section: str = ""
    """The last heading before it."""


def sentences(text: str, skip: list[tuple[int, int]]) -> Iterator[Sentence]:
    """The sentences of a message, blocks of code (``skip``) left out, in order."""
    under = section = ""
    for start, end in _lines(text, skip):
        line = text[start:end]
        if not line.strip():
            continue
        heading = _HEADING.match(line)
        if heading:
            under = section = line[heading.end() :].strip()
            continue
        item = _ITEM.match(line)
        if item is None and under and not line.startswith((" ", "\t")):
            under = ""
        begin = start + (item.end() if item else len(line) - len(line.lstrip()))
        for first, last in _split(text, begin, end):
            box = (item["box"] or "") if item else ""
            yield Sentence(text[first:last], first, last, item is not None, box, under, section)
        if line.rstrip().endswith(":"):
            under = line.strip()


def _lines(text: str, skip: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Lines, those of a paragraph that is wrapped at a column joined."""
    at = 0
    held: tuple[int, int] | None = None
    for line in text.split("\n"):
        start, end = at, at + len(line)
        at = end + 1
        if any(a <= start < b for a, b in skip):
            if held:
                yield held
            held = None
            continue
        if held and _continues(text[held[0] : held[1]], line):
            held = (held[0], end)
            continue
        if held:
            yield held
        held = (start, end)
    if held:
        yield held


def _continues(before: str, line: str) -> bool:
    last = before.rsplit("\n", 1)[-1]
    bare = line.lstrip()
    if len(last) < _LONG or not bare or _ITEM.match(line) or _HEADING.match(line):
        return False
    return (
        last.rstrip()[-1:] not in ".!?:;|"
        and (bare[0].islower() or bare[0] in "`(\"'")
        and "|" not in bare[:1]
    )


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for match in _END.finditer(text, start, end):
        stop = match.start(match.lastgroup or 0)
        if match.lastgroup == "gap":
            if match.group()[0] == "." and _ABBREVIATION.search(text[at : match.start() + 1]):
                continue
        else:
            stop = match.start()
        yield from _joints(text, at, stop)
        at = match.end()
    yield from _joints(text, at, end)


def _joints(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A sentence in the parts that each say something of their own."""
    low = text[start:end].lower()
    if end - start >= _TWO and any(word in low for word in _JOINTS):
        for match in _JOINT.finditer(text, start, end):
            if match.start() - start < _TWO // 2 or end - match.end() < _TWO // 2:
                continue
            if _balanced(text[start : match.start()]):
                yield from _trimmed(text, start, match.start())
                start = match.end()
    yield from _trimmed(text, start, end)


def _balanced(text: str) -> bool:
    return (
        text.count("(") == text.count(")") and text.count('"') % 2 == 0 and text.count("`") % 2 == 0
    )


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and (text[end - 1].isspace() or text[end - 1] in ",;"):
        end -= 1
    if end - start > 2:
        yield start, end
