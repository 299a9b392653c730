"""The passage of a file that is most like a text that does not stand in it."""

from __future__ import annotations

from collections import Counter
from difflib import get_close_matches

from explorer.agent.tools.cutting import split_lines
from explorer.agent.tools.matching import plain_line

_ALIKE = 0.6
"""From 0 to 1: how alike a line must be to be taken for the one that was meant."""
_MOST_COMPARED = 20_000
"""Lines that are compared letter by letter."""
_MOST_SHOWN = 30
_LONGEST = 300
_COMPARED = 199
"""Characters of a line that are compared; from 200 on ``difflib`` ignores frequent ones."""


def nearest(text: str, wanted: str) -> str:
    """What stands there instead, with line numbers, and what differs; empty for nothing alike."""
    rows = [row.removesuffix("\r") for row in split_lines(text)]
    meant = [row.removesuffix("\r") for row in split_lines(wanted)]
    while meant and not meant[0].strip():
        meant = meant[1:]
    while meant and not meant[-1].strip():
        meant.pop()
    if not rows or not meant:
        return ""
    start = _same_lines(rows, meant)
    if start is None:
        start = _alike_line(rows, meant)
    if start is None:
        return ""
    start = max(0, min(start, len(rows) - 1))
    there = rows[start : start + len(meant)]
    return f"{_passage(there, start)}\n{_differences(there, meant, start)}"


def _same_lines(rows: list[str], meant: list[str]) -> int | None:
    """Where the most lines stand that are the same but for what is around them."""
    where: dict[str, list[int]] = {}
    for number, row in enumerate(meant):
        if len(row.strip()) > 2:
            where.setdefault(plain_line(row).strip(), []).append(number)
    votes: Counter[int] = Counter()
    for at, row in enumerate(rows):
        for number in where.get(plain_line(row).strip(), ()):
            votes[at - number] += 1
    return min(votes, key=lambda start: (-votes[start], start)) if votes else None


def _alike_line(rows: list[str], meant: list[str]) -> int | None:
    """Where a line stands that is like the longest one."""
    number, longest = max(enumerate(meant), key=lambda item: len(item[1].strip()))
    compared = [row.strip()[:_COMPARED] for row in rows[:_MOST_COMPARED]]
    found = get_close_matches(longest.strip()[:_COMPARED], compared, n=1, cutoff=_ALIKE)
    return compared.index(found[0]) - number if found else None


def _passage(there: list[str], start: int) -> str:
    shown = [f"{start + at + 1}: {row[:_LONGEST]}" for at, row in enumerate(there[:_MOST_SHOWN])]
    if len(there) > _MOST_SHOWN:
        shown.append(f"... {len(there) - _MOST_SHOWN} more lines")
    return "\n".join(shown)


def _differences(there: list[str], meant: list[str], start: int) -> str:
    """Up to three lines that differ, in words and side by side."""
    told: list[str] = []
    for at, row in enumerate(meant):
        stands = there[at] if at < len(there) else None
        if stands is None:
            told.append(f"The file ends before your line {at + 1}.")
            break
        if plain_line(stands) == plain_line(row):
            continue
        if len(told) == 3:
            told.append("More lines differ.")
            break
        told.append(
            f"Line {start + at + 1} {_how(stands, row)}: there is {stands[:_LONGEST]!r},"
            f" you have {row[:_LONGEST]!r}."
        )
    return "\n".join(told)


def _how(stands: str, row: str) -> str:
    if stands.strip() == row.strip():
        tabs = ("\t" in stands) != ("\t" in row)
        return "is indented otherwise" + (", by tabs and spaces" if tabs else "")
    if "".join(stands.split()) == "".join(row.split()):
        return "is spaced otherwise"
    if stands.lower() == row.lower():
        return "differs in upper and lower case"
    return "differs"
