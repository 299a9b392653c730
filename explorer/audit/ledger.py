"""The ledger: every entry at one moment of a session, with its verdict and the rule behind it."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from msgspec import Struct

from explorer.audit.branch_audit import BranchAudit, Origin, branch_audits
from explorer.audit.generations import (
    LOST_STATES,
    Generations,
    PathState,
    ReadEntries,
    RecordedInputs,
    StateRun,
)
from explorer.audit.provenance import Known, Provenance, content_known
from explorer.audit.replay import generations_of
from explorer.compaction.partition import Verdict
from explorer.compaction.path_view import PathView
from explorer.compaction.profile import Profile, Settings
from explorer.session.kinds import Flag, Kind
from explorer.session.tree import SessionTree


class LedgerVerdict(IntEnum):
    """What has become of an entry at a moment."""

    VERBATIM = 0
    """In the context, word for word."""
    IN_THIS_SUMMARY = 1
    """Covered by the summary in force, and only by it."""
    IN_EARLIER_SUMMARY = 2
    """Covered by an earlier summary, of which the one in force is an update."""
    IN_BRANCH_SUMMARY = 3
    """On a branch that was left; a branch summary covers it."""
    PRUNED = 4
    """A note stands for it."""
    NEVER_SENT = 5
    """Not for a model, or before a new start."""
    LOST = 6
    """Neither kept nor summarized."""
    PINNED = 7
    """Repeated after the summary, word for word, because of a pin or a rule."""
    OMITTED = 8
    """Left out at a person's wish."""


TEXTURES: tuple[Verdict, ...] = (
    Verdict.KEPT,
    Verdict.TO_SUMMARIZE,
    Verdict.SUMMARIZED_EARLIER,
    Verdict.TURN_PREFIX,
    Verdict.PRUNED,
    Verdict.NOT_SENT,
    Verdict.LOST,
    Verdict.PINNED,
    Verdict.OMITTED,
)
"""By ledger verdict: the verdict of the map whose texture tells it."""

_PRUNED_IN_FILE = int(Flag.PRUNING)


class Ledger(Struct, frozen=True):
    """Rows of entries, oldest first: the path down to a moment, and what branch summaries on it
    stand for."""

    tree: SessionTree
    leaf: int
    """The entry at which the ledger is: the leaf, or the compaction whose moment it is."""
    in_force: int
    """The compaction whose summary the context starts with, or -1."""
    generations: Generations
    entries: array[int]
    verdicts: bytes
    """One ``LedgerVerdict`` per row."""
    tokens: tuple[int, ...]
    """Per verdict, as the entries are counted. A note counts as what it takes."""
    counts: tuple[int, ...]
    """Rows per verdict."""
    branches: tuple[BranchAudit, ...]
    _runs: array[int]
    """Per row: index into the final runs, or -2 - index into ``branches``."""

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def view(self) -> PathView:
        """The path."""
        return self.generations.view

    def row(self, entry: int) -> int:
        """The row of an entry, or -1."""
        low, high = 0, len(self.entries)
        while low < high:
            middle = (low + high) // 2
            if self.entries[middle] < entry:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self.entries) and self.entries[low] == entry else -1

    def verdict(self, row: int) -> LedgerVerdict:
        """The verdict of a row."""
        return LedgerVerdict(self.verdicts[row])

    def weight(self, row: int) -> int:
        """Tokens of a row's entry, as they are shown everywhere: of a note where one stands for
        it, of a summary where it is one."""
        entry, view = self.entries[row], self.view
        position = view.path.position(entry)
        return self.generations.tokens_of(entry) if position < 0 else view.shown(position)

    def run(self, row: int) -> StateRun | None:
        """Where a row stands among the compactions; None for one of another branch."""
        at = self._runs[row]
        return self.generations.final[at] if at >= 0 else None

    def branch(self, row: int) -> BranchAudit | None:
        """The branch summary that stands for a row of another branch."""
        at = self._runs[row]
        return self.branches[-2 - at] if at <= -2 else None

    def since(self, row: int) -> int:
        """The compaction entry since which a row has its verdict; -1: from the start."""
        run = self.run(row)
        if run is None or not run.since:
            return -1
        return self.generations.all[run.since - 1].compaction

    def summaries(self, row: int) -> tuple[int, ...]:
        """The summary entries that a row lives on in, the oldest first; empty for none."""
        branch = self.branch(row)
        if branch is not None:
            is_summarized = self.verdicts[row] == LedgerVerdict.IN_BRANCH_SUMMARY
            return (branch.entry,) if is_summarized else ()
        run = self.run(row)
        never = self.verdicts[row] == LedgerVerdict.NEVER_SENT
        if run is None or run.state is not PathState.SUMMARIZED or never:
            return ()
        last = len(self.generations.all)
        return tuple(each.compaction for each in self.generations.chain(run.summarized_by, last))

    def known(self, row: int) -> Known:
        """How the verdict of a row is known."""
        branch = self.branch(row)
        if branch is not None:
            return branch.known
        verdict, run = self.verdicts[row], self.run(row)
        if verdict in (LedgerVerdict.PINNED, LedgerVerdict.OMITTED):
            return Known(Provenance.EXACT, "An entry of the log says so.")
        if verdict == LedgerVerdict.PRUNED:
            if self.tree.columns.flags[self.entries[row]] & _PRUNED_IN_FILE:
                return content_known(self.tree, self.entries[row])
            return Known(
                Provenance.EXACT,
                "A later entry puts a note in its place: the text is in its own record.",
            )
        if self.is_recorded(row):
            return Known(Provenance.EXACT, "The compaction's record holds it, letter for letter.")
        if run is None or not run.since or verdict == LedgerVerdict.NEVER_SENT:
            return Known(Provenance.EXACT, "The place on the path tells it.")
        by = self.generations.all[run.since - 1]
        if verdict == LedgerVerdict.VERBATIM:
            return Known(Provenance.EXACT, "The compaction's first kept entry is recorded.")
        return Known(by.provenance, by.basis)

    def is_recorded(self, row: int) -> bool:
        """Whether the record of the compaction in force holds a row's entry again."""
        copy = self.view.again.get(self.entries[row])
        is_verbatim = self.verdicts[row] == LedgerVerdict.VERBATIM
        return is_verbatim and copy is not None and copy.why == "recorded"

    def rows_of(self, verdict: LedgerVerdict) -> list[int]:
        """The rows of one verdict."""
        return [row for row, value in enumerate(self.verdicts) if value == verdict]


def ledger_at(
    tree: SessionTree,
    leaf: int,
    compaction: int | None,
    profile: Profile,
    *,
    read: ReadEntries | None = None,
    recorded: RecordedInputs | None = None,
    weights: Sequence[int] | None = None,
    settings: Settings | None = None,
    branches: Mapping[int, BranchAudit] | None = None,
) -> Ledger:
    """The ledger at ``leaf`` (``compaction`` None), or right after a compaction on its path.

    ``profile``: the rules of the agent that made the session; ``settings`` its sizes, of which
    the budgets of branch summaries follow. ``read``: gives entries; without it the
    summaries are not looked at. ``recorded``: the requests that this program recorded.
    ``branches``: see ``branch_audits``, where they were audited already. Raises ValueError when
    the compaction is not on the path.
    """
    moment = leaf
    if compaction is not None:
        if compaction not in tree.columns.compactions or compaction not in tree.path(leaf):
            raise ValueError(f"entry #{compaction} is no compaction on the path to #{leaf}")
        moment = compaction
    generations = generations_of(
        tree, moment, profile, read=read, recorded=recorded, weights=weights
    )
    if branches is None:
        sizes = settings or Settings.of(profile)
        branches = branch_audits(tree, generations.view.path, profile, sizes, recorded or {})
    return _Filling(tree, generations, moment, branches).ledger()


@dataclass
class _Filling:
    tree: SessionTree
    found: Generations
    moment: int
    audits: Mapping[int, BranchAudit]

    def ledger(self) -> Ledger:
        verdicts, runs = self._path()
        entries = array("i", self.found.view.path.indices())
        branches = self._branches()
        if branches:
            entries, verdicts, runs = self._with_branches(entries, verdicts, runs, branches)
        tokens, counts = [0] * len(LedgerVerdict), [0] * len(LedgerVerdict)
        ledger = Ledger(
            self.tree, self.moment, self._in_force(), self.found, entries, bytes(verdicts),
            (), (), tuple(branches), runs,
        )  # fmt: skip
        self._count(ledger, tokens, counts)
        return Ledger(
            self.tree, self.moment, ledger.in_force, self.found, entries, ledger.verdicts,
            tuple(tokens), tuple(counts), ledger.branches, runs,
        )  # fmt: skip

    def _in_force(self) -> int:
        every, resets = self.found.all, self.found.resets
        if not every or (resets and resets[-1] > every[-1].position):
            return -1
        return every[-1].compaction

    def _path(self) -> tuple[bytearray, array[int]]:
        view, kinds = self.found.view, self.found.view.kinds
        verdicts, runs = bytearray(), array("i")
        last = len(self.found.all)
        for at, run in enumerate(self.found.final):
            table = bytes([LedgerVerdict.NEVER_SENT, run_verdict(run, last)]) + bytes(254)
            verdicts += view.sent[run.start : run.stop].translate(table)
            runs.extend(array("i", [at]) * (run.stop - run.start))
        for entry in view.pruned:
            position = view.path.position(entry)
            if verdicts[position] == LedgerVerdict.VERBATIM:
                verdicts[position] = LedgerVerdict.PRUNED
        self._pruned_in_file(verdicts, kinds)
        for position in view.unsent:
            if verdicts[position] == LedgerVerdict.VERBATIM:
                verdicts[position] = LedgerVerdict.NEVER_SENT
        for entry, copy in view.again.items():
            is_recorded = copy.why == "recorded"
            verdict = LedgerVerdict.VERBATIM if is_recorded else LedgerVerdict.PINNED
            verdicts[view.path.position(entry)] = verdict
        for entry in view.shape.omitted:
            if (position := view.path.position(entry)) >= 0:
                verdicts[position] = LedgerVerdict.OMITTED
        in_force = self._in_force()
        for each in self.found.all:
            verdicts[each.position] = self._of_summary(each.number, each.compaction == in_force)
        return verdicts, runs

    def _pruned_in_file(self, verdicts: bytearray, kinds: bytes) -> None:
        flags, path = self.tree.columns.flags, self.found.view.path
        position = kinds.find(Kind.TOOL_RESULT)
        while position >= 0:
            if flags[path[position]] & _PRUNED_IN_FILE and verdicts[position] == 0:
                verdicts[position] = LedgerVerdict.PRUNED
            position = kinds.find(Kind.TOOL_RESULT, position + 1)

    def _of_summary(self, number: int, is_in_force: bool) -> LedgerVerdict:
        if is_in_force:
            return LedgerVerdict.VERBATIM
        if self._in_force() < 0:
            return LedgerVerdict.NEVER_SENT
        last = len(self.found.all)
        if len(self.found.chain(number, last)) < last - number + 1:
            return LedgerVerdict.LOST
        if self.found.all[-1].is_empty:
            return LedgerVerdict.LOST
        direct = number == last - 1
        return LedgerVerdict.IN_THIS_SUMMARY if direct else LedgerVerdict.IN_EARLIER_SUMMARY

    # branches that were left ---------------------------------------------------------------------

    def _branches(self) -> list[BranchAudit]:
        path = self.found.view.path
        return [
            audit
            for entry, audit in self.audits.items()
            if audit.origin is Origin.FOUND and entry in path
        ]

    def _with_branches(
        self,
        entries: array[int],
        verdicts: bytearray,
        runs: array[int],
        branches: list[BranchAudit],
    ) -> tuple[array[int], bytearray, array[int]]:
        """The rows of other branches among those of the path, in the order of the log."""
        path, on_path = self.found.view.path, set(entries)
        more: dict[int, tuple[int, int]] = {}
        for at, audit in enumerate(branches):
            stands = verdicts[path.position(audit.entry)]
            lost, included = set(audit.lost), {*audit.included, *audit.excluded_by_rule}
            for entry in audit.left:
                if entry not in on_path and entry not in more:
                    verdict = _verdict_of_left(entry in lost, entry in included, stands)
                    more[entry] = (verdict, -2 - at)
        rows = [*zip(entries, verdicts, runs, strict=True)]
        rows += [(entry, verdict, at) for entry, (verdict, at) in more.items()]
        rows.sort()
        return (
            array("i", [row[0] for row in rows]),
            bytearray(row[1] for row in rows),
            array("i", [row[2] for row in rows]),
        )

    def _count(self, ledger: Ledger, tokens: list[int], counts: list[int]) -> None:
        view = self.found.view
        sizes: dict[int, int] = dict(zip(view.path, view.sizes, strict=True))
        for entry in (*view.shape.omitted, *(each.compaction for each in self.found.all)):
            sizes.pop(entry, None)
        for row, (entry, verdict) in enumerate(zip(ledger.entries, ledger.verdicts, strict=True)):
            counts[verdict] += 1
            size = sizes.get(entry)
            tokens[verdict] += ledger.weight(row) if size is None else size


def _verdict_of_left(is_lost: bool, is_included: bool, stands: int) -> LedgerVerdict:
    """The verdict of an entry that was left; ``stands``: that of its branch's summary."""
    if is_lost:
        return LedgerVerdict.LOST
    if not is_included:
        return LedgerVerdict.NEVER_SENT
    # What only a lost summary covered is lost with it.
    is_gone = stands == LedgerVerdict.LOST
    return LedgerVerdict.LOST if is_gone else LedgerVerdict.IN_BRANCH_SUMMARY


def run_verdict(run: StateRun, last: int) -> LedgerVerdict:
    """The verdict of a run of entries; ``last``: the number of the generation in force."""
    if run.state in LOST_STATES:
        return LedgerVerdict.LOST
    if run.state is PathState.SET_ASIDE:
        return LedgerVerdict.NEVER_SENT
    if run.state is PathState.IN_CONTEXT:
        return LedgerVerdict.VERBATIM
    this = run.summarized_by == last
    return LedgerVerdict.IN_THIS_SUMMARY if this else LedgerVerdict.IN_EARLIER_SUMMARY
