"""Which tool results are pruned at a leaf (A13): the log keeps them, a prune entry covers them.

A prune entry is a ``custom`` entry that names tool results above it and the note that stands for
each. A further entry of the same type can take one back. Both only hold below themselves, so that
a branch from before a prune is not pruned.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from explorer.session.json_values import token_count
from explorer.session.shaped import shape_on

if TYPE_CHECKING:  # the tree's columns hold what this module reads
    from explorer.session.tree import Path, SessionTree

PRUNE_TYPE = "session-explorer/prune"
"""The ``customType`` of prune entries."""


class PruneFacts(NamedTuple):
    """What a prune entry says."""

    results: tuple[tuple[str, int, str], ...]
    """Of each pruned result: its entry's id, its tokens, the note that stands for it."""
    saved: int
    """Tokens that the notes save."""
    reason: str
    undoes: str
    """The id of the prune entry that this one takes back; empty for a prune."""

    @property
    def title(self) -> str:
        """The entry in a line."""
        if self.undoes:
            return "prune taken back"
        noun = "result" if len(self.results) == 1 else "results"
        return f"pruned {len(self.results):,} tool {noun}, {self.saved:,} tokens saved"


class PrunedResult(NamedTuple):
    """A tool result that a note stands for."""

    tokens: int
    """What it took."""
    text: str
    """The note."""
    by: int
    """The prune entry."""
    note_tokens: int
    """What the note takes: UTF-16 units divided by four, rounded up (B8)."""

    @property
    def saved(self) -> int:
        return max(0, self.tokens - self.note_tokens)


Pruned = Mapping[int, PrunedResult]
"""By entry index."""

NOTHING_PRUNED: Pruned = MappingProxyType({})


def note_tokens(text: str) -> int:
    """Tokens of a note, by the estimate (B8)."""
    units = len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
    return (units + 3) // 4


def prune_facts(data: object) -> PruneFacts | None:
    """What the ``data`` of a prune entry says, as far as it can be read; None for nothing."""
    if not isinstance(data, dict):
        return None
    undoes, reason = data.get("undoes"), data.get("reason")
    listed = data.get("results")
    results = tuple(
        found
        for item in (listed if isinstance(listed, list) else ())
        if (found := _result(item)) is not None
    )
    taken_back = undoes if isinstance(undoes, str) else ""
    if not results and not taken_back:
        return None
    return PruneFacts(
        () if taken_back else results,
        0 if taken_back else token_count(data.get("saved")),
        reason if isinstance(reason, str) else "",
        taken_back,
    )


def _result(item: Any) -> tuple[str, int, str] | None:
    if not isinstance(item, dict):
        return None
    entry_id, text = item.get("id"), item.get("text")
    if not isinstance(entry_id, str) or not isinstance(text, str):
        return None
    return entry_id, token_count(item.get("tokens")), text


def prunes_on(tree: SessionTree, path: Path) -> list[int]:
    """The prune entries in force on a path, oldest first: those that nothing takes back."""
    found = [at for at in tree.columns.prunes if at in path]
    taken_back = {tree.columns.prunes[at].undoes for at in found} - {""}
    ids = tree.columns.ids
    return [at for at in found if not tree.columns.prunes[at].undoes and ids[at] not in taken_back]


def last_prune_change(tree: SessionTree, path: Path) -> int:
    """The last entry on a path that pruned something or took it back, or -1.

    What a provider reported before it tells of a context that is gone (E7).
    """
    return max((at for at in tree.columns.prunes if at in path), default=-1)


def pruned_at(tree: SessionTree, leaf: int) -> Pruned:
    """What is pruned at a leaf; the latest prune counts where two name the same result."""
    return pruned_on(tree, tree.path(leaf)) if tree.columns.prunes else NOTHING_PRUNED


def pruned_on(tree: SessionTree, path: Path) -> Pruned:
    """What is pruned on a path."""
    if not tree.columns.prunes:
        return NOTHING_PRUNED
    inside = prunes_on(tree, path)
    shape = shape_on(tree, path)
    if len(inside) == 1 and not shape:
        return tree.prune_results(inside[0])
    merged: dict[int, PrunedResult] = {}
    for at in inside:
        merged.update(tree.prune_results(at))
    # What is pinned is told whole, and what is omitted is not told at all.
    for at in [*shape.pinned, *shape.omitted]:
        merged.pop(at, None)
    return merged
