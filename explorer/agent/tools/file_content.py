"""The bytes of a file: as a text of which a part can change and the rest stays byte for byte, or as
a picture."""

from __future__ import annotations

import base64

from msgspec import Struct

from explorer.agent.tools.port import ToolError
from explorer.models.request import ImagePart

BOM = b"\xef\xbb\xbf"
SNIFFED = 8_192
"""Bytes at the beginning that tell a text from what is none."""


class TextFile(Struct, frozen=True):
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
        """A text with its line ends replaced by those of this file."""
        plain = text.replace("\r\n", "\n")
        return plain.replace("\n", self.line_end) if self.line_end != "\n" else plain


NEW_FILE = TextFile("", False, "\n")
"""What is not there yet."""


def is_text(data: bytes) -> bool:
    """Whether bytes are taken for a text."""
    return b"\0" not in data[:SNIFFED]


def decode(data: bytes) -> TextFile:
    """The text in the bytes of a file."""
    bom = data.startswith(BOM)
    text = data.removeprefix(BOM).decode("utf-8", "surrogateescape")
    both = text.count("\r\n")
    return TextFile(text, bom, "\r\n" if both * 2 > text.count("\n") else "\n")


def displayable(text: str) -> str:
    """A text that can be stored and sent: invalid UTF-8 is replaced by a sign."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


LARGEST_IMAGE = 3_750_000
"""Bytes; in base64 just under the 5 MB that providers take of one picture."""
PICTURE_HEAD = 16
"""Bytes that tell a picture."""


def picture_type(head: bytes) -> str | None:
    """The media type of a picture that begins so; None for all else."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return None


def picture(name: str, kind: str, data: bytes) -> ImagePart:
    """The picture as it is sent. Raises ToolError for one that is too large."""
    if len(data) > LARGEST_IMAGE:
        raise ToolError(
            f"{name} is a picture of {len(data):,} bytes, and a model takes at most"
            f" {LARGEST_IMAGE:,}; make a smaller copy of it and read that"
        )
    return ImagePart(kind, base64.b64encode(data).decode("ascii"))
