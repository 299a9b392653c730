"""What tools wrap around their output, taken away: what is left is the file, or what a command
printed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import ge
from typing import NamedTuple

from explorer.session.shell_commands import FileLines

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
_ABSENT = re.compile(
    r"(?:\S+: )?(?:line \d+: )?(?:cat|sed|head|nl|bat)\b.*: No such file or directory"
)
_CODE = re.compile(r"Exit code:? \d+\n")
_HUNK = re.compile(r"^@@ -\d", re.MULTILINE)
_FOUND_LINE = re.compile(r"(?:\S*?[:-])?\d{1,9}[:-](.*)")
"""A line that a search found, or one beside it."""
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


class PrintedFile(NamedTuple):
    """What a command printed of a file."""

    asked: FileLines
    text: str | None
    """Whole lines; None: there is no such file."""


def printed_files(output: str, prints: Sequence[FileLines | str]) -> list[PrintedFile]:
    """What each of the reads of a command printed, in order; without those that cannot be told
    apart in the output."""
    lines = _CODE.sub("", output, count=1).split("\n")
    if not lines[-1]:
        lines.pop()
    absent = {
        at: one for at, line in enumerate(lines) if _ABSENT.match(line)
        for one in prints if isinstance(one, FileLines) and one.path.rpartition("/")[2] in line
    }  # fmt: skip
    lines = [line for at, line in enumerate(lines) if at not in absent]
    found: list[PrintedFile] = []
    reads: list[FileLines] = []
    for step, one in enumerate((*prints, None)):
        if isinstance(one, FileLines):
            if one not in absent.values():
                reads.append(one)
                continue
            found.append(PrintedFile(one, None))
            if not one.stops:
                continue
        words = one.strip("\n").split("\n") if isinstance(one, str) else []
        at = _place(lines, words, prints[step:].count(one or "")) if words else len(lines)
        if at < 0:
            break
        blank = len(one) - len(one.lstrip("\n")) if isinstance(one, str) else 0
        found += _apart(lines[: max(at - blank, 0)], reads)
        if not words:
            break
        lines, reads = lines[at + len(words) :], []
    return found


def _place(lines: Sequence[str], words: Sequence[str], number: int) -> int:
    """The first place of some lines that stand among others so many times; -1 where they stand
    there more often, or less."""
    places = [at for at in range(len(lines)) if lines[at : at + len(words)] == words]
    return places[0] if len(places) == number else -1


def _apart(lines: Sequence[str], reads: Sequence[FileLines]) -> Iterator[PrintedFile]:
    """Lines as those of several reads that follow each other, where their numbers tell them
    apart: all are there, or the end alone is missing of one file that is read on."""
    counts = [one.last - one.first + 1 if one.last else len(lines) for one in reads]
    is_one = len({one.path for one in reads}) == 1 and all(
        0 < one.last < then.first for one, then in pairwise(reads)
    )
    if len(reads) != 1 and sum(counts) != len(lines) and not is_one:
        return
    if reads and len(lines) > sum(counts):
        return
    at = 0
    for one, count in zip(reads, counts, strict=True):
        yield PrintedFile(one, "".join(f"{line}\n" for line in lines[at : at + count]))
        at += count


def is_diff(text: str) -> bool:
    """Whether a text holds a unified difference."""
    return _HUNK.search(text) is not None


def bare_lines(text: str) -> list[tuple[str, ...]]:
    """The lines of a text that may hold several files: each as it is, and without what stands
    before it, a number, what a search names, or the sign of a line of a diff."""
    found, has_signs = [], is_diff(text)
    for line in text.split("\n"):
        numbered, named = _NUMBERED.match(line), _FOUND_LINE.match(line)
        without = [match[at] for match, at in ((numbered, 2), (named, 1)) if match]
        if has_signs and line.startswith(("+", " ")):
            without.append(line[1:])
        found.append((line, *without))
    return found


def _is_numbered(lines: Sequence[str]) -> bool:
    """Whether one of the first lines has a number before it."""
    return any(_NUMBERED.match(line) for line in lines[:5])
