"""Whether pruning could save enough for the engine to be asked for a plan at all.

An upper bound in constant time: where it says no, ``plan_pruning`` finds nothing to do, which
tests hold it to. Positions are the track's, sizes tokens.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from fnmatch import fnmatchcase

from explorer.audit.simulation.context import Weighed
from explorer.audit.simulation.track import Track
from explorer.compaction.policies import Pruning
from explorer.compaction.pruning import prune_note
from explorer.session.kinds import Flag, Kind
from explorer.session.pruned import note_tokens

_PRUNING = int(Flag.PRUNING)


class ResultSums:
    """The tool results of a track and what notes in their place would save."""

    def __init__(self, track: Track, weighed: Weighed, policy: Pruning | None) -> None:
        self.everything = policy is not None and policy.amount == "everything"
        """Pruned is whatever can be, not only what is needed."""
        self._inside = policy is not None and policy.scope == "context"
        self._protect = policy.protect_tokens if policy is not None else 0
        self._at: list[int] = []
        self._tokens = [0]
        self._saves = [0]
        self._gone: list[tuple[int, int]] = []
        self._gone_less = 0
        self._noted: set[int] = set()
        self._settled = 0
        if policy is not None:
            self._read(track, weighed, policy)

    def _read(self, track: Track, weighed: Weighed, policy: Pruning) -> None:
        columns = track.tree.columns
        kept = {
            at
            for at, name in enumerate(columns.tools)
            if at and any(fnmatchcase(name, pattern) for pattern in policy.protected_tools)
        }
        at = track.kinds.find(Kind.TOOL_RESULT)
        while at >= 0:
            tokens = weighed.values[at]
            stays = columns.tool[track.entries[at]] in kept or track.flags[at] & _PRUNING
            saves = max(0, tokens - note_tokens(prune_note(tokens)))
            self._at.append(at)
            self._tokens.append(self._tokens[-1] + tokens)
            self._saves.append(self._saves[-1] + (0 if stays else saves))
            at = track.kinds.find(Kind.TOOL_RESULT, at + 1)

    def may_save(self, end: int, start: int, least: int) -> bool:
        """Whether results before ``end`` may save so much. ``start``: where the context's entries
        begin."""
        count = bisect_left(self._at, end)
        older = count
        if self._protect > 0:
            # Within the protected window nothing was ever pruned: it only moves on.
            older = bisect_right(self._tokens, self._tokens[count] - self._protect) - 1
        if older <= 0:
            return False
        first = bisect_left(self._at, start) if self._inside else 0
        if first >= older:
            return False
        saved = self._saves[older] - self._saves[first]
        if self._inside:
            self._gone = [(at, less) for at, less in self._gone if at >= start]
            saved -= sum(less for _at, less in self._gone)
        else:
            saved -= self._gone_less
        return saved >= least

    def still_looked_at(self, end: int, start: int) -> list[int]:
        """Results before ``start`` that a later plan may look at: those of the protected window,
        and those older ones that can be pruned. None, where only the context is looked at."""
        if self._inside or not self._at:
            return []
        first = bisect_left(self._at, start)
        count = bisect_left(self._at, end)
        window = bisect_right(self._tokens, self._tokens[count] - self._protect) - 1
        window = min(max(window, 0), first)
        while self._settled < window and not self._may_go(self._settled):
            self._settled += 1
        older = [row for row in range(self._settled, window) if self._may_go(row)]
        return [self._at[row] for row in (*older, *range(window, first))]

    def _may_go(self, row: int) -> bool:
        return self._saves[row + 1] > self._saves[row] and self._at[row] not in self._noted

    def gone(self, results: Iterable[tuple[int, int]]) -> None:
        """Results were pruned: their positions, and what that saved."""
        for at, less in results:
            self._gone.append((at, max(0, less)))
            self._gone_less += max(0, less)
            self._noted.add(at)
