"""The size of a context that grows message by message, in constant time for each, and the tool
results in it that may be pruned.

The size is what ``explorer.compaction.context_size`` says of the same context: tests hold the two
together. Positions are the track's, sizes tokens.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import accumulate, compress
from typing import NamedTuple

from explorer.audit.simulation.track import Track
from explorer.compaction.path_view import SENT, USER_IMAGE_TOKENS, entry_tokens
from explorer.compaction.profile import Profile
from explorer.compaction.pruning import PruningPlan, ToolResults, prune_note
from explorer.session.context import context_at, is_unsent_reply, sent_tokens
from explorer.session.edit_entries import note_tokens
from explorer.session.edits import last_shape_change, shape_on
from explorer.session.kinds import Flag, Kind
from explorer.session.tree import SessionTree

_FAILED = int(Flag.ERROR | Flag.ABORTED)
_EXCLUDED = int(Flag.EXCLUDED)


class TrackWeights:
    """What the entries of a track take, as a profile counts them; sums of any stretch at once."""

    def __init__(self, track: Track, profile: Profile, weights: Sequence[int] | None) -> None:
        """``weights``: by recorded entry, see ``Known``."""
        self.measured: array[int] | None = None
        values = array("i", track.estimate)
        if weights is not None and profile.weights == SENT:
            self.measured = array("i", (weights[entry] for entry in track.entries))
            pairs = zip(self.measured, track.estimate, strict=True)
            values = array("i", (count if count >= 0 else guess for count, guess in pairs))
        for at, kind in enumerate(track.kinds):
            if kind == Kind.COMPACTION:
                values[at] = 0
            elif kind == Kind.OTHER_ROLE or (
                kind in (Kind.BASH_EXECUTION, Kind.PYTHON_EXECUTION) and track.flags[at] & _EXCLUDED
            ):
                values[at] = 0 if profile.weights == SENT else values[at]
        self.written = array("i", values)
        """What each entry took to write, whether or not it is sent again."""
        if profile.weights == SENT:
            for at, entry in enumerate(track.entries):
                if is_unsent_reply(track.tree.columns, entry):
                    values[at] = 0
        if profile.weights == SENT and self.measured is None:
            for at, images in track.rare.user_images.items():
                values[at] += USER_IMAGE_TOKENS * images
        self.values = values
        self.more = self._shown_more(track, profile)
        """What entries take more, or less, as they are shown everywhere, by position."""
        self.sums = array("q", accumulate(values, initial=0))
        """Tokens of all entries before a position; one value more than there are positions."""

    def _shown_more(self, track: Track, profile: Profile) -> dict[int, int]:
        if profile.weights == SENT:
            return {}
        columns, values = track.tree.columns, self.values
        pairs = ((at, entry_tokens(columns, entry)) for at, entry in enumerate(track.entries))
        found = {at: size - values[at] for at, size in pairs if size != values[at]}
        return {at: more for at, more in found.items() if track.kinds[at] != Kind.COMPACTION}

    def between(self, start: int, stop: int) -> int:
        """Tokens of the entries from ``start`` to before ``stop``."""
        return self.sums[stop] - self.sums[start]


class RunningContext:
    """A context, and what its providers reported of it."""

    def __init__(self, track: Track, profile: Profile, weighed: TrackWeights) -> None:
        self._track = track
        self._weighed, self._sums = weighed, weighed.sums
        self._usage = profile.usage
        self.end = 0
        """Positions that it went through."""
        self.start = 0
        """The first position that is in it as it was."""
        self.summary = 0
        """Tokens of the summary in force."""
        self.compacted_at = 0
        """The position at which the compaction in force happened; 0 without one."""
        self.was_reset = False
        """A new start was the last thing that dropped something."""
        self.is_whole = True
        """Nothing was summarized, pruned or dropped."""
        self._reply = -1
        """The reply whose report counts."""
        self._reported = 0
        self._changed = False
        """It was pruned since the last report."""
        self._reshaped = False
        """A person's wishes changed it since the last report."""
        self.again = 0
        """Tokens of what is repeated right after the summary."""
        self._notes: list[tuple[int, int]] = []
        """Of what is in it with less than it weighs, as pruned results are, or not at all: the
        position, and how much less it takes."""
        self._less = 0

    # what it takes -----------------------------------------------------------------------------

    @property
    def counted(self) -> int:
        """Tokens of its entries, whatever a provider reported."""
        apart = self.summary + self.again - self._less
        return apart + self._sums[self.end] - self._sums[self.start]

    @property
    def shown(self) -> int:
        """Tokens of its entries as they are shown everywhere, whatever the rules count."""
        more = self._weighed.more
        if not more:
            return self.counted
        gone = {at for at, less in self._notes if less >= self._weighed.values[at]}
        inside = (self.start <= at < self.end and at not in gone for at in more)
        return self.counted + sum(compress(more.values(), inside))

    @property
    def size(self) -> int:
        """The number that is tested."""
        if self._usage == "last-reply" and not self._changed and not self._reshaped:
            return self._reported if self._reply >= 0 else 0
        if self._reply < 0 or self._reshaped:
            return self.counted
        if self._usage == "last-reply":
            return self._reported
        return self._reported + self._sums[self.end] - self._sums[self._reply + 1]

    @property
    def reply(self) -> int:
        """The reply whose report counts, or -1."""
        return -1 if self._reshaped else self._reply

    @property
    def report(self) -> int:
        """Tokens that were reported with that reply."""
        return self._reported

    @property
    def messages(self) -> int:
        """Messages since the compaction in force."""
        return self._track.messages[self.end] - self._track.messages[self.compacted_at]

    def upto(self, position: int) -> int:
        """Tokens of what lies before a position."""
        less = sum(each for at, each in self._notes if at < position)
        summary = self.summary + self.again
        return summary + self._weighed.between(self.start, max(position, self.start)) - less

    # what happens ------------------------------------------------------------------------------

    def report_usage(self, position: int, total: int) -> None:
        """A reply brought a provider's report along."""
        if self._track.flags[position] & _FAILED:
            return
        if total >= (1 if self._usage == "since-compaction" else 0):
            self._reply, self._reported, self._reshaped = position, total, False

    def compacted(self, first_kept: int, summary: int) -> None:
        """What is before a position gave way to a summary."""
        self._from(first_kept)
        self.summary, self.compacted_at, self.is_whole = summary, self.end, False
        self.again, self.was_reset = 0, False
        stale = self._usage == "since-compaction" or self._reply < first_kept
        if stale and self._usage != "last-reply":
            self._reply = -1

    def reset(self) -> None:
        """What was before gave way to nothing."""
        self._from(self.end)
        self.summary, self.compacted_at, self.is_whole = 0, 0, False
        self.again, self.was_reset = 0, True
        if self._usage != "last-reply":
            self._reply = -1

    def pruned(self, results: Iterable[tuple[int, int]]) -> None:
        """Results gave way to notes: their positions, and what each note takes less."""
        inserted = [result for result in results if result[0] >= self.start]
        self._notes += inserted
        self._less += sum(less for _position, less in inserted)
        self._reply, self._changed, self.is_whole = -1, True, False

    def shaped(self, again: int, less: Iterable[tuple[int, int]], changed: int) -> int:
        """The user's pins and omissions apply: ``again`` tokens are repeated after the summary, and
        what stands at some positions takes less, or nothing. ``changed``: the last position at
        which such an edit changed what is sent, or -1.

        Returns how many tokens at the beginning are unchanged; -1 for all.
        """
        before, current = dict(self._notes), {at: each for at, each in less if at >= self.start}
        apart = [at for at in before.keys() | current.keys() if before.get(at) != current.get(at)]
        same = self.upto(min(apart)) if apart else -1
        if again != self.again:
            same = self.summary
        self.again = again
        self._notes = sorted(current.items())
        self._less = sum(current.values())
        self.is_whole = self.is_whole and same < 0
        if self._usage == "last-reply":
            # The change of a pin that is no longer sent is gone: the report counts again.
            self._reshaped = changed > self._reply
        elif changed > self._reply:
            self._reply = -1
        return same

    def _from(self, position: int) -> None:
        self.start = position
        self._notes = [found for found in self._notes if found[0] >= position]
        self._less = sum(less for _position, less in self._notes)


class ShapedContext(NamedTuple):
    """What came of it. Positions are the track's."""

    apart: frozenset[int]
    """What is pinned or omitted."""
    omitted: frozenset[int]
    pruned: frozenset[int]
    """The results that a note stands for."""
    same: int
    """How many tokens at the beginning of the context are unchanged; -1 for all."""


def shape(
    context: RunningContext,
    weighed: TrackWeights,
    tree: SessionTree,
    leaf: int,
    position_of: Callable[[int], int],
) -> ShapedContext:
    """Let a context honour what holds at a leaf of a tree. ``position_of``: where an entry of the
    tree is on the track, or -1."""
    found, values = context_at(tree, leaf), weighed.values
    again = sum(
        sent_tokens(found, entry, values[position_of(entry)])
        for entry in found.again
        if position_of(entry) >= 0
    )
    less = {
        at: values[at] - note.note_tokens
        for entry, note in found.pruned.items()
        if entry not in found.again and (at := position_of(entry)) >= 0
    }
    pruned = frozenset(less)
    omitted = frozenset(at for entry in found.omitted if (at := position_of(entry)) >= 0)
    less |= {at: values[at] for at in omitted}
    changed = last_shape_change(tree, found.path, found.again)
    same = context.shaped(again, less.items(), position_of(changed) if changed >= 0 else -1)
    shaped = shape_on(tree, found.path)
    pinned = frozenset(at for entry in shaped.pinned if (at := position_of(entry)) >= 0)
    return ShapedContext(pinned | omitted, omitted, pruned, same)


class Pruner:
    """The tool results along one walk: what was pruned of them, and whether more may be. Rows count
    them."""

    def __init__(self, track: Track, results: ToolResults) -> None:
        self._track = track
        self._all = results
        self._policy = results.policy
        self._sums = list(accumulate(results.tokens, initial=0))
        self._could_save = list(accumulate((max(0, save) for save in results.saves), initial=0))
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
        sight = range(self._sight(start), self._row(end))
        rows = [row for row in sight if row not in self._apart]
        return self._all.plan(end, needed=needed, rows=rows, notes=self._notes)

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
        rows = ((self._row(at), track[at]) for at in positions)
        return [row for row, entry in rows if row < len(entries) and entries[row] == entry]

    def _row(self, position: int) -> int:
        """The row of the first result from a position on."""
        track, entries = self._track.entries, self._all.entries
        if position >= len(track):
            return len(entries)
        return bisect_left(entries, track[position])
