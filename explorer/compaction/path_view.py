"""The active path as byte strings, so that every question about it is one pass in C; and the tokens
of a session's entries as they are shown, one by one and all at once.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress

from msgspec import Struct

from explorer.compaction.profile import Profile
from explorer.session.columns import SessionColumns
from explorer.session.context import (
    context_at,
    is_unsent_reply,
    latest_on_path,
    sent_tokens,
    unsent_replies,
)
from explorer.session.describe import CompactionFacts
from explorer.session.edit_entries import Pruned, Reinserted, Shape
from explorer.session.edits import IMAGE_TOKENS, pruned_at, pruned_on, shape_at, shape_on
from explorer.session.kinds import (
    CONTEXT_KINDS,
    METADATA_KINDS,
    TURN_START_KINDS,
    Flag,
    Kind,
    selector,
)
from explorer.session.tree import Path, SessionTree

SENT = "sent"
"""What a profile counts that decides by what is shown: see ``Profile.weights``."""
USER_IMAGE_TOKENS = IMAGE_TOKENS
"""What an image in a user message takes (B6)."""

CONTEXT_MASK = selector(CONTEXT_KINDS)
TURN_MASK = selector(TURN_START_KINDS)
METADATA_MASK = selector(METADATA_KINDS)

EXECUTIONS = selector({Kind.BASH_EXECUTION, Kind.PYTHON_EXECUTION})
_COMPACTIONS = selector({Kind.COMPACTION})
_SUMMARIES = selector({Kind.BRANCH_SUMMARY})
_NEVER_WEIGHED = selector({Kind.COMPACTION, Kind.OTHER_ROLE})
# Plain numbers: an IntFlag takes its time with every operation.
_EXCLUDED, _EMPTY_SUMMARY = int(Flag.EXCLUDED), int(Flag.EMPTY_SUMMARY)
# No model takes a role that is not known.
_SENT_MASK = selector(CONTEXT_KINDS - {Kind.OTHER_ROLE})
# Entries that are not stored messages, and roles that pi does not know: it counts neither.
_NOT_WEIGHED_BY_PI = selector(
    {
        Kind.COMPACTION,
        Kind.CUSTOM_MESSAGE,
        Kind.BRANCH_SUMMARY,
        Kind.SYSTEM,
        Kind.PYTHON_EXECUTION,
        Kind.FILE_MENTION,
        Kind.OTHER_ROLE,
    }
)


class PathView(Struct, frozen=True, eq=False):
    """One path under one profile. All byte strings have one value per position."""

    path: Path
    kinds: bytes
    sent: bytes
    """1 where the entry puts a message into a model's context."""
    weights: array[int]
    """Tokens that the entry counts in the walk to the cut."""
    sizes: array[int]
    """Tokens of the entry as it is shown, see ``entry_tokens``; of the note where it is pruned, 0
    for a compaction. The weights, unless the profile decides by another count."""
    compaction: int
    """Position of the previous compaction that is in force, or -1."""
    turns: bytes
    """1 where a turn begins as people count them; the walk to the cut goes by the kinds."""
    summaries: Mapping[int, int]
    """Tokens of the summary of each compaction, by position."""
    reset: int
    """Position of the last reset boundary, or -1."""
    kept_from: int
    """Position from which the previous compaction kept entries, or -1."""
    kept: Mapping[int, int]
    """The same for each compaction of the path, by position; its own where it kept none."""
    facts: Mapping[int, CompactionFacts]
    """What each compaction of the path records, by position."""
    boundary: int
    """Position where the next compaction's work starts."""
    is_measured: bool
    """Whether a tokenizer counted, not the estimate."""
    pruned: Pruned
    """The tool results, by entry, that a note stands for; they weigh what the note does (A13)."""
    shape: Shape
    """What a person pinned and omitted; what is omitted is not sent and weighs nothing."""
    again: Mapping[int, Reinserted]
    """Entries from before the boundary that the context holds again, after its summary; they weigh
    what they do there."""
    plain: Mapping[int, int]
    """Sizes of omitted entries, and of those that are repeated, as they are in their place."""
    unsent: Sequence[int]
    """Positions of the replies that no request holds again: they failed, were stopped, or say
    nothing. A summarizer reads them."""

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def summary_size(self) -> int:
        """Tokens of the summary in force; 0 without one."""
        return self.summaries.get(self.compaction, 0)

    def turn(self, position: int) -> int:
        """The number of the turn that a position is in, from 1; 0 before the first turn."""
        return self.turns[: position + 1].count(1)

    def entries(self, start: int, stop: int, mask: bytes) -> list[int]:
        """The entries (indices) from positions ``start`` to ``stop`` (exclusive) that the mask, one
        byte per position of the path, marks."""
        out: list[int] = []
        at = start
        for part in self.path[start:stop].ranges:
            out.extend(compress(part, mask[at : at + len(part)]))
            at += len(part)
        return out

    def weight(self, start: int, stop: int) -> int:
        """Tokens from position ``start`` to ``stop`` (exclusive), as the walk to the cut counts."""
        return sum(self.weights[start:stop])

    def size(self, start: int, stop: int) -> int:
        """Tokens from position ``start`` to ``stop`` (exclusive), as they are shown."""
        return sum(self.sizes[start:stop])

    def size_in_place(self, position: int) -> int:
        """Tokens of the entry at a position in its place, whatever pins or omissions apply."""
        size = self.plain.get(self.path[position])
        return self.sizes[position] if size is None else size

    def shown(self, position: int) -> int:
        """Tokens of the entry at a position as they are shown: of its summary for a compaction, of
        what is left out where it is omitted."""
        if self.kinds[position] == Kind.COMPACTION:
            return self.summaries[position]
        if self.path[position] in self.shape.omitted:
            return self.size_in_place(position)
        return self.sizes[position]


def view_of(
    tree: SessionTree, leaf: int, profile: Profile, measured: Sequence[int] | None = None
) -> PathView:
    """The path to ``leaf``. ``measured``: a token column (by entry index) to use instead of the
    estimate; a negative value means not counted yet, and the estimate stands in."""
    path = tree.path(leaf)
    kinds = path.gather(tree.columns.kind)
    compaction, reset, kept = _in_force(tree, path)
    boundary = max(compaction, reset) + 1
    if kept >= 0 and profile.boundary == "corrected":
        boundary = kept
    sent = sent_on(tree, path, kinds)
    unsent = [
        path.position(at) for part in path.ranges for at in unsent_replies(tree.columns, part)
    ]
    pruned, shape = pruned_on(tree, path), shape_on(tree, path)
    again = _again(tree, leaf, shape, path[compaction] if compaction >= 0 else -1)
    sizes = _weights(tree, path, kinds, SENT, measured)
    for position in unsent:
        sizes[position] = 0
    weights = sizes
    if profile.weights != SENT:
        weights = _weights(tree, path, kinds, profile.weights, measured)
        _shape(path, weights, pruned, shape, again)
    plain = _shape(path, sizes, pruned, shape, again)
    return PathView(
        path=path,
        kinds=kinds,
        sent=_without(path, sent, shape),
        weights=weights,
        sizes=sizes,
        compaction=compaction,
        turns=path.turn_starts(tree.columns),
        summaries={
            at: entry_tokens(tree.columns, path[at], measured) for at in marked(kinds, _COMPACTIONS)
        },
        reset=reset,
        kept_from=kept,
        kept={at: _kept_from(tree, path, at) for at in marked(kinds, _COMPACTIONS)},
        facts={at: tree.columns.compactions[path[at]] for at in marked(kinds, _COMPACTIONS)},
        boundary=boundary,
        is_measured=measured is not None,
        pruned=pruned,
        shape=shape,
        again=again,
        plain=plain,
        unsent=unsent,
    )


def _in_force(tree: SessionTree, path: Path) -> tuple[int, int, int]:
    """Positions of the compaction in force, of the last new start, and from which that compaction
    kept entries; -1 for none."""
    compaction = latest_on_path(tree, path, Kind.COMPACTION)
    reset = latest_on_path(tree, path, Kind.RESET_BOUNDARY)
    if compaction < 0 or reset > compaction:
        return -1, reset, -1
    kept = _kept_from(tree, path, compaction)
    # What the context does not hold was not kept (B2).
    return compaction, reset, max(kept, reset + 1) if kept < compaction else -1


def _kept_from(tree: SessionTree, path: Path, compaction: int) -> int:
    """Position from which a compaction of the path kept entries; its own for none."""
    entry = path[compaction]
    first = tree.columns.compactions[entry].first_kept_id
    kept = path.position(tree.index_above(first, entry + 1))
    return kept if 0 <= kept < compaction else compaction


def _again(tree: SessionTree, leaf: int, shape: Shape, compaction: int) -> Mapping[int, Reinserted]:
    if shape or (compaction >= 0 and tree.columns.compactions[compaction].repeats):
        return context_at(tree, leaf).again
    return {}


def _without(path: Path, sent: bytes, shape: Shape) -> bytes:
    """What is sent, without what a person left out."""
    if not shape.omitted:
        return sent
    left = bytearray(sent)
    for entry in shape.omitted:
        left[path.position(entry)] = 0
    return bytes(left)


def _shape(
    path: Path,
    values: array[int],
    pruned: Pruned,
    shape: Shape,
    again: Mapping[int, Reinserted],
) -> dict[int, int]:
    """Let tokens by position follow what was pruned and what a person shaped; returns those of
    what was shaped as they were."""
    for entry, result in pruned.items():
        values[path.position(entry)] = result.note_tokens
    plain: dict[int, int] = {}
    for entry in shape.omitted:
        position = path.position(entry)
        plain[entry] = values[position]
        values[position] = 0
    for entry, copy in again.items():
        position = path.position(entry)
        plain[entry] = values[position]
        values[position] = max(0, values[position] + copy.extra)
    return plain


def entry_tokens(columns: SessionColumns, entry: int, measured: Sequence[int] | None = None) -> int:
    """Tokens of an entry in its place, as a model is sent it: the one figure of it that is shown.

    A compaction's are those of its summary. ``measured``: the tokenizer's, see
    ``TokenCounts.weights_for``. The sizes of a path's view are the same.
    """
    known = -1 if measured is None else measured[entry]
    tokens = known if known >= 0 else columns.estimate[entry]
    if columns.kind[entry] == Kind.OTHER_ROLE or is_unsent_reply(columns, entry):
        return 0
    if columns.flags[entry] & _EXCLUDED:
        return 0
    images = columns.user_images.get(entry, 0) if measured is None else 0
    return tokens + USER_IMAGE_TOKENS * images


def marked(kinds: bytes, mask: bytes) -> Iterator[int]:
    """The positions whose kind the mask marks; quick where there are few."""
    marks = kinds.translate(mask)
    position = marks.find(1)
    while position >= 0:
        yield position
        position = marks.find(1, position + 1)


def sent_on(tree: SessionTree, path: Path, kinds: bytes) -> bytes:
    """1 where an entry of a path puts a message into a model's context; ``kinds``: of its
    entries."""
    flags = tree.columns.flags
    sent = bytearray(kinds.translate(_SENT_MASK))
    for position in marked(kinds, EXECUTIONS):
        if flags[path[position]] & _EXCLUDED:
            sent[position] = 0
    for position in marked(kinds, _SUMMARIES):
        if flags[path[position]] & _EMPTY_SUMMARY:
            sent[position] = 0
    return bytes(sent)


def _weights(
    tree: SessionTree,
    path: Path,
    kinds: bytes,
    counting: str,
    measured: Sequence[int] | None,
) -> array[int]:
    """Tokens by position. ``counting``: see ``Profile.weights``."""
    values = array("i")
    estimate = tree.columns.estimate
    for part in path.ranges:
        if measured is None:
            values.extend(estimate[part.start : part.stop])
        else:
            values.extend(array("i", measured[part.start : part.stop]))
    if measured is not None and values and min(values) < 0:
        for position, value in enumerate(values):
            if value < 0:
                values[position] = estimate[path[position]]
    if counting != SENT:
        for position in marked(kinds, _NOT_WEIGHED_BY_PI):
            values[position] = 0
        return values
    for position in marked(kinds, _NEVER_WEIGHED):
        values[position] = 0
    flags = tree.columns.flags
    for position in marked(kinds, EXECUTIONS):
        if flags[path[position]] & _EXCLUDED:
            values[position] = 0
    if measured is None:
        for entry, images in tree.columns.user_images.items():
            position = path.position(entry)
            if position >= 0:
                values[position] += USER_IMAGE_TOKENS * images
    return values


_APART = (Kind.BASH_EXECUTION, Kind.PYTHON_EXECUTION, Kind.OTHER_ROLE)


def entry_sizes(
    columns: SessionColumns, measured: Sequence[int] | None = None, first: int = 0
) -> array[int]:
    """``entry_tokens`` of every entry from ``first`` on, a whole column at a time."""
    sizes = columns.estimate[first:]
    if measured is not None:
        known = array("i", measured[first:])
        sizes[: len(known)] = known
        if known and min(known) < 0:
            for at, value in enumerate(known):
                if value < 0:
                    sizes[at] = columns.estimate[first + at]
    for at in unsent_replies(columns, range(first, first + len(sizes))):
        sizes[at - first] = 0
    for at in _apart(columns, first):
        sizes[at - first] = entry_tokens(columns, at, measured)
    return sizes


def _apart(columns: SessionColumns, first: int) -> list[int]:
    """The entries that may count otherwise than their column says, replies aside."""
    found = [at for at in columns.user_images if at >= first]
    for kind in _APART:
        at = columns.kind.find(kind, first)
        while at >= 0:
            found.append(at)
            at = columns.kind.find(kind, at + 1)
    return found


class EntrySizes:
    """Tokens of the entries of one session as they are shown while its leaf is where it is: of the
    note where one stands for a result, with the words before it of what is repeated."""

    def __init__(
        self, tree: SessionTree, leaf: int = -1, measured: Sequence[int] | None = None
    ) -> None:
        """``measured``: the tokenizer's counts; later and uncounted entries are estimated."""
        self._tree = tree
        self._leaf = leaf
        self._measured = None if measured is None else array("i", measured)
        self._pruned: Pruned | None = None
        self._shape: Shape | None = None
        self._changed: Mapping[int, int] | None = None
        self._all: array[int] | None = None

    def __getitem__(self, entry: int) -> int:
        size = self.changed.get(entry)
        return self.in_place(entry) if size is None else size

    def in_place(self, entry: int) -> int:
        """Tokens of an entry, whatever was pruned or pinned since."""
        return entry_tokens(self._tree.columns, entry, self.measured)

    def all(self) -> array[int]:
        """Of every entry. The first call costs a pass over the columns."""
        columns, known = self._tree.columns, self._all
        if known is None:
            known = entry_sizes(columns, self.measured)
            for entry, size in self.changed.items():
                known[entry] = size
            self._all = known
        elif len(known) < len(self._tree):
            known.extend(entry_sizes(columns, self.measured, len(known)))
        return known

    @property
    def measured(self) -> Sequence[int] | None:
        """Tokens by entry as a tokenizer counted them, -1 for none; None: all are estimated."""
        measured = self._measured
        if measured is not None and len(measured) < len(self._tree):
            measured.extend([-1] * (len(self._tree) - len(measured)))
        return measured

    @property
    def pruned(self) -> Pruned:
        """The tool results that a note stands for."""
        if self._pruned is None:
            self._pruned = pruned_at(self._tree, self._leaf)
        return self._pruned

    @property
    def shape(self) -> Shape:
        """What a person pinned and omitted."""
        if self._shape is None:
            self._shape = shape_at(self._tree, self._leaf)
        return self._shape

    @property
    def changed(self) -> Mapping[int, int]:
        """Of the entries that are sent otherwise than they were recorded."""
        if self._changed is None:
            self._changed = self._read_changed()
        return self._changed

    def _read_changed(self) -> Mapping[int, int]:
        columns = self._tree.columns
        changed = {entry: result.note_tokens for entry, result in self.pruned.items()}
        if self.shape or any(facts.repeats for facts in columns.compactions.values()):
            context = context_at(self._tree, self._leaf)
            for entry in context.again:
                changed[entry] = sent_tokens(context, entry, self.in_place(entry))
        return changed

    def moved(self, leaf: int) -> bool:
        """The leaf is elsewhere; returns whether other tokens are shown than before."""
        before, self._leaf = self.changed, leaf
        self._pruned = self._shape = self._changed = None
        if self.changed == before:
            return False
        self._all = None
        return True

    def take_changed(self, entries: Iterable[int]) -> None:
        """Mark entries that changed as not counted yet."""
        measured = self.measured
        if isinstance(measured, array):
            for entry in entries:
                measured[entry] = -1
        self._all = self._changed = None
