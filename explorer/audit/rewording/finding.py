"""Where a summary says a statement in other words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import NamedTuple

from explorer.audit.atoms.keys import terms
from explorer.audit.atoms.model import AtomKind
from explorer.audit.rewording.clauses import read
from explorer.audit.rewording.lexicon import LIGHT, of_stem
from explorer.audit.rewording.matching import Verdict, compare
from explorer.audit.rewording.objections import has
from explorer.audit.rewording.passage import Passage, Statement
from explorer.audit.told import Line, Told
from explorer.session.text import LINE_LIMIT

_CLOSEST = 6
"""Lines of a summary that are looked at for one statement."""
_FEW = 3
"""Telling words of a statement of which one is enough to look at a line."""
LONGEST = LINE_LIMIT // 2
"""Characters of what can say one thing. A statement or a line that is longer, as the pieces of a
line beyond the limit are, is said nowhere in other words, and lines that go on in one another are
no longer taken together."""
_TOUCHES = 0.25
"""The share of more telling words than these that a line must have, two of them at least."""
_GIVEN_UP = re.compile(
    r"\b(?:reject|abandon|supersed|obsolete|ruled\s+out|out\s+of\s+scope|no\s+longer|lifted|withdrawn|"
    r"not\s+done|alternatives)\w*\b",
    re.IGNORECASE,
)
_DONE = re.compile(r"\b(?:done|completed|finished|accomplished)\b", re.IGNORECASE)
_OPEN = re.compile(r"\bquestions?\b", re.IGNORECASE)
_TICKED = re.compile(r"\[[xX]\][ \t]*$")


@dataclass(frozen=True, slots=True)
class Reworded:
    """A place where a statement is said otherwise, or with another figure."""

    verdict: Verdict
    lines: tuple[Line, ...]
    words: tuple[str, ...]
    """The words of the statement that are there again."""


class _Stretch(NamedTuple):
    """Lines that may say one thing together."""

    first: int
    last: int
    words: frozenset[str]

    def names(self, things: frozenset[str]) -> bool:
        """Whether these lines have all of some words; a path may be told by its end."""
        return all("/" in key and has(key, self.words) for key in things - self.words)


class Rewordings:
    """Answers for one summary."""

    def __init__(self, told: Told) -> None:
        self._told = told
        self._lines = told.lines
        self._by_word: dict[str, list[int]] = defaultdict(list)
        self._words: list[frozenset[str] | None] = [None] * len(told.lines)
        self._around: dict[int, tuple[_Stretch, ...]] = {}
        self._all: set[str] = set()
        self._passages: dict[tuple[int, int], Passage] = {}
        self._asked: dict[tuple[str, AtomKind], Reworded | None] = {}

    def of(self, text: str, kind: AtomKind) -> Reworded | None:
        """The best place for a statement; None where it is not said."""
        if (text, kind) not in self._asked:
            self._asked[text, kind] = self._search(text, kind)
        return self._asked[text, kind]

    def _search(self, text: str, kind: AtomKind) -> Reworded | None:
        near = self._near(text) if len(text) <= LONGEST else []
        if not near:
            return None
        said = _statement(text, kind)
        if not self._mentions(said.things):
            return None
        other: Reworded | None = None
        for one in dict.fromkeys(each for at in near for each in self._stretches(at)):
            if not one.names(said.things) or not self._all_tell(said, one):
                continue
            found = compare(said, self._passage(one))
            if found.verdict is Verdict.OTHER:
                continue
            again = Reworded(found.verdict, tuple(self._lines[one.first : one.last]), found.words)
            if found.verdict is Verdict.SAME:
                return again
            other = other or again
        return other

    def _near(self, text: str) -> list[int]:
        """The lines that share most words with a statement, without taking either apart."""
        if not self._by_word:
            for at, line in enumerate(self._lines):
                if len(line.text) <= LONGEST and not _GIVEN_UP.search(line.under):
                    for word in _telling(line.terms):
                        self._by_word[word].append(at)
        wanted = _telling(terms(text))
        shared: Counter[int] = Counter()
        for word in wanted:
            shared.update(self._by_word.get(word, ()))
        least = 1 if len(wanted) <= _FEW else max(2, ceil(_TOUCHES * len(wanted)))
        close = [at for at, count in shared.items() if count >= least]
        return sorted(close, key=lambda at: (-shared[at], at))[:_CLOSEST]

    def _stretches(self, at: int) -> tuple[_Stretch, ...]:
        """The line, the item that it is of, and that item with the one before or after it."""
        found = self._around.get(at)
        if found is None:
            found = self._around[at] = tuple(self._made(at))
        return found

    def _made(self, at: int) -> Iterator[_Stretch]:
        yield self._stretch(at, at + 1)
        first, last = at, at + 1
        while self._is_short(first, last) and first > 0 and self._joined(first):
            first -= 1
        while self._is_short(first, last) and last < len(self._lines) and self._joined(last):
            last += 1
        apart = (first, last + 1), (first - 1, last)
        beside = last < len(self._lines) and self._beside(last), first > 0 and self._beside(first)
        if last - first > 1 and self._is_short(first, last):
            yield self._stretch(first, last)
        for (start, stop), is_beside in zip(apart, beside, strict=True):
            if is_beside and self._is_short(start, stop):
                yield self._stretch(start, stop)

    def _stretch(self, first: int, last: int) -> _Stretch:
        words = frozenset(key for at in range(first, last) for key in self._words_of(at))
        return _Stretch(first, last, words)

    def _is_short(self, first: int, last: int) -> bool:
        """Whether lines are short enough together to say one thing."""
        return self._lines[last - 1].end - self._lines[first].start <= LONGEST

    def _joined(self, at: int) -> bool:
        """Whether a line goes on where the one before it ends."""
        before, line = self._lines[at - 1], self._lines[at]
        if before.part != line.part:
            return False
        return "\n" not in self._told.parts[line.part][before.end : line.start]

    def _beside(self, at: int) -> bool:
        """Whether a line stands under the heading of the one before it."""
        before, line = self._lines[at - 1], self._lines[at]
        return before.part == line.part and before.under == line.under

    def _all_tell(self, said: Statement, of: _Stretch) -> bool:
        """Whether the first and the last of some lines each tell something of a statement."""
        if of.last - of.first == 1:
            return True
        ends = (self._words_of(of.first), self._words_of(of.last - 1))
        return not any(said.solid.isdisjoint(each) for each in ends)

    def _mentions(self, things: frozenset[str]) -> bool:
        """Whether the summary has all of these words anywhere: a quick no for most statements."""
        if not self._all:
            for at in range(len(self._lines)):
                self._all.update(self._words_of(at))
        return all("/" in key or key in self._all for key in things)

    def _words_of(self, at: int) -> frozenset[str]:
        found = self._words[at]
        if found is None:
            text = self._lines[at].text
            clauses = read(text).clauses if len(text) <= LONGEST else ()
            found = self._words[at] = frozenset(key for one in clauses for key in one.whole)
        return found

    def _passage(self, of: _Stretch) -> Passage:
        found = self._passages.get((of.first, of.last))
        if found is None:
            lines = self._lines[of.first : of.last]
            readings = [read(line.text) for line in lines]
            found = self._passages[of.first, of.last] = Passage(
                [clause for reading in readings for clause in reading.clauses],
                asks=any(reading.asks for reading in readings)
                or any(_OPEN.search(line.under) for line in lines),
                done=any(self._is_done(line) for line in lines),
            )
        return found

    def _is_done(self, line: Line) -> bool:
        above = self._told.parts[line.part][max(0, line.start - 8) : line.start]
        return _TICKED.search(above) is not None or _DONE.search(line.under) is not None


@lru_cache(maxsize=4096)
def _statement(text: str, kind: AtomKind) -> Statement:
    """A statement taken apart; the compactions of one session ask for the same ones again."""
    return Statement(read(text), kind)


@lru_cache(maxsize=8192)
def _telling(stems: frozenset[str]) -> frozenset[str]:
    return frozenset(of_stem(each) for each in stems if each not in LIGHT)
