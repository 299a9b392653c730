"""What is precomputed for drawing far away: lane stretches joined per zoom octave, and samples.

At 200,000 entries on 800 pixels a lane may have thousands of stretches inside one pixel. Every
octave joins what lies closer than its bucket of 2^k entries, so that a frame never draws more
stretches than pixels.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from ui.map.layout import Lane, Lanes, united
from ui.map.rows import Category, Rows

FINEST = 4
"""The first joined octave: buckets of 2^4 entries."""

FEW = 100
"""A lane with fewer stretches is drawn as it is."""

_STACK = (
    Category.USER,
    Category.ASSISTANT,
    Category.THINKING,
    Category.CALL,
    Category.RESULT,
    Category.SHELL,
    Category.COMPACTION,
    Category.BRANCH,
    Category.NOTE,
)

_BY_FREQUENCY = tuple(map(int, (
    Category.RESULT, Category.CALL, Category.ASSISTANT, Category.THINKING, Category.USER,
    Category.SHELL, Category.NOTE, Category.BRANCH,
)))  # fmt: skip


class LaneLevels:
    """The octaves of all lanes of one layout, each made from the next finer one."""

    def __init__(self, lanes: Lanes) -> None:
        self._levels: list[list[Lane]] = [[lane] for lane in lanes.lanes]

    def prepare(self) -> None:
        """Make every octave now, for instance on a worker thread."""
        for lane in range(len(self._levels)):
            self.lane(lane, 1 << 30)

    def prolong(self, lane: int, end: int) -> None:
        """The last stretch of a lane has grown."""
        for made in self._levels[lane]:
            made.ends[-1] = max(made.ends[-1], end)

    def lane(self, lane: int, entries_per_pixel: float) -> Lane:
        """The stretches of a lane, none nearer to the next than a pixel where there are many."""
        made = self._levels[lane]
        level = 0
        while 1 << (FINEST + level) <= entries_per_pixel and len(made[level].rises) > FEW:
            level += 1
            if level == len(made):
                made.append(united(made[level - 1], 1 << (FINEST + level - 1)))
        return made[level]


class Sample(NamedTuple):
    """What the rows of one bucket are made of."""

    row: int
    stop: int
    category: int
    """The category that most of its rows have, a compaction before all."""
    tokens: int
    """Of its rows on average."""
    aside: bool
    """Whether its first row lies on an abandoned branch."""


BLOCK = 64
"""Buckets that are worked out and kept together."""

_KEPT_BLOCKS = 2_048


def bucket_rows(rows_per_pixel: float) -> int:
    """Rows of one bucket: the next step of a series that grows by about 1.4, so that pictures
    of neighbouring zooms share their samples."""
    step = 1.0
    while round(step) < rows_per_pixel:
        step *= 2**0.5
    return round(step)


class Samples:
    """Samples of the rows by bucket size, worked out in blocks when they are first looked at.

    Counting is one C call per category and bucket, so a block costs the same at any zoom.
    """

    def __init__(self, rows: Rows, lanes: Lanes) -> None:
        self._rows, self._lanes = rows, lanes
        self._blocks: dict[tuple[int, int], list[Sample]] = {}

    def between(self, low: int, high: int, step: int) -> list[Sample]:
        """The samples of the rows from ``low`` to before ``high`` in buckets of ``step`` rows.

        Buckets start at multiples of their size, so that the picture does not flicker when it
        is moved.
        """
        size = BLOCK * step
        found: list[Sample] = []
        for number in range(low // size, (max(high, 1) - 1) // size + 1):
            found += self._block(number, step)
        first = max(0, low // step - low // size * BLOCK)
        return found[first : first + (high - 1) // step - low // step + 1]

    def grow(self) -> None:
        """Rows were appended: the last block of every size is not complete any more."""
        newest: dict[int, int] = {}
        for step, number in self._blocks:
            newest[step] = max(newest.get(step, 0), number)
        for key in newest.items():
            del self._blocks[key]

    def _block(self, number: int, step: int) -> list[Sample]:
        found = self._blocks.get((step, number))
        if found is None:
            if len(self._blocks) >= _KEPT_BLOCKS:
                self._blocks.clear()
            found = self._blocks[step, number] = self._work_out(number, step)
        return found

    def _work_out(self, number: int, step: int) -> list[Sample]:
        rows, lanes = self._rows, self._lanes
        groups, sums, entries = rows.categories, rows.sums, rows.entries
        starts, chain_of, active = lanes.starts, lanes.chain_of, lanes.active
        begin = number * BLOCK * step
        found = []
        for row in range(begin, min(begin + BLOCK * step, rows.count), step):
            stop = min(row + step, rows.count)
            strongest = groups[row] if step == 1 else _strongest(groups, row, stop)
            mean = (sums[stop] - sums[row]) // (stop - row)
            # As Lanes.is_active, without its calls: this loop runs once per row of pixels.
            place = bisect_right(starts, row if entries is None else entries[row]) - 1
            aside = active < 0 or place < 0 or chain_of[place] != active
            found.append(Sample(row, stop, strongest, mean, aside))
        return found


def _strongest(groups: bytearray, row: int, stop: int) -> int:
    if groups.find(Category.COMPACTION, row, stop) >= 0:
        return Category.COMPACTION
    part = groups[row:stop]
    best, most, left = int(Category.METADATA), 0, len(part)
    for value in _BY_FREQUENCY:
        number = part.count(value)
        left -= number
        if number > most:
            best, most = value, number
        if most >= left:
            break
    return best


def composition(rows: Rows, row: int, stop: int) -> list[tuple[int, int]]:
    """(category, tokens) of the rows that hold any, in a fixed order of categories."""
    totals = dict.fromkeys(map(int, _STACK), 0)
    groups, sums = rows.categories, rows.sums
    for at in range(row, stop):
        group = groups[at]
        totals[group] = totals.get(group, 0) + sums[at + 1] - sums[at]
    return [(group, tokens) for group, tokens in totals.items() if tokens]
