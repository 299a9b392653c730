"""The stretches of a walk in which nothing happens, taken at once."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import add
from typing import NamedTuple

from explorer.audit.simulation.result import Mark, NotDone
from explorer.audit.simulation.simulated_compactor import Keeper
from explorer.audit.simulation.stretches import Stretches

_TOO_LARGE = int(Mark.TOO_LARGE)
_SHORTEST = 4
"""Positions that are worth a leap."""


class _Taken(NamedTuple):
    """Requests of a stretch: their numbers, what was sent with each, and how it was tested."""

    first: int
    stop: int
    sent: list[int]
    tokens: list[int]


class Leaps:
    """Leaps along one walk. Positions are the track's."""

    def __init__(self, keeper: Keeper, stretches: Stretches) -> None:
        self._keeper = keeper
        self._all = stretches
        self._failed = (-2, -1)
        """The reply that counted when no leap was possible last, and when it is tried again."""

    def onward(self, at: int) -> int:
        """Go on from a position as far as nothing happens; where that ends, the same position if
        it is at once."""
        keeper, context = self._keeper, self._keeper.context
        reply, again = self._failed
        if context.reply < 0 or (context.reply == reply and at < again):
            return at
        quiet = keeper.is_calm
        resting = keeper.guards.resting and not keeper.guards.unproven
        if not quiet and (not resting or keeper.guards.recovered):
            return at
        fixed = None if context.is_whole else context.fixed
        stop = self._stop(at, fixed, resting)
        if stop - at < _SHORTEST or not self._is_alike(fixed):
            self._failed = context.reply, at + _SHORTEST
            return at
        taken = self._requests(at, stop, fixed)
        if not quiet or not keeper.profile.enabled:
            stop, taken = self._woken(stop, taken) if resting else (stop, taken)
            self._take(taken, fixed, self._refused(taken))
        else:
            self._take(taken, fixed, None)
        context.end = stop
        return stop

    # how far -----------------------------------------------------------------------------------

    def _is_alike(self, fixed: int | None) -> bool:
        """Whether the report that counts is one as those that follow, so that sizes only grow."""
        context, found = self._keeper.context, self._all
        request = bisect_left(found.at, context.reply)
        if fixed is None:
            sent = found.whole[request]
        else:
            sent = found.prompt(request, fixed)
        return sent > 0 and context.report == sent + found.written[request]

    def _stop(self, at: int, fixed: int | None, resting: bool) -> int:
        """The position at which something may happen."""
        keeper, found = self._keeper, self._all
        stop, limits = len(keeper.track), keeper.limits
        here = bisect_left(found.stops, at)
        if here < len(found.stops):
            stop = min(stop, found.stops[here])
        look, request = bisect_left(found.look_at, at), bisect_left(found.at, at)
        if resting:
            look = found.looks_within(limits.threshold, look, fixed)
        elif keeper.profile.enabled:
            larger = found.first_larger(limits.window, request, fixed)
            if larger < len(found.at):
                stop = min(stop, found.at[larger])
            pruned = keeper.may_prune_from(at)
            look = min(
                found.looks_above(limits.threshold, look, fixed),
                bisect_left(found.look_end, pruned, look),
            )
        else:
            look = len(found.look_at)
        if look < len(found.look_at):
            stop = min(stop, found.look_at[look])
        return stop

    # what is taken down ------------------------------------------------------------------------

    def _requests(self, at: int, stop: int, fixed: int | None) -> _Taken:
        found, context = self._all, self._keeper.context
        first, last = bisect_left(found.at, at), bisect_left(found.at, stop)
        if fixed is None:
            sent = found.whole[first:last].tolist()
        else:
            sent = found.prompts(first, last, fixed)
        if first == last:
            return _Taken(first, last, sent, [])
        request = bisect_left(found.at, context.reply)
        told = context.report - found.written[request]
        if all(found.reports[first:last]):
            tokens = list(map(add, [told, *sent], found.since[first:last]))
            return _Taken(first, last, sent, tokens)
        tokens = []
        for number in range(first, last):
            tokens.append(told + found.since[number])
            if found.reports[number]:
                told = sent[number - first]
        return _Taken(first, last, sent, tokens)

    def _woken(self, stop: int, taken: _Taken) -> tuple[int, _Taken]:
        """Whoever rests is woken by a request that is too large for the window while the context
        is within the threshold."""
        found, limits = self._all, self._keeper.limits
        for number, (sent, tokens) in enumerate(zip(taken.sent, taken.tokens, strict=True)):
            if tokens <= limits.threshold and sent > limits.window:
                stop = found.at[taken.first + number]
                return stop, _Taken(
                    taken.first, taken.first + number, taken.sent[:number], taken.tokens[:number]
                )
        return stop, taken

    def _refused(self, taken: _Taken) -> list[int]:
        """The requests, counted within the stretch, that do not fit the window."""
        window, asked = self._keeper.limits.window, self._all.asked
        return [
            number
            for number, sent in enumerate(taken.sent)
            if sent > window and asked[taken.first + number]
        ]

    def _take(self, taken: _Taken, fixed: int | None, refused: Sequence[int] | None) -> None:
        keeper, found = self._keeper, self._all
        first, stop = taken.first, taken.stop
        if first == stop:
            return
        if fixed is None:
            marks = bytearray(found.whole_marks[first:stop])
        else:
            marks = bytearray(stop - first)
        for number in refused or ():
            marks[number] |= _TOO_LARGE
        if refused:
            reason, before = keeper.refusal(), len(keeper.meter.requests) - first
            track = keeper.track
            for number in refused:
                at = found.at[first + number] - 1
                entry, turn = (track.entries[at], track.turn[at]) if at >= 0 else (-1, 0)
                keeper.happened.not_done.append(
                    NotDone(reason, before + first + number, entry, turn)
                )
        keeper.meter.take_all(found, first, stop, taken.tokens, taken.sent, marks)
        last = found.reports.rfind(1, first, stop)
        if last >= 0:
            sent = taken.sent[last - first]
            keeper.reported(found.at[last], sent + found.written[last], sent)
