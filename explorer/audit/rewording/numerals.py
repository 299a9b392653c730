"""Numbers written as words."""

from __future__ import annotations

import re

_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    "twenty",
)  # fmt: skip
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_VALUES = {word: value for value, word in enumerate(_SMALL)} | {
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90, "hundred": 100,
    "twice": 2, "dozen": 12,
}  # fmt: skip
_UNIT = r"(?:seconds?|minutes?|hours?|days?|weeks?|months?)"
_KINDS = r"(?:option|choice|variant|step|phase)"
_PLAIN = "|".join(word for word in _VALUES if word not in ("zero", "one"))
_WRITTEN = re.compile(
    rf"\b(?:the\s+(?P<ordinal>{'|'.join(_ORDINALS)})\s+(?P<thing>{_KINDS})\b"
    rf"|(?P<one>one)(?=\s+{_UNIT})|(?P<word>{_PLAIN}))\b",
    re.IGNORECASE,
)


def in_figures(text: str) -> str:
    """A text with its numbers as figures: "three at most", "the second option"."""
    return _WRITTEN.sub(_figure, text)


def _figure(found: re.Match[str]) -> str:
    if found["ordinal"]:
        return f"{found['thing']} {_ORDINALS.index(found['ordinal'].lower()) + 1}"
    word = (found["one"] or found["word"]).lower()
    return f"{_VALUES[word]}{' times' if word == 'twice' else ''}"
