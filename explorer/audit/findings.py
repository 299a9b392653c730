"""What an audit finds, as values: what someone who goes on from a summary should know of it, in
three groups; what was lost or put at risk, when, why, and what would have prevented it; and a place
of an entry with what stands around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum, StrEnum
from hashlib import sha256
from typing import NamedTuple

from msgspec import Struct, field

from explorer.audit.provenance import Provenance
from explorer.facts import Fact, FactKind, Span
from explorer.facts.entry_texts import texts_of
from explorer.session.entries import Entry
from explorer.session.late_pattern import late_pattern


class Group(StrEnum):
    """What a finding is about, the gravest group first."""

    INSTRUCTION = "standing-instruction"
    """A standing instruction of the user's is in nothing that the model sees."""
    STATE = "open-state"
    """Work under way is not named: the latest request, a failure, changed files, the next step."""
    WRONG = "stated-wrongly"
    """The summary states something otherwise than the record."""


class SummaryPlace(NamedTuple):
    """A stretch of a summary, in UTF-16 units of its text."""

    part: int
    """Which of the parts that the summary was given in."""
    start: int
    end: int


class Finding(Struct, frozen=True):
    """One thing that should have been in a summary, or that it states wrongly."""

    group: Group
    fact: Fact
    """What the record says, with its entries."""
    reason: str
    """Why it is reported, in a sentence."""
    stated: str = ""
    """What the summary says instead; empty where it says nothing."""
    places: tuple[SummaryPlace, ...] = ()
    """Where the summary says it; empty where it does not."""

    @property
    def text(self) -> str:
        """The sentence that is shown first: the summary's where it is wrong, else the record's."""
        return self.stated or self.fact.text

    @property
    def key(self) -> tuple[Group, FactKind, str]:
        """Equal for the same finding in two summaries."""
        return self.group, self.fact.kind, self.fact.key

    @property
    def id(self) -> str:
        """``key`` in a few letters, such as ``open-state:5f0c21d8``, by which a note names it."""
        digest = sha256(f"{self.fact.kind}\n{self.fact.key}".encode("utf-8", "replace"))
        return f"{self.group}:{digest.hexdigest()[:8]}"


class Carriage(StrEnum):
    """Whether a summary, or what was kept beside it, says a standing instruction."""

    FOUND = "found"
    """A line of the summary says it."""
    KEPT = "kept"
    """The message that gives it was kept word for word."""
    UNCLEAR = "not-clear"
    """Some of its words are there: neither clearly said nor clearly missing."""
    MISSING = "missing"
    WRONG = "wrong"
    """The summary states it otherwise."""


class Standing(Struct, frozen=True):
    """A standing instruction that holds, and what became of it."""

    fact: Fact
    carriage: Carriage
    line: str = ""
    """The line of the summary that it counts as found in; the nearest where it is not clear."""


class SectionCheck(Struct, frozen=True):
    """One heading that the summary's form asks for."""

    name: str
    count: int
    """How often it is there: 1 is right."""
    required: bool = True


class Fidelity(Struct, frozen=True):
    """How true a summary is to what it took the place of."""

    findings: tuple[Finding, ...] = ()
    """The groups in their order; within a group the newest first."""
    instructions: int = 0
    """Standing instructions of the user's that hold."""
    not_carried: Mapping[FactKind, tuple[Fact, ...]] = field(default_factory=dict)
    """What else is neither in the summary nor in the kept tail, by kind. Most of it need not be:
    it counts in no figure of the audit."""
    sections: tuple[SectionCheck, ...] = ()
    tokens_before: int = 0
    """Tokens of what was summarized, on the metric of the caller."""
    tokens_after: int = 0
    """Tokens of the summary."""
    is_readable: bool = True
    """False: the summary's text cannot be read, and nothing is known of it."""
    is_comparable: bool = True
    """False: the file begins with the compaction, and what it took the place of is not in it."""
    kept: int = 0
    """Where it cannot be read: the entries from before it that the context holds word for word."""
    standing: tuple[Standing, ...] = ()
    """The standing instructions that hold, in the order in which they were given."""

    @property
    def ratio(self) -> float:
        """The summary's size against what it took the place of; 0 where that is nothing."""
        return self.tokens_after / self.tokens_before if self.tokens_before else 0.0

    def of(self, group: Group) -> tuple[Finding, ...]:
        """The findings of a group."""
        return tuple(finding for finding in self.findings if finding.group is group)

    def count(self, carriage: Carriage) -> int:
        """How many standing instructions that became of."""
        return sum(one.carriage is carriage for one in self.standing)


AROUND = 140
"""UTF-16 units that are shown before and behind a place."""


# What may be a part of a word, where a text was cut.
_CUT_START = late_pattern(r"^\S{0,24}\s")
_CUT_END = late_pattern(r"(?<=\s)\S{1,24}$")


class Excerpt(NamedTuple):
    """A stretch of an entry's text: before the place, the place, behind it."""

    before: str
    text: str
    after: str


class QuotedText(NamedTuple):
    """A text of an entry and a stretch of it, in characters."""

    whole: str
    start: int
    end: int

    @property
    def text(self) -> str:
        """The stretch."""
        return self.whole[self.start : self.end]


def excerpt(entry: Entry, span: Span, around: int = AROUND) -> Excerpt | None:
    """What stands at a place of an entry; None when the entry has no such text."""
    units = _units_at(entry, span)
    if units is None:
        return None
    first, last = max(0, span.start - around), span.end + around
    before, after = _text(units, first, span.start), _text(units, span.end, last)
    if first:
        before = f"…{_CUT_START.sub('', before)}"
    if last * 2 < len(units):
        after = f"{_CUT_END.sub('', after)}…"
    return Excerpt(before, _text(units, span.start, span.end), after)


def quoted(entry: Entry, span: Span) -> QuotedText | None:
    """The text of an entry that a place is in, and where; None as for ``excerpt``."""
    units = _units_at(entry, span)
    if units is None:
        return None
    before, text = _text(units, 0, span.start), _text(units, span.start, span.end)
    whole = before + text + _text(units, span.end, len(units) // 2)
    return QuotedText(whole, len(before), len(before) + len(text))


def _units_at(entry: Entry, span: Span) -> bytes | None:
    """The text that a place is in, in UTF-16."""
    for found in texts_of(entry):
        if (found.block, found.argument) != (span.block, span.argument):
            continue
        units = found.text.encode("utf-16-le", "surrogatepass")
        if span.end * 2 <= len(units):
            return units
    return None


def _text(units: bytes, start: int, end: int) -> str:
    # A cut through a surrogate pair leaves half a letter, which is left out.
    return units[start * 2 : end * 2].decode("utf-16-le", "ignore")


class LossKind(StrEnum):
    """How something was lost."""

    KEPT_RANGE_DROPPED = "kept-range-dropped"
    PREVIOUS_SUMMARY_DROPPED = "previous-summary-dropped"
    BOUNDARY_LOST = "boundary-lost"
    LEFT_OUT = "left-out"
    EMPTY_SUMMARY = "empty-summary"
    FAILED_APPLIED = "failed-applied"
    CUT_SHORT = "cut-short"
    ORPHANED_RESULT = "orphaned-result"
    ORPHANED_CALL = "orphaned-call"
    EMPTY_INPUT = "empty-input"
    GREW = "grew"
    IN_A_ROW = "in-a-row"
    SUMMARIZED_AND_KEPT = "told-twice"
    NOTES_NOT_COUNTED = "notes-not-counted"
    REPEATED_SECTIONS = "repeated-sections"
    BRANCH_LEFT_OUT = "branch-left-out"
    BRANCH_EMPTY = "branch-empty"
    BRANCH_ORIGIN_LOST = "branch-origin-lost"
    FAILURES_INCLUDED = "branch-failed-told"


LOSS_TITLES: dict[LossKind, str] = {
    LossKind.KEPT_RANGE_DROPPED: "Kept, then dropped by the next compaction",
    LossKind.PREVIOUS_SUMMARY_DROPPED: "The previous summary was dropped",
    LossKind.BOUNDARY_LOST: "What was to be kept is not there",
    LossKind.LEFT_OUT: "Left out of the request",
    LossKind.EMPTY_SUMMARY: "An empty summary was stored",
    LossKind.FAILED_APPLIED: "A failed compaction was applied",
    LossKind.CUT_SHORT: "The summary looks cut short",
    LossKind.ORPHANED_RESULT: "A tool result without its call",
    LossKind.ORPHANED_CALL: "A tool call without its result",
    LossKind.EMPTY_INPUT: "A summary of nothing new",
    LossKind.GREW: "The context grew",
    LossKind.IN_A_ROW: "Compacted again at once",
    LossKind.SUMMARIZED_AND_KEPT: "Summarized and kept as well",
    LossKind.NOTES_NOT_COUNTED: "Notes that were not counted",
    LossKind.REPEATED_SECTIONS: "Headings written twice",
    LossKind.BRANCH_LEFT_OUT: "Left out of a branch summary",
    LossKind.BRANCH_EMPTY: "An empty branch summary",
    LossKind.BRANCH_ORIGIN_LOST: "A branch summary without its branch",
    LossKind.FAILURES_INCLUDED: "Failures summarized as if they counted",
}


class Severity(IntEnum):
    """How bad it is; the larger the worse."""

    WASTE = 0
    """Nothing is gone; tokens or a call were wasted."""
    RISK = 1
    """Something may be missing or wrong in what the model sees."""
    LOST = 2
    """Something is in nothing that the model sees."""


class Repair(StrEnum):
    """What can be done about it in this program."""

    CUT = "cut"
    """Step back before the compaction and cut at another place."""
    PIN = "pin"
    """Keep the entries verbatim from here on."""
    INSTRUCTION = "instruction"
    """Summarize anew, with words on what must be in it."""
    RULES = "rules"
    """Compact under rules that do not lose this."""
    GO_THERE = "go-there"
    """Make the entry the leaf and go on from it."""


class Loss(Struct, frozen=True):
    """One loss. Entries are indices, sizes tokens."""

    kind: LossKind
    severity: Severity
    at: int
    """The compaction or branch summary at which it happened, else the entry itself."""
    entries: Sequence[int]
    """What was lost or put at risk, ascending; empty where it is a summary as a whole."""
    tokens: int
    """Of these entries, as they are counted."""
    cause: str
    """What happened and why, in sentences."""
    prevention: str
    """What would have prevented it, in a sentence."""
    repairs: tuple[Repair, ...]
    provenance: Provenance
    basis: str
    """How it is known, in a sentence."""

    @property
    def title(self) -> str:
        """The kind in words."""
        return LOSS_TITLES[self.kind]

    @property
    def target(self) -> int:
        """The entry to show first."""
        return self.entries[0] if self.entries else self.at
