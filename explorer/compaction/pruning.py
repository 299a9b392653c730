"""Tool results that give way to notes: the old, and those that time has overtaken, as files read
again or changed since and errors repeated (A13, C5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import compress
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from explorer.compaction.profile.rules import Pruning
from explorer.compaction.reasons import count_text, tokens_text
from explorer.session.columns import OP_KINDS
from explorer.session.context import context_at
from explorer.session.edit_entries import NOTHING_PRUNED, Pruned, note_tokens
from explorer.session.edits import pruned_on, shape_at
from explorer.session.kinds import Flag, Kind, selector
from explorer.session.tree import SessionTree

_READ = OP_KINDS.index("read")
_PRUNING, _FOUND_NOTHING = int(Flag.PRUNING), int(Flag.FOUND_NOTHING)

Why = Literal["superseded", "useless", "old"]
ORDER: tuple[Why, ...] = ("superseded", "useless", "old")
"""What goes first."""
Protect = Callable[[int, str], bool]
"""Whether a tool result (its entry, its tool) must stay whatever the policy says."""
PruningCode = Literal["", "nothing", "below-minimum"]

_RESULTS = selector({Kind.TOOL_RESULT})


class Stale(NamedTuple):
    """Why a result goes."""

    kind: Why
    by: int
    """The later entry that made it so, or -1."""
    is_changed: bool = False
    """Of a superseded read: its file was changed since, not read again."""


_OLD = Stale("old", -1)


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


class PruningPlan(Struct, frozen=True):
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
    code: PruningCode
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
            (sum(1 for result in self.results if result.why == why), words)
            for why, words in zip(
                ORDER, ("superseded", "without use", "older than the protected window"), strict=True
            )
        ]
        listed = ", ".join(f"{count:,} {words}" for count, words in counts if count)
        return f"{count_text(len(self.results), 'tool result')}: {listed}."

    def data(self, ids: Sequence[str]) -> dict[str, Any]:
        """The ``data`` of the prune entry; ``ids``: of all entries."""
        return {
            "results": [
                {"id": ids[result.entry], "tokens": result.tokens, "text": result.note}
                for result in self.results
            ],
            "saved": self.saved,
            "reason": self.reason,
        }


def prune_note(tokens: int) -> str:
    """What stands for a pruned result of so many tokens."""
    return f"[Output truncated - {tokens} tokens]"


class ToolResults:
    """The tool results of one path, oldest first, with what never changes of each under a policy.

    Rows count them. A live session asks for one plan; a walk asks at many moments.
    """

    def __init__(
        self,
        tree: SessionTree,
        entries: Sequence[int],
        policy: Pruning,
        weights: Sequence[int] | None = None,
        protect: Protect | None = None,
    ) -> None:
        """``entries``: of the results. ``weights``, ``protect``: see ``plan_pruning``."""
        estimate = tree.columns.estimate
        self.policy = policy
        self.entries = entries
        if weights is None:
            self.tokens = [estimate[entry] for entry in entries]
        else:
            self.tokens = [
                count if (count := weights[entry]) >= 0 else estimate[entry] for entry in entries
            ]
        self._tree = tree
        self.saves = self._savings(protect)
        """Tokens that a note takes less; -1 where a rule protects the result whatever its age."""
        self._operations: list[list[tuple[int, int]]] | None = None

    def _savings(self, protect: Protect | None) -> list[int]:
        columns, least = self._tree.columns, self.policy.smallest_result
        names, patterns = columns.tools, self.policy.protected_tools
        kept = {
            at
            for at, name in enumerate(names)
            if at and any(fnmatchcase(name, pattern) for pattern in patterns)
        }
        found = []
        for entry, tokens in zip(self.entries, self.tokens, strict=True):
            tool, saved = columns.tool[entry], -1
            is_protected = tool in kept or bool(columns.flags[entry] & _PRUNING)
            if (
                not is_protected
                and tokens >= least
                and not (protect and protect(entry, names[tool]))
            ):
                saved = max(0, tokens - note_tokens(prune_note(tokens)))
            found.append(saved if saved or not least else -1)
        return found

    def plan(
        self,
        leaf: int,
        *,
        needed: int | None,
        rows: Sequence[int],
        notes: Mapping[int, int],
    ) -> PruningPlan:
        """What to prune of some rows, in order. ``notes``: by row, the tokens of the note that
        stands for a result already; other arguments as of ``plan_pruning``."""
        policy = self.policy
        older = self._older(rows, notes)
        candidates = self._candidates(rows, older, notes)
        candidates.sort(key=lambda one: (ORDER.index(one.why), one.entry))
        could_save = sum(one.saved for one in candidates)
        chosen = candidates
        if policy.amount == "needed" and needed is not None:
            chosen = _enough(candidates, max(needed, policy.minimum_savings))
        code: PruningCode = "" if chosen else "nothing"
        if chosen and could_save < policy.minimum_savings:
            code, chosen = "below-minimum", []
        return PruningPlan(
            leaf=leaf,
            policy=policy,
            results=tuple(chosen),
            saved=sum(one.saved for one in chosen),
            found=len(candidates),
            could_save=could_save,
            code=code,
        )

    def _older(self, rows: Sequence[int], notes: Mapping[int, int]) -> int:
        """How many of the rows are older than the protected window.

        The result in which the window's edge falls is within it.
        """
        taken, at, tokens = 0, len(rows), self.tokens
        while at > 0 and taken < self.policy.protect_tokens:
            at -= 1
            row = rows[at]
            taken += notes[row] if row in notes else tokens[row]
        return at

    def _candidates(
        self, rows: Sequence[int], older: int, notes: Mapping[int, int]
    ) -> list[PlannedResult]:
        policy, columns, saves = self.policy, self._tree.columns, self.saves
        reads: Mapping[int, Stale | None] = {}
        useless: Mapping[int, Stale] = {}
        if older and (policy.superseded_first or policy.useless or policy.current_reads == "kept"):
            reads, useless = self._superseded(rows, notes), self._useless(rows, notes)
        found: list[PlannedResult] = []
        for row in rows[:older]:
            if saves[row] < 0 or row in notes:
                continue
            read = reads.get(row)
            stale, why = read or useless.get(row), _OLD
            if stale is not None and (
                policy.superseded_first if stale.kind == "superseded" else policy.useless
            ):
                why = stale
            elif row in reads and read is None and policy.current_reads == "kept":
                continue
            entry, tokens = self.entries[row], self.tokens[row]
            tool, note = columns.tools[columns.tool[entry]], prune_note(tokens)
            found.append(PlannedResult(entry, tool, tokens, note, saves[row], *why))
        return found

    def _superseded(self, rows: Sequence[int], notes: Mapping[int, int]) -> dict[int, Stale | None]:
        """Of every read among the rows: what superseded it, or None while it is the newest word on
        a file.

        A read is superseded when all its files were read again (all of it, or the same part) by a
        call whose result is still there, or changed.
        """
        ops, known = self._tree.columns.ops, self._known_operations()
        changed: dict[int, int] = {}
        read_whole: dict[int, int] = {}
        read_part: dict[tuple[int, int], int] = {}
        found: dict[int, Stale | None] = {}
        for number, row in sorted((one for each in rows for one in known[each]), reverse=True):
            path, part, call = ops.path[number], ops.part[number], ops.entry[number]
            if ops.kind[number] != _READ:
                changed.setdefault(path, call)
                continue
            by = changed.get(path, read_whole.get(path, read_part.get((path, part), -1)))
            if by < 0:
                found[row] = None
            else:
                # Of a call that reads many files all must be stale.
                found.setdefault(row, Stale("superseded", by, path in changed))
            if row in notes:
                continue
            if part:
                read_part.setdefault((path, part), call)
            else:
                read_whole.setdefault(path, call)
        return found

    def _known_operations(self) -> list[list[tuple[int, int]]]:
        """By row, its operations on files that did not fail: the number of each, and the row."""
        if self._operations is None:
            ops, where = self._tree.columns.ops, {at: row for row, at in enumerate(self.entries)}
            self._operations = [[] for _entry in self.entries]
            for number, result in enumerate(ops.result):
                row = where.get(result, -1)
                if row >= 0 and not ops.failed[number]:
                    self._operations[row].append((number, row))
        return self._operations

    def _useless(self, rows: Sequence[int], notes: Mapping[int, int]) -> dict[int, Stale]:
        """Errors that the same tool repeated later, and results that found nothing."""
        columns = self._tree.columns
        newest: dict[tuple[int, int], int] = {}
        found: dict[int, Stale] = {}
        for row in reversed(rows):
            entry = self.entries[row]
            mark = columns.errors.get(entry)
            if mark is None:
                if columns.flags[entry] & _FOUND_NOTHING:
                    found[row] = Stale("useless", -1)
                continue
            again = newest.get((columns.tool[entry], mark))
            if again is not None:
                found[row] = Stale("useless", again)
            elif row not in notes:
                newest[columns.tool[entry], mark] = entry
        return found


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
    entries, pruned = _in_scope(tree, leaf, policy)
    results = ToolResults(tree, entries, policy, weights, protect)
    notes = {}
    if pruned is not NOTHING_PRUNED:
        notes = {at: pruned[one].note_tokens for at, one in enumerate(entries) if one in pruned}
    return results.plan(leaf, needed=needed, rows=range(len(entries)), notes=notes)


def _in_scope(tree: SessionTree, leaf: int, policy: Pruning) -> tuple[list[int], Pruned]:
    """The tool results that are looked at, oldest first, and what is pruned of them."""
    kinds = tree.columns.kind
    if policy.scope == "context":
        context = context_at(tree, leaf)
        kinds_sent = bytes([kinds[entry] for entry in context.messages])
        entries = list(compress(context.messages, kinds_sent.translate(_RESULTS)))
        pruned = context.pruned
    else:
        path = tree.path(leaf)
        entries = path.select(kinds, _RESULTS)
        pruned = pruned_on(tree, path)
    shape = shape_at(tree, leaf)
    if shape:
        # What is pinned stays whole, and what is omitted is not sent.
        apart = {*shape.pinned, *shape.omitted}
        entries = [entry for entry in entries if entry not in apart]
    return entries, pruned


def _enough(candidates: Sequence[PlannedResult], needed: int) -> list[PlannedResult]:
    """All that is stale, and of the merely old as much as is needed, the oldest first."""
    chosen: list[PlannedResult] = []
    saved = 0
    for candidate in candidates:
        if candidate.why == "old" and saved >= needed:
            break
        chosen.append(candidate)
        saved += candidate.saved
    return chosen
