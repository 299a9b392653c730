"""The audit's words: verdicts, severities and moments, as they are shown."""

from __future__ import annotations

from explorer.audit.findings import Repair, Severity
from explorer.audit.ledger import TEXTURES, LedgerVerdict
from explorer.audit.words import LEDGER_MEANINGS, LEDGER_TITLES
from explorer.compaction.partition import Verdict

VERDICTS = LEDGER_TITLES
LEADS = {
    LedgerVerdict.IN_THIS_SUMMARY: "summarized  ",
    LedgerVerdict.IN_EARLIER_SUMMARY: "earlier  ",
    LedgerVerdict.IN_BRANCH_SUMMARY: "branch  ",
    LedgerVerdict.PRUNED: "pruned  ",
    LedgerVerdict.LOST: "lost  ",
    LedgerVerdict.PINNED: "pinned  ",
    LedgerVerdict.OMITTED: "omitted  ",
}
"""Before the words of a row, where it is not as it was."""
MEANINGS = LEDGER_MEANINGS
COUNTED = {
    Severity.LOST: ("loss", "losses"),
    Severity.RISK: ("risk", "risks"),
    Severity.WASTE: ("case of waste", "cases of waste"),
}
"""One and several of each severity."""
SEVERITY_TEXTURES = {
    Severity.LOST: Verdict.LOST,
    Severity.RISK: Verdict.TURN_PREFIX,
    Severity.WASTE: Verdict.NOT_SENT,
}
REPAIRS = {
    Repair.CUT: (
        "Tr&y another cut",
        "Preview the compaction at the place where it was made, with a cut that keeps this",
    ),
    Repair.PIN: ("Pin word &for word", "Keep these entries word for word from here on"),
    Repair.INSTRUCTION: (
        "Add to the instru&ctions",
        "Ask for this by words, in a compaction made anew where it was made",
    ),
    Repair.RULES: (
        "Use the correcte&d rules",
        "Compact this session by rules that do not lose this",
    ),
    Repair.GO_THERE: ("Go the&re", "Make the entry the leaf, and go on from it"),
}


def texture(verdict: int) -> int:
    """The verdict of the map whose texture stands for one of the ledger."""
    return int(TEXTURES[verdict])


def sentence_case(text: str) -> str:
    """The text with its first letter in upper case."""
    return text[:1].upper() + text[1:]
