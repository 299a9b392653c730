"""Tool results that time has overtaken: files read again or changed since, errors repeated (C5)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import compress
from typing import Any, Literal, NamedTuple

from explorer.compaction.profile.rules import Pruning
from explorer.compaction.reasons import count_text, tokens_text
from explorer.session.columns import OP_KINDS
from explorer.session.context import context_at
from explorer.session.edit_entries import NOTHING_PRUNED, Pruned, note_tokens
from explorer.session.edits import pruned_on, shape_at
from explorer.session.kinds import Flag, Kind, selector
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


Why = Literal["superseded", "useless", "old"]
ORDER: tuple[Why, ...] = ("superseded", "useless", "old")
"""What goes first."""
Protect = Callable[[int, str], bool]
"""Whether a tool result (its entry, its tool) must stay whatever the policy says."""
Code = Literal["", "nothing", "below-minimum"]

_RESULTS = selector({Kind.TOOL_RESULT})


class PlannedResult(NamedTuple):
    """A tool result that is to be pruned."""

    entry: int
    tool: str
    tokens: int
    note: str
    """What stands for it."""
    saved: int
    """Tokens that the note takes less, never below 0."""
    why: Why
    by: int
    """The later entry that made it stale, or -1."""
    is_changed: bool = False
    """Of a superseded read: its file was changed since, not read again."""

    @property
    def reason(self) -> str:
        """Why it goes, in a sentence."""
        if self.why == "superseded":
            what = "changed" if self.is_changed else "read again"
            return f"Out of date: the file was {what} at #{self.by}."
        if self.why == "useless":
            if self.by >= 0:
                return f"The same error came again at #{self.by}."
            return "It says that there is nothing."
        return "Older than the protected results."


@dataclass(frozen=True, slots=True)
class PruningPlan:
    """What pruning at a leaf would do. Entries are indices, sizes tokens."""

    leaf: int
    policy: Pruning
    results: tuple[PlannedResult, ...]
    """What is pruned, in the order in which it goes; empty when nothing is done."""
    saved: int
    """The sum of what the results save."""
    found: int
    """How many results could go, whether or not it is enough."""
    could_save: int
    """What they would save together."""
    window_start: int
    """The oldest tool result inside the protected window, or -1 without any."""
    code: Code
    """Why nothing is done; empty when something is."""

    @property
    def reason(self) -> str:
        """What is done, or why nothing, in a sentence."""
        policy = self.policy
        if self.code == "nothing":
            return (
                f"There is nothing to prune: tool results beyond the newest "
                f"{tokens_text(policy.protect_tokens)} tokens are few, protected or pruned already."
            )
        if self.code == "below-minimum":
            return (
                f"{count_text(self.found, 'tool result')} could go, but that saves only "
                f"{tokens_text(self.could_save)} tokens; below "
                f"{tokens_text(policy.minimum_savings)} nothing is done."
            )
        counts = [
            (sum(1 for one in self.results if one.why == why), words)
            for why, words in zip(
                ORDER, ("superseded", "without use", "older than the protected window"), strict=True
            )
        ]
        told = ", ".join(f"{count:,} {words}" for count, words in counts if count)
        return f"{count_text(len(self.results), 'tool result')}: {told}."

    def data(self, ids: Sequence[str]) -> dict[str, Any]:
        """The ``data`` of the prune entry; ``ids``: of all entries."""
        return {
            "results": [
                {"id": ids[one.entry], "tokens": one.tokens, "text": one.note}
                for one in self.results
            ],
            "saved": self.saved,
            "reason": self.reason,
        }


def prune_note(tokens: int) -> str:
    """What stands for a pruned result of so many tokens."""
    return f"[Output truncated - {tokens} tokens]"


def plan_pruning(
    tree: SessionTree,
    leaf: int,
    policy: Pruning,
    *,
    weights: Sequence[int] | None = None,
    needed: int | None = None,
    protect: Protect | None = None,
) -> PruningPlan:
    """What to prune at ``leaf``; never raises for what a session holds.

    ``weights``: tokens by entry index to use instead of the estimate; negative is not counted yet.
    ``needed``: tokens to save, for a policy that prunes no more than needed; None is everything.
    ``protect``: results that must stay besides those of the protected tools.
    """
    scope = _scope(tree, leaf, policy, weights)
    older = _older(scope, policy.protect_tokens)
    stale: Mapping[int, Stale] = {}
    current: frozenset[int] = frozenset()
    if older and (policy.superseded_first or policy.useless or policy.current_reads == "kept"):
        found = stale_results(tree, scope.entries, scope.pruned)
        stale, current = found.stale, found.current
    candidates = _candidates(tree, scope, older, policy, protect, stale, current)
    candidates.sort(key=lambda one: (ORDER.index(one.why), one.entry))
    could_save = sum(one.saved for one in candidates)
    if policy.amount == "needed" and needed is not None:
        chosen = _enough(candidates, max(needed, policy.minimum_savings))
    else:
        chosen = candidates
    code: Code = "" if chosen else "nothing"
    if chosen and could_save < policy.minimum_savings:
        code, chosen = "below-minimum", []
    return PruningPlan(
        leaf=leaf,
        policy=policy,
        results=tuple(chosen),
        saved=sum(one.saved for one in chosen),
        found=len(candidates),
        could_save=could_save,
        window_start=scope.entries[older] if older < len(scope.entries) else -1,
        code=code,
    )


class _Scope(NamedTuple):
    entries: list[int]
    """The tool results that are looked at, oldest first."""
    tokens: list[int]
    """Of each, a note's where it is pruned."""
    pruned: Pruned


def _scope(tree: SessionTree, leaf: int, policy: Pruning, weights: Sequence[int] | None) -> _Scope:
    columns = tree.columns
    if policy.scope == "context":
        context = context_at(tree, leaf)
        kinds = bytes([columns.kind[entry] for entry in context.messages])
        entries = list(compress(context.messages, kinds.translate(_RESULTS)))
        pruned = context.pruned
    else:
        path = tree.path(leaf)
        entries = path.select(columns.kind, _RESULTS)
        pruned = pruned_on(tree, path)
    shape = shape_at(tree, leaf)
    if shape:
        # What is pinned stays whole, and what is omitted is not sent.
        apart = {*shape.pinned, *shape.omitted}
        entries = [entry for entry in entries if entry not in apart]
    estimate = columns.estimate
    if weights is None:
        tokens = [estimate[entry] for entry in entries]
    else:
        tokens = [count if (count := weights[entry]) >= 0 else estimate[entry] for entry in entries]
    if pruned is not NOTHING_PRUNED:
        for at, entry in enumerate(entries):
            if entry in pruned:
                tokens[at] = pruned[entry].note_tokens
    return _Scope(entries, tokens, pruned)


def _older(scope: _Scope, protect_tokens: int) -> int:
    """How many results are older than the protected window.

    The result in which the window's edge falls is inside.
    """
    held, at = 0, len(scope.entries)
    while at > 0 and held < protect_tokens:
        at -= 1
        held += scope.tokens[at]
    return at


def _candidates(
    tree: SessionTree,
    scope: _Scope,
    older: int,
    policy: Pruning,
    protect: Protect | None,
    stale: Mapping[int, Stale],
    current: frozenset[int],
) -> list[PlannedResult]:
    columns = tree.columns
    tools, kept = columns.tools, _protected(columns.tools, policy.protected_tools)
    keep_current = policy.current_reads == "kept"
    found: list[PlannedResult] = []
    for entry, tokens in zip(scope.entries[:older], scope.tokens, strict=False):
        tool = columns.tool[entry]
        if tool in kept or entry in scope.pruned or tokens < policy.smallest_result:
            continue
        if columns.flags[entry] & Flag.PRUNING or (protect and protect(entry, tools[tool])):
            continue
        note = prune_note(tokens)
        saved = max(0, tokens - note_tokens(note))
        if policy.smallest_result and not saved:
            continue
        why, by, is_changed = _why(policy, stale.get(entry))
        if why == "old" and keep_current and entry in current:
            continue
        found.append(PlannedResult(entry, tools[tool], tokens, note, saved, why, by, is_changed))
    return found


def _why(policy: Pruning, stale: Stale | None) -> tuple[Why, int, bool]:
    if stale is not None:
        if stale.kind == "superseded" and policy.superseded_first:
            return "superseded", stale.by, stale.is_changed
        if stale.kind == "useless" and policy.useless:
            return "useless", stale.by, False
    return "old", -1, False


def _protected(tools: Sequence[str], patterns: Sequence[str]) -> frozenset[int]:
    """The indices of the tools that a policy protects."""
    return frozenset(
        at
        for at, name in enumerate(tools)
        if at and any(fnmatchcase(name, pattern) for pattern in patterns)
    )


def _enough(candidates: Sequence[PlannedResult], needed: int) -> list[PlannedResult]:
    """All that is stale, and of the merely old as much as is needed, the oldest first."""
    chosen: list[PlannedResult] = []
    saved = 0
    for one in candidates:
        if one.why == "old" and saved >= needed:
            break
        chosen.append(one)
        saved += one.saved
    return chosen
