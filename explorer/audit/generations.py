"""The compactions of a path, one after the other: what each of them kept, summarized and dropped.

What a compaction kept is recorded by its first kept entry. What it summarized is not: it follows
from the rules of the agent that made it, unless this program wrote down the request, or the file
lists of the entry tell. Each generation says how it is known.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from msgspec import Struct

from explorer.audit.provenance import Provenance
from explorer.compaction.path_view import PathView
from explorer.compaction.profile import Profile
from explorer.session.entries import Entry
from explorer.session.partly_compared import PartlyCompared

ReadEntries = Callable[[Sequence[int]], Sequence[Entry]]
"""Reads entries by index, in the order asked for."""
RecordedInputs = Mapping[int, Collection[int]]
"""By compaction entry: the entries that were in its requests, as this program wrote them down."""


class PathState(IntEnum):
    """Where a stretch of the path stands after a compaction."""

    IN_CONTEXT = 0
    SUMMARIZED = 1
    """Only summaries cover it."""
    LOST_RANGE = 2
    """Kept by the compaction before, and the next one started after it (E1)."""
    LOST_CHAIN = 3
    """Covered by a summary that a later compaction did not update (E2)."""
    LOST_BOUNDARY = 4
    """To be kept, but the first kept entry is not there (E8)."""
    LOST_SUMMARY = 5
    """Sent to a summarizer whose summary is empty (E5)."""
    LOST_LEFT_OUT = 6
    """In the range that was summarized, and not in the recorded requests."""
    SET_ASIDE = 7
    """Before a new start that the person made."""


LOST_STATES = frozenset(
    {
        PathState.LOST_RANGE,
        PathState.LOST_CHAIN,
        PathState.LOST_BOUNDARY,
        PathState.LOST_SUMMARY,
        PathState.LOST_LEFT_OUT,
    }
)


class StateRun(NamedTuple):
    """A stretch of positions in one state."""

    start: int
    stop: int
    state: PathState
    summarized_by: int
    """Number of the generation whose summary covered it first; 0 for none."""
    since: int
    """Number of the generation since which the state holds; 0: from the start."""


class Boundary(IntEnum):
    """What became of a recorded first kept entry."""

    KEPT = 0
    NOTHING_KEPT = 1
    """On purpose: it names the compaction itself, or nothing."""
    MISSING = 2
    """It names an entry that is not in this session."""
    OTHER_BRANCH = 3
    """It names an entry of another branch."""
    AFTER = 4
    """It names an entry that came after the compaction."""


BROKEN = frozenset({Boundary.MISSING, Boundary.OTHER_BRANCH, Boundary.AFTER})


class Generation(Struct, frozen=True):
    """One compaction of the path. Positions count on the path."""

    number: int
    """From 1."""
    compaction: int
    """The entry."""
    position: int
    boundary: Boundary
    context_from: int
    """Where the context before it started."""
    previous: int
    """Number of the compaction that was in force before it; 0 for none."""
    summarized_from: int
    kept_from: int
    """First kept position; the compaction's own when nothing before it is kept. What lies between
    ``summarized_from`` and here was summarized."""
    meant_from: int
    """Of a broken boundary: where the rules would have kept from; else ``kept_from``."""
    turn_start: int
    """Where the turn starts that the cut splits, or -1."""
    carries_previous: bool
    """Whether the previous summary lives on in this one."""
    is_empty: bool
    """Whether its summary holds nothing."""
    left_out: tuple[int, ...]
    """Entries in the summarized range that no recorded request contains."""
    provenance: Provenance
    """How the summarized range is known; what was kept is recorded, but for a broken boundary."""
    basis: str
    """Why, in a sentence."""

    @property
    def dropped(self) -> range:
        """Positions that the compaction before kept, and this one neither summarized nor kept."""
        return range(
            self.context_from, max(self.context_from, min(self.summarized_from, self.kept_from))
        )

    @property
    def summarized(self) -> range:
        """Positions that it summarized."""
        return range(self.summarized_from, max(self.summarized_from, self.kept_from))

    @property
    def returned(self) -> range:
        """Positions that it kept although an earlier compaction had summarized them."""
        return range(self.kept_from, max(self.kept_from, self.context_from))


class Generations(PartlyCompared, frozen=True):
    """All compactions of a path, and the state of the path after each."""

    UNCOMPARED = frozenset({"tokens_of", "sizes_around"})

    view: PathView
    profile: Profile
    all: tuple[Generation, ...]
    lanes: tuple[tuple[StateRun, ...], ...]
    """The state of the path: before the first compaction, then after each. A lane ends where the
    next compaction stands; the last one ends with the path."""
    resets: tuple[int, ...]
    """Positions of new starts."""
    tokens_of: Callable[[int], int]
    """Tokens of any entry of the session, as the view weighs those of the path."""
    sizes_around: Callable[[int], tuple[int, int | None]]
    """Tokens of the context's entries before and after a compaction, counted alike; None after it
    where its summary is not in the file."""

    def at(self, compaction: int) -> Generation | None:
        """The generation of a compaction entry, or None."""
        return next((each for each in self.all if each.compaction == compaction), None)

    @property
    def final(self) -> tuple[StateRun, ...]:
        """The state at the leaf."""
        return self.lanes[-1]

    def chain(self, first: int, last: int) -> list[Generation]:
        """The generations from ``first`` to ``last`` (numbers) in whose summaries something lives
        on that the first one summarized."""
        found = []
        for each in self.all[max(first, 1) - 1 : last]:
            if each.number > first and not each.carries_previous:
                break
            found.append(each)
        return found
