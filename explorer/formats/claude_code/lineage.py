"""From the parents that Claude Code records to a tree in which only what a person went back to is
a branch.

Its results hang on the single calls of a reply, notes of hooks on results: what ends there without
a further message is no branch, and is put into the line of what follows it.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from explorer.formats.claude_code.survey import NOTE, RESULT, ROOT, Survey


def straighten(survey: Survey, thread: str) -> list[int]:
    """Put the parents of a conversation's units right, and return the units, parents first."""
    units = [unit for unit, one in enumerate(survey.threads) if one == thread]
    parents = survey.parents
    order = _ordered(units, parents)
    speaks = bytearray(len(parents))
    for unit in reversed(order):
        if survey.kinds[unit] not in (RESULT, NOTE):
            speaks[unit] = 1
        if speaks[unit] and parents[unit] != ROOT:
            speaks[parents[unit]] = 1
    if _join_roots(survey, units, speaks):
        order = _ordered(units, parents)
    children: dict[int, list[int]] = defaultdict(list)
    for unit in units:
        children[parents[unit]].append(unit)
    ends = array("i", range(len(parents)))
    for unit in reversed(order):
        below = children.get(unit)
        if not below:
            continue
        if len(below) > 1:
            _chain(survey, unit, below, speaks, ends)
        if not speaks[unit]:
            ends[unit] = ends[below[-1]]
    return order


def _ordered(units: Sequence[int], parents: array[int]) -> list[int]:
    """Units with parents first; one that hangs below itself is put after the unit before it."""
    if all(parents[unit] < unit for unit in units):
        return list(units)
    children: dict[int, list[int]] = defaultdict(list)
    for unit in units:
        children[parents[unit]].append(unit)
    order: list[int] = []
    seen = bytearray(len(parents))
    before = ROOT
    stack = children[ROOT][::-1]
    for unit in [ROOT, *units]:
        if unit != ROOT and not seen[unit]:
            parents[unit] = before
            stack = [unit]
        while stack:
            one = stack.pop()
            if not seen[one]:
                seen[one] = 1
                order.append(one)
                stack += children[one][::-1]
        before = unit
    return order


def _join_roots(survey: Survey, units: Sequence[int], speaks: bytearray) -> bool:
    """Hang the roots on which nothing is said on what came before them; whether there are any."""
    joined = False
    for before, unit in pairwise(units):
        if survey.parents[unit] == ROOT and not speaks[unit]:
            survey.parents[unit] = before
            survey.inferred.append(survey.first_lines[unit])
            joined = True
    return joined


def _chain(
    survey: Survey, unit: int, below: Sequence[int], speaks: bytearray, ends: array[int]
) -> None:
    """Put the children of a unit in a line, but for those where a conversation goes on."""
    parents = survey.parents
    at = unit
    for one in below:
        if not speaks[one]:
            parents[one] = at
            at = ends[one]
    result = at
    for one in below:
        if speaks[one] and survey.kinds[one] == RESULT:
            parents[one] = result
            result = one
        elif speaks[one]:
            parents[one] = at


def leaf_unit(survey: Survey, order: Sequence[int]) -> int:
    """Where the agent stands: at its last mark, unless it went on after that; else at the end of
    the line that the last record belongs to. ROOT where there is nothing."""
    if not order:
        return ROOT
    lines = survey.last_lines
    newest = max(order, key=lambda one: lines[one])
    line, name = survey.leaf_mark
    marked = survey.unit_of.get(name, ROOT)
    if marked != ROOT and lines[newest] < line and survey.threads[marked] == survey.threads[newest]:
        return marked
    below: dict[int, int] = {}
    for unit in order:
        above = survey.parents[unit]
        if above not in below or lines[below[above]] < lines[unit]:
            below[above] = unit
    while newest in below:
        newest = below[newest]
    return newest
