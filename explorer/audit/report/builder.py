"""A report from what the audit of a path found. Pure: what it reads comes in as a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from explorer.audit.findings import Excerpt, Fidelity, Finding, Group, Loss, excerpt
from explorer.audit.generations import LOST_STATES, PathState, StateRun
from explorer.audit.ledger import Ledger, LedgerVerdict
from explorer.audit.needed_again import NeededAfter
from explorer.audit.overview import Overview
from explorer.audit.provenance import Known, tokens_before_known
from explorer.audit.report.model import (
    CompactionPart,
    EntryRef,
    FindingGroup,
    LedgerRun,
    LossPart,
    NeededPart,
    NeedPart,
    QuotedFinding,
    StripLane,
    StripRun,
    VerdictRow,
)
from explorer.audit.rules import rule_of
from explorer.facts import Span
from explorer.session.entries import Entry
from explorer.session.kinds import Kind
from explorer.session.tree import SessionTree

AROUND = 100
"""UTF-16 units on either side of a quote."""
SHOWN_ENTRIES = 5
"""Entries of a loss that are named with their first words."""
MOST_RUNS = 60

ReadEntries = Callable[[Sequence[int]], Sequence[Entry]]
Previews = Callable[[Sequence[int]], Sequence[str]]

_SENT = (LedgerVerdict.VERBATIM, LedgerVerdict.PRUNED, LedgerVerdict.PINNED)
_STATES = {
    PathState.IN_CONTEXT: "verbatim",
    PathState.SUMMARIZED: "told",
    PathState.SET_ASIDE: "aside",
}


class Gathering(Struct, frozen=True):
    """Makes the parts of a report of one path. ``read`` gives entries by index,
    ``previews`` their first words."""

    tree: SessionTree
    found: Overview
    read: ReadEntries
    previews: Previews

    def refs(self, entries: Sequence[int]) -> tuple[EntryRef, ...]:
        """Entries as a report names them."""
        words = self.previews(entries)
        return tuple(
            EntryRef(
                entry, self.tree.columns.ids[entry], kind_words(self.tree.kind(entry)), preview
            )
            for entry, preview in zip(entries, words, strict=True)
        )

    def losses(self, losses: Iterable[Loss]) -> tuple[LossPart, ...]:
        """Losses with their first entries."""
        return tuple(
            LossPart(loss, self.refs([loss.at])[0], self.refs(loss.entries[:SHOWN_ENTRIES]))
            for loss in losses
        )

    def needed(self, found: Iterable[NeededAfter]) -> tuple[NeededPart, ...]:
        """What was needed again after each compaction, with both entries of each."""
        return tuple(
            NeededPart(one, tuple(
                NeedPart(need, *self.refs([need.repeat.before, need.repeat.after]))
                for need in one.needs
            ))
            for one in found
        )  # fmt: skip

    def compaction(
        self, entry: int, summary: str, fidelity: Fidelity, ledger: Ledger
    ) -> CompactionPart:
        """One compaction of the path. ``ledger``: right after it. Raises ValueError when it is
        not on the path."""
        this = self.found.generations.at(entry)
        if this is None:
            raise ValueError(f"entry #{entry} is no compaction on the path")
        view, columns = self.found.generations.view, self.tree.columns
        recorded = columns.compactions[entry].tokens_before
        before, after = self.found.generations.sizes_around(entry)
        kept = this.kept_from < this.position
        runs = list(_runs(ledger))
        return CompactionPart(
            number=this.number,
            entry=self.refs([entry])[0],
            time_ms=columns.time[entry],
            recorded_before=max(0, recorded),
            recorded_known=tokens_before_known(recorded, before),
            counted_before=before,
            counted_after=after,
            known=Known(this.provenance, this.basis),
            kept_from=self.refs([view.path[this.kept_from]])[0] if kept else None,
            summary=summary,
            fidelity=fidelity,
            groups=tuple(self._group(each, fidelity, entry) for each in Group),
            losses=self.losses(loss for loss in self.found.losses if loss.at == entry),
            ledger=tuple(
                VerdictRow(verdict, ledger.counts[verdict], ledger.tokens[verdict])
                for verdict in LedgerVerdict
                if ledger.counts[verdict]
            ),
            runs=tuple(runs[:MOST_RUNS]),
            more_runs=max(0, len(runs) - MOST_RUNS),
        )

    def _group(self, group: Group, fidelity: Fidelity, compaction: int) -> FindingGroup:
        quoted = tuple(self._quoted(finding, compaction) for finding in fidelity.of(group))
        return FindingGroup(group, quoted)

    def _quoted(self, finding: Finding, compaction: int) -> QuotedFinding:
        fact = finding.fact
        last = [span for span in fact.spans if span.entry == fact.last]
        place = finding.places[0] if finding.places else None
        stated = Span(compaction, place.start, place.end) if place is not None else None
        return QuotedFinding(
            finding,
            self.refs([fact.last])[0] if fact.sources else None,
            self._excerpt(last[0]) if last else None,
            self._excerpt(stated) if stated is not None else None,
        )

    def _excerpt(self, span: Span) -> Excerpt | None:
        return excerpt(self.read([span.entry])[0], span, AROUND)

    def strip(self) -> tuple[StripLane, ...]:
        """The path before its first compaction and after each."""
        generations = self.found.generations
        if not generations.all:
            return ()
        names = ["before", *(f"#{each.compaction}" for each in generations.all)]
        return tuple(_lane(*each) for each in zip(names, generations.lanes, strict=True))


def _runs(ledger: Ledger) -> Iterator[LedgerRun]:
    """The rows of a ledger, those one after the other with one verdict taken together."""
    for verdict, rows in groupby(range(len(ledger)), lambda row: ledger.verdicts[row]):
        first, *more = rows
        last = more[-1] if more else first
        yield LedgerRun(
            ledger.entries[first],
            ledger.entries[last],
            last - first + 1,
            sum(ledger.weight(row) for row in range(first, last + 1)),
            LedgerVerdict(verdict),
            rule_of(ledger, first),
            ledger.known(first),
        )


def _lane(name: str, runs: Sequence[StateRun]) -> StripLane:
    """A moment of the strip; stretches of one state one after the other are one."""
    merged: list[StripRun] = []
    for run in runs:
        state = "lost" if run.state in LOST_STATES else _STATES[run.state]
        if merged and merged[-1].state == state and merged[-1].stop == run.start:
            merged[-1] = StripRun(merged[-1].start, run.stop, state)
        else:
            merged.append(StripRun(run.start, run.stop, state))
    return StripLane(name, tuple(merged))


def kind_words(kind: Kind) -> str:
    """What an entry is, in words."""
    return kind.name.lower().replace("_", " ")
