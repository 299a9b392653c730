"""Lists of words written as running text."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a text, which is how a long list of them stays readable."""
    return frozenset(text.split())
