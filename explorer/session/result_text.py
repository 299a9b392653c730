"""What tools wrap around their output, taken away: what is left is the file, or what a command
printed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import ge

_CODEX = re.compile(
    r"(?:Command: [^\n]*\n)?(?:Chunk ID|Exit code|Wall time)\b[^\n]*\n(?:[^\n]*\n){0,6}?Output:\n?"
)
_CODEX_FAILED = re.compile(
    r"(?:(?:Process|Command) exited with code|Exit code:?|\"exit_code\":|Exit Code:) ?(-?\d{1,9})"
)
_GEMINI = re.compile(r"Command: [^\n]*\nDirectory: [^\n]*\nOutput: ?", re.DOTALL)
_GEMINI_END = re.compile(r"\nError: [^\n]*\nExit Code: ")
_CONTENT = ("<content>", "</content>")
_REMINDER = ("<system-reminder>", "</system-reminder>")
_NUMBERED = re.compile(r"\s{0,12}(\d{1,9})(?:→|\t| \| |: ?|\|)(.*)")
_HEAD = 400


def output_of(text: str) -> str:
    """The output that a result holds."""
    text = _without(text, *_REMINDER)
    if found := _CODEX.match(text):
        return text[found.end() :]
    if found := _GEMINI.match(text):
        end = _GEMINI_END.search(text, found.end())
        return text[found.end() : end.start()] if end else text[found.end() :]
    first, last = text.find(_CONTENT[0]), text.rfind(_CONTENT[1])
    if text.startswith("<path>") and 0 <= first < last:
        return text[first + len(_CONTENT[0]) : last].strip("\n")
    return text


def _without(text: str, opening: str, closing: str) -> str:
    """A text without what lies between two marks, and without them."""
    parts, at = [], 0
    while (start := text.find(opening, at)) >= 0 and (end := text.find(closing, start)) >= 0:
        parts.append(text[at:start].rstrip("\n"))
        at = end + len(closing)
    return "\n".join([*parts, text[at:].lstrip("\n")]) if parts else text


def exit_code(text: str) -> int | None:
    """How a result says that its command ended; None where it says nothing."""
    found = _CODEX_FAILED.search(text[:_HEAD]) or _CODEX_FAILED.search(text[-_HEAD:])
    return int(found.group(1)) if found is not None else None


def failed(text: str) -> bool:
    """Whether a result says of itself that its command failed."""
    starts = text.startswith(("Chunk ID", "Exit code", "Command: ", "{"))
    return starts and bool(exit_code(text))


def numbered_lines(text: str, first: int) -> tuple[Sequence[int], list[str]]:
    """The lines of a file, and their numbers: those that the tool printed before them, else counted
    from ``first``."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    found = list(map(_NUMBERED.match, lines)) if _is_numbered(lines) else []
    numbered = [one for one in found if one is not None]
    # All but what a tool may say above and below.
    if not numbered or len(lines) - len(numbered) > max(4, len(lines) // 50):
        return range(first, first + len(lines)), lines
    numbers = [int(one[1]) for one in numbered]
    if any(map(ge, numbers, numbers[1:])):
        return range(first, first + len(lines)), lines
    return numbers, [one[2] for one in numbered]


def bare_lines(text: str) -> set[str]:
    """The lines of a text that may hold several files, with and without a number before them."""
    lines = text.split("\n")
    return {*lines, *(found[2] for found in map(_NUMBERED.match, lines) if found is not None)}


def _is_numbered(lines: Sequence[str]) -> bool:
    """Whether one of the first lines has a number before it."""
    return any(_NUMBERED.match(line) for line in lines[:5])
