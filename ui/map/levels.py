"""What is precomputed for drawing far away: lane stretches joined per zoom octave, and samples.

At 200,000 entries on 800 pixels a lane may have thousands of stretches inside one pixel. Every
octave joins what lies closer than its bucket of 2^k entries, so that a frame never draws more
stretches than pixels.
"""

from __future__ import annotations

from typing import NamedTuple

from ui.map.layout import Lane, Lanes, united
from ui.map.rows import Category, Rows

FINEST = 4
"""The first joined octave: buckets of 2^4 entries."""

FEW = 400
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


class LaneLevels:
    """The octaves of all lanes of one layout, each made from the next finer one."""

    def __init__(self, lanes: Lanes) -> None:
        self._levels: list[list[Lane]] = [[lane] for lane in lanes.lanes]

    def prepare(self) -> None:
        """Make every octave now, for instance on a worker thread."""
        for lane in range(len(self._levels)):
            self.lane(lane, 1 << 30)

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
    """The category that most of its rows have, a compaction or branch summary before all."""
    tokens: int


def sample(rows: Rows, low: int, high: int, rows_per_bucket: float) -> list[Sample]:
    """One sample per bucket of rows from ``low`` to ``high``.

    Buckets start at multiples of their size, so that the picture does not flicker when panned.
    Counting is one C call per category and bucket, so the cost is that of the pixels.
    """
    step = max(1, round(rows_per_bucket))
    groups, sums = rows.categories, rows.sums
    found = []
    for row in range(low - low % step, min(high, rows.count), step):
        stop = min(row + step, rows.count)
        if step == 1:
            strongest: int = groups[row]
        else:
            strongest = _strongest(groups, row, stop)
        found.append(Sample(row, stop, strongest, sums[stop] - sums[row]))
    return found


def _strongest(groups: bytearray, row: int, stop: int) -> int:
    if groups.find(Category.COMPACTION, row, stop) >= 0:
        return Category.COMPACTION
    part = groups[row:stop]
    best, most = int(Category.METADATA), 0
    for value in _STACK:
        number = part.count(value)
        if number > most:
            best, most = value, number
    return best


def composition(rows: Rows, row: int, stop: int) -> list[tuple[int, int]]:
    """(category, tokens) of the rows that hold any, in a fixed order of categories."""
    totals = dict.fromkeys(map(int, _STACK), 0)
    groups, sums = rows.categories, rows.sums
    for at in range(row, stop):
        group = groups[at]
        totals[group] = totals.get(group, 0) + sums[at + 1] - sums[at]
    return [(group, tokens) for group, tokens in totals.items() if tokens]
