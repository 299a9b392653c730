"""Lists of words and of patterns, written so that they stay readable."""

from __future__ import annotations

import re

from explorer.audit.atoms.letters import AnyCase


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def any_of(*patterns: str) -> AnyCase:
    """One pattern that matches where any of these does, whatever the case."""
    return AnyCase("|".join(patterns))


def any_of_cased(*patterns: str) -> re.Pattern[str]:
    """The same of patterns that mean their capitals."""
    return re.compile("|".join(patterns))


def whole_words(*patterns: str) -> AnyCase:
    """Any of these, bounded by the ends of words, whatever the case."""
    return any_of(rf"\b(?:{'|'.join(patterns)})\b")
