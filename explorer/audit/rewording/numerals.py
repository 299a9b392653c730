"""Numbers written as words."""

from __future__ import annotations

import re

_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_FACTORS = {"dozen": 12, "hundred": 100, "thousand": 1000}
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_VALUES = (
    {word: value for value, word in enumerate(_SMALL)}
    | {word: 10 * value for value, word in enumerate(_TENS, start=2)}
    | _FACTORS
    | {"twice": 2}
)
_UNIT = r"(?:seconds?|minutes?|hours?|days?|weeks?|months?)"
_KINDS = r"(?:option|choice|variant|step|phase)"
_PLAIN = "|".join(word for word in _VALUES if word not in ("zero", "one"))
_FACTOR = "|".join(_FACTORS)
_WRITTEN = re.compile(
    rf"\b(?:the\s+(?P<ordinal>{'|'.join(_ORDINALS)})\s+(?P<thing>{_KINDS})\b"
    rf"|(?P<tens>{'|'.join(_TENS)})[-\s](?P<unit>{'|'.join(_SMALL[1:10])})(?!-)"
    rf"|(?P<times>{'|'.join(_SMALL[1:])}|{'|'.join(_TENS)})\s+(?P<factor>{_FACTOR})"
    rf"|(?P<one>one)(?=\s+{_UNIT})|(?P<word>{_PLAIN}))\b",
    re.IGNORECASE,
)


def in_figures(text: str) -> str:
    """A text with its numbers as figures: "three at most", "two hundred", "the second option"."""
    return _WRITTEN.sub(_figure, text)


def _figure(found: re.Match[str]) -> str:
    if found["ordinal"]:
        return f"{found['thing']} {_ORDINALS.index(found['ordinal'].lower()) + 1}"
    if found["tens"]:
        return str(_VALUES[found["tens"].lower()] + _VALUES[found["unit"].lower()])
    if found["times"]:
        return str(_VALUES[found["times"].lower()] * _VALUES[found["factor"].lower()])
    word = (found["one"] or found["word"]).lower()
    return f"{_VALUES[word]}{' times' if word == 'twice' else ''}"
