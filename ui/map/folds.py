"""What a compaction entry folds away, and the line that tells of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from explorer.audit.provenance import Known
from explorer.compaction.context_size import counted_size
from explorer.compaction.profile import PROFILES
from explorer.session.context import context_at
from explorer.session.kinds import Kind
from explorer.session.tree import Path, SessionTree
from ui.audit.known import marked
from ui.map.ids import find_on_path, latest_above, stretch
from ui.map.layout import Lanes


class Fold(NamedTuple):
    """The part of a path that one compaction summarized."""

    compaction: int
    folded: Path
    tokens_before: int
    """Tokens of the context's entries at the compaction's parent."""
    tokens_after: int
    """Tokens of the summary and of what the compaction kept, counted alike."""


def fold_of(tree: SessionTree, compaction: int, weights: Sequence[int] | None = None) -> Fold:
    """What the compaction summarized, and the context's size before and after it.

    ``weights``: tokens per entry where another counter than the estimate counts. Raises KeyError
    when the entry is not a compaction.
    """
    before, after = (
        counted_size(tree, context_at(tree, at), PROFILES["explorer"], weights)
        for at in (tree.columns.parent[compaction], compaction)
    )
    return Fold(compaction, folded_by(tree, compaction), before, after)


def folded_by(tree: SessionTree, compaction: int) -> Path:
    """From what the compaction before it kept to what it kept itself. KeyError as above."""
    columns = tree.columns
    above = columns.parent[compaction]
    kept = find_on_path(tree, above, columns.compactions[compaction].first_kept_id)
    kept = compaction if kept < 0 else kept
    first = 0
    earlier = latest_above(tree, above, Kind.COMPACTION)
    if earlier >= 0:
        first = find_on_path(tree, earlier, columns.compactions[earlier].first_kept_id)
        first = earlier + 1 if first < 0 else first
    return stretch(tree, above, min(first, kept), kept)


def hidden_by(tree: SessionTree, lanes: Lanes, folded: set[int]) -> bytearray | None:
    """1 for every entry that folded compactions hide; None when nothing is folded.

    Branches that fork from what is folded go with it, but never the active path, unless the
    compaction is on it, and never a folded compaction itself.
    """
    if not folded:
        return None
    hidden = bytearray(len(tree))
    safe = {lanes.active}
    for compaction in folded:
        on_path = lanes.is_active(compaction)
        for part in tree.path(compaction).ranges:
            safe.add(lanes.chain_at(part.start))
            safe.update(map(lanes.chain_at, lanes.starts_between(part.start, part.stop - 1)))
        for part in folded_by(tree, compaction).ranges:
            _hide(hidden, lanes, part, on_path)
    _hide_branches(hidden, lanes, safe)
    return hidden


def _hide(hidden: bytearray, lanes: Lanes, part: range, on_path: bool) -> None:
    edges = [part.start, *lanes.starts_between(part.start + 1, part.stop - 1), part.stop]
    for start, stop in pairwise(edges):
        if on_path or not lanes.is_active(start):
            hidden[start:stop] = b"\x01" * (stop - start)


def _hide_branches(hidden: bytearray, lanes: Lanes, safe: set[int]) -> None:
    chains = lanes.chains
    gone: set[int] = set()
    ends = [*lanes.starts[1:], lanes.count]
    for at, start in enumerate(lanes.starts):
        chain = lanes.chain_of[at]
        origin = chains.origin[chain]
        if chain in gone or (origin >= 0 and hidden[origin] and chain not in safe):
            gone.add(chain)
            hidden[start : ends[at]] = b"\x01" * (ends[at] - start)


def sized(before: int, after: int, known: Known) -> str:
    """A compaction's sizes: ``184.2k → 23.8k``, with marks where they are inferred."""
    return " → ".join(marked(short_tokens(size), known) for size in (before, after))


def short_tokens(count: int) -> str:
    """Tokens for people: 23,800 is 23.8k."""
    if count < 1_000:
        return str(count)
    if count < 999_950:
        return f"{count / 1_000:.1f}k"
    return f"{count / 1_000_000:.2f}M"
