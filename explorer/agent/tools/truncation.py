"""Output cut by lines and by bytes, from its head or its tail, at the ends of lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from explorer.agent.tools.port import ToolContext, ToolOutcome, ToolRun

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
