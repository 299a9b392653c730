"""What can be said of whole stretches of a track at once, whatever the sizes that are tried.

While a context only grows, its size at every request is that of the entries before it and one
number more, which is the same for the whole stretch. So the place where a threshold is passed is
found by bisection, and the requests before it are taken down together.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from explorer.audit.simulation.measurement import Measure
from explorer.audit.simulation.simulated_context import Weighed
from explorer.audit.simulation.track import ASKED, SAID, TOLD, UNASKED, Track
from explorer.session.kinds import Flag, Kind

_FAILED, _ABORTED = int(Flag.ERROR | Flag.ABORTED), int(Flag.ABORTED)
_SLACK = 2
"""Tokens by which a sum of fractions may be off; what is found so is looked at exactly."""


class Rises:
    """Values that mostly rise, and where they first pass a limit."""

    def __init__(self, values: Sequence[float]) -> None:
        self._values = values
        self._most = list(accumulate(values, max))
        self._least = list(accumulate(reversed(values), min))[::-1]

    def above(self, limit: float, start: int) -> Iterator[int]:
        """The places from ``start`` on whose values are above a limit."""
        if start and start < len(self._most) and self._most[start - 1] > limit:
            at = start
        else:
            at = bisect_right(self._most, limit, start)
        return (each for each in range(at, len(self._values)) if self._values[each] > limit)

    def below(self, limit: float, start: int) -> Iterator[int]:
        """The places from ``start`` on whose values are not above a limit."""
        stop = bisect_right(self._least, limit, start)
        return (each for each in range(start, stop) if self._values[each] <= limit)


class Stretches:
    """The requests of a track, and the moments at which rules look at its context.

    For one way to count, one ``usage`` of a profile, and one answer to whether it looks between
    rounds. Requests and looks are numbered in their order.
    """

    def __init__(
        self,
        track: Track,
        weighed: Weighed,
        measure: Measure,
        *,
        by_last_reply: bool,
        between_rounds: bool,
        cache_minutes: float,
    ) -> None:
        self.measure = measure
        self.by_last_reply = by_last_reply
        self._sums, self._values = weighed.sums, weighed.values
        self.at = array("i", (at for at in range(len(track)) if _is_request(track, at)))
        """The position of each request's reply."""
        self.asked = bytes(track.acts[at] == ASKED for at in self.at)
        """1 for those that must fit the window."""
        self.reports = bytes(not track.flags[at] & _FAILED for at in self.at)
        """1 for those with which a provider's report comes."""
        self.entries = array("i", (track.entries[at] for at in self.at))
        self.turns = array("i", (track.turn[at] for at in self.at))
        self.written = array("i", (self._values[at] for at in self.at))
        self.times = array("d", map(track.time_ms, self.at))
        self.pauses = self._pauses(cache_minutes * 60_000)
        """1 where nothing is left in a cache when the request goes out."""
        self.before = array("q", (self._sums[at] for at in self.at))
        """Tokens of all entries before each one."""
        reported = list(accumulate((n if r else -1 for n, r in enumerate(self.reports)), max))
        self.last = array("i", [-1, *reported][: len(self.at)])
        """The request before each one whose report counts at it; -1 for none."""
        self.since = array("q", map(self._since, self.last, self.at))
        """Tokens at each request beyond the prompt of that one."""
        self._read_whole(track)
        self._read_looks(track, reported, between_rounds)
        self.stops = array(
            "i",
            sorted(
                {at for at, kind in enumerate(track.kinds) if kind == Kind.RESET_BOUNDARY}
                | track.shaping
            ),
        )
        """Positions that change a context otherwise than by growing."""

    def _pauses(self, lasts_ms: float) -> bytes:
        before = array("d", [0.0, *self.times])
        return bytes(
            bool(then) and 0 < lasts_ms < now - then
            for then, now in zip(before, self.times, strict=False)
        )

    def _since(self, request: int, end: int) -> int:
        if request < 0:
            return 0
        at = self.at[request]
        return self._values[at] if self.by_last_reply else self._sums[end] - self._sums[at]

    def _read_whole(self, track: Track) -> None:
        """What is sent as long as nothing was changed: what a provider counted then, if it did."""
        exact = [
            track.entries[at] < track.changed and track.usage[at] > self._values[at]
            for at in self.at
        ]
        self.whole_marks = bytes(exact)
        """1 where a provider counted that very prompt."""
        self.whole = array(
            "q",
            (
                track.usage[at] - self._values[at] if known else self.measure.prompt(self._sums[at])
                for at, known in zip(self.at, exact, strict=True)
            ),
        )
        """Tokens of each prompt then."""
        self.whole_rises = Rises(self.whole)

    def _read_looks(self, track: Track, reported: Sequence[int], between: bool) -> None:
        looks = list(_looks(track, between))
        self.look_at = array("i", (at for at, _end in looks))
        """The position whose turn it is at each look."""
        self.look_end = array("i", (end for _at, end in looks))
        """How far the context goes then."""
        found = (bisect_left(self.at, end) - 1 for end in self.look_end)
        self.look_last = array("i", (reported[each] if each >= 0 else -1 for each in found))
        """The request whose report counts; -1 for none."""
        self.look_since = array("q", map(self._since, self.look_last, self.look_end))
        """Tokens beyond its prompt."""
        ratio = self.measure.ratio
        pairs = list(zip(self.look_last, self.look_since, strict=True))
        self.look_rises = Rises(
            [ratio * self.before[last] + since if last >= 0 else 0.0 for last, since in pairs]
        )
        self.look_whole_rises = Rises(
            [self.whole[last] + since if last >= 0 else 0 for last, since in pairs]
        )

    # in a context that grows -------------------------------------------------------------------

    def prompt(self, request: int, fixed: int) -> int:
        """Tokens of a prompt. ``fixed``: see ``RunningContext.fixed``."""
        return self.measure.prompt(self.before[request] + fixed)

    def prompts(self, start: int, stop: int, fixed: int) -> list[int]:
        """Tokens of the prompts from one request to before another."""
        beyond, ratio = self.measure.beyond, self.measure.ratio
        return [beyond + round((each + fixed) * ratio) for each in self.before[start:stop]]

    def first_larger(self, window: int, start: int, fixed: int | None) -> int:
        """The first request from ``start`` on whose prompt is larger than a window; ``fixed`` is
        None for a context that was never changed. The number of all requests when none is."""
        count = len(self.at)
        if fixed is None:
            return next(self.whole_rises.above(window, start), count)
        measure = self.measure
        limit = (window - measure.beyond - _SLACK) / measure.ratio - fixed
        found = bisect_right(self.before, limit, start)
        while found < count and self.prompt(found, fixed) <= window:
            found += 1
        return found

    def looks_above(self, limit: int, start: int, fixed: int | None) -> int:
        """The first look from ``start`` on at which a context is larger than a limit; the number
        of all looks when there is none."""
        if fixed is None:
            found = self.look_whole_rises.above(limit, start)
        else:
            found = self.look_rises.above(self._least(limit, fixed) - _SLACK, start)
        return next((at for at in found if self.size(at, fixed) > limit), len(self.look_at))

    def looks_within(self, limit: int, start: int, fixed: int | None) -> int:
        """The first look from ``start`` on at which a context is not larger than a limit."""
        if fixed is None:
            found = self.look_whole_rises.below(limit, start)
        else:
            found = self.look_rises.below(self._least(limit, fixed) + _SLACK, start)
        return next((at for at in found if self.size(at, fixed) <= limit), len(self.look_at))

    def _least(self, limit: int, fixed: int) -> float:
        return limit - self.measure.beyond - fixed * self.measure.ratio

    def size(self, look: int, fixed: int | None) -> int:
        """The number that is tested at a look."""
        last = self.look_last[look]
        sent = self.whole[last] if fixed is None else self.prompt(last, fixed)
        return sent + self.look_since[look]


def _is_request(track: Track, at: int) -> bool:
    if track.acts[at] in (ASKED, UNASKED):
        return True
    return track.kinds[at] == Kind.ASSISTANT and bool(track.flags[at] & _ABORTED)


def _looks(track: Track, between: bool) -> Iterator[tuple[int, int]]:
    """The moments at which the walk looks at the context: the position whose turn it is, and where
    the context ends then."""
    for at, act in enumerate(track.acts):
        if act == SAID or (between and track.unlooked[at]):
            yield at, at
        elif act == TOLD:
            yield at, at + 1
        if track.ends[at]:
            yield at, at + 1
