"""What a person pinned, omitted or wished to be kept, in a context that is only sizes.

The engine says what that is; see ``explorer.session.edits``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from explorer.audit.simulation.context import RunningContext, Weighed
from explorer.session.context import context_at, sent_tokens
from explorer.session.edits import last_shape_change, shape_on
from explorer.session.tree import SessionTree


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
