"""Letters: lower case that stays where it is, patterns that ask for no case, UTF-16 units."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence

_WIDE = re.compile(r"[\U00010000-\U0010ffff]")


def even_lower(text: str) -> str:
    """The text in lower case with as many characters as before, so that what stands at a place
    in the one stands there in the other; the rare letter that would become two is left alone."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(one if len(one.lower()) != 1 else one.lower() for one in text)


class Replaced:
    """Letters that others, or none, take the place of; as ``str.translate``, which is slow for a
    text that is not ASCII."""

    __slots__ = ("_pairs", "_table")

    def __init__(self, pairs: Mapping[str, str]) -> None:
        self._pairs = tuple(pairs.items())
        self._table = str.maketrans(dict(pairs))

    def within(self, text: str) -> str:
        """The text with its letters replaced."""
        if text.isascii():
            return text.translate(self._table)
        for old, new in self._pairs:
            text = text.replace(old, new)
        return text


def wide_places(text: str) -> list[int]:
    """Where the characters of a text stand that take two UTF-16 units each, in order."""
    return [] if text.isascii() else [found.start() for found in _WIDE.finditer(text)]


def units(at: int, wide: Sequence[int]) -> int:
    """A place in a text, in characters, as UTF-16 units; ``wide``: see ``wide_places``."""
    return at + bisect_left(wide, at)


class AnyCase:
    """A pattern, written in lower case, that is looked for whatever the case of a text is.

    To look through the text in lower case is twice as fast as to compare letter by letter.
    Raises ValueError for a pattern that has capital letters.
    """

    __slots__ = ("_any", "_low")

    def __init__(self, pattern: str) -> None:
        if re.search(r"(?<!\\)(?:\\\\)*[A-Z]", pattern):
            raise ValueError(f"not in lower case: {pattern}")
        self._any = re.compile(pattern, re.IGNORECASE)
        self._low = re.compile(pattern)

    def search(self, text: str) -> re.Match[str] | None:
        """Where it stands first; the match may be of the text in lower case."""
        if text.isascii():
            return self._low.search(text.lower())
        return self._any.search(text) if is_odd(text) else self._low.search(text.lower())

    def match(self, text: str) -> re.Match[str] | None:
        """The same at the beginning of the text."""
        if text.isascii():
            return self._low.match(text.lower())
        return self._any.match(text) if is_odd(text) else self._low.match(text.lower())


def is_odd(text: str) -> bool:
    """Whether it has letters that a pattern takes for an i or an s, and that stay what they are
    in lower case."""
    return "\u0130" in text or "\u0131" in text or "\u017f" in text
