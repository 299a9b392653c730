"""All that the audit of a path shows at once, computed in one go, for a worker thread; with the
survival strip: per entry, until which compaction it stood word for word, and where it lives on
since.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from explorer.audit.branch_audit import BranchAudit, branch_audits
from explorer.audit.findings import Loss
from explorer.audit.generations import (
    LOST_STATES,
    Generation,
    Generations,
    PathState,
    ReadEntries,
    RecordedInputs,
    StateRun,
)
from explorer.audit.ledger import Ledger, ledger_at
from explorer.audit.losses import find_losses
from explorer.audit.provenance import Provenance
from explorer.compaction.context_size import (
    context_size,
    counted_size,
    first_report,
    reported_after,
)
from explorer.compaction.profile import PROFILES, Profile, Settings
from explorer.compaction.reasons import RATIO_REASON, count_text, ratio_text
from explorer.session.context import context_at
from explorer.session.entries import CompactionSummary
from explorer.session.tree import Path, SessionTree


class Strip(Struct, frozen=True):
    """Survival over a path. Positions count on the path, generations from 1; 0 is none."""

    found: Generations
    verbatim_until: array[int]
    """Per position: the generation that ended its last stay in the context; 0: it still is there
    (or never was: see ``found.view.sent``)."""
    summarized_in: array[int]
    """The generation whose summary covered it first."""
    lives_until: array[int]
    """The last generation whose summary covers it; 0 for none."""
    lost_at: array[int]
    """The generation since which nothing covers it."""

    @property
    def path(self) -> Path:
        """The path."""
        return self.found.view.path

    @property
    def lanes(self) -> tuple[tuple[StateRun, ...], ...]:
        """Per moment, from before the first compaction to the leaf: the states of the path."""
        return self.found.lanes

    def run(self, lane: int, position: int) -> StateRun | None:
        """The state of a position at a moment; None where it was not there yet."""
        runs = self.lanes[lane]
        low, high = 0, len(runs)
        while low < high:
            middle = (low + high) // 2
            if runs[middle].stop <= position:
                low = middle + 1
            else:
                high = middle
        return runs[low] if low < len(runs) and runs[low].start <= position else None

    def words(self, position: int) -> str:
        """The survival of one entry in a sentence or two."""
        every = self.found.all
        name = f"#{self.path[position]}"
        if (this := self.found.at(self.path[position])) is not None:
            return self._summary_words(name, this)
        if not self.found.view.sent[position]:
            return f"{name} is never sent."
        until, summarized_by = self.verbatim_until[position], self.summarized_in[position]
        lost, lives = self.lost_at[position], self.lives_until[position]
        if not until:
            sentence = f"{name} is in the context word for word to the end"
            if not summarized_by:
                return f"{sentence}."
            if self._is_unreadable(every[summarized_by - 1]):
                return f"{sentence}. {self._unread_words(every[summarized_by - 1])}"
            by = every[summarized_by - 1].compaction
            return f"{sentence}, and compaction #{by} tells of it too."
        sentence = f"{name} stood word for word until compaction #{every[until - 1].compaction}"
        if summarized_by and lives and self._is_unreadable(every[lives - 1]):
            sentence += f". {self._unread_words(every[lives - 1])}".removesuffix(".")
        elif summarized_by and lives:
            through = lives - summarized_by + 1
            sentence += f" and lives on in {count_text(through, 'summary')}"
            if through > 1:
                sentence += f", down to that of #{every[lives - 1].compaction}"
        if lost:
            return f"{sentence}. Lost since #{every[lost - 1].compaction}."
        return f"{sentence}."

    def _summary_words(self, name: str, this: Generation) -> str:
        chain = self.found.chain(this.number, len(self.found.all))
        if this.number == len(self.found.all):
            return f"{name} is the latest summary."
        if len(chain) == 1:
            return f"{name} is a summary that the next compaction did not go on with."
        if self._is_unreadable(chain[-1]):
            return f"{name} is a summary. {self._unread_words(chain[-1])}"
        return f"{name} is a summary that lives on in that of #{chain[-1].compaction}."

    def _is_unreadable(self, this: Generation) -> bool:
        return self.found.view.facts[this.position].certainty == "unreadable"

    @staticmethod
    def _unread_words(this: Generation) -> str:
        """What nobody knows of what went into such a summary."""
        return (
            f"The summary of #{this.compaction} is encrypted or was not recorded: it may or may "
            "not be in it."
        )


def survival_strip(found: Generations) -> Strip:
    """The strip of a path; ``found``: its compactions, as they were replayed."""
    count, last = len(found.view), len(found.all)
    until, summarized_by, lives, lost = (array("i", bytes(4 * count)) for _ in range(4))
    for run in found.final:
        if run.state is not PathState.IN_CONTEXT:
            _fill(until, run, run.since)
        if run.summarized_by:
            _fill(summarized_by, run, run.summarized_by)
            if run.state in (PathState.SUMMARIZED, PathState.IN_CONTEXT):
                chain = found.chain(run.summarized_by, last)
                _fill(lives, run, chain[-1].number if chain else 0)
            elif run.state in LOST_STATES:
                _fill(lives, run, max(run.summarized_by, run.since - 1))
        if run.state in LOST_STATES:
            _fill(lost, run, run.since)
            if run.summarized_by and run.state is not PathState.LOST_RANGE:
                _fill(until, run, run.summarized_by)
    return Strip(found, until, summarized_by, lives, lost)


def _fill(column: array[int], run: StateRun, value: int) -> None:
    column[run.start : run.stop] = array("i", [value]) * (run.stop - run.start)


class Overview(Struct, frozen=True):
    """The audit of the path to ``leaf`` at one moment."""

    leaf: int
    moment: int | None
    """The compaction whose moment the ledger shows; None: now, at the leaf."""
    profile: Profile
    """The rules that the session is judged by."""
    ledger: Ledger
    """At the moment."""
    now: Ledger
    """At the leaf."""
    losses: tuple[Loss, ...]
    """Of the whole path, the most severe first, then as they happened."""
    strip: Strip
    branches: tuple[BranchAudit, ...]
    """Of the branch summaries on the path, in their order."""
    recorded_after: int | None = None
    """What the agent recorded, in tokens, as the size of the context after the compaction that is
    in force at the moment."""
    reported_after: int = 0
    """What a provider counted, in tokens, with the first reply after that compaction; 0 where
    there is none before the next one."""
    difference: str = ""
    """What is known of how its count before that compaction differs from ours, in sentences."""

    @property
    def generations(self) -> Generations:
        """The compactions of the whole path."""
        return self.strip.found

    @property
    def unread(self) -> list[int]:
        """The compactions of the whole path whose summaries cannot be read."""
        every = self.generations.all
        return [each.compaction for each in every if each.provenance is Provenance.UNREADABLE]

    def losses_at(self, entry: int | None) -> list[Loss]:
        """The losses that happened at an entry, or that took it; None: all of the path."""
        return [
            loss
            for loss in self.losses
            if entry is None or loss.at == entry or entry in loss.entries
        ]


def overview(
    tree: SessionTree,
    leaf: int,
    profile: Profile,
    *,
    moment: int | None = None,
    settings: Settings | None = None,
    read: ReadEntries | None = None,
    recorded: RecordedInputs | None = None,
    weights: Sequence[int] | None = None,
) -> Overview:
    """Audit the path to ``leaf``; see ``ledger_at`` for the arguments."""
    sizes = settings or Settings.of(profile)
    audits = branch_audits(tree, tree.path(leaf), profile, sizes, recorded or {})
    given = {"read": read, "recorded": recorded, "weights": weights, "branches": audits}
    ledger = ledger_at(tree, leaf, None, profile, settings=sizes, **given)  # type: ignore[arg-type]
    whole = ledger.generations
    strip = survival_strip(whole)
    losses = find_losses(
        tree, leaf, profile, settings=sizes, found=whole, read=read, recorded=recorded,
        branches=audits,
    )  # fmt: skip
    result = Overview(
        leaf,
        None,
        profile,
        ledger,
        ledger,
        tuple(sorted(losses, key=lambda loss: -loss.severity)),
        strip,
        tuple(audits.values()),
        _recorded_after(ledger, read),
        _reported_after(ledger),
        _difference(ledger, weights),
    )
    if moment is None:
        return result
    then = ledger_at(tree, leaf, moment, profile, settings=sizes, **given)  # type: ignore[arg-type]
    return replace(
        result, moment=moment, ledger=then, recorded_after=_recorded_after(then, read),
        reported_after=_reported_after(then), difference=_difference(then, weights),
    )  # fmt: skip


def _recorded_after(ledger: Ledger, read: ReadEntries | None) -> int | None:
    if read is None or ledger.in_force < 0:
        return None
    body = read([ledger.in_force])[0].body
    return body.tokens_after if isinstance(body, CompactionSummary) else None


def _reported_after(ledger: Ledger) -> int:
    return reported_after(ledger.tree, ledger.in_force) if ledger.in_force >= 0 else 0


def _difference(ledger: Ledger, weights: Sequence[int] | None) -> str:
    """How an agent's count before the compaction in force comes to be larger than the entries:
    by its provider's first report, and by how its reports grew."""
    tree, compaction, rules = ledger.tree, ledger.in_force, PROFILES["explorer"]
    if compaction < 0:
        return ""
    before = context_at(tree, tree.columns.parent[compaction])
    counted = counted_size(tree, before, rules, weights)
    recorded = tree.columns.compactions[compaction].tokens_before
    if recorded <= counted:
        return ""
    more = f"It has {recorded - counted:,} tokens more than the entries counted here."
    first = first_report(tree, before.path)
    if first < 0:
        return f"{more} How they are made up is not in the file."
    reported = tree.columns.usage[first]
    there = counted_size(tree, context_at(tree, first), rules, weights)
    parts = [more]
    if reported > there:
        parts.append(
            f"With the first reply, #{first}, the provider counted {reported:,} tokens where the "
            f"entries take {there:,}: the rest is not in the file."
        )
    ratio = context_size(tree, before, rules, weights).ratio
    if round(ratio, 1) > 1:
        parts.append(
            f"As the entries grew, its reports grew by {ratio_text(ratio)} tokens for each one "
            f"that is counted here: {RATIO_REASON}."
        )
    return " ".join(parts)
