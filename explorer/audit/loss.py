"""What a loss is: what was lost or put at risk, when, why, and what would have prevented it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum, StrEnum

from msgspec import Struct

from explorer.audit.provenance import Provenance


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


TITLES: dict[LossKind, str] = {
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
        return TITLES[self.kind]

    @property
    def target(self) -> int:
        """The entry to show first."""
        return self.entries[0] if self.entries else self.at
