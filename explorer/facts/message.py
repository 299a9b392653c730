"""A text with what several readers look up in it, and ranges of it; offsets in characters."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

_WIDE = re.compile(r"[\U00010000-\U0010ffff]")


class Ranges:
    """Ranges of a text that are already assigned; they may overlap. ``at in ranges``: whether one
    contains an offset."""

    __slots__ = ("_ends", "_merged", "_ranges", "_starts")

    def __init__(self, ranges: Iterable[tuple[int, int]] = ()) -> None:
        self._ranges = list(ranges)
        self._merged = False
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, start: int, end: int) -> None:
        """Add one range, ``end`` exclusive."""
        self._ranges.append((start, end))
        self._merged = False

    def __contains__(self, at: int) -> bool:
        if not self._ranges:
            return False
        if not self._merged:
            self._merge()
        before = bisect_right(self._starts, at) - 1
        return before >= 0 and at < self._ends[before]

    def _merge(self) -> None:
        self._starts, self._ends = [], []
        for start, end in sorted(self._ranges):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            elif end > start:
                self._starts.append(start)
                self._ends.append(end)
        self._merged = True


def wide_places(text: str) -> list[int]:
    """Offsets of the characters that take two UTF-16 units, ascending."""
    return [] if text.isascii() else [found.start() for found in _WIDE.finditer(text)]


def units(at: int, wide: Sequence[int]) -> int:
    """An offset in characters as UTF-16 units; ``wide``: see ``wide_places``."""
    return at + bisect_left(wide, at)
