"""What tools wrap around their output, taken away: what is left is the file, or what a command
printed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from explorer.session.shell_commands import FileLines

_CODEX = re.compile(
    r"(?:Command: [^\n]*\n)?(?:Chunk ID|Exit code|Wall time)\b[^\n]*\n(?:[^\n]*\n){0,6}?Output:\n?"
    r"(?:Warning: truncated output[^\n]*\n)?(?:Total output lines: \d+\n\n)?"
)
_CODEX_FAILED = re.compile(
    r"(?:(?:Process|Command) exited with code|Exit code:?|\"exit_code\":|Exit Code:) ?(-?\d{1,9})"
)
_GEMINI = re.compile(r"Command: [^\n]*\nDirectory: [^\n]*\nOutput: ?", re.DOTALL)
_GEMINI_END = re.compile(r"\nError: [^\n]*\nExit Code: ")
_GEMINI_PART = re.compile(
    r"\s*IMPORTANT: The file content has been truncated\.\n"
    r"Status: Showing lines (\d{1,9})-(\d{1,9}) of \d+ total lines\."
)
_GEMINI_CONTENT = "--- FILE CONTENT (truncated) ---\n"
"""Above the lines themselves."""
_CONTENT = ("<content>", "</content>")
_REMINDER = ("<system-reminder>", "</system-reminder>")
_ENDED = re.compile(r"(?:^|\n)<(?:shellId: \S+ completed|exited) with exit code (-?\d{1,9})>\s*\Z")
_RESET = re.compile(r"(?:^|\n)Shell cwd was reset to [^\n]*\n?\Z")
_RUNNING = "Process running with session ID"
_PADDED = re.compile(r" {0,5}(\d{1,9})\t")
"""How nl and cat number a line."""
_NUMBERED = re.compile(r"\s{0,12}(\d{1,9})(?:→|\t| \| |: ?|\|)(.*)")
_ABSENT = re.compile(
    r"(?:\S+: )?(?:line \d+: )?(?:cat|sed|head|tail|nl|bat)\b.*: No such file or directory"
)
_COMPLAINT = re.compile(r"(?:/\S*/)?(?:cat|sed|head|tail|nl|bat|(?:ba|z)?sh(?::\w+){0,2}): \S")
"""What a program says that could not read a file, or a shell."""
_CUT = re.compile(
    r"…\d+ (?:token|char|line)\w* truncated…|^\W*(?:\w+ )?\d+ (?:\w+ ){0,3}(?:truncated|omitted)\b|"
    r"^\[\.\.\. ?omitted \d|^\[(?:Showing lines|\d+ more lines) |^<persisted-output>|"
    r"^IMPORTANT: The file content has been truncated"
)
"""Where a tool left out the rest of an output, or what comes after it cannot be counted."""
_CUT_WORDS = ("truncated", "omitted", "[Showing lines", "more lines", "<persisted-output>")
"""One of them stands there."""
_CODE = re.compile(r"Exit code:? \d+\n")
_HUNK = re.compile(r"^@@ -\d", re.MULTILINE)
_FOUND_LINE = re.compile(r"(?:\S*?[:-])?\d{1,9}[:-](.*)")
"""A line that a search found, or one beside it."""
_HEAD = 400


def output_of(text: str) -> str:
    """The output that a result holds."""
    text = _without(text, *_REMINDER)
    for pattern in (_RESET, _ENDED):
        said = pattern.search(text, max(0, len(text) - _HEAD))
        text = text[: said.start()] if said is not None else text
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


def is_running(text: str) -> bool:
    """Whether a result holds only what its command had printed by then."""
    return _RUNNING in text[:_HEAD]


def exit_code(text: str) -> int | None:
    """How a result says that its command ended; None where it says nothing."""
    end = text[-_HEAD:]
    found = _CODEX_FAILED.search(text[:_HEAD]) or _CODEX_FAILED.search(end) or _ENDED.search(end)
    return int(found.group(1)) if found is not None else None


def failed(text: str) -> bool:
    """Whether a result says of itself that its command failed."""
    starts = text.startswith(("Chunk ID", "Exit code", "Command: ", "{"))
    return (starts or _ENDED.search(text[-_HEAD:]) is not None) and bool(exit_code(text))


def numbered_lines(text: str, first: int, last: int = 0) -> tuple[Sequence[int], list[str]]:
    """The lines of a file, and their numbers: those that the tool printed before them, else counted
    from ``first``, or from the line that the tool says that it shows first. No numbers where they
    are not certain: more lines than were asked for (``last``, 0: to the end), or other numbers than
    a tool would print."""
    if part := part_shown(text):
        _, mark, content = text.partition(_GEMINI_CONTENT)
        lines = content.split("\n")[: part[1] - part[0] + 1] if mark else []
        return range(part[0], part[0] + len(lines)), lines
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    found = list(map(_NUMBERED.match, lines)) if _is_numbered(lines) else []
    numbered = [one for one in found if one is not None]
    # All but what a tool may say above and below.
    if numbered and len(lines) - len(numbered) <= max(4, len(lines) // 50):
        numbers = [int(one[1]) for one in numbered]
        if numbers == list(range(numbers[0], numbers[0] + len(numbers))):
            # Some tools count from 0 what is asked for.
            is_tool = numbers[0] in (first, first + 1) or all("→" in one[0] for one in numbered)
            return (numbers if is_tool else ()), [one[2] for one in numbered]
    cut = _first_cut(text, lines)
    if last and cut > last - first + 1:
        return (), lines
    return range(first, first + cut), lines[:cut]


def part_shown(text: str) -> tuple[int, int] | None:
    """The first and the last line of a file that a tool says that it shows; None where it says
    nothing."""
    found = _GEMINI_PART.match(text)
    return (int(found[1]), int(found[2])) if found is not None else None


def _first_cut(text: str, lines: Sequence[str]) -> int:
    """The first of the lines of a text that is not sure to be one of the output; their number
    without one."""
    if not any(word in text for word in _CUT_WORDS):
        return len(lines)
    at = next((at for at, line in enumerate(lines) if _CUT.search(line)), len(lines))
    is_note = at < len(lines) and lines[at].startswith("[") and at > 0 and not lines[at - 1]
    return at - 1 if is_note else at


class PrintedFile(NamedTuple):
    """What a command printed of a file."""

    asked: FileLines
    text: str | None
    """Whole lines from ``asked.first`` on, without their numbers; None: there is no such file."""
    among: tuple[str, ...] = ()
    """Where it cannot be told apart: the lines among which it stands; the text is empty then."""
    is_cut: bool = False
    """The tool left out its end."""


def printed_files(
    output: str, prints: Sequence[FileLines | str], found_nothing: bool = False
) -> list[PrintedFile]:
    """What each of the reads of a command printed, in order. ``found_nothing``: the search that it
    ends with printed nothing."""
    lines = _CODE.sub("", output, count=1).split("\n")
    if not lines[-1]:
        lines.pop()
    cut = _first_cut(output, lines)
    is_whole, lines = cut == len(lines), lines[:cut]
    said = [one for one in lines if _ABSENT.match(one)]
    absent = [
        one
        for one in prints
        if isinstance(one, FileLines) and any(_names(each, one) for each in said)
    ]
    lines = [
        one for one in lines if one not in said or not any(_names(one, each) for each in absent)
    ]
    if any(map(_COMPLAINT.match, lines)):
        return []
    pieces = [*(prints[:-1] if found_nothing and is_whole else prints), None]
    found: list[PrintedFile] = []
    reads: list[FileLines | str] = []
    for step, one in enumerate(pieces):
        if one == "":
            reads.append(one)
            continue
        if isinstance(one, FileLines):
            if one not in absent:
                reads.append(one)
                continue
            found.append(PrintedFile(one, None))
            if not one.stops:
                continue
        words = one.strip("\n").split("\n") if isinstance(one, str) else []
        at = _place(lines, words, prints[step:].count(one)) if words else len(lines)
        if at < 0:
            rest = (each for each in pieces[step:] if isinstance(each, FileLines))
            return [*found, *_untold(lines, (*reads, *rest))]
        blank = len(one) - len(one.lstrip("\n")) if isinstance(one, str) else 0
        found += _apart(lines[: max(at - blank, 0)], reads, is_whole or bool(words))
        if not words:
            break
        lines, reads = lines[at + len(words) :], []
    return found


def _names(line: str, asked: FileLines) -> bool:
    """Whether a line that says that a file is not there is of that one."""
    name = re.escape(asked.path.rpartition("/")[2])
    return re.search(rf"[\s/\\'\"‘]{name}(?:[:'\"’\s]|$)", line) is not None


def _place(lines: Sequence[str], words: Sequence[str], number: int) -> int:
    """The first place of some lines that stand among others so many times; -1 where they stand
    there more often, or less."""
    places = [at for at in range(len(lines)) if lines[at : at + len(words)] == words]
    return places[0] if len(places) == number else -1


def _apart(
    lines: Sequence[str], pieces: Sequence[FileLines | str], is_whole: bool
) -> list[PrintedFile]:
    """Lines as those of several reads that follow each other, where their numbers tell them
    apart: all are there, or the end alone is missing of one file that is read on. ``is_whole``: no
    tool left out their end."""
    reads = [one for one in pieces if isinstance(one, FileLines)]
    if reads and all(one.numbered for one in reads) and (blocks := _blocks(lines, reads)):
        return [one._replace(is_cut=not is_whole) for one in blocks]
    counts = [one.last - one.first + 1 if one.last else len(lines) for one in reads]
    is_one = len({one.path for one in reads}) == 1 and all(
        0 < one.last < then.first for one, then in pairwise(reads)
    )
    is_told = len(reads) == 1 or is_one or (is_whole and sum(counts) == len(lines))
    is_numbered = any(one.numbered for one in reads)
    if len(reads) < len(pieces) or not is_told or is_numbered or len(lines) > sum(counts):
        return _untold(lines, reads)
    found, at = [], 0
    for one, count in zip(reads, counts, strict=True):
        found.append(PrintedFile(one, _text(lines[at : at + count]), is_cut=not is_whole))
        at += count
    return found


def _blocks(lines: Sequence[str], reads: Sequence[FileLines]) -> list[PrintedFile]:
    """The lines of reads that number them, by these numbers; none where they do not tell all, or
    are of something else too."""
    numbers = [int(found[1]) if (found := _PADDED.match(line)) else 0 for line in lines]
    blocks, at, told = [], 0, 0
    for one in reads:
        start = next((n for n in range(at, len(lines)) if numbers[n] == one.first), -1)
        if start < 0:
            return []
        at = start
        while at < len(lines) and numbers[at] == one.first + at - start:
            if one.last and numbers[at] > one.last:
                break
            at += 1
        told += at - start
        text = _text([line.partition("\t")[2] for line in lines[start:at]])
        blocks.append(PrintedFile(one, text))
    return blocks if told == len(lines) - numbers.count(0) else []


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _untold(lines: Sequence[str], pieces: Iterable[FileLines | str]) -> list[PrintedFile]:
    reads = (one for one in pieces if isinstance(one, FileLines))
    return [PrintedFile(one, "", tuple(lines)) for one in reads]


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
