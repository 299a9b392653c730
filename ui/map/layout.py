"""Lanes of the session map: where every branch runs, from the parents of the entries alone, and
what is precomputed for drawing far away."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct, field

from explorer.session.kinds import Kind
from ui.map.rows import RowCategory, Rows

MAX_LANES = 24
"""Branches beyond this many side by side share the last lane."""

LONG_EDGE = 240
"""Entries between a fork and its branch above which no line is drawn: the branch hangs by a stub,
so that a jump far back does not occupy a lane over thousands of rows."""


class Bridge(NamedTuple):
    """A branch summary and where the branch it summarizes was abandoned (A2, A35)."""

    summary: int
    origin: int
    in_lane: bool
    """Whether the lane of the abandoned branch stays free down to the summary."""


class Skeleton:
    """The segments of a tree: its entries cut before every fork's children and after every fork."""

    def __init__(self, parent: Sequence[int], first: int = 0) -> None:
        """``first``: leave out the entries before it (for the rows that are painted first)."""
        self.parent = parent
        self.first = first
        self.count = len(parent)
        breaks = [at for at in range(first, self.count) if parent[at] != at - 1]
        cuts = set(breaks)
        cuts.update(parent[at] + 1 for at in breaks if parent[at] >= first)
        if self.count > first:
            cuts.add(first)
        self.starts = sorted(cuts)

    def extend(self, parent: Sequence[int]) -> None:
        """Take in what was appended; costs as much as there are new entries."""
        self.parent = parent
        for at in range(self.count, len(parent)):
            above = parent[at]
            if above == at - 1 and above >= 0:
                continue
            self.starts.append(at)
            if above >= self.first:
                place = bisect_left(self.starts, above + 1)
                if self.starts[place] != above + 1:
                    self.starts.insert(place, above + 1)
        self.count = len(parent)


class Lane(Struct):
    """The stretches that a lane draws, ordered and (but for the last lane) apart."""

    rises: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    chains: list[int] = field(default_factory=list)

    def between(self, low: int, high: int) -> range:
        """Rows of the stretches that touch the entries ``low`` to ``high``."""
        return range(bisect_left(self.ends, low), bisect_right(self.rises, high))


class Chains(Struct):
    """One value per chain, in the order of their first entries."""

    head: array[int] = field(default_factory=lambda: array("i"))
    tail: array[int] = field(default_factory=lambda: array("i"))
    origin: array[int] = field(default_factory=lambda: array("i"))
    """The entry that the chain forks from, -1 for a root."""
    rise: array[int] = field(default_factory=lambda: array("i"))
    """Where its line begins: at its head, or below its origin when it must run beside others."""
    end: array[int] = field(default_factory=lambda: array("i"))
    """Where its lane is free again: the tail, or the row above its branch summary."""
    lane: array[int] = field(default_factory=lambda: array("i"))
    hangs: bytearray = field(default_factory=bytearray)
    """1 where the fork is too far away for a line."""


class Lanes:
    """The lane of every entry for one leaf. Made by ``arrange``."""

    def __init__(self, skeleton: Skeleton, leaf: int, starts: list[int]) -> None:
        self.skeleton = skeleton
        self.first, self.count, self.leaf = skeleton.first, skeleton.count, leaf
        self.starts = starts
        self.chain_of: list[int] = []
        self.active = -1
        self.chains = Chains()
        self.lanes: list[Lane] = []
        self.forks: list[tuple[int, int]] = []
        """(rise, chain) of every chain that forks from an entry, by rise."""
        self.bridges: list[Bridge] = []
        self._points: list[int] | None = None

    def chain_at(self, entry: int) -> int:
        """The chain of an entry, -1 for one that was left out."""
        place = bisect_right(self.starts, entry) - 1
        return self.chain_of[place] if place >= 0 else -1

    def lane_at(self, entry: int) -> int:
        """The lane of an entry; 0 is the active path's alone."""
        chain = self.chain_at(entry)
        return self.chains.lane[chain] if chain >= 0 else 1

    def is_active(self, entry: int) -> bool:
        """Whether the entry is on the active path."""
        return self.active >= 0 and self.chain_at(entry) == self.active

    def width(self) -> int:
        """How many lanes are in use."""
        return len(self.lanes)

    def branch_points(self) -> list[int]:
        """Entries with two or more children, ascending."""
        if self._points is None:
            self._points = sorted({o for o in self.chains.origin if o >= 0 and o != self.leaf})
            if self._leaf_forks():
                insort(self._points, self.leaf)
        return self._points

    def _leaf_forks(self) -> bool:
        """The leaf counts as a fork only when two branches were left below it."""
        return sum(1 for origin in self.chains.origin if origin == self.leaf >= 0) > 1

    def starts_between(self, low: int, high: int) -> list[int]:
        """Segment starts from ``low`` to ``high``, both included."""
        return self.starts[bisect_left(self.starts, low) : bisect_right(self.starts, high)]

    def forks_between(self, low: int, high: int) -> list[tuple[int, int]]:
        """(rise, chain) of the branches whose line begins from ``low`` to ``high``."""
        first = bisect_left(self.forks, (low, -1))
        return self.forks[first : bisect_right(self.forks, (high + 1, -1))]

    def bridges_between(self, low: int, high: int) -> list[Bridge]:
        """The bridges that touch these entries; none is longer than ``LONG_EDGE``."""
        first = bisect_left(self.bridges, (low,))
        last = bisect_right(self.bridges, (high + LONG_EDGE,))
        return [bridge for bridge in self.bridges[first:last] if bridge.origin <= high]

    def extend(self, leaf: int, *, bridged: bool) -> bool:
        """Take in entries that only prolong the last branch; True when that was all there was.

        ``bridged``: a branch summary is among them, which may change lanes above. The skeleton
        must hold the new entries already.
        """
        parent, count = self.skeleton.parent, self.skeleton.count
        if bridged or count <= self.count or self.count == 0 or self.starts[-1] >= self.count:
            return False
        if any(parent[at] != at - 1 for at in range(self.count, count)):
            return False
        followed = self.leaf == self.count - 1 and leaf == count - 1
        beside = leaf == self.leaf and self.leaf != self.count - 1
        if not (followed or beside):
            return False
        chain = self.chain_of[-1]
        lane = self.lanes[self.chains.lane[chain]]
        if lane.chains[-1] != chain:
            return False
        self.chains.tail[chain] = self.chains.end[chain] = lane.ends[-1] = count - 1
        self.count, self.leaf = count, leaf
        return True


def arrange(
    skeleton: Skeleton,
    leaf: int,
    links: Sequence[tuple[int, int]] = (),
    kinds: bytes | bytearray = b"",
) -> Lanes:
    """Give every branch its lane. ``links``: (branch summary, entry it summarizes), by summary;
    ``kinds``: of the entries; without them no compaction is known for undone.

    Costs as much as there are segments, not entries.
    """
    starts = skeleton.starts
    if skeleton.first <= leaf < skeleton.count - 1:
        place = bisect_left(starts, leaf + 1)
        if place == len(starts) or starts[place] != leaf + 1:
            starts = [*starts[:place], leaf + 1, *starts[place:]]
    else:
        starts = list(starts)
    found = Lanes(skeleton, leaf, starts)
    above, following = _connect(found)
    below = _name_chains(found, above, following, _undone(found, above, kinds))
    reserved = _bridge(found, links)
    _pack(found, reserved, below)
    return found


def _connect(lanes: Lanes) -> tuple[list[int], list[int]]:
    """For every segment the one above it and the one that continues it, -1 for none.

    The active path continues along itself, every other branch with its newest child.
    """
    starts, parent = lanes.starts, lanes.skeleton.parent
    last_of = {end - 1: at for at, end in enumerate(starts[1:])}
    above = [last_of.get(parent[start], -1) for start in starts]
    following = [-1] * len(starts)
    for at, over in enumerate(above):
        if over >= 0:
            following[over] = at
    if lanes.first <= lanes.leaf < lanes.count:
        at = bisect_right(starts, lanes.leaf) - 1
        lanes.active = at
        following[at] = -1
        while (over := above[at]) >= 0:
            following[over] = at
            at = over
    return above, following


def _undone(lanes: Lanes, above: list[int], kinds: bytes | bytearray) -> set[int]:
    """The segments that are compactions which were undone: nothing follows them."""
    starts, found = [*lanes.starts, lanes.count], set()
    entry = kinds.find(Kind.COMPACTION, lanes.first)
    while 0 <= entry < lanes.count:
        at = bisect_left(starts, entry)
        if starts[at : at + 2] == [entry, entry + 1] and entry != lanes.leaf:
            found.add(at)
        entry = kinds.find(Kind.COMPACTION, entry + 1)
    return found.difference(above) if found else found


def _name_chains(
    lanes: Lanes, above: list[int], following: list[int], undone: set[int]
) -> dict[int, int]:
    """Name the chains; for compactions of one entry that were undone, which one of them is the
    first: the others share its lane, so that tries take no more room than one."""
    firsts: dict[int, int] = {}
    below: dict[int, int] = {}
    starts, parent, chains = lanes.starts, lanes.skeleton.parent, lanes.chains
    ends = [*starts[1:], lanes.count]
    chain_of = lanes.chain_of
    for at, start in enumerate(starts):
        over = above[at]
        if over >= 0 and following[over] == at:
            chain = chain_of[over]
            chains.tail[chain] = ends[at] - 1
        else:
            chain = len(chains.head)
            origin = parent[start]
            rise, hangs = _rise(starts, following, over, origin, start)
            if at in undone and firsts.setdefault(origin, chain) != chain:
                below[chain] = firsts[origin]
                rise, hangs = start, hangs or rise != start
            chains.head.append(start)
            chains.tail.append(ends[at] - 1)
            chains.origin.append(origin)
            chains.rise.append(rise)
            chains.hangs.append(hangs)
        chain_of.append(chain)
    if lanes.active >= 0:
        lanes.active = chain_of[lanes.active]
    return below


def _rise(
    starts: list[int], following: list[int], over: int, origin: int, start: int
) -> tuple[int, bool]:
    """Where the line of a forking chain begins, and whether it hangs without one."""
    if origin < 0:
        return start, False
    if over < 0:
        return start, True
    # Where the line it forks from passes beside its head without a node in between, the fork
    # may be drawn there; otherwise it must start at the entry itself.
    follower = following[over]
    if follower >= 0 and starts[follower] > start:
        return start, False
    hangs = start - origin > LONG_EDGE
    return (start if hangs else origin + 1), hangs


def _bridge(lanes: Lanes, links: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Note the bridges, and until which entry a chain's lane must stay free for one."""
    reserved: dict[int, int] = {}
    for summary, origin in links:
        if not lanes.first <= origin < summary < lanes.count or summary - origin > LONG_EDGE:
            continue
        chain = lanes.chain_at(origin)
        if chain == lanes.chain_at(summary):
            continue
        in_lane = chain != lanes.active and lanes.chains.tail[chain] == origin
        if in_lane:
            reserved[chain] = max(reserved.get(chain, 0), summary - 1)
        lanes.bridges.append(Bridge(summary, origin, in_lane))
    return reserved


def _pack(lanes: Lanes, reserved: dict[int, int], below: dict[int, int]) -> None:
    """The lowest free lane to the right of the branch that a chain forks from."""
    chains = lanes.chains
    number = len(chains.head)
    chains.lane = array("i", bytes(4 * number))
    chains.end = array("i", chains.tail)
    for chain, end in reserved.items():
        chains.end[chain] = max(chains.end[chain], end)
    busy = [-1] if lanes.active >= 0 else []
    for chain in sorted(range(number), key=chains.rise.__getitem__):
        if chain == lanes.active:
            continue
        origin, rise = chains.origin[chain], chains.rise[chain]
        left = chains.lane[lanes.chain_at(origin)] if origin >= lanes.first else 0
        lane = chains.lane[below[chain]] if chain in below else 0
        if not lane or busy[lane] >= rise:
            lane = _free_lane(busy, max(1, min(left + 1, MAX_LANES - 1)), rise)
        busy[lane] = max(busy[lane], chains.end[chain])
        chains.lane[chain] = lane
        if origin >= 0:
            lanes.forks.append((rise, chain))
    lanes.lanes = [Lane() for _ in range(max(1, len(busy)))]
    for chain in sorted(range(number), key=chains.rise.__getitem__):
        lane_of = lanes.lanes[chains.lane[chain]]
        lane_of.rises.append(chains.rise[chain])
        lane_of.ends.append(chains.end[chain])
        lane_of.chains.append(chain)
    if len(lanes.lanes) == MAX_LANES:
        lanes.lanes[-1] = united(lanes.lanes[-1], 1)


def united(lane: Lane, gap: int) -> Lane:
    """The lane's stretches with those joined that lie less than ``gap`` apart, as chains -1."""
    joined = Lane()
    rises, ends = joined.rises, joined.ends
    for rise, end in zip(lane.rises, lane.ends, strict=True):
        if ends and rise - ends[-1] <= gap:
            ends[-1] = max(ends[-1], end)
        else:
            rises.append(rise)
            ends.append(end)
    joined.chains = [-1] * len(rises)
    return joined


def _free_lane(busy: list[int], lowest: int, rise: int) -> int:
    """A lane that was left at least one row above; grows ``busy`` (the last entry of each)."""
    for lane in range(lowest, MAX_LANES):
        if lane >= len(busy):
            busy.extend([-1] * (lane + 1 - len(busy)))
            return lane
        if busy[lane] < rise - 1 or busy[lane] < 0:
            return lane
    return MAX_LANES - 1


FINEST = 4
"""The first joined octave: buckets of 2^4 entries."""

FEW = 100
"""A lane with fewer stretches is drawn as it is."""

_STACK = (
    RowCategory.USER,
    RowCategory.ASSISTANT,
    RowCategory.THINKING,
    RowCategory.CALL,
    RowCategory.RESULT,
    RowCategory.SHELL,
    RowCategory.COMPACTION,
    RowCategory.BRANCH,
    RowCategory.NOTE,
    RowCategory.INSERTED,
)

_BY_FREQUENCY = tuple(map(int, (
    RowCategory.RESULT, RowCategory.CALL, RowCategory.ASSISTANT, RowCategory.THINKING,
    RowCategory.USER, RowCategory.SHELL, RowCategory.NOTE, RowCategory.BRANCH,
    RowCategory.INSERTED,
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
        """Extend the last stretch of a lane."""
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
"""Buckets that are computed and cached together."""

_MOST_BLOCKS = 2_048


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
            if len(self._blocks) >= _MOST_BLOCKS:
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
    if groups.find(RowCategory.COMPACTION, row, stop) >= 0:
        return RowCategory.COMPACTION
    part = groups[row:stop]
    best, most, left = int(RowCategory.METADATA), 0, len(part)
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
