"""Trees for the tests, and plain ways to answer what the tree answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from explorer.formats.pi.entries import read_entry
from explorer.session.describe import describe
from explorer.session.tree import SessionTree

Json = dict[str, Any]


def grow(tree: SessionTree, entry: Json, parent: int) -> int:
    """Append an entry below an index, named ``e<index>`` unless it has an id."""
    entry_id = entry.get("id", f"e{len(tree)}")
    return tree.append(entry_id, parent, describe(read_entry(entry)), 1)


def plant(parents: Sequence[int], times: Sequence[float] | None = None) -> SessionTree:
    """A tree of user messages with the given parents (-1: a root)."""
    tree = SessionTree()
    for index, parent in enumerate(parents):
        moment = times[index] if times is not None else index
        message = {"role": "user", "content": f"text {index}", "timestamp": moment}
        grow(tree, {"type": "message", "message": message}, parent)
    return tree


@st.composite
def parent_lists(draw: st.DrawFn, max_size: int = 40) -> list[int]:
    """Parents of a tree: mostly long chains with forks, as sessions are, and several roots."""
    count = draw(st.integers(0, max_size))
    parents: list[int] = []
    for index in range(count):
        kind = draw(st.integers(0, 9))
        if kind < 7:
            parents.append(index - 1)
        elif kind < 9:
            parents.append(draw(st.integers(-1, index - 1)))
        else:
            parents.append(-1)
    return parents


def naive_path(parents: Sequence[int], leaf: int) -> list[int]:
    path: list[int] = []
    while leaf >= 0:
        path.append(leaf)
        leaf = parents[leaf]
    return path[::-1]


def naive_ancestor(parents: Sequence[int], a: int, b: int) -> int:
    shared = -1
    for one, other in zip(naive_path(parents, a), naive_path(parents, b), strict=False):
        if one != other:
            break
        shared = one
    return shared


def naive_subtree(parents: Sequence[int], index: int) -> list[int]:
    return [at for at in range(len(parents)) if index in naive_path(parents, at)]
