"""A cut chosen by hand: it is of its own path, and ends where that is left."""

from __future__ import annotations

from explorer.session.tree import SessionTree


class HandCut:
    """A position of a path, or none."""

    def __init__(self) -> None:
        self.position: int | None = None
        self._leaf = -1
        """The leaf of the path on which it was chosen."""

    def choose(self, position: int | None, leaf: int) -> None:
        """Cut at a position of the path to a leaf; None: where the settings put it."""
        self.position, self._leaf = position, leaf

    def forget(self) -> None:
        """Cut where the settings put it."""
        self.position = None

    def follow(self, tree: SessionTree, leaf: int) -> None:
        """It holds on where the path to another leaf goes on from its own, and nowhere else."""
        if self.position is None or leaf == self._leaf:
            return
        if leaf < 0 or tree.path(leaf).position(self._leaf) < 0:
            self.position = None
        self._leaf = leaf
