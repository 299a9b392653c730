"""What changed from one text to another: as a unified diff, and with line numbers as pi has it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from explorer.agent.tools.cutting import split_lines
from explorer.agent.tools.textfile import shown

AROUND = 4
"""Lines shown before and after a change."""
_TOO_MANY = 4_000_000
"""Pairs of lines above which a passage counts as replaced as a whole."""


class _Row(NamedTuple):
    sign: Literal["+", "-", " "]
    old: int
    new: int
    text: str


@dataclass(frozen=True, slots=True)
class Diff:
    """A change in two spellings, and where it begins."""

    unified: str
    numbered: str
    """Every line with its number after its sign, as pi stores it."""
    first_line: int | None
    """The first line of the new text that is different; None when nothing is."""
    added: int
    removed: int


def diff_of(path: str, old: str | None, new: str) -> Diff:
    """The change of a file; ``old`` is None for one that is new. Line ends alone are no change."""
    before, after = _lines(old or ""), _lines(new)
    hunks = list(_hunks(before, after))
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
    rows = [row for hunk in hunks for row in hunk]
    changed = [row for row in rows if row.sign != " "]
    return Diff(
        "\n".join(unified),
        "\n".join(numbered),
        changed[0].new if changed else None,
        sum(row.sign == "+" for row in rows),
        sum(row.sign == "-" for row in rows),
    )


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in split_lines(shown(text))]


def _hunks(before: list[str], after: list[str]) -> Iterator[list[_Row]]:
    """Changes that lie near each other together, with the lines around them."""
    waiting: list[_Row] = []
    same: list[_Row] = []
    for row in _rows(before, after):
        if row.sign == " ":
            same.append(row)
            continue
        if waiting and len(same) > 2 * AROUND:
            yield waiting + same[:AROUND]
            waiting = []
        waiting += (same if waiting else same[-AROUND:]) + [row]
        same = []
    if waiting:
        yield waiting + same[:AROUND]


def _rows(before: list[str], after: list[str]) -> Iterator[_Row]:
    old = new = 0
    for same, gone, come in _blocks(before, after):
        for _ in range(same):
            yield _Row(" ", old + 1, new + 1, before[old])
            old, new = old + 1, new + 1
        for at in range(gone):
            yield _Row("-", old + at + 1, new + 1, before[old + at])
        old += gone
        for _ in range(come):
            yield _Row("+", old + 1, new + 1, after[new])
            new += 1


def _blocks(before: list[str], after: list[str]) -> Iterator[tuple[int, int, int]]:
    """Lines that are the same, then how many are gone and how many come in their place.

    The same beginning and end are found without comparing: most changes are small.
    """
    most = min(len(before), len(after))
    start = 0
    while start < most and before[start] == after[start]:
        start += 1
    end = 0
    while end < most - start and before[-1 - end] == after[-1 - end]:
        end += 1
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if len(old) * len(new) > _TOO_MANY:
        yield start, len(old), len(new)
        yield end, 0, 0
        return
    same = start
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if tag == "equal":
            same += i2 - i1
            continue
        yield same, i2 - i1, j2 - j1
        same = 0
    yield same + end, 0, 0


def _heading(hunk: list[_Row]) -> str:
    old = sum(row.sign != "+" for row in hunk)
    new = sum(row.sign != "-" for row in hunk)
    # Of a side without lines a unified diff names the line before.
    first_old = hunk[0].old - (old == 0)
    first_new = hunk[0].new - (new == 0)
    return f"@@ -{first_old},{old} +{first_new},{new} @@"
