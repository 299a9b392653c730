"""Marks of a kind of sentence, each with its weight; what they sum up to decides.

The vocabulary is the audit's own and not the offline summarizer's: an audit that shares the rules
of what it measures cannot see what those rules miss.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from explorer.audit.atoms.lists import any_of, word_set
from explorer.audit.atoms.phrasing import Phrase

ENOUGH = 1.0
"""The sum of weights from which a sentence is of a kind."""


class Cue:
    """Patterns with their weight, and the words of which a sentence has at least one where any
    of them matches; of ``also``, where it is given, at least one as well."""

    __slots__ = ("_pattern", "also", "weight", "words")

    def __init__(self, weight: float, words: str, *patterns: str, also: str = "") -> None:
        self.weight = weight
        self.words = word_set(words)
        self.also = word_set(also)
        self._pattern = re.compile("|".join(patterns)) if patterns else None

    def may_stand(self, words: frozenset[str]) -> bool:
        """Whether a sentence with these words can carry the mark."""
        return not self.words.isdisjoint(words) and (
            not self.also or not self.also.isdisjoint(words)
        )

    def stands_in(self, low: str) -> bool:
        """Whether a sentence that can carry the mark does."""
        return self._pattern is None or self._pattern.search(low) is not None

    def found(self, said: Phrase) -> bool:
        """Whether the sentence carries the mark."""
        return self.may_stand(said.words) and self.stands_in(said.low)


class Candidates(NamedTuple):
    """Cues that some words allow, the heaviest first; none where they are not enough together."""

    cues: tuple[Cue, ...] = ()
    total: float = 0.0
    """Of their weights."""
    ask_more: bool = False
    """Some of them ask for other words as well."""


_NONE = Candidates()
_MOST = 4096
"""Combinations of words that are remembered."""


class Scale:
    """The cues for a kind and those against it."""

    __slots__ = ("_against", "_for", "_known", "_of_word", "words")

    def __init__(self, *cues: Cue) -> None:
        self._for = sorted((cue for cue in cues if cue.weight > 0), key=lambda cue: -cue.weight)
        self._against = [cue for cue in cues if cue.weight < 0]
        self._of_word: dict[str, int] = {}
        for number, cue in enumerate(self._for):
            for word in cue.words:
                self._of_word[word] = self._of_word.get(word, 0) | 1 << number
        self._known: dict[int, Candidates] = {}
        self.words = frozenset(self._of_word)
        """A sentence with none of these is not of the kind."""

    def possible(self, words: frozenset[str]) -> Candidates:
        """The cues for the kind that a sentence with these words can carry."""
        mask = 0
        for word in self.words & words:
            mask |= self._of_word[word]
        if not mask:
            return _NONE
        found = self._known.get(mask)
        if found is None:
            found = self._read(mask)
        if not found.ask_more:
            return found
        return _enough(cue for cue in found.cues if not cue.also or not cue.also.isdisjoint(words))

    def _read(self, mask: int) -> Candidates:
        """The cues of the bits; the same words come together again and again."""
        cues = tuple(cue for number, cue in enumerate(self._for) if mask >> number & 1)
        found = _enough(cues)
        found = found._replace(ask_more=any(cue.also for cue in found.cues))
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[mask] = found
        return found

    def weigh(self, said: Phrase) -> float:
        """The sum of the weights of the cues found; 0 where those for the kind are not enough."""
        cues, left, _ = self.possible(said.words)
        total = 0.0
        for cue in cues:
            left -= cue.weight
            if cue.stands_in(said.low):
                total += cue.weight
            if total + left < ENOUGH:
                break
        if total < ENOUGH:
            return 0.0
        return total + sum(cue.weight for cue in self._against if cue.found(said))


def _enough(cues: Iterable[Cue]) -> Candidates:
    found = tuple(cues)
    total = sum(cue.weight for cue in found)
    return Candidates(found, total) if total >= ENOUGH else _NONE


TODO_HEAD = re.compile(
    r"\b(?:next(?:\s+steps?)?|to[- ]?dos?|remaining|remains|left|open\s+(?:tasks|points|items|"
    r"ends)|"
    r"outstanding|pending|backlog|not\s+(?:yet\s+)?done(?:\s+yet)?|what['’]s\s+missing|"
    r"still\s+(?:to\s+do|open|missing)|follow-?ups?|in\s+progress|blocked)\b[^.]*:?\s*$|"
    r"^\W*(?:for\s+)?later\b\W*$",
    re.IGNORECASE,
)
RULE_HEAD = any_of(
    r"\b(?:rules?|constraints?|requirements?|limits|limitations|restrictions|conditions|"
    r"preferences|conventions?|guidelines|ground\s+rules|boundaries|don['’]?ts|must-haves?|"
    r"musts|policy|non-goals|out\s+of\s+scope|off[- ]limits)\b[^.]*:?\s*$",
    r"^\W*(?:please\s+)?(?:(?:keep|bear)\s+in\s+mind|note|remember)\b\W*$",
)
DECISION_HEAD = any_of(
    r"\b(?:decisions?|decided|design\s+choices?|choices(?:\s+made)?|settled|agreed|"
    r"what\s+(?:i|we)\s+(?:chose|decided|settled))\b[^.]*:?\s*$"
)
GREETING = re.compile(
    r"^\W*(?:hi|hey|hello|thanks?|thx|ok(?:ay)?|yes|no|great|good|nice|cool|merci|excellent)\W*$",
    re.IGNORECASE,
)
