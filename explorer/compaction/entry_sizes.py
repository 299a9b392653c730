"""Tokens of a session's entries as they are shown, one by one and all at once."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence

from explorer.compaction.path_view import entry_tokens
from explorer.session.columns import SessionColumns
from explorer.session.context import context_at, sent_tokens, unsent_replies
from explorer.session.edit_entries import Pruned, Shape
from explorer.session.edits import pruned_at, shape_at
from explorer.session.kinds import Kind
from explorer.session.tree import SessionTree

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
