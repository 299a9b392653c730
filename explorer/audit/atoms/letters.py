"""Letters in lower case that stay where they are."""

from __future__ import annotations


def even_lower(text: str) -> str:
    """The text in lower case with as many characters as before, so that what stands at a place
    in the one stands there in the other; the rare letter that would become two is left alone."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(one if len(one.lower()) != 1 else one.lower() for one in text)
