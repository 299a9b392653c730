"""What a person said a second time: the same sentence in the same or nearly the same words, or
one that says of itself that it was said before.

Rules of thumb, and strict ones: short everyday orders ("run the tests", "commit this") are said
again by habit and are none, nor is what was pasted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from explorer.audit.repeats import NeedKind, Repeat
from explorer.facts.commands import fences
from explorer.facts.fact import FactKind
from explorer.facts.statements import kinds_of
from explorer.facts.text import sentences, terms_of_message

_LEAST_TERMS = 4
"""Telling words of a sentence that is compared."""
_LEAST_OF_RULE = 3
"""The same of a rule, which nobody says by habit."""
_LOOK_BACK = 60
"""Earlier sentences with a word that are looked at."""
_ALIKE = 0.8
"""The share of their telling words that two sentences have in common to be nearly the same."""
_REMINDED = 0.5
"""The same share where the later one says that it was said before; two words at least."""
_LONGEST = 400
"""Characters of a sentence; longer ones were pasted."""
_MOST_SENTENCES = 12
"""Sentences of a message that somebody types; of more it is a document."""
_PASTED = re.compile(
    r"^(?:\s*[>$|#{}\[\]<+]|\s{2,}\S|\t|\s*(?:at |File \"|Traceback|\w+Error\b)).*|"
    r"^.*[{};=]\s*$|[❯│╭╰⎿●✓✗✘].*",
    re.MULTILINE,
)
"""Where what was pasted begins: output, code, a quote. Nothing below it is taken for typed."""
_REMINDS = re.compile(
    r"\b(?:as i (?:already )?(?:said|typed you|mentioned|wrote|asked)|like i said|"
    r"i (?:have |'ve )?(?:already )?(?:typed|asked) you|i (?:have |'ve )?already "
    r"(?:said|mentioned|explained|wrote|asked|answered)|i said(?! (?:that )?i\b)|"
    r"(?:that(?:'s| is|s)? )?not what i (?:asked|said|wanted|meant)|"
    r"(?:did(?:n't| not) )i (?:say|tell|ask|mention)|how (?:many|often) times|"
    r"(?:you|did you) (?:forgot|forget)\b|(?:we|we've|we have) (?:already )?"
    r"(?:agreed|discussed|decided|talked about|settled)|i (?:just )?repeat)\b",
    re.IGNORECASE,
)
_ASKS = frozenset({FactKind.CONSTRAINT, FactKind.DECISION, FactKind.REQUEST, FactKind.QUESTION})


class _Sentence(NamedTuple):
    entry: int
    words: frozenset[str]
    text: str


@dataclass
class RepeatedRequests:
    """Finds what was said again on one path. ``extend`` takes what a person typed, in its order;
    what was found is in ``found``."""

    found: list[Repeat] = field(default_factory=list)
    _sentences: list[_Sentence] = field(default_factory=list)
    _by_word: dict[str, list[int]] = field(default_factory=dict)
    """By telling word: indices into ``_sentences``."""

    def extend(self, messages: Iterable[tuple[int, str]]) -> None:
        """Go on with further messages, each with its entry."""
        for entry, text in messages:
            typed = list(_typed_sentences(text))
            best = max(
                (repeat for one in typed if (repeat := self._compared(entry, one)) is not None),
                key=lambda repeat: len(repeat.text), default=None,
            )  # fmt: skip
            if best is not None:
                self.found.append(best)
            for one in typed:
                self._remember(_Sentence(entry, _telling(one), one))

    def _compared(self, entry: int, text: str) -> Repeat | None:
        words = _telling(text)
        reminds = _REMINDS.search(text) is not None
        kinds = kinds_of(text, by_user=True)
        fewest = _LEAST_OF_RULE if FactKind.CONSTRAINT in kinds else _LEAST_TERMS
        if not reminds and (len(words) < fewest or _ASKS.isdisjoint(kinds)):
            return None
        shared: dict[int, int] = {}
        for word in words:
            for at in self._by_word.get(word, ())[-_LOOK_BACK:]:
                shared[at] = shared.get(at, 0) + 1
        least = _REMINDED if reminds else _ALIKE
        for at in sorted(shared, reverse=True):
            earlier, number = self._sentences[at], shared[at]
            sizes = len(words), len(earlier.words)
            most = min(sizes) if reminds else max(sizes)
            # "the light theme" and "the dark theme" are two things.
            is_other = not reminds and number < min(sizes)
            if not is_other and number >= max(2 if reminds else fewest, least * most):
                return Repeat(NeedKind.REQUEST, earlier.entry, entry, 0, text)
        return None

    def _remember(self, one: _Sentence) -> None:
        at = len(self._sentences)
        self._sentences.append(one)
        for word in one.words:
            self._by_word.setdefault(word, []).append(at)


def _telling(text: str) -> frozenset[str]:
    """The stems of its telling words; no names, numbers and ids, of which lists are made."""
    return frozenset(word for word in terms_of_message(text) if word.isalpha() and len(word) > 2)


def _typed_sentences(text: str) -> Iterable[str]:
    """The sentences of a message that look as if they were typed."""
    pasted = _PASTED.search(text[: _LONGEST * _MOST_SENTENCES])
    typed = text[: pasted.start()] if pasted is not None else text
    if len(typed) > _LONGEST * _MOST_SENTENCES:
        return
    skip = [(start, end) for start, end, _ in fences(typed)]
    found = [one.text.strip() for one in sentences(typed, skip)]
    if len(found) <= _MOST_SENTENCES:
        yield from (one for one in found if one and len(one) <= _LONGEST)
