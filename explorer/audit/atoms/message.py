"""A text that people or models wrote, with what several readers ask of it."""

from __future__ import annotations

import re
from functools import cached_property

from explorer.audit.atoms.letters import even_lower

_DIGITS = re.compile(r"\d+")


class Message:
    """One text and its words, looked up once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.low = even_lower(text)
        """In lower case, letter by letter."""
        self.words = frozenset(text.split())
        """Its different words, marks and all."""
        self.said = frozenset(map(str.lower, self.words))
        """The same in lower case."""

    @cached_property
    def digits(self) -> list[int]:
        """Where its runs of digits begin (characters)."""
        return [found.start() for found in _DIGITS.finditer(self.text)]
