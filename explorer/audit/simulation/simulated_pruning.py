"""What pruning would do at a moment of a walk, as ``plan_pruning`` says it.

The engine looks at every result anew. Here all that does not change along a track is read once,
and a plan looks only at what can go; tests hold the two together. Positions are the track's, rows
count its tool results, sizes are tokens.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase
from itertools import accumulate
from typing import NamedTuple

from explorer.audit.simulation.simulated_context import Weighed
from explorer.audit.simulation.track import Track
from explorer.compaction.profile.rules import Pruning
from explorer.compaction.pruning import ORDER, PlannedResult, PruningPlan, Why, prune_note
from explorer.session.columns import OP_KINDS
from explorer.session.edit_entries import note_tokens
from explorer.session.kinds import Flag, Kind

_PRUNING, _NOTHING = int(Flag.PRUNING), int(Flag.FOUND_NOTHING)
_READ = OP_KINDS.index("read")
NEVER = 2**31 - 1
"""A position that no track has."""


class _Touch(NamedTuple):
    """A call that read or changed a file, with a result that did not fail."""

    call: int
    """Its position."""
    row: int
    """Of the result."""
    is_change: bool
    part: int
    """Of a read: which part of the file; 0 is all of it."""


class Results:
    """The tool results of a track under a policy: what does not change while it is walked."""

    def __init__(self, track: Track, weighed: Weighed, policy: Pruning) -> None:
        self.policy = policy
        self.at = array(
            "i", (at for at, kind in enumerate(track.kinds) if kind == Kind.TOOL_RESULT)
        )
        self.tokens = array("i", (weighed.values[at] for at in self.at))
        self.notes = [prune_note(tokens) for tokens in self.tokens]
        self.note_tokens = array("i", map(note_tokens, self.notes))
        pairs = zip(self.tokens, self.note_tokens, strict=True)
        self.saves = array("i", (max(0, tokens - note) for tokens, note in pairs))
        self.may_go = self._may_go(track)
        """1 for those that no rule protects, whatever their age."""
        self.sums = array("q", accumulate(self.tokens, initial=0))
        going = (save * may for save, may in zip(self.saves, self.may_go, strict=True))
        self.could_save = array("q", accumulate(going, initial=0))
        self.touches: dict[int, list[tuple[list[_Touch], int]]] = {}
        """Of each read by its row: its files, each with all touches and the number of its own."""
        self.same = self._errors(track)
        """Of each error by its row: the rows of all that say the same."""
        self.nothing = {row for row, at in enumerate(self.at) if track.flags[at] & _NOTHING}
        self._read_files(track)

    def _may_go(self, track: Track) -> bytes:
        policy, tools = self.policy, track.tree.columns.tools
        kept = {
            at
            for at, name in enumerate(tools)
            if at and any(fnmatchcase(name, pattern) for pattern in policy.protected_tools)
        }
        least = policy.smallest_result
        return bytes(
            track.tool[at] not in kept
            and not track.flags[at] & _PRUNING
            and tokens >= least
            and not (least and not saved)
            for at, tokens, saved in zip(self.at, self.tokens, self.saves, strict=True)
        )

    def _errors(self, track: Track) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        alike: dict[tuple[int, int], list[int]] = {}
        for row, at in enumerate(self.at):
            mark = track.rare.errors.get(at)
            if mark is not None:
                found[row] = alike.setdefault((track.tool[at], mark), [])
                found[row].append(row)
        return found

    def _read_files(self, track: Track) -> None:
        ops = track.operations
        rows = {at: row for row, at in enumerate(self.at)}
        files: dict[int, list[_Touch]] = {}
        for number, call in enumerate(ops.entry):
            row, is_change = rows.get(ops.result[number], -1), ops.kind[number] != _READ
            if row < 0 or ops.failed[number]:
                continue
            known = files.setdefault(ops.path[number], [])
            if not is_change:
                self.touches.setdefault(row, []).append((known, len(known)))
            known.append(_Touch(call, row, is_change, ops.part[number]))


class Pruner:
    """The results along one walk."""

    def __init__(self, results: Results) -> None:
        self._all = results
        self._policy = results.policy
        self.everything = results.policy.amount == "everything"
        """Pruned is whatever can be, not only what is needed."""
        self._inside = results.policy.scope == "context"
        self._by_age = not (
            results.policy.superseded_first
            or results.policy.useless
            or results.policy.current_reads == "kept"
        )
        self._noted: set[int] = set()
        self._gone = 0
        """What that saved."""
        self._first = 0
        """The first row that is looked at."""
        self._settled = 0
        """Before this row all are pruned or never may be."""
        self._apart: frozenset[int] = frozenset()
        """Rows of what is pinned or omitted."""

    # what happens ------------------------------------------------------------------------------

    def gone(self, positions: Iterable[int]) -> None:
        """Results were pruned."""
        rows = set(self._rows(positions))
        self._noted |= rows
        self._gone += sum(self._all.saves[row] for row in rows)

    def shaped(self, apart: Collection[int], pruned: Collection[int]) -> None:
        """A person's wishes hold: what is pinned or omitted is never looked at; ``pruned`` are
        the results for which a note stands."""
        self._apart = frozenset(self._rows(apart))
        self._noted, self._gone, self._settled = set(), 0, 0
        self.gone(pruned)

    def _rows(self, positions: Iterable[int]) -> list[int]:
        at = self._all.at
        found = ((self._row(position), position) for position in positions)
        return [row for row, position in found if row < len(at) and at[row] == position]

    def _row(self, position: int) -> int:
        """The row of the first result from a position on."""
        return bisect_left(self._all.at, position)

    # whether anything could be done ------------------------------------------------------------

    def may_save(self, end: int, start: int) -> bool:
        """Whether results before ``end`` may save enough. ``start``: where the context's entries
        begin. Where it says no, ``plan`` finds nothing to do."""
        return self._bound(self._row(end), start) >= self._policy.minimum_savings

    def may_save_from(self, end: int, start: int) -> int:
        """The first position, from ``end`` on, before which enough may be saved; a number beyond
        the track where that is never so."""
        at, least = self._all.at, self._policy.minimum_savings
        row = self._row(end)
        count = bisect_left(
            range(len(at) + 1), True, row, key=lambda rows: self._bound(rows, start) >= least
        )
        if count > len(at):
            return NEVER
        return end if count == row else at[count - 1] + 1

    def _bound(self, count: int, start: int) -> int:
        """The most that so many results could save; below 0 where there is none to look at."""
        could_save = self._all.could_save
        older = count if self._apart else self._older(count)
        first = self._from(start)
        return could_save[older] - could_save[first] - self._gone if older > first else -1

    def _from(self, start: int) -> int:
        """The first row that is looked at, where the context's entries begin at a position."""
        if not self._inside:
            return 0
        first = self._row(start)
        if first != self._first:
            self._first = first
            self._noted = {row for row in self._noted if row >= first}
            self._gone = sum(self._all.saves[row] for row in self._noted)
        return first

    def _older(self, count: int) -> int:
        """How many of so many results are older than the protected window. Within it nothing was
        ever pruned: it only moves on."""
        sums, protect = self._all.sums, self._policy.protect_tokens
        if protect <= 0:
            return count
        return bisect_right(sums, sums[count] - protect) - 1

    # what is done ------------------------------------------------------------------------------

    def plan(self, end: int, start: int, needed: int | None) -> PruningPlan:
        """What is pruned of the results before ``end``; its entries are positions. ``needed``:
        tokens to save, None for everything."""
        found, policy = self._all, self._policy
        first, count = self._from(start), self._row(end)
        older = self._older_one_by_one(first, count) if self._apart else self._older(count)
        settled = max(self._settled, first)
        while settled < older and (settled in self._noted or not found.may_go[settled]):
            settled += 1
        self._settled = settled
        planned: list[tuple[int, int, Why]] = []
        for row in range(settled, older):
            if not found.may_go[row] or row in self._noted or row in self._apart:
                continue
            why: Why | None = "old" if self._by_age else self._why(row, first, count, end)
            if why is not None:
                planned.append((ORDER.index(why), row, why))
        planned.sort()
        could_save = sum(found.saves[row] for _order, row, _why in planned)
        if planned and could_save < policy.minimum_savings:
            chosen = []
        elif policy.amount == "needed" and needed is not None:
            chosen = self._enough(planned, max(needed, policy.minimum_savings))
        else:
            chosen = planned
        return PruningPlan(
            leaf=end,
            policy=policy,
            results=tuple(self._planned(row, why) for _order, row, why in chosen),
            saved=sum(found.saves[row] for _order, row, _why in chosen),
            found=len(planned),
            could_save=could_save,
            window_start=found.at[older] if first <= older < count else -1,
            code="" if chosen else "below-minimum" if planned else "nothing",
        )

    def _planned(self, row: int, why: Why) -> PlannedResult:
        found = self._all
        return PlannedResult(
            found.at[row], "", found.tokens[row], found.notes[row], found.saves[row], why, -1
        )

    def _enough(
        self, planned: Collection[tuple[int, int, Why]], needed: int
    ) -> list[tuple[int, int, Why]]:
        """All that is stale, and of the merely old as much as is needed."""
        chosen, saved = [], 0
        for one in planned:
            if one[2] == "old" and saved >= needed:
                break
            chosen.append(one)
            saved += self._all.saves[one[1]]
        return chosen

    def _older_one_by_one(self, first: int, count: int) -> int:
        held, row = 0, count
        while row > first and held < self._policy.protect_tokens:
            row -= 1
            if row not in self._apart:
                taken = self._all.note_tokens if row in self._noted else self._all.tokens
                held += taken[row]
        return row

    def _why(self, row: int, first: int, count: int, end: int) -> Why | None:
        """Why a result goes; None where it stays as the newest word on a file."""
        policy = self._policy
        read = self._all.touches.get(row)
        if read is not None and self._is_superseded(read, first, count, end):
            return "superseded" if policy.superseded_first else "old"
        if policy.useless and self._is_useless(row, count):
            return "useless"
        return None if read is not None and policy.current_reads == "kept" else "old"

    def _is_superseded(
        self, read: Collection[tuple[list[_Touch], int]], first: int, count: int, end: int
    ) -> bool:
        """Whether all files of a read were read again or changed, with a result in sight."""
        for known, own in read:
            part = known[own].part
            for number in range(own + 1, len(known)):
                later = known[number]
                if later.call >= end:
                    return False
                if not first <= later.row < count or later.row in self._apart:
                    continue
                again = not later.part or later.part == part
                if later.is_change or (again and later.row not in self._noted):
                    break
            else:
                return False
        return True

    def _is_useless(self, row: int, count: int) -> bool:
        """Whether a result says that there is nothing, or an error that came again."""
        same = self._all.same.get(row)
        if same is None:
            return row in self._all.nothing
        later = same[bisect_right(same, row) : bisect_left(same, count)]
        return any(one not in self._noted and one not in self._apart for one in later)
