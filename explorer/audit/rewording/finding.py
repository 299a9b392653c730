"""Where a summary says a statement in other words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from explorer.audit.atoms.keys import terms
from explorer.audit.atoms.model import AtomKind
from explorer.audit.rewording.clauses import Word, read
from explorer.audit.rewording.lexicon import LIGHT, of_stem
from explorer.audit.rewording.matching import Verdict, compare
from explorer.audit.rewording.objections import has
from explorer.audit.rewording.passage import Passage, Statement
from explorer.audit.told import Line, Told

_CLOSEST = 6
"""Lines of a summary that are looked at for one statement."""
_FEW = 3
"""Telling words of a statement of which one is enough to look at a line; else two."""
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


class Rewordings:
    """Answers for one summary."""

    def __init__(self, told: Told) -> None:
        self._told = told
        self._lines = told.lines
        self._by_word: dict[str, list[int]] = defaultdict(list)
        self._words: list[dict[str, Word] | None] = [None] * len(told.lines)
        self._passages: dict[tuple[int, int], Passage] = {}
        self._asked: dict[tuple[str, AtomKind], Reworded | None] = {}

    def of(self, text: str, kind: AtomKind) -> Reworded | None:
        """The best place for a statement; None where it is not said."""
        if (text, kind) not in self._asked:
            self._asked[text, kind] = self._search(text, kind)
        return self._asked[text, kind]

    def _search(self, text: str, kind: AtomKind) -> Reworded | None:
        near = self._near(text)
        if not near:
            return None
        said = Statement(read(text), kind)
        other: Reworded | None = None
        for first, last in dict.fromkeys(each for at in near for each in self._stretches(at)):
            if not self._names(said.things, first, last):
                continue
            found = compare(said, self._passage(first, last))
            if found.verdict is Verdict.SAME:
                return Reworded(found.verdict, tuple(self._lines[first:last]), found.words)
            if found.verdict is not Verdict.OTHER and other is None:
                other = Reworded(found.verdict, tuple(self._lines[first:last]), found.words)
        return other

    def _near(self, text: str) -> list[int]:
        """The lines that share most words with a statement, without taking either apart."""
        if not self._by_word:
            for at, line in enumerate(self._lines):
                if not _GIVEN_UP.search(line.under):
                    for word in _telling(line.terms):
                        self._by_word[word].append(at)
        wanted = _telling(terms(text))
        shared: Counter[int] = Counter()
        for word in wanted:
            shared.update(self._by_word.get(word, ()))
        least = 1 if len(wanted) <= _FEW else 2
        close = [at for at, count in shared.items() if count >= least]
        return sorted(close, key=lambda at: (-shared[at], at))[:_CLOSEST]

    def _stretches(self, at: int) -> Iterator[tuple[int, int]]:
        """The line, the item that it is of, and that item with the one before or after it."""
        yield at, at + 1
        first, last = at, at + 1
        while first > 0 and self._joined(first):
            first -= 1
        while last < len(self._lines) and self._joined(last):
            last += 1
        if last - first > 1:
            yield first, last
        if last < len(self._lines) and self._beside(last):
            yield first, last + 1
        if first > 0 and self._beside(first):
            yield first - 1, last

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

    def _names(self, things: frozenset[str], first: int, last: int) -> bool:
        """Whether these lines have all of these words; a path may be told by its end."""
        words = [self._words_of(at) for at in range(first, last)]
        missing = things.difference(*words)
        return all("/" in key and any(has(key, each) for each in words) for key in missing)

    def _words_of(self, at: int) -> dict[str, Word]:
        found = self._words[at]
        if found is None:
            found = {}
            for one in read(self._lines[at].text).clauses:
                found.update(one.whole)
            self._words[at] = found
        return found

    def _passage(self, first: int, last: int) -> Passage:
        if (first, last) not in self._passages:
            lines = self._lines[first:last]
            self._passages[first, last] = Passage(
                [one for line in lines for one in read(line.text).clauses],
                asks=self._asks(first, last),
                done=any(self._is_done(line) for line in lines),
            )
        return self._passages[first, last]

    def _is_done(self, line: Line) -> bool:
        above = self._told.parts[line.part][max(0, line.start - 8) : line.start]
        return _TICKED.search(above) is not None or _DONE.search(line.under) is not None

    def _asks(self, first: int, last: int) -> bool:
        return any(
            read(self._lines[at].text).asks or _OPEN.search(self._lines[at].under)
            for at in range(first, last)
        )


def _telling(stems: frozenset[str]) -> frozenset[str]:
    return frozenset(of_stem(each) for each in stems if each not in LIGHT)
