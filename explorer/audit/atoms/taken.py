"""Stretches of a text that are spoken for already."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable


class Taken:
    """Stretches, in characters; they may overlap. ``at in taken``: whether one holds a place."""

    __slots__ = ("_ends", "_merged", "_starts", "_stretches")

    def __init__(self, stretches: Iterable[tuple[int, int]] = ()) -> None:
        self._stretches = list(stretches)
        self._merged = False
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, start: int, end: int) -> None:
        """Takes one more."""
        self._stretches.append((start, end))
        self._merged = False

    def __contains__(self, at: int) -> bool:
        if not self._stretches:
            return False
        if not self._merged:
            self._merge()
        before = bisect_right(self._starts, at) - 1
        return before >= 0 and at < self._ends[before]

    def _merge(self) -> None:
        self._starts, self._ends = [], []
        for start, end in sorted(self._stretches):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            elif end > start:
                self._starts.append(start)
                self._ends.append(end)
        self._merged = True
