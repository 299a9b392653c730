"""What tools show of contents: the bytes of a file as a text of which a part can change and the
rest stays byte for byte, or as a picture; and output cut by lines and by bytes, from its head or
its tail, at the ends of lines.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from explorer.agent.tools.port import ToolContext, ToolError, ToolOutcome, ToolRun
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


MOST_LINES = 2_000
MOST_BYTES = 50 * 1024
"""Bytes of UTF-8 that a result holds at most."""


class Truncated(Struct, frozen=True):
    """What is shown of a text, and how much there was."""

    text: str
    lines: int
    total_lines: int
    size: int
    """Bytes that are shown."""
    total_size: int
    by: Literal["lines", "bytes"] | None
    """Which limit was met; None when all is shown."""
    partial: bool = False
    """One line alone was over the limit, and a part of it is shown."""

    def details(self) -> dict[str, Any]:
        """As pi stores it, without the text, which stands in the result."""
        return {
            "truncated": self.by is not None,
            "truncatedBy": self.by,
            "totalLines": self.total_lines,
            "totalBytes": self.total_size,
            "outputLines": self.lines,
            "outputBytes": self.size,
            "lastLinePartial": self.partial,
            "maxLines": MOST_LINES,
            "maxBytes": MOST_BYTES,
        }


def size_of(text: str) -> int:
    """Bytes of UTF-8; halves of characters count as one that stands for them."""
    return len(text.encode("utf-8", "replace"))


def split_lines(text: str) -> list[str]:
    """Lines as tools count them: ended by a line feed alone, the last one with or without."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return lines


def head(text: str, most_lines: int = MOST_LINES, most_bytes: int = MOST_BYTES) -> Truncated:
    """The first lines within the limits; of a first line that is too long, its beginning."""
    lines, total = split_lines(text), size_of(text)
    if len(lines) <= most_lines and total <= most_bytes:
        return Truncated(text, len(lines), len(lines), total, total, None)
    kept, size = _within(lines[:most_lines], most_bytes)
    by: Literal["lines", "bytes"] = "lines" if kept == most_lines else "bytes"
    if kept == 0:
        part = lines[0].encode("utf-8", "replace")[:most_bytes].decode("utf-8", "ignore")
        return Truncated(part, 1, len(lines), size_of(part), total, "bytes", partial=True)
    return Truncated("\n".join(lines[:kept]), kept, len(lines), size, total, by)


def tail(text: str, most_lines: int = MOST_LINES, most_bytes: int = MOST_BYTES) -> Truncated:
    """The last lines within the limits; of a last line that is too long, its end."""
    lines, total = split_lines(text), size_of(text)
    if len(lines) <= most_lines and total <= most_bytes:
        return Truncated(text, len(lines), len(lines), total, total, None)
    kept, size = _within(lines[::-1][:most_lines], most_bytes)
    by: Literal["lines", "bytes"] = "lines" if kept == most_lines else "bytes"
    if kept == 0:
        part = lines[-1].encode("utf-8", "replace")[-most_bytes:].decode("utf-8", "ignore")
        return Truncated(part, 1, len(lines), size_of(part), total, "bytes", partial=True)
    return Truncated("\n".join(lines[-kept:]), kept, len(lines), size, total, by)


def _within(lines: list[str], most_bytes: int) -> tuple[int, int]:
    """How many of the lines fit, and their size with the line ends between them."""
    size = 0
    for number, line in enumerate(lines):
        more = size_of(line) + (1 if number else 0)
        if size + more > most_bytes:
            return number, size
        size += more
    return len(lines), size


def list_outcome(
    context: ToolContext,
    job: ToolRun,
    lines: Sequence[str],
    notes: Sequence[str],
    details: Mapping[str, Any],
) -> ToolOutcome:
    """Lines up to the limits. What was cut is kept whole. Raises OSError when that fails."""
    whole = "\n".join(lines)
    cut = head(whole)
    if cut.by is None:
        return ToolOutcome(_with_notes(whole, notes), details=details)
    notes = [f"{cut.lines:,} of {len(lines):,} lines shown", *notes]
    kept = dict(details) | {"truncation": cut.details()}
    if context.outputs is not None:
        path = context.outputs.keep(job.tool, job.call_id, whole)
        kept["fullOutputPath"] = str(path)
        notes.append(f"all of them: read {path} with offset={cut.lines + 1}")
    return ToolOutcome(_with_notes(cut.text, notes), details=kept)


def _with_notes(text: str, notes: Sequence[str]) -> str:
    return f"{text}\n\n[{'; '.join(notes)}]" if notes else text
