"""What a report tells: figures and quotes, ready to be written in any of the forms.

Every form is written from this alone, so that all of them tell the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import Struct

from explorer.audit.findings import Excerpt, Fidelity, Finding, Group, Loss, LossKind
from explorer.audit.ledger import LedgerVerdict
from explorer.audit.needed_again import Need, NeededAfter, NeededAgain
from explorer.audit.provenance import Known
from explorer.audit.words import headline
from explorer.compaction.reasons import count_text
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
    counted_before: int
    """The context before it, counted here."""
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
    mark = "≥" if total.uncounted else "≈" if total.listed else ""
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
