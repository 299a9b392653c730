"""The heights of very many items: estimated first, corrected one by one, found by position."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

CHUNK = 256


class Heights:
    """Heights in pixels, summed by chunks so that neither asking nor correcting walks them all."""

    def __init__(self) -> None:
        self._values: array[float] = array("d")
        self._sums: list[float] = []
        self._tops: list[float] | None = None

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, at: int) -> float:
        return self._values[at]

    def extend(self, values: Iterable[float]) -> None:
        """Add items at the end."""
        first = len(self._values) // CHUNK
        self._values.extend(values)
        self._sum_from(first)

    def truncate(self, count: int) -> None:
        """Forget all items from ``count`` on."""
        del self._values[count:]
        self._sum_from(count // CHUNK)

    def _sum_from(self, chunk: int) -> None:
        del self._sums[chunk:]
        for start in range(chunk * CHUNK, len(self._values), CHUNK):
            self._sums.append(sum(self._values[start : start + CHUNK]))
        self._tops = None

    def set(self, at: int, height: float) -> None:
        """Correct one height."""
        change = height - self._values[at]
        if change:
            self._values[at] = height
            self._sums[at // CHUNK] += change
            self._tops = None

    def _starts(self) -> list[float]:
        if self._tops is None:
            self._tops = list(accumulate(self._sums, initial=0.0))
        return self._tops

    @property
    def total(self) -> float:
        """All heights together."""
        return self._starts()[-1]

    def top(self, at: int) -> float:
        """Where an item begins; ``len`` is allowed and gives the total."""
        chunk = at // CHUNK
        return self._starts()[chunk] + sum(self._values[chunk * CHUNK : at])

    def at(self, y: float) -> int:
        """The item at a height from the top, within the first and the last one; -1 for none."""
        if not self._values:
            return -1
        starts = self._starts()
        chunk = min(max(bisect_right(starts, y) - 1, 0), len(self._sums) - 1)
        place, found = starts[chunk], chunk * CHUNK
        end = min(found + CHUNK, len(self._values))
        while found < end - 1 and place + self._values[found] <= y:
            place += self._values[found]
            found += 1
        return found
