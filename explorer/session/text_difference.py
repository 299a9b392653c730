"""Differences of two texts, on ``difflib``: by lines with gaps, as the diff of a file, by words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
from typing import Literal, NamedTuple

from msgspec import Struct

Sign = Literal["+", "-", " ", "@"]
CONTEXT = 3
"""Unchanged lines around a change, by default."""
FILE_CONTEXT = 4
"""Unchanged lines around a change in the diff of a file, as pi has it."""
_MOST_PAIRS = 2_250_000
"""Pairs of lines above which a changed passage counts as replaced as a whole."""

MOST_WORDS = 2_500
"""Words of a text that are compared one by one; longer texts are compared line by line."""
MOST_LINES = 4_000
"""Lines that `word_differences` compares; of longer texts only the equal beginning is found."""
FEWEST_ALIKE = 3
"""Equal words in a row that count as common to both texts where they stand between changes: a lone
"the" in the middle of two other sentences is nothing that they have in common."""
_WORD = re.compile(r"\s+|\w+|[^\w\s]")


# Lines -------------------------------------------------------------------------------------------


class DifferenceLine(NamedTuple):
    """One line and its sign; ``@`` stands for unchanged lines that are left out."""

    sign: Sign
    text: str


class _Row(NamedTuple):
    """A line of a hunk with its numbers, from 1. The number in the text that lacks the line is that
    of the next line there."""

    sign: Literal["+", "-", " "]
    old: int
    new: int
    text: str


def changed_lines(old: str, new: str, context: int = CONTEXT) -> tuple[DifferenceLine, ...]:
    """The changed lines of two texts with ``context`` unchanged lines around each; empty for equal
    texts. Between two hunks stands a gap."""
    found: list[DifferenceLine] = []
    for hunk in _hunks(old.splitlines(), new.splitlines(), context):
        if found:
            found.append(DifferenceLine("@", "…"))
        found += [DifferenceLine(row.sign, row.text) for row in hunk]
    return tuple(found)


def _hunks(before: Sequence[str], after: Sequence[str], context: int) -> Iterator[list[_Row]]:
    """Changes, those at most twice ``context`` lines apart together, with the lines around them."""
    hunk: list[_Row] = []
    equal: list[_Row] = []
    for row in _rows(before, after):
        if row.sign == " ":
            equal.append(row)
            continue
        if hunk and len(equal) > 2 * context:
            yield hunk + equal[:context]
            hunk = []
        lead = equal if hunk else equal[max(0, len(equal) - context) :]
        hunk += [*lead, row]
        equal = []
    if hunk:
        yield hunk + equal[:context]


def _rows(before: Sequence[str], after: Sequence[str]) -> Iterator[_Row]:
    old = new = 0
    for same, removed, added in _blocks(before, after):
        for _ in range(same):
            yield _Row(" ", old + 1, new + 1, before[old])
            old, new = old + 1, new + 1
        for at in range(removed):
            yield _Row("-", old + at + 1, new + 1, before[old + at])
        old += removed
        for _ in range(added):
            yield _Row("+", old + 1, new + 1, after[new])
            new += 1


def _blocks(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Counts of lines: equal ones, then how many are removed and added after them.

    The equal beginning and end are found without `SequenceMatcher`: most changes are small.
    """
    most = min(len(before), len(after))
    start = 0
    while start < most and before[start] == after[start]:
        start += 1
    end = 0
    while end < most - start and before[-1 - end] == after[-1 - end]:
        end += 1
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if len(old) * len(new) > _MOST_PAIRS:
        yield start, len(old), len(new)
        yield end, 0, 0
        return
    same = start
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            same += i2 - i1
            continue
        yield same, i2 - i1, j2 - j1
        same = 0
    yield same + end, 0, 0


# The diff of a file ------------------------------------------------------------------------------


class FileDiff(Struct, frozen=True):
    """The change of a file in two notations."""

    unified: str
    numbered: str
    """Every line with its number after its sign, as pi stores it."""
    first_line: int | None
    """The first line of the new text that is different, from 1; None when nothing is."""
    added: int
    removed: int


def file_diff(path: str, old: str | None, new: str) -> FileDiff:
    """The change of a file; ``old`` is None for a new file. Lines end at a line feed alone; a
    changed line ending is no change."""
    before, after = _file_lines(old or ""), _file_lines(new)
    hunks = list(_hunks(before, after, FILE_CONTEXT))
    source = "/dev/null" if old is None else f"a/{path}"
    unified = [f"--- {source}", f"+++ b/{path}"] if hunks else []
    numbered: list[str] = []
    width = len(str(max(len(before), len(after), 1)))
    for number, hunk in enumerate(hunks):
        unified.append(_heading(hunk))
        unified += [row.sign + row.text for row in hunk]
        if number or hunk[0].new > 1:
            numbered.append(f" {'':>{width}} ...")
        for row in hunk:
            line = row.old if row.sign == "-" else row.new
            numbered.append(f"{row.sign}{line:>{width}} {row.text}")
    changed = [row for hunk in hunks for row in hunk if row.sign != " "]
    return FileDiff(
        "\n".join(unified),
        "\n".join(numbered),
        changed[0].new if changed else None,
        sum(row.sign == "+" for row in changed),
        sum(row.sign == "-" for row in changed),
    )


def _file_lines(text: str) -> list[str]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _heading(hunk: Sequence[_Row]) -> str:
    old = sum(row.sign != "+" for row in hunk)
    new = sum(row.sign != "-" for row in hunk)
    # Of a side without lines a unified diff names the line before.
    first_old = hunk[0].old - (old == 0)
    first_new = hunk[0].new - (new == 0)
    return f"@@ -{first_old},{old} +{first_new},{new} @@"


# Words -------------------------------------------------------------------------------------------


class DifferencePiece(NamedTuple):
    """A passage of a text, and whether the other text lacks it."""

    text: str
    differs: bool


def word_differences(
    one: str, other: str
) -> tuple[tuple[DifferencePiece, ...], tuple[DifferencePiece, ...]]:
    """Both texts in pieces, equal and differing ones in turn; the pieces of a text joined are that
    text. White space alone does not differ."""
    mine, theirs = _WORD.findall(one), _WORD.findall(other)
    if max(len(mine), len(theirs)) > MOST_WORDS:
        mine, theirs = one.splitlines(keepends=True), other.splitlines(keepends=True)
    if max(len(mine), len(theirs)) > MOST_LINES:
        same = 0
        while same < min(len(mine), len(theirs)) and mine[same] == theirs[same]:
            same += 1
        return _pieces(mine, [(0, same)]), _pieces(theirs, [(0, same)])
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    common = [
        block
        for block in blocks
        if not _is_between(block, mine, theirs)
        or sum(word.strip() != "" for word in mine[block.a : block.a + block.size]) >= FEWEST_ALIKE
    ]
    return (
        _pieces(mine, [(block.a, block.size) for block in common]),
        _pieces(theirs, [(block.b, block.size) for block in common]),
    )


def _is_between(block: Match, mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether equal words stand neither at the beginning nor at the end of both texts."""
    begins = block.a == block.b == 0
    ends = block.a + block.size == len(mine) and block.b + block.size == len(theirs)
    return not (begins or ends)


def _pieces(words: Sequence[str], equal: Sequence[tuple[int, int]]) -> tuple[DifferencePiece, ...]:
    """``equal``: index of the first word and number of words of each common passage."""
    found: list[DifferencePiece] = []
    at = 0
    for start, size in (*equal, (len(words), 0)):
        _add_piece(found, "".join(words[at:start]), True)
        _add_piece(found, "".join(words[start : start + size]), False)
        at = start + size
    return tuple(found)


def _add_piece(found: list[DifferencePiece], text: str, differs: bool) -> None:
    if not text:
        return
    if differs and not text.strip():
        differs = False  # a space more is nothing to look at
    if found and found[-1].differs == differs:
        found[-1] = DifferencePiece(found[-1].text + text, differs)
    else:
        found.append(DifferencePiece(text, differs))
