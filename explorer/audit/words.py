"""Groups, kinds, verdicts and losses as people read them: one name for each, wherever it is
shown."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.audit.findings import Fidelity, Finding, Group
from explorer.audit.ledger import LedgerVerdict
from explorer.audit.loss import Severity
from explorer.audit.provenance import Provenance
from explorer.compaction.reasons import count_text
from explorer.facts import FactKind

_MOST_PLACES = 8
"""Entries that a sentence names."""

GROUP_TITLES = {
    Group.INSTRUCTION: "Standing instructions",
    Group.STATE: "Open state",
    Group.WRONG: "Stated wrongly",
}
GROUP_MEANINGS = {
    Group.INSTRUCTION: "What the user laid down for good, and nothing says any more.",
    Group.STATE: "Work under way that is not named.",
    Group.WRONG: "What the record contradicts.",
}
GROUP_EMPTY = {
    Group.INSTRUCTION: "None was found missing.",
    Group.STATE: "Nothing open was found missing.",
    Group.WRONG: "No contradiction was found.",
}
"""Of a group without findings: rules of thumb found none, which is no proof."""
KIND_TITLES = {
    FactKind.PATH: "Paths",
    FactKind.SYMBOL: "Symbols",
    FactKind.COMMAND: "Commands",
    FactKind.ERROR: "Error lines",
    FactKind.NUMBER: "Figures",
    FactKind.VERSION: "Versions",
    FactKind.URL: "Addresses",
    FactKind.HASH: "Identifiers",
    FactKind.CONSTRAINT: "Constraints",
    FactKind.DECISION: "Decisions",
    FactKind.QUESTION: "Questions",
    FactKind.REQUEST: "Requests",
    FactKind.TODO: "To-dos",
}
ONE_KIND = {
    FactKind.PATH: "path",
    FactKind.SYMBOL: "symbol",
    FactKind.COMMAND: "command",
    FactKind.ERROR: "error line",
    FactKind.NUMBER: "figure",
    FactKind.VERSION: "version",
    FactKind.URL: "address",
    FactKind.HASH: "identifier",
    FactKind.CONSTRAINT: "constraint",
    FactKind.DECISION: "decision",
    FactKind.QUESTION: "question",
    FactKind.REQUEST: "request",
    FactKind.TODO: "to-do",
}
LEDGER_TITLES = {
    LedgerVerdict.VERBATIM: "word for word",
    LedgerVerdict.IN_THIS_SUMMARY: "summarized",
    LedgerVerdict.IN_EARLIER_SUMMARY: "summarized earlier",
    LedgerVerdict.IN_BRANCH_SUMMARY: "in a branch summary",
    LedgerVerdict.PRUNED: "pruned",
    LedgerVerdict.NEVER_SENT: "never sent",
    LedgerVerdict.LOST: "lost",
    LedgerVerdict.PINNED: "pinned",
    LedgerVerdict.OMITTED: "omitted",
}
LEDGER_MEANINGS = {
    LedgerVerdict.VERBATIM: "The model is sent it as it is.",
    LedgerVerdict.IN_THIS_SUMMARY: "Only the summary in force may tell of it.",
    LedgerVerdict.IN_EARLIER_SUMMARY: "It was summarized, and that summary was summarized again.",
    LedgerVerdict.IN_BRANCH_SUMMARY: "It is on an abandoned branch; a summary tells of it.",
    LedgerVerdict.PRUNED: "A note stands for it.",
    LedgerVerdict.NEVER_SENT: "It is not for a model.",
    LedgerVerdict.LOST: "It is neither kept nor summarized.",
    LedgerVerdict.PINNED: "The model is sent it as it is, after the summary.",
    LedgerVerdict.OMITTED: "The model is not sent it.",
}
SEVERITY_TITLES = {Severity.LOST: "lost", Severity.RISK: "at risk", Severity.WASTE: "wasted"}
NOT_RECORDED = "not recorded"
"""In place of a figure that is neither recorded nor to be worked out."""
PROVENANCE_TITLES = {
    Provenance.EXACT: "exact",
    Provenance.INFERRED: "inferred",
    Provenance.UNREADABLE: NOT_RECORDED,
}
PROVENANCE_MEANINGS = {
    Provenance.EXACT: "It is recorded.",
    Provenance.INFERRED: "It is worked out from what is recorded.",
    Provenance.UNREADABLE: "It is not in the file in a form that can be read.",
}
LOSSES_MEANING = "mistakes of the compacting itself; what its summaries left out is listed apart"
"""Beside the number of losses."""
RULE_OF_THUMB = (
    "Found by rules of thumb that report only what is not in doubt: some of what is missing is "
    "not found."
)


UNREADABLE_SUMMARY = (
    "Its summary is encrypted by the provider or was not recorded: what it says cannot be read."
)
_MOST_UNREAD = 4
"""Summaries that cannot be read and are named."""


def unreadable_words(fidelity: Fidelity) -> str:
    """What is known where a summary cannot be read."""
    if not fidelity.kept:
        return f"{UNREADABLE_SUMMARY} What went to the summarizer may or may not be in it."
    are = "entry from before it is" if fidelity.kept == 1 else "entries from before it are"
    return (
        f"{UNREADABLE_SUMMARY} {fidelity.kept:,} {are} kept beside it, word for word; what else "
        "went to the summarizer may or may not be in it."
    )


def unread_words(compactions: Sequence[int]) -> str:
    """What nobody knows of the compactions whose summaries cannot be read; empty for none."""
    if not compactions:
        return ""
    if len(compactions) == 1:
        return (
            f"The summary of #{compactions[0]} is encrypted or was not recorded: what went to its "
            "summarizer may or may not be in it."
        )
    named = [f"#{at}" for at in compactions[:_MOST_UNREAD]]
    more = len(compactions) - len(named)
    names = (
        f"{', '.join(named)} and {more:,} more"
        if more
        else " and ".join([", ".join(named[:-1]), named[-1]])
    )
    return (
        f"The summaries of {names} are encrypted or were not recorded: what went to their "
        "summarizers may or may not be in them."
    )


NOTHING_FOUND = "The summary itself lacks no instruction or open point, and states nothing wrongly"


def headline(fidelity: Fidelity) -> str:
    """What was found of a summary, in a sentence."""
    if not fidelity.is_readable:
        return unreadable_words(fidelity).removesuffix(".")
    missing = len(fidelity.of(Group.INSTRUCTION))
    parts = []
    if fidelity.instructions:
        total = count_text(fidelity.instructions, "standing instruction")
        is_are = "is" if missing == 1 else "are"
        what = f"{missing} of {total} {is_are} not in the summary"
        found = total if fidelity.instructions == 1 else f"All {total}"
        parts.append(what if missing else f"{found} found in the summary or the kept tail")
    if state := len(fidelity.of(Group.STATE)):
        parts.append(f"{state} open {'point is' if state == 1 else 'points are'} not named")
    if wrong := len(fidelity.of(Group.WRONG)):
        parts.append(f"{count_text(wrong, 'statement')} {'is' if wrong == 1 else 'are'} wrong")
    return "; ".join(parts) or NOTHING_FOUND


def standing_words(fidelity: Fidelity) -> str:
    """Where the user gave the standing instructions that hold; empty for none."""
    places = sorted({fact.sources[0] for fact in fidelity.standing if fact.sources})
    if not places:
        return ""
    more = f" and {len(places) - _MOST_PLACES:,} more" if len(places) > _MOST_PLACES else ""
    return f"Given at {', '.join(f'#{at}' for at in places[:_MOST_PLACES])}{more}."


def not_carried_words(fidelity: Fidelity) -> str:
    """``Also left out: 9 commands, 30 symbols``; empty for nothing."""
    counts = [
        f"{len(facts):,} {KIND_TITLES[kind].lower() if len(facts) > 1 else ONE_KIND[kind]}"
        for kind, facts in fidelity.not_carried.items()
    ]
    return f"Also left out: {', '.join(counts)}" if counts else ""


def size_text(tokens: int | None) -> str:
    """Tokens as figures; in words where nobody can count them."""
    return NOT_RECORDED if tokens is None else f"{tokens:,}"


def size_words(fidelity: Fidelity) -> str:
    """How large the summary is against what it took the place of."""
    if not fidelity.is_readable:
        return UNREADABLE_SUMMARY
    if not fidelity.tokens_before:
        return ""
    times = fidelity.tokens_before / fidelity.tokens_after if fidelity.tokens_after else 0.0
    if times < 1:
        shrunk = "not shorter"
    else:
        shrunk = f"{times:.0f} to 1" if times >= 10 else f"{times:.1f} to 1"
    return (
        f"The summary takes {fidelity.tokens_after:,} tokens in place of "
        f"{fidelity.tokens_before:,}: {shrunk}."
    )


def section_words(fidelity: Fidelity) -> str:
    """Required sections that are missing, and any that are there twice."""
    missing = [each.name for each in fidelity.sections if each.required and not each.count]
    twice = [each.name for each in fidelity.sections if each.count > 1]
    parts = []
    if missing:
        parts.append(f"Sections missing: {', '.join(missing)}.")
    if twice:
        parts.append(f"There more than once: {', '.join(twice)}.")
    if fidelity.sections and not parts:
        parts.append("All sections of its form are there, each once.")
    return " ".join(parts)


def finding_words(finding: Finding) -> str:
    """A finding as a sentence of one line, for lists and screen readers."""
    fact = finding.fact
    source = f"#{fact.last}" if fact.sources else "no source"
    return f"{GROUP_TITLES[finding.group]}, {source}: {finding.text}. {finding.reason}"
