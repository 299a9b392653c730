"""What was said and holds no more: a limit that was changed, a rule that was lifted."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

from explorer.audit.atoms.changing import (
    ANEW,
    CHANGE,
    FOR_NOW,
    FORBIDS,
    LIFTS,
    PERMITS,
    POINTS_BACK,
    SETS,
)
from explorer.audit.atoms.entries import Voice
from explorer.audit.atoms.items import Item
from explorer.audit.atoms.keys import Figure, figure, stem, terms
from explorer.audit.atoms.lists import word_set
from explorer.audit.atoms.model import AtomKind

if TYPE_CHECKING:
    from explorer.audit.atoms.table import AtomTable

_RULES = frozenset({AtomKind.CONSTRAINT, AtomKind.DECISION})
_FIGURES = re.compile(
    r"(?<![\w.:])(?<!--\w\w\w )(?<!--\w\w\w\w )(?<!--\w\w\w\w\w )"
    r"[$€£]?\d(?!\d?:\d)[\d,_']*(?:\.\d+)?"
    r"\s*(?:%|°[CF]?|[A-Za-zµμ]+(?:/[A-Za-z]+)?)?"
    r"(?:\s+(?!and|or|per|to)[a-z]{3,}s\b)?"
)
_OFTEN = re.compile(r"\b(hour|dai|week|month)ly\b", re.IGNORECASE)
_EVERY = {"hour": "1 hour", "dai": "1 day", "week": "7 days", "month": "30 days"}
_DAY = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|\d{1,2}(?:st|nd|rd|th)|"
    r"end\s+of\s+(?:the\s+)?(?:week|month|year|quarter))\b",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"(?<![\w:])[\w.~-]*+(?:/[\w.~-]++)+|\b[\w-]++\.(?:md|txt|py|js|ts|json|ya?ml|toml)\b"
)
_MEASURED = ("time", "size", "%")
_UNITS = frozenset(
    map(stem, word_set("ms seconds second minutes minute hours hour kb mb gb percent per"))
)
_NEAR = 40
"""How many earlier statements are looked at."""
_FAR_APART = 50.0
"""Two times or sizes of which one is so many times the other are of two things."""
_ENOUGH = 1.0
_OWN = 2
"""Words of its own that a new value has at most which names nothing of the old."""
_OF_OWN = 3
"""The same of two short statements of one shape about two things."""
_FILLER = frozenset(
    map(
        stem,
        word_set(
            "make set use change raise let bump most least max min at is now enough time value "
            "number within long longer short shorter more less high higher low lower "
            "wait take keep need go goes get run have must no not only "
            "forget ignore scratch scrap requirement rule said thing instead actually fine okay "
            "after "
            "allowed permitted want please under over below above than exceed maximum minimum"
        ),
    )
)


_NO_UNITS = frozenset(
    map(
        stem,
        word_set(
            "is are was because and now on at the for to or in with instead max after before then "
            "as by "
            "until not will would should must can may it that this plus from of if when too again"
        ),
    )
)


@dataclass(slots=True)
class _Said:
    index: int
    items: list[Item]
    about: frozenset[str]
    figures: tuple[Figure, ...]
    stale: str = ""

    @property
    def text(self) -> str:
        return self.items[0].text

    @property
    def plain(self) -> frozenset[str]:
        """The telling words, figures and their units left out."""
        return frozenset(
            word for word in self.about if not word[0].isdigit() and word not in _UNITS
        )


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
                last = said[-1] if said else None
                if last and last.index == index and last.items[0].start == item.start:
                    last.items.append(item)
                else:
                    _take(_said(index, item), said)
    for one_said in said:
        if one_said.stale:
            for item in one_said.items:
                out[one_said.index, item.start, place_key(item)] = one_said.stale
            _figures_within(table, one_said, out)
    _echoes(table, indices, said, out)
    return out


def place_key(item: Item) -> str:
    """Which kind, block and argument a mention is of."""
    return f"{item.kind}{item.block}{item.argument}"


def _said(index: int, item: Item) -> _Said:
    text = item.text
    values = [value for part in _FIGURES.findall(text) if (value := _value(part))]
    for found in _OFTEN.finditer(text):
        often = figure(_EVERY[found[1].lower()])
        if often is not None:
            values.append(often)
    values += [Figure(_name(day), "day") for day in _DAY.findall(text)]
    values += [Figure(_name(place), "place") for place in _PLACE.findall(text)]
    return _Said(index, [item], terms(text) - _FILLER, tuple(values))


def _value(part: str) -> Figure | None:
    value = figure(part)
    if value is None or (value.family and value.family not in _NO_UNITS):
        return value
    return Figure(value.value, "version" if "." in part.strip(". ") else "")


def _name(text: str) -> float:
    """A day or a place as a value, which is the same for the same name alone."""
    return float(crc32(text.lower().encode()))


def _take(new: _Said, said: list[_Said]) -> None:
    """Marks what the new statement changes, and remembers it."""
    text = new.text
    change = _Change(
        new,
        lifts=LIFTS.search(text) is not None,
        permits=PERMITS.search(text) is not None,
        changes=CHANGE.search(text) is not None,
        sets=SETS.search(text) is not None,
        points=POINTS_BACK.search(text) is not None,
    )
    best, best_score = None, 0.0
    for old in reversed(said[-_NEAR:]):
        if old.stale or old.items[0].key == new.items[0].key:
            continue
        score = change.of(old)
        if score >= _ENOUGH and score > best_score:
            best, best_score = old, score
    if best is not None:
        best.stale = text
    said.append(new)


@dataclass(slots=True)
class _Change:
    """What a statement does to earlier ones, which are looked at from the last to the first."""

    new: _Said
    lifts: bool
    permits: bool
    changes: bool
    sets: bool
    points: bool
    _seen: bool = False
    """Whether a later statement than the one looked at has a figure of the same measure."""

    def of(self, old: _Said) -> float:
        """How surely the new statement puts the old one out of force: from 1 on it does."""
        if self.lifts and (score := self._lifted(old)) >= _ENOUGH:
            return score
        return max(self._replaced(old), self._permitted(old))

    def _lifted(self, old: _Said) -> float:
        shared = self.new.about & old.about
        own = len(self.new.about)
        if not own:
            # "scratch that", of what was said in the message before.
            return _ENOUGH if old.index != self.new.index and not self._seen_one() else 0.0
        part = len(shared) / (min(own, len(old.about)) or 1)
        return _ENOUGH + part if (len(shared) >= 2 or own <= _OWN) and part >= 0.5 else 0.0

    def _seen_one(self) -> bool:
        seen, self._seen = self._seen, True
        return seen

    def _permitted(self, old: _Said) -> float:
        if not self.permits or FORBIDS.search(old.text) is None:
            return 0.0
        score = 0.6 * min(2, len(self.new.plain & old.plain))
        score += 0.6 * (FOR_NOW.search(old.text) is not None)
        if FORBIDS.search(self.new.text) and not score > _ENOUGH:
            return 0.0
        return score + 0.5 * (ANEW.search(self.new.text) is not None) if score else 0.0

    def _replaced(self, old: _Said) -> float:
        """How surely it gives another value to what the old statement speaks of."""
        mine, theirs = self.new.figures, old.figures
        held = {value.key for value in mine}
        if not mine or any(value.key in held for value in theirs):
            return 0.0
        pairs = [(one, other) for one in mine for other in theirs if _same_measure(one, other)]
        words = self.new.plain & old.plain
        named = {value.value for value in mine} & {value.value for value in theirs}
        if named and (self.changes or self.sets) and len(mine) > 1 and (pairs or words):
            return 3.0 + len(words)
        if not pairs:
            return 0.0
        firm = any(one.family == other.family != "" for one, other in pairs)
        if not words and not firm and len(self.new.plain) > _OWN:
            return 0.0
        return self._of_one_measure(old, pairs, len(words), firm)

    def _of_one_measure(
        self, old: _Said, pairs: list[tuple[Figure, Figure]], words: int, firm: bool
    ) -> float:
        score = 0.6 * min(words, 2) + 0.5 * self.points
        score += 0.5 if self.changes else 0.3 * self.sets
        score += 0.4 * (not self._seen_one())
        family = pairs[0][0].family if firm else ""
        score += 0.3 * (firm and family not in ("time", "place", "day"))
        sized = family in _MEASURED or family == "version"
        if sized and not any(_of_one_size(one, other) for one, other in pairs):
            score -= 0.5
        own, others = self.new.plain - old.plain, old.plain - self.new.plain
        if own and others and not self.points:
            # "the upload timeout" and "the login timeout" are two things.
            parallel = max(len(own), len(others)) <= _OF_OWN and words
            score -= 2.0 if parallel else 0.3 * (not self.changes)
        if family == "place" and not self.changes:
            return 0.0
        return score - 0.3 * (old.index == self.new.index)


def _of_one_size(one: Figure, other: Figure) -> bool:
    if one.family == other.family == "version":
        return int(one.value) == int(other.value)
    small, large = sorted((abs(one.value), abs(other.value)))
    return large <= small * _FAR_APART


def _same_measure(one: Figure, other: Figure) -> bool:
    """Whether one figure can take the other's place: "8" that of "5 retries", not of "5 s"."""
    if one.value == other.value:
        return False
    if one.family == other.family:
        return True
    apart = (*_MEASURED, "day", "place", "version")
    if one.family in apart or other.family in apart:
        return False
    return not one.family or not other.family


def _figures_within(table: AtomTable, old: _Said, out: dict[tuple[int, int, str], str]) -> None:
    """A figure in a stale statement is stale with it."""
    said = old.items[0]
    for item in table.entry(old.index).items:
        inside = said.start <= item.start < said.end and item.block == said.block
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
