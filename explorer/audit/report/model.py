"""What a report tells, figures and quotes, gathered from what the audit of a path found. Pure: what
it reads comes in as a function.

Every form is written from this alone, so that all of them tell the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby

from msgspec import Struct

from explorer.audit.findings import Excerpt, Fidelity, Finding, Group, Loss, LossKind, excerpt
from explorer.audit.generations import LOST_STATES, PathState, StateRun
from explorer.audit.ledger import Ledger, LedgerVerdict
from explorer.audit.needed_again import Need, NeededAfter, NeededAgain
from explorer.audit.overview import Overview
from explorer.audit.provenance import Known, tokens_before_known
from explorer.audit.rules import rule_of
from explorer.audit.words import headline
from explorer.compaction.context_size import reported_after
from explorer.compaction.reasons import count_text
from explorer.facts import Span
from explorer.session.entries import Entry
from explorer.session.kinds import Kind
from explorer.session.tree import SessionTree
from explorer.session.usage_sums import PartUsage

VERSION = 3
"""Of the JSON form; it grows when what is there changes its meaning or goes away."""


class EntryRef(Struct, frozen=True):
    """An entry as a report names it."""

    index: int
    id: str
    kind: str
    """``user``, ``tool result`` and so on."""
    preview: str
    """Its first words."""


class SessionFacts(Struct, frozen=True):
    """Which session it is."""

    title: str
    id: str
    format: str
    """Whose session it is, for people."""
    project: str
    """The last part of its folder."""
    entries: int
    """Of all branches."""
    on_path: int
    """Of the path that is audited."""
    turns: int
    """Of the path."""
    leaf: str
    """Id of the path's end; empty of a session without entries."""
    begun_ms: float
    ended_ms: float


class QuotedFinding(Struct, frozen=True):
    """A finding with what its source and the summary say around it."""

    finding: Finding
    source: EntryRef | None
    """The entry that stated it last; None without a source."""
    source_excerpt: Excerpt | None
    """There."""
    summary_excerpt: Excerpt | None
    """In the summary."""


class FindingGroup(Struct, frozen=True):
    """The findings of a group, the newest first."""

    group: Group
    findings: tuple[QuotedFinding, ...]


class VerdictRow(Struct, frozen=True):
    """One verdict of the ledger."""

    verdict: LedgerVerdict
    entries: int
    tokens: int


class LedgerRun(Struct, frozen=True):
    """Entries one after the other that share a verdict, with the rule of the first of them."""

    first: int
    last: int
    """Indices of entries."""
    entries: int
    tokens: int
    verdict: LedgerVerdict
    rule: str
    known: Known


class LossPart(Struct, frozen=True):
    """A loss with the entries that are shown of it."""

    loss: Loss
    at: EntryRef
    shown: tuple[EntryRef, ...]
    """The first of its entries."""


class NeedPart(Struct, frozen=True):
    """Something that was needed again, with both entries."""

    need: Need
    before: EntryRef
    after: EntryRef


class NeededPart(Struct, frozen=True):
    """What was needed again after one compaction."""

    found: NeededAfter
    needs: tuple[NeedPart, ...]


class CompactionPart(Struct, frozen=True):
    """One compaction. Sizes are tokens."""

    number: int
    """From 1 on the path."""
    entry: EntryRef
    time_ms: float
    recorded_before: int
    """The context before it as its agent counted it; 0 where that is not recorded."""
    recorded_known: Known
    reported_after: int
    """The context as its provider counted it with the next reply; 0 without one."""
    counted_before: int
    """The entries of the context before it, counted here."""
    counted_after: int | None
    """The summary and what was kept, counted here as the context before is; None where the
    summary is not in the file."""
    known: Known
    """The provenance of the summarizer's input."""
    kept_from: EntryRef | None
    """The first entry that was kept; None where nothing was."""
    summary: str
    fidelity: Fidelity
    groups: tuple[FindingGroup, ...]
    """All of them, those without findings too."""
    losses: tuple[LossPart, ...]
    ledger: tuple[VerdictRow, ...]
    runs: tuple[LedgerRun, ...]
    more_runs: int
    """Runs that ``runs`` leaves out."""

    @property
    def name(self) -> str:
        return f"compaction #{self.entry.index}"

    @property
    def is_part_summarized(self) -> bool:
        """Whether the summary took the place of a part of the context, so that their sizes
        differ."""
        found, after = self.fidelity, self.counted_after
        is_same_after = after in (None, found.tokens_after)
        return found.tokens_before != self.counted_before or not is_same_after

    def entries_of(self, verdict: LedgerVerdict) -> int:
        """How many entries of the ledger have a verdict."""
        return sum(row.entries for row in self.ledger if row.verdict == verdict)


class StripRun(Struct, frozen=True):
    """A stretch of the path that shares a state at one moment."""

    start: int
    stop: int
    """Positions on the path, the last one left out."""
    state: str
    """``verbatim``, ``told``, ``lost`` or ``aside``."""


class StripLane(Struct, frozen=True):
    """The path before its first compaction, or after one up to the next."""

    name: str
    runs: tuple[StripRun, ...]


class Report(Struct, frozen=True):
    """The audit of one compaction, or of all on a path."""

    program: str
    """Which program and version wrote it."""
    made_ms: float
    session: SessionFacts
    rules: str
    """The title of the rules that the session is judged by."""
    rules_known: str
    """How it is known that these are the session's, in a sentence."""
    spending: PartUsage
    cost: Known
    compactions: tuple[CompactionPart, ...]
    is_whole: bool
    """Whether these are all compactions of the path."""
    losses: tuple[LossPart, ...]
    """Of the path, or of the one compaction; the most severe first."""
    strip: tuple[StripLane, ...]
    """Before the first compaction, then after each; empty without any."""
    needed: tuple[NeededPart, ...] = ()
    """What was needed again, for each compaction of this report."""
    counted_by: str = "estimate"
    """Who counted the tokens of entries: ``tokenizer`` or ``estimate``."""

    @property
    def needed_again(self) -> NeededAgain:
        """The same without the entries' words."""
        return NeededAgain(tuple(part.found for part in self.needed))

    @property
    def is_one(self) -> bool:
        """Whether it is of one compaction."""
        return len(self.compactions) == 1

    @property
    def verdicts(self) -> tuple[LedgerVerdict, ...]:
        """Those that the ledgers have."""
        found = {row.verdict for part in self.compactions for row in part.ledger}
        return tuple(sorted(found))

    @property
    def other_losses(self) -> tuple[LossPart, ...]:
        """The losses that happened at none of the compactions of this report."""
        covered = {part.entry.index for part in self.compactions}
        return tuple(loss for loss in self.losses if loss.loss.at not in covered)

    @property
    def loss_kinds(self) -> tuple[tuple[LossPart, ...], ...]:
        """The losses by kind, the gravest kinds first."""
        kinds: dict[LossKind, list[LossPart]] = {}
        for loss in self.losses:
            kinds.setdefault(loss.loss.kind, []).append(loss)
        return tuple(tuple(these) for these in kinds.values())


def moment(time_ms: float) -> str:
    """Date and time of milliseconds since 1970 in UTC; empty for none and out of any calendar."""
    if time_ms <= 0:
        return ""
    try:
        return datetime.fromtimestamp(time_ms / 1000, UTC).strftime("%d %b %Y, %H:%M UTC")
    except (OSError, OverflowError, ValueError):
        return ""


def iso(time_ms: float) -> str | None:
    """The same as programs write it; None for none."""
    if time_ms <= 0:
        return None
    try:
        return datetime.fromtimestamp(time_ms / 1000, UTC).isoformat(timespec="milliseconds")
    except (OSError, OverflowError, ValueError):
        return None


def refs_words(entries: Sequence[int], most: int = 6) -> str:
    """``#3, #4 and #9``; of many the first ones."""
    names = [f"#{entry}" for entry in entries[:most]]
    more = len(entries) - len(names)
    if more > 0:
        return f"{', '.join(names)} and {more:,} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def cost_words(report: Report) -> tuple[str, str]:
    """What the path cost, and how that is known."""
    total = report.spending.total
    known = f"{report.cost.provenance}: {report.cost.basis}"
    if not total.whole_cost:
        return "not reported", known
    summaries = report.spending.summaries.whole_cost
    part = f" ${summaries:,.4f} of it by summaries." if summaries else ""
    mark = "≥" if total.cost_is_least else "≈" if total.listed else ""
    return f"{mark}${total.whole_cost:,.4f}", f"{known}{part}"


def verdict_words(report: Report) -> str:
    """The report in a sentence: its latest compaction, and what was dropped on the path."""
    gone = {e for loss in report.losses if loss.loss.severity == 2 for e in loss.loss.entries}
    if not report.compactions:
        return "Nothing was compacted on this path."
    latest = report.compactions[-1]
    sentence = f"{sentence_case(latest.name)}: {headline(latest.fidelity)}."
    if gone:
        is_are = "is" if len(gone) == 1 else "are"
        sentence += f" {count_text(len(gone), 'entry')} {is_are} neither kept nor summarized."
    return sentence


def sentence_case(text: str) -> str:
    """The first letter large; the others as they are."""
    return text[:1].upper() + text[1:]


AROUND = 100
"""UTF-16 units on either side of a quote."""
SHOWN_ENTRIES = 5
"""Entries of a loss that are named with their first words."""
MOST_RUNS = 60

ReadEntries = Callable[[Sequence[int]], Sequence[Entry]]
Previews = Callable[[Sequence[int]], Sequence[str]]

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
            reported_after=reported_after(self.tree, entry),
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
