"""The size of a context that grows message by message, in constant time for each.

It is what ``explorer.compaction.context_size`` says of the same context: tests hold the two
together. Positions are the track's, sizes tokens.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from explorer.audit.simulation.track import Track
from explorer.compaction.path_view import USER_IMAGE_TOKENS
from explorer.compaction.profile import Profile
from explorer.session.context import context_at, sent_tokens
from explorer.session.edits import last_shape_change, shape_on
from explorer.session.kinds import Flag, Kind
from explorer.session.tree import SessionTree

_FAILED = int(Flag.ERROR | Flag.ABORTED)
_EXCLUDED = int(Flag.EXCLUDED)


class Weighed:
    """What the entries of a track take, as a profile counts them; sums of any stretch at once."""

    def __init__(self, track: Track, profile: Profile, weights: Sequence[int] | None) -> None:
        """``weights``: by recorded entry, see ``Known``."""
        self.measured: array[int] | None = None
        values = array("i", track.estimate)
        if weights is not None and profile.weights == "sent":
            self.measured = array("i", (weights[entry] for entry in track.entries))
            found = zip(self.measured, track.estimate, strict=True)
            values = array("i", (count if count >= 0 else guess for count, guess in found))
        for at, kind in enumerate(track.kinds):
            if kind == Kind.COMPACTION:
                values[at] = 0
            elif kind == Kind.OTHER_ROLE or (
                kind in (Kind.BASH_EXECUTION, Kind.PYTHON_EXECUTION) and track.flags[at] & _EXCLUDED
            ):
                values[at] = 0 if profile.weights == "sent" else values[at]
        if profile.weights == "sent" and self.measured is None:
            for at, images in track.rare.user_images.items():
                values[at] += USER_IMAGE_TOKENS * images
        self.values = values
        self.sums = array("q", accumulate(values, initial=0))
        """Tokens of all entries before a position; one value more than there are positions."""

    def between(self, start: int, stop: int) -> int:
        """Tokens of the entries from ``start`` to before ``stop``."""
        return self.sums[stop] - self.sums[start]


class RunningContext:
    """A context, and what its providers told of it."""

    def __init__(self, track: Track, profile: Profile, weighed: Weighed) -> None:
        self._track = track
        self._weighed = weighed
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
        self._told = 0
        self._changed = False
        """It was pruned since the last report."""
        self._reshaped = False
        """A person's wishes changed it since the last report."""
        self.again = 0
        """Tokens of what is told again right after the summary."""
        self._notes: list[tuple[int, int]] = []
        """Of what is in it with less than it weighs, as pruned results are, or not at all: the
        position, and how much less it takes."""
        self._less = 0

    # what it takes -----------------------------------------------------------------------------

    @property
    def counted(self) -> int:
        """Tokens of its entries, whatever a provider told."""
        return self.fixed + self._weighed.sums[self.end]

    @property
    def fixed(self) -> int:
        """What ``counted`` is, less the tokens of all entries before the end: it stays the same
        while the context only grows."""
        return self.summary + self.again - self._less - self._weighed.sums[self.start]

    @property
    def size(self) -> int:
        """The number that is tested."""
        if self._usage == "last-reply" and not self._changed and not self._reshaped:
            return self._told if self._reply >= 0 else 0
        if self.reply < 0:
            return self.counted
        if self._usage == "last-reply":
            return self._told
        return self._told + self._weighed.between(self._reply + 1, self.end)

    @property
    def reply(self) -> int:
        """The reply whose report counts, or -1."""
        return -1 if self._reshaped else self._reply

    @property
    def report(self) -> int:
        """Tokens that were told with that reply."""
        return self._told

    @property
    def messages(self) -> int:
        """Messages since the compaction in force."""
        return self._track.messages[self.end] - self._track.messages[self.compacted_at]

    def upto(self, position: int) -> int:
        """Tokens of what lies before a position."""
        less = sum(each for at, each in self._notes if at < position)
        told = self.summary + self.again
        return told + self._weighed.between(self.start, max(position, self.start)) - less

    # what happens ------------------------------------------------------------------------------

    def told(self, position: int, total: int) -> None:
        """A reply brought a provider's report along."""
        if self._track.flags[position] & _FAILED:
            return
        if total >= (1 if self._usage == "since-compaction" else 0):
            self._reply, self._told, self._reshaped = position, total, False

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
        found = [one for one in results if one[0] >= self.start]
        self._notes += found
        self._less += sum(less for _position, less in found)
        self._reply, self._changed, self.is_whole = -1, True, False

    def shaped(self, again: int, less: Iterable[tuple[int, int]], changed: int) -> int:
        """A person's wishes hold: ``again`` tokens are told again after the summary, and what
        stands at some positions takes less, or nothing. ``changed``: the last position at which
        such a wish changed what is told, or -1.

        Returns how many tokens at the beginning are told as before; -1 for all.
        """
        before, told = dict(self._notes), {at: each for at, each in less if at >= self.start}
        apart = [at for at in before.keys() | told.keys() if before.get(at) != told.get(at)]
        same = self.upto(min(apart)) if apart else -1
        if again != self.again:
            same = self.summary
        self.again = again
        self._notes = sorted(told.items())
        self._less = sum(told.values())
        self.is_whole = self.is_whole and same < 0
        if self._usage == "last-reply":
            # A pin that is told no longer takes its change along: the report counts again.
            self._reshaped = changed > self._reply
        elif changed > self._reply:
            self._reply = -1
        return same

    def _from(self, position: int) -> None:
        self.start = position
        self._notes = [found for found in self._notes if found[0] >= position]
        self._less = sum(less for _position, less in self._notes)


class Shaped(NamedTuple):
    """What came of it. Positions are the track's."""

    apart: frozenset[int]
    """What is pinned or omitted."""
    omitted: frozenset[int]
    pruned: frozenset[int]
    """The results that a note stands for."""
    same: int
    """How many tokens at the beginning of the context are told as before; -1 for all."""


def shape(
    context: RunningContext,
    weighed: Weighed,
    tree: SessionTree,
    leaf: int,
    position_of: Callable[[int], int],
) -> Shaped:
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
    return Shaped(pinned | omitted, omitted, pruned, same)
