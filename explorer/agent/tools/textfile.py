"""A text file taken apart so that what is changed in it leaves the rest byte for byte."""

from __future__ import annotations

from dataclasses import dataclass

BOM = b"\xef\xbb\xbf"
SNIFFED = 8_192
"""Bytes at the beginning that tell a text from what is none."""


@dataclass(frozen=True, slots=True)
class TextFile:
    """The text of a file; bytes that are no UTF-8 are carried along unseen."""

    text: str
    bom: bool
    line_end: str
    """The one that most lines have; a line feed where there are no lines."""

    def encoded(self, text: str) -> bytes:
        """Another text as bytes of the same kind of file; its line ends are taken as they are."""
        data = text.encode("utf-8", "surrogateescape")
        return BOM + data if self.bom else data

    def with_line_ends(self, text: str) -> str:
        """A text with this file's line ends in place of its own."""
        plain = text.replace("\r\n", "\n")
        return plain.replace("\n", self.line_end) if self.line_end != "\n" else plain


NEW = TextFile("", False, "\n")
"""What is not there yet."""


def is_text(data: bytes) -> bool:
    """Whether bytes are taken for a text."""
    return b"\0" not in data[:SNIFFED]


def taken_apart(data: bytes) -> TextFile:
    """The text in the bytes of a file."""
    bom = data.startswith(BOM)
    text = data.removeprefix(BOM).decode("utf-8", "surrogateescape")
    both = text.count("\r\n")
    return TextFile(text, bom, "\r\n" if both * 2 > text.count("\n") else "\n")


def displayable(text: str) -> str:
    """A text that can be stored and sent: what is no UTF-8 is told by a sign."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
