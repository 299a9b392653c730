"""What was pruned and shaped on the way to the leaf: looked up once for each leaf."""

from __future__ import annotations

from explorer.session.edit_entries import NOTHING_PRUNED, PLAIN, Pruned, Shape
from explorer.session.edits import pruned_at, shape_at
from explorer.session.tree import SessionTree


class AtLeaf:
    """Of one session."""

    def __init__(self, tree: SessionTree) -> None:
        self._tree = tree
        self._pruned: tuple[int, Pruned] = (-1, NOTHING_PRUNED)
        self._shape: tuple[int, Shape] = (-1, PLAIN)

    def pruned(self, leaf: int) -> Pruned:
        """The tool results that a note stands for."""
        if self._pruned[0] != leaf:
            self._pruned = leaf, pruned_at(self._tree, leaf)
        return self._pruned[1]

    def shape(self, leaf: int) -> Shape:
        """What a person pinned and omitted."""
        if self._shape[0] != leaf:
            self._shape = leaf, shape_at(self._tree, leaf)
        return self._shape[1]

    def told(self, leaf: int, entry: int, tokens: int) -> int:
        """Tokens of an entry of so many as the model is sent it: a note's where it is pruned, none
        where it is omitted."""
        if entry in self.shape(leaf).omitted:
            return 0
        result = self.pruned(leaf).get(entry)
        return tokens if result is None else result.note_tokens
