"""What a compaction entry folds away, and the entries that other entries name by id."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from explorer.audit.provenance import Known
from explorer.compaction.context_size import expected_after, reported_after, sizes_around
from explorer.compaction.path_view import sent_on
from explorer.compaction.profile import PROFILES
from explorer.services.document import Document
from explorer.session.columns import SessionColumns
from explorer.session.context import context_at
from explorer.session.kinds import Kind
from explorer.session.tree import Path, SessionTree
from ui.audit.known import MARK, NOT_RECORDED, marked
from ui.map.layout import Lanes
from ui.widgets.figures import short

_BLOCK = 2_048
"""Ids looked at with one call, from the end upwards."""


def find_above(ids: Sequence[str], wanted: str, low: int, high: int) -> int:
    """The last index from ``low`` to before ``high`` whose id is ``wanted``, -1 for none."""
    while high > low:
        start = max(low, high - _BLOCK)
        part = ids[start:high]
        if wanted in part:
            return start + part.index(wanted)
        high = start
    return -1


def parts_above(tree: SessionTree, entry: int) -> Iterator[range]:
    """The path to an entry as ranges of entries, from the entry upwards."""
    parent = tree.columns.parent
    while entry >= 0:
        start = tree.run_start(entry)
        yield range(start, entry + 1)
        entry = parent[start]


def find_on_path(tree: SessionTree, entry: int, wanted: str) -> int:
    """The entry with an id on the path to ``entry``, that one included; -1 for none."""
    found = find_above(tree.columns.ids, wanted, 0, entry + 1)
    if found < 0:
        return -1
    # Walk no farther than the entry lies: one that is beside the path is passed soon.
    for part in parts_above(tree, entry):
        if part.start <= found:
            return found if found in part else -1
    return -1


def latest_above(tree: SessionTree, entry: int, kind: Kind) -> int:
    """The last entry of a kind on the path to ``entry``, -1 for none."""
    kinds = tree.columns.kind
    for part in parts_above(tree, entry):
        found = kinds.rfind(kind, part.start, part.stop)
        if found >= 0:
            return found
    return -1


def stretch(tree: SessionTree, entry: int, first: int, stop: int) -> Path:
    """The part of the path to ``entry`` from the entry ``first`` to before ``stop``."""
    parts = []
    for part in parts_above(tree, entry):
        cut = range(max(part.start, first), min(part.stop, stop))
        if cut:
            parts.append(cut)
        if part.start <= first:
            break
    return Path(parts[::-1])


class PathPlaces:
    """Positions on one path, asked for once per pixel: the ranges of the path as plain lists."""

    __slots__ = ("_firsts", "_starts", "_stops")

    def __init__(self, path: Path) -> None:
        self._starts = [part.start for part in path.ranges]
        self._stops = [part.stop for part in path.ranges]
        self._firsts = list(accumulate((len(part) for part in path.ranges), initial=0))

    def floor(self, entry: int) -> int:
        """The position of the last entry of the path at or before ``entry``, -1 for none."""
        at = bisect_right(self._starts, entry) - 1
        if at < 0:
            return -1
        return self._firsts[at] + min(entry, self._stops[at] - 1) - self._starts[at]


def branch_links(columns: SessionColumns, first: int = 0) -> list[tuple[int, int]]:
    """(branch summary, entry where the branch was abandoned), both from ``first`` on (A35)."""
    branches = {at: facts.from_id for at, facts in columns.branches.items() if at >= first}
    if not branches:
        return []
    wanted = set(branches.values())
    ids = columns.ids
    places = {ids[at]: at for at in range(first, len(ids)) if ids[at] in wanted}
    links = [(summary, places.get(from_id, -1)) for summary, from_id in branches.items()]
    return sorted((summary, origin) for summary, origin in links if 0 <= origin < summary)


class ContextSizes(NamedTuple):
    """A context before and after a compaction, in tokens."""

    before: int
    """Of its entries, counted here."""
    after: int | None
    """Of the summary and of what was kept, counted alike; None where the summary is not in the
    file."""
    recorded: int
    """Of the whole before, as it was recorded; 0 where it was not."""
    reported: int
    """Of the whole as the provider counted it with the next reply; 0 without one."""
    expected: int
    """Of the whole where no reply came yet, by the reports before; 0 where nothing is known."""

    @property
    def is_recorded(self) -> bool:
        """Whether the whole is known by what is recorded."""
        return bool(self.recorded and self.reported)

    def words(self, known: Known) -> str:
        """``184.2k → 23.8k``; before the next reply ``184.2k → ≈23.8k``; where the whole is not
        recorded, of the entries alone, with marks where they are inferred: ``entries ≈148.1k →
        ≈4.8k``."""
        if self.is_recorded:
            return f"{short(self.recorded)} → {short(self.reported)}"
        if self.recorded and self.expected:
            # Where the provider counts less than we do, our count is shown, before and after.
            before = max(self.recorded, self.before)
            return f"{short(before)} → {MARK}{short(self.expected)}"
        return "entries " + " → ".join(
            NOT_RECORDED if size is None else marked(short(size), known)
            for size in (self.before, self.after)
        )


def sizes_of(
    tree: SessionTree,
    compaction: int,
    counted: tuple[int, int | None],
    weights: Sequence[int] | None = None,
) -> ContextSizes:
    """The sizes around a compaction; ``counted``: of the entries, see ``sizes_around``."""
    recorded = max(0, tree.columns.compactions[compaction].tokens_before)
    reported, expected = reported_after(tree, compaction), 0
    if recorded and not reported and counted[1] is not None:
        expected = expected_after(tree, compaction, PROFILES["explorer"], weights)
    return ContextSizes(*counted, recorded, reported, expected)


def compaction_sizes(document: Document, compaction: int) -> ContextSizes:
    """The sizes around a compaction of a session, counted by the rules in force."""
    tokens = document.tokens
    return sizes_of(document.tree, compaction, tokens.sizes_around(compaction), tokens.weights)


class Fold(NamedTuple):
    """The part of a path that one compaction summarized."""

    compaction: int
    folded: Path
    summarized: int
    """How many entries went into its summary, as the ledger counts them: without notes that are
    never sent and messages that are repeated after it, and with the summary before it."""
    sizes: ContextSizes


def fold_of(tree: SessionTree, compaction: int, weights: Sequence[int] | None = None) -> Fold:
    """What the compaction summarized, and the context's size before and after it.

    ``weights``: tokens per entry where another counter than the estimate counts. Raises KeyError
    when the entry is not a compaction.
    """
    sizes = sizes_of(tree, compaction, sizes_around(tree, compaction, weights), weights)
    folded = folded_by(tree, compaction)
    sent = sent_on(tree, folded, folded.gather(tree.columns.kind))
    earlier = latest_above(tree, tree.columns.parent[compaction], Kind.COMPACTION)
    again = sum(at in folded for at in context_at(tree, compaction).again)
    return Fold(compaction, folded, sum(sent) + (earlier >= 0) - again, sizes)


def folded_by(tree: SessionTree, compaction: int) -> Path:
    """From what the compaction before it kept to what it kept itself. KeyError as above."""
    columns = tree.columns
    above = columns.parent[compaction]
    first_kept = find_on_path(tree, above, columns.compactions[compaction].first_kept_id)
    first_kept = compaction if first_kept < 0 else first_kept
    first = 0
    earlier = latest_above(tree, above, Kind.COMPACTION)
    if earlier >= 0:
        first = find_on_path(tree, earlier, columns.compactions[earlier].first_kept_id)
        first = earlier + 1 if first < 0 else first
    return stretch(tree, above, min(first, first_kept), first_kept)


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


def clock(time_ms: float, pattern: str = "%H:%M") -> str:
    """A time of day for people, in the zone of this computer; empty for an unknown one."""
    return time.strftime(pattern, time.localtime(time_ms / 1000)) if time_ms > 0 else ""
