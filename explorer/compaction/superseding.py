"""Tool results that time has overtaken: files read again or changed since, errors repeated (C5)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Literal, NamedTuple

from explorer.session.columns import OP_KINDS
from explorer.session.kinds import Flag
from explorer.session.pruned import Pruned
from explorer.session.tree import SessionTree

_READ = OP_KINDS.index("read")
_FOUND_NOTHING = int(Flag.FOUND_NOTHING)


class Stale(NamedTuple):
    """Why a result is stale."""

    kind: Literal["superseded", "useless"]
    by: int
    """The later entry that made it so, or -1."""
    is_changed: bool = False
    """Of a superseded read: its file was changed since, not read again."""


class StaleResults(NamedTuple):
    """What was found among some tool results, by entry."""

    stale: dict[int, Stale]
    current: frozenset[int]
    """Results of reads that are still the newest word on their file."""


def stale_results(tree: SessionTree, results: Sequence[int], pruned: Pruned) -> StaleResults:
    """Which of these tool results of one path, in order, are stale, and which reads are current.

    A read is superseded when all its files were read again (all of it, or the same part) by a
    call whose result is still there, or changed. An error is useless when the same tool said the
    same again later; a result is, when it found nothing.
    """
    stale = _superseded(tree, results, pruned)
    current = frozenset(
        entry for entry, found in stale.items() if found is None and entry not in pruned
    )
    known = {entry: found for entry, found in stale.items() if found is not None}
    for entry, found in _useless(tree, results, pruned).items():
        known.setdefault(entry, found)
    return StaleResults(known, current)


def _superseded(
    tree: SessionTree, results: Sequence[int], pruned: Pruned
) -> dict[int, Stale | None]:
    """Of every read among the results: what superseded it, or None while it is current."""
    ops = tree.columns.ops
    inside = set(results)
    changed: dict[int, int] = {}
    read_whole: dict[int, int] = {}
    read_part: dict[tuple[int, int], int] = {}
    found: dict[int, Stale | None] = {}
    last = bisect_left(ops.entry, results[-1]) if results else 0
    for row in range(last - 1, -1, -1):
        path, part, result = ops.path[row], ops.part[row], ops.result[row]
        # What is on another branch, has no result yet or failed says nothing about the file.
        if ops.failed[row] or result not in inside:
            continue
        if ops.kind[row] != _READ:
            changed.setdefault(path, ops.entry[row])
            continue
        by = changed.get(path, read_whole.get(path, read_part.get((path, part), -1)))
        if by < 0:
            found[result] = None
        else:
            # Of a call that reads many files all must be stale.
            found.setdefault(result, Stale("superseded", by, path in changed))
        if result in pruned:
            continue
        if part:
            read_part.setdefault((path, part), ops.entry[row])
        else:
            read_whole.setdefault(path, ops.entry[row])
    return found


def _useless(tree: SessionTree, results: Sequence[int], pruned: Pruned) -> dict[int, Stale]:
    columns = tree.columns
    errors, flags, tool = columns.errors, columns.flags, columns.tool
    said: dict[tuple[int, int], int] = {}
    found: dict[int, Stale] = {}
    for entry in reversed(results):
        mark = errors.get(entry)
        if mark is None:
            if flags[entry] & _FOUND_NOTHING:
                found[entry] = Stale("useless", -1)
            continue
        again = said.get((tool[entry], mark))
        if again is not None:
            found[entry] = Stale("useless", again)
        elif entry not in pruned:
            said[tool[entry], mark] = entry
    return found
