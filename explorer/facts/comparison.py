"""Whether a line says what a statement says: by shared telling words, figures and negation.

No synonyms and no grammar: a rewording is recognised when it keeps the words. What it calls the
same nearly always is; most rewordings in other words are missed.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from explorer.facts.figures import Figure, figures_in
from explorer.facts.statements import denies_or_forbids
from explorer.facts.words import stem, terms, word_set

ABOUT = 0.6
"""The share of a statement's telling words that a line about the same has."""
_LEAST_SHARED = 2
"""Telling words that must be shared, or one and a figure."""
_MOST_OTHER = 0.5
"""A line has fewer telling words of its own than this multiple of the shared ones."""
_LONGEST = 1000
"""Characters of a text that can be one statement."""
_WORD = re.compile(r"[^\W\d_][\w'’]*")
_FILLER = frozenset(
    map(stem, word_set("actually also really still now sure make rule important officially lets"))
)


class Agreement(Enum):
    """What a line is to a statement."""

    SAME = "same"
    OTHER_VALUE = "other value"
    """About the same, with another figure of the same measure."""
    OPPOSITE = "opposite"
    """The same words with a negation more or less."""
    DIFFERENT = "different"


class Wording(NamedTuple):
    """What the comparison sees of a text."""

    words: tuple[str, ...]
    """Stems of its telling words in order, each once, without figures."""
    figures: tuple[Figure, ...]
    denies: bool


@lru_cache(maxsize=8192)
def wording(text: str) -> Wording:
    """The telling words, figures and negation of a text; nothing of one that is too long."""
    if len(text) > _LONGEST:
        return Wording((), (), False)
    telling = terms(text) - _FILLER
    stems = (stem(word) for word in _WORD.findall(text))
    words = tuple(dict.fromkeys(word for word in stems if word in telling))
    return Wording(words, figures_in(text), denies_or_forbids(text))


def compare(statement: str, line: str) -> Agreement:
    """What a line of a summary is to a statement."""
    said, told = wording(statement), wording(line)
    shared = [word for word in told.words if word in said.words]
    enough = len(shared) >= _LEAST_SHARED or (shared and said.figures)
    if not enough or len(shared) < ABOUT * len(said.words):
        return Agreement.DIFFERENT
    is_one_thing = len(shared) == len(said.words) or len(shared) == len(told.words)
    if _differ(said.figures, told.figures):
        # "the read timeout" and "the write timeout" are two things.
        return Agreement.OTHER_VALUE if is_one_thing else Agreement.DIFFERENT
    if {one.key for one in said.figures} != {one.key for one in told.figures}:
        return Agreement.DIFFERENT
    # Words in another order may say the reverse: "replace A with B".
    has_all = tuple(shared) == said.words
    if not has_all or len(told.words) - len(shared) >= _MOST_OTHER * len(shared):
        return Agreement.DIFFERENT
    return Agreement.SAME if said.denies == told.denies else Agreement.OPPOSITE


def shared_words(statement: str, line: str) -> tuple[str, ...]:
    """The stems of the telling words that both have, in the order of the line."""
    wanted = wording(statement).words
    return tuple(word for word in wording(line).words if word in wanted)


def _differ(wanted: tuple[Figure, ...], given: tuple[Figure, ...]) -> bool:
    """Whether a figure has another value of the same measure, and none of them agrees."""
    if {one.key for one in wanted} & {one.key for one in given}:
        return False
    return any(one.family == other.family for one in wanted for other in given)
