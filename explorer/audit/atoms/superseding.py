"""What was said and holds no more: a limit that was changed, a rule that was lifted."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.audit.atoms.entries import Voice
from explorer.audit.atoms.items import Item
from explorer.audit.atoms.keys import Figure, figure, stem, terms
from explorer.audit.atoms.lists import whole_words, word_set
from explorer.audit.atoms.model import AtomKind

if TYPE_CHECKING:
    from explorer.audit.atoms.table import AtomTable

_RULES = frozenset({AtomKind.CONSTRAINT, AtomKind.DECISION})
_CHANGE = whole_words(
    r"make",
    r"set",
    r"rais(?:e|ed)",
    r"lower(?:ed)?",
    r"bump(?:ed)?",
    r"increased?",
    r"decreased?",
    r"reduced?",
    r"chang(?:e|ed)",
    r"relax(?:ed)?",
    r"tighten(?:ed)?",
    r"extend(?:ed)?",
    r"shorten(?:ed)?",
    r"now",
    r"instead",
    r"actually",
    r"no\s+longer",
    r"any\s?more",
    r"correction",
    r"enough",
    r"turns?\s+out",
    r"from\s+now\s+on",
    r"scratch\s+that",
    r"moved",
    r"revert(?:ed)?",
    r"back\s+to",
)
_POINTS_BACK = re.compile(
    r"\b(?:make|set|raise|lower|bump|cut|change|relax|use)\s+(?:that|it|this|them)\b|"
    r"\b(?:that|it)['’]?s?\s+(?:is\s+)?now\b"
    r"|\bthe\s+(?:limit|cap|budget|timeout|number|value|deadline)\s+(?:is|was|moved)\b",
    re.IGNORECASE,
)
_LIFTS = whole_words(
    r"no\s+longer\s+(?:need|have|required?|necessary|applies)",
    r"(?:you|we)\s+(?:may|can)\s+now",
    r"forget\s+(?:about|what|the)",
    r"ignore\s+(?:the|my|what)",
    r"drop\s+the\s+(?:rule|limit|requirement|restriction)",
    r"(?:is|are)\s+(?:allowed|fine|ok(?:ay)?)\s+now",
    r"doesn['’]?t\s+(?:matter|apply)\s+any\s?more",
    r"scratch\s+that",
)
_FIGURES = re.compile(
    r"(?<![\w.:])[$€£]?\d(?!\d?:\d)[\d,_']*(?:\.\d+)?"
    r"\s*(?:%|°[CF]?|[A-Za-zµμ]+(?:/[A-Za-z]+)?)?"
    r"(?:\s+(?!and|or|per|to)[a-z]{3,}s\b)?"
)
_OWN = 2
"""Words of its own that each of two statements of one shape has at most."""
_APART = 0.8
"""The share below which two statements of one shape are of two things."""
_SHARE = 0.6
"""The share of the words of the shorter of two statements of one thing."""
_MEASURED = ("time", "size", "%")
_UNITS = frozenset(
    map(stem, word_set("ms seconds second minutes minute hours hour kb mb gb percent per"))
)
_NEAR = 40
"""How many earlier statements with a value are looked at."""
_FILLER = frozenset(
    map(
        stem,
        word_set(
            "make set use change raise let bump most least max min at is now enough time value "
            "number within long longer short shorter more less high higher low lower "
            "wait take keep need"
        ),
    )
)


@dataclass(slots=True)
class _Said:
    index: int
    item: Item
    about: frozenset[str]
    figures: tuple[Figure, ...]
    stale: str = ""


def superseded(table: AtomTable, indices: Iterable[int]) -> dict[tuple[int, int, str], str]:
    """The mentions that hold no more, with the text of what holds instead.

    Keys are the entry, the offset and the kind with the block of the mention.
    """
    said: list[_Said] = []
    out: dict[tuple[int, int, str], str] = {}
    for index in indices:
        one = table.entry(index)
        if one.speaks is not Voice.USER:
            continue
        for item in one.items:
            if item.kind in _RULES and item.voice is Voice.USER:
                _take(_said(index, item), said)
    for one_said in said:
        if one_said.stale:
            item = one_said.item
            out[one_said.index, item.start, place_key(item)] = one_said.stale
            _figures_within(table, one_said, out)
    _echoes(table, indices, said, out)
    return out


def place_key(item: Item) -> str:
    """Which kind, block and argument a mention is of."""
    return f"{item.kind}{item.block}{item.argument}"


def _said(index: int, item: Item) -> _Said:
    values = tuple(value for part in _FIGURES.findall(item.text) if (value := figure(part)))
    return _Said(index, item, terms(item.text) - _FILLER, values)


def _take(new: _Said, said: list[_Said]) -> None:
    """Marks what the new statement changes, and remembers it."""
    text = new.item.text
    lifts = _LIFTS.search(text) is not None
    changes = _CHANGE.search(text) is not None
    points = _POINTS_BACK.search(text) is not None
    best, best_score = None, 0.0
    for old in reversed(said[-_NEAR:]):
        if old.stale or old.item.key == new.item.key:
            continue
        score = _lifted(new, old) if lifts else _replaced(new, old, changes, points)
        if score > best_score:
            best, best_score = old, score
    if best is not None:
        best.stale = text
    said.append(new)


def _lifted(new: _Said, old: _Said) -> float:
    shared = new.about & old.about
    smaller = min(len(new.about), len(old.about)) or 1
    return len(shared) / smaller if len(shared) >= 2 and len(shared) / smaller >= 0.5 else 0.0


def _replaced(new: _Said, old: _Said, changes: bool, points: bool) -> float:
    """How surely the new statement gives another value to what the old one speaks of."""
    held = {value.key for value in new.figures}
    if not new.figures or any(value.key in held for value in old.figures):
        return 0.0
    pairs = [
        (one, other) for one in new.figures for other in old.figures if _same_measure(one, other)
    ]
    words = _plain(new.about) & _plain(old.about)
    named = {value.value for value in new.figures} & {value.value for value in old.figures}
    if named and changes and len(new.figures) > 1 and (pairs or words):
        return 3.0 + len(words)
    if not pairs:
        return 0.0
    counted = any(one.family and one.family not in _MEASURED for one, _ in pairs)
    mine, theirs = _plain(new.about) - words, _plain(old.about) - words
    share = len(words) / (min(len(_plain(new.about)), len(_plain(old.about))) or 1)
    parallel = bool(mine and theirs) and max(len(mine), len(theirs)) <= _OWN
    if not counted and parallel and share < _APART:
        # "the upload timeout" and "the login timeout" are two things.
        return 1.0 if points and changes and len(words) > 1 else 0.0
    if changes and (share >= _SHARE or counted):
        return 1.0 + len(words) + counted
    if points and changes:
        return 1.0
    return share if share >= _SHARE and len(words) >= 2 else 0.0


def _plain(about: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in about if not word[0].isdigit() and word not in _UNITS)


def _same_measure(one: Figure, other: Figure) -> bool:
    """Whether one figure can take the other's place: "8" that of "5 retries", not of "5 s"."""
    if one.value == other.value:
        return False
    if one.family == other.family:
        return True
    if one.family in _MEASURED or other.family in _MEASURED:
        return False
    return not one.family or not other.family


def _figures_within(table: AtomTable, old: _Said, out: dict[tuple[int, int, str], str]) -> None:
    """A figure in a stale statement is stale with it."""
    for item in table.entry(old.index).items:
        inside = old.item.start <= item.start < old.item.end and item.block == old.item.block
        if inside and item.kind is AtomKind.NUMBER:
            out[old.index, item.start, place_key(item)] = old.stale


_OLD_VALUE = re.compile(
    r"\b(?:not|from|was|were|instead\s+of|rather\s+than|than|over|previously)\s+\W*$", re.IGNORECASE
)


def _echoes(
    table: AtomTable,
    indices: Iterable[int],
    said: list[_Said],
    out: dict[tuple[int, int, str], str],
) -> None:
    """Later mentions of a stale figure that only tell what it was: "8, not 5"."""
    values = {one.figures[0].value: one.stale for one in said if one.stale and one.figures}
    if not values:
        return
    for index in indices:
        for item in table.entry(index).items:
            if item.kind is not AtomKind.NUMBER:
                continue
            value = figure(item.text)
            before = item.context.partition("\n")[0]
            if value and value.value in values and _OLD_VALUE.search(before):
                out[index, item.start, place_key(item)] = values[value.value]
