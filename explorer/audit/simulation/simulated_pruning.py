"""The tool results along one walk: what was pruned of them, and whether more may be.

Plans are those of ``explorer.compaction.pruning``. Positions are the track's, rows count its tool
results, sizes are tokens.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable
from itertools import accumulate

from explorer.audit.simulation.track import Track
from explorer.compaction.pruning import PruningPlan, ToolResults, prune_note
from explorer.session.edit_entries import note_tokens


class Pruner:
    """The tool results along one walk."""

    def __init__(self, track: Track, results: ToolResults) -> None:
        self._track = track
        self._all = results
        self._policy = results.policy
        self._sums = list(accumulate(results.tokens, initial=0))
        self._could_save = list(accumulate((max(0, one) for one in results.saves), initial=0))
        self._apart: frozenset[int] = frozenset()
        """Rows of what is pinned or omitted."""
        self._notes: dict[int, int] = {}
        """By row of each pruned result, the tokens of its note."""
        self._first = 0
        """The first row in sight."""
        self._gone = 0
        """What the notes in sight save."""

    def prune(self, positions: Iterable[int]) -> None:
        """Results gave way to notes."""
        for row in self._rows(positions):
            self._notes[row] = note_tokens(prune_note(self._all.tokens[row]))
            self._gone += max(0, self._all.saves[row])

    def shape(self, apart: Collection[int], pruned: Collection[int]) -> None:
        """A person's wishes hold: what is pinned or omitted is never looked at; ``pruned`` are
        the results for which a note stands."""
        self._apart = frozenset(self._rows(apart))
        self._notes, self._first, self._gone = {}, -1, 0
        self.prune(pruned)

    def may_save(self, end: int, start: int) -> bool:
        """Whether results before ``end`` may save enough; where not, ``plan`` finds nothing to do.
        ``start``: where the context's entries begin."""
        first, count = self._sight(start), self._row(end)
        older = count
        protected = self._policy.protect_tokens
        if protected > 0 and not self._apart:
            older = bisect_right(self._sums, self._sums[count] - protected) - 1
        most = self._could_save[older] - self._could_save[first] - self._gone
        return older > first and most >= self._policy.minimum_savings

    def plan(self, end: int, start: int, needed: int | None) -> PruningPlan:
        """What is pruned of the results before ``end``. ``needed``: tokens to save, None for
        everything."""
        rows: Collection[int] = range(self._sight(start), self._row(end))
        if self._apart:
            rows = [row for row in rows if row not in self._apart]
        return self._all.plan(end, needed=needed, rows=list(rows), notes=self._notes)

    def _sight(self, start: int) -> int:
        """The first row that is looked at, where the context's entries begin at a position."""
        first = self._row(start) if self._policy.scope == "context" else 0
        if first != self._first:
            self._first = first
            self._notes = {row: taken for row, taken in self._notes.items() if row >= first}
            self._gone = sum(max(0, self._all.saves[row]) for row in self._notes)
        return first

    def _rows(self, positions: Iterable[int]) -> list[int]:
        entries, track = self._all.entries, self._track.entries
        found = ((self._row(at), track[at]) for at in positions)
        return [row for row, entry in found if row < len(entries) and entries[row] == entry]

    def _row(self, position: int) -> int:
        """The row of the first result from a position on."""
        track, entries = self._track.entries, self._all.entries
        if position >= len(track):
            return len(entries)
        return bisect_left(entries, track[position])
