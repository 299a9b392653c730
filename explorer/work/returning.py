"""The way back from a compaction that was stored elsewhere than at the leaf.

The log cannot tell it: a leaf is a pointer. So it is kept with what the person chose for the
session, by the compaction's id.
"""

from __future__ import annotations

from explorer.work.opened import OpenedSession

_RETURNS = "returns"


def remember_return(document: OpenedSession, compaction: int, left: int) -> None:
    """Note where the leaf was before a compaction was stored elsewhere; stored soon."""
    if left < 0:
        return
    ids, kept = document.tree.columns.ids, document.choices().get(_RETURNS)
    ways = dict(kept) if isinstance(kept, dict) else {}
    document.choose(_RETURNS, {**ways, ids[compaction]: ids[left]})


def return_of(document: OpenedSession, compaction: int) -> int:
    """The leaf that was left for a compaction; -1 for one that was made where it stands."""
    kept = document.choices().get(_RETURNS)
    left = kept.get(document.tree.columns.ids[compaction]) if isinstance(kept, dict) else None
    return document.tree.index_of(left) if isinstance(left, str) else -1
