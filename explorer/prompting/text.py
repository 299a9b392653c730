"""Cutting texts to a size: at line ends and spaces, never within what a reader sees as one
character."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Literal

Count = Callable[[str], int]
"""Tokens of a text."""
BreakOn = Literal["line", "space", "character"]

HEAD_SHARE = 0.4
"""Of a shortened tool result; the rest is its end (A49)."""

_BREAKS: dict[BreakOn, re.Pattern[str]] = {
    "line": re.compile(r"\r?\n"),
    "space": re.compile(r"\s+"),
}
_JOINER = "\u200d"


def whole_until(text: str, at: int) -> int:
    """The last place at or before ``at`` where the text can be cut between characters.

    Keeps together halves of surrogate pairs, line ends of two characters, letters with their
    marks, joined emoji, skin tones and flags (E11).
    """
    at = max(0, min(at, len(text)))
    while 0 < at < len(text) and _joined(text, at):
        at -= 1
    return at


def whole_from(text: str, at: int) -> int:
    """The first place at or after ``at`` where the text can be cut between characters."""
    at = max(0, min(at, len(text)))
    while 0 < at < len(text) and _joined(text, at):
        at += 1
    return at


def _joined(text: str, at: int) -> bool:
    """Whether the characters on both sides of a place belong together."""
    before, after = text[at - 1], text[at]
    if after.isascii():
        return (before == "\r" and after == "\n") or before == _JOINER
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return True
    if before == _JOINER or after == _JOINER or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    if unicodedata.category(after).startswith("M"):
        return True
    return _is_flag(before) and _is_flag(after) and _flags_before(text, at) % 2 == 1


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flags_before(text: str, at: int) -> int:
    start = at
    while start > 0 and _is_flag(text[start - 1]):
        start -= 1
    return at - start


def fitting_start(text: str, limit: int, count: Count, break_on: BreakOn = "line") -> str:
    """The longest start of a text that takes at most ``limit`` tokens and ends at a break.

    Where not even the first line fits, spaces are breaks, and where no word fits, characters.
    """
    if limit <= 0:
        return ""
    if count(text) <= limit:
        return text
    kinds: Sequence[BreakOn] = ("line", "space", "character")
    for kind in kinds[kinds.index(break_on) :]:
        if kind == "character":
            return text[: whole_until(text, _most(len(text), lambda n: count(text[:n]) <= limit))]
        places = [found.start() for found in _BREAKS[kind].finditer(text) if found.start() > 0]
        if end := _last_fitting(text, places, limit, count):
            return text[:end]
    return ""


def _last_fitting(text: str, places: Sequence[int], limit: int, count: Count) -> int:
    fits = _most(len(places), lambda n: count(text[: places[n - 1]]) <= limit)
    return places[fits - 1] if fits else 0


def _most(size: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to ``size`` that fits, where 0 does and smaller ones fit too."""
    low, high = 0, size
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def truncate_middle(text: str, limit: int, count: Count, head: float = HEAD_SHARE) -> str:
    """A text of at most about ``limit`` tokens: its start, a note of what is missing, its end.

    The start gets ``head`` of the room and the end the rest (A49). A text that fits comes back
    as it is.
    """
    taken = count(text)
    if taken <= limit:
        return text
    note = f"\n\n[... {taken - limit} tokens and more left out of the middle ...]\n\n"
    room = max(0, limit - count(note))
    first, last = int(room * head), room - int(room * head)
    size = len(text)
    start = whole_until(text, _most(size, lambda n: count(text[:n]) <= first))
    end = _most(size - start, lambda n: not n or count(text[size - n :]) <= last)
    return text[:start] + note + text[whole_from(text, size - end) :]


def shortened(text: str, limit: int) -> str:
    """The first ``limit`` characters, with an ellipsis where something is missing (B19)."""
    return text if len(text) <= limit else text[: whole_until(text, limit)] + "…"
