"""Prose in sentences, with where each begins."""

from __future__ import annotations

import re
from typing import NamedTuple

from explorer.audit.atoms.letters import is_odd
from explorer.audit.atoms.lists import word_set
from explorer.audit.atoms.message import Message
from explorer.audit.atoms.taken import Taken
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
    r"[,\s](?:(?:(?<=,)\s+|(?<=\s)\s*)(?:but|however|"
    r"and\s+(?=(?:please|never|always|don['’]?t|do\s+not|only|also)\b)|"
    r"(?:oh\s+)?and\s+also|btw|(?<=,)\s*also|also(?=\s+(?:i|we|please|can|could|don['’]?t|it|no|the)\b))[,]?\s+(?=\S)|"
    r"(?<=,)\s+(?:so\s+)?(?=(?:please|never|always|don['’]?t|do\s+not)\s))",
    re.IGNORECASE,
)
_JOINING = word_set(
    "but but, however however, and also also, btw btw, please never always don't don’t dont do"
)
"""A text in which none of these is a word has no joints."""
_JOINTS = (" but ", "however", "and ", "also", "btw", ", ")
_ENDING = 12
"""Characters before a point that tell whether it closes an abbreviation."""
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


def sentences(text: str, skip: list[tuple[int, int]]) -> list[Sentence]:
    """The sentences of a text, blocks of code (``skip``) left out, in order."""
    return sentences_of(Message(text), skip)


def sentences_of(message: Message, skip: list[tuple[int, int]]) -> list[Sentence]:
    """The same of a message."""
    text = message.text
    found: list[Sentence] = []
    split = _Splitter(message).split
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
        for first, last in split(begin, end):
            found.append(
                Sentence(text[first:last], first, last, item is not None, box, under, section)
            )
        if bare[-1] == ":":
            under = bare
    return found


def _lines(text: str, skip: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Lines, those of a paragraph that is wrapped at a column joined."""
    found: list[tuple[int, int]] = []
    start = 0
    before = ""
    skipped = Taken(skip)
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


class _Splitter:
    """Splits the lines of one message."""

    __slots__ = ("_joints", "_low", "_text")

    def __init__(self, message: Message) -> None:
        self._text = message.text
        self._low = message.low
        self._joints: tuple[str, ...] = ()
        if not _JOINING.isdisjoint(message.said) or is_odd(message.text):
            self._joints = tuple(word for word in _JOINTS if word in self._low)

    def split(self, start: int, end: int) -> list[tuple[int, int]]:
        """The sentences of a stretch of the text, each in the parts that say something."""
        text = self._text
        found: list[tuple[int, int]] = []
        at = start
        for match in _END.finditer(text, start, end):
            stop = match.start()
            if match.lastgroup == "gap":
                if text[stop] == "." and _ABBREVIATION.search(
                    text[max(at, stop - _ENDING) : stop + 1]
                ):
                    continue
                stop = match.start("gap")
            self._part(at, stop, found)
            at = match.end()
        self._part(at, end, found)
        return found

    def _part(self, start: int, end: int, found: list[tuple[int, int]]) -> None:
        """A sentence in the parts that each say something of their own."""
        text = self._text
        if self._joints and end - start >= _TWO and self._is_joined(start, end):
            for match in _JOINT.finditer(text, start, end):
                if match.start() - start < _TWO // 2 or end - match.end() < _TWO // 2:
                    continue
                if _balanced(text[start : match.start()]):
                    _add(text, start, match.start(), found)
                    start = match.end()
        _add(text, start, end, found)

    def _is_joined(self, start: int, end: int) -> bool:
        low = self._low
        return any(low.find(word, start, end) >= 0 for word in self._joints)


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
