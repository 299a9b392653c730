"""What the entries of one scan have in common, and is read once."""

from __future__ import annotations

from explorer.audit.atoms.errors import KnownLines
from explorer.audit.atoms.tokens import Words


class Known:
    """The words and the lines that were read; made for one scan, shared by all of its texts."""

    __slots__ = ("lines", "words")

    def __init__(self) -> None:
        self.words = Words()
        self.lines = KnownLines()
