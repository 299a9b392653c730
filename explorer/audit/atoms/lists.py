"""Lists of words and of patterns, written so that they stay readable."""

from __future__ import annotations

import re


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def any_of(*patterns: str, ignore_case: bool = True) -> re.Pattern[str]:
    """One pattern that matches where any of these does."""
    return re.compile("|".join(patterns), re.IGNORECASE if ignore_case else 0)


def whole_words(*patterns: str, ignore_case: bool = True) -> re.Pattern[str]:
    """The same, each of them bounded by the ends of words."""
    return any_of(rf"\b(?:{'|'.join(patterns)})\b", ignore_case=ignore_case)
