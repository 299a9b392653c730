"""The words of statements, as ``explorer.facts`` stems and compares them."""

from __future__ import annotations

import re
from functools import lru_cache

from explorer.facts.words import STOP as COMMON
from explorer.facts.words import stem, terms, word_set

__all__ = ["STOP", "WORD", "lower_words", "stem", "terms_of", "word_set"]

WORD = re.compile(r"[A-Za-z][A-Za-z0-9_'’-]*|\d+(?:\.\d+)*")
STOP = COMMON | word_set("most least more less much many instead actually still got get back")
"""Words that are no subject of what is said."""


def terms_of(text: str) -> frozenset[str]:
    """The stems of the words of a text that carry meaning."""
    return terms(text) - STOP


@lru_cache(maxsize=32768)
def lower_words(text: str) -> frozenset[str]:
    """The plain words of a text in lower case, for a quick look before a slow pattern."""
    return frozenset(re.findall(r"[a-z]+(?:'[a-z]+)?", text.lower().replace("’", "'")))
