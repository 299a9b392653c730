"""Fates, kinds, verdicts and losses as people read them: one name for each, wherever it is
shown."""

from __future__ import annotations

from explorer.audit.findings import Fate, Fidelity, Finding
from explorer.audit.ledger import LedgerVerdict
from explorer.audit.loss import Severity
from explorer.audit.provenance import Provenance
from explorer.compaction.reasons import count_text
from explorer.facts import FactKind

FATE_TITLES = {
    Fate.KEPT: "kept verbatim",
    Fate.EXACT: "exact in the summary",
    Fate.NORMALIZED: "in another form",
    Fate.RECOVERABLE: "recoverable",
    Fate.LOST: "lost",
    Fate.INVENTED: "invented",
    Fate.MUTATED: "mutated",
    Fate.STALE: "stale, stated as current",
}
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
    LedgerVerdict.IN_THIS_SUMMARY: "in this summary",
    LedgerVerdict.IN_EARLIER_SUMMARY: "in an earlier summary",
    LedgerVerdict.IN_BRANCH_SUMMARY: "in a branch summary",
    LedgerVerdict.PRUNED: "pruned",
    LedgerVerdict.NEVER_SENT: "never sent",
    LedgerVerdict.LOST: "lost",
    LedgerVerdict.PINNED: "pinned",
    LedgerVerdict.OMITTED: "omitted",
}
LEDGER_MEANINGS = {
    LedgerVerdict.VERBATIM: "The model is sent it as it is.",
    LedgerVerdict.IN_THIS_SUMMARY: "Only that summary, the one in force, tells of it.",
    LedgerVerdict.IN_EARLIER_SUMMARY: "It was summarized, and that summary was summarized again.",
    LedgerVerdict.IN_BRANCH_SUMMARY: "It is on a branch that was left; a summary tells of it.",
    LedgerVerdict.PRUNED: "A note stands for it.",
    LedgerVerdict.NEVER_SENT: "It is not for a model.",
    LedgerVerdict.LOST: "It is neither kept nor summarized.",
    LedgerVerdict.PINNED: "The model is sent it as it is, after the summary.",
    LedgerVerdict.OMITTED: "The model is not sent it.",
}
SEVERITY_TITLES = {Severity.LOST: "lost", Severity.RISK: "at risk", Severity.WASTE: "wasted"}
PROVENANCE_MEANINGS = {
    Provenance.EXACT: "It is recorded.",
    Provenance.INFERRED: "It is worked out from what is recorded.",
    Provenance.UNREADABLE: "It is neither recorded nor to be worked out.",
}
SHORT_BOUND = (
    "An upper bound: where string search found 82 to 93 % of the facts, models recalled 0 to 7 % "
    "(Lost in Compaction, 2026)."
)
"""For where the figure stands; ``UPPER_BOUND`` says it in full."""
UPPER_BOUND = (
    "An upper bound: that a string survives does not say that a model will recall it. Where string "
    "search found 82 to 93 % of the facts in summaries, models asked for them recalled 0 to 7 % "
    "(Lost in Compaction, 2026)."
)


def kind_title(kind: FactKind) -> str:
    """The title of a kind, marked where its facts are recognised by rule of thumb."""
    return f"{KIND_TITLES[kind]}{' (by rule of thumb)' if kind.by_rule_of_thumb else ''}"


def percent(share: float) -> str:
    """``43 %``; never 100 or 0 where something is lacking or left."""
    if 0.995 <= share < 1:
        return "99 %"
    if 0 < share < 0.005:
        return "under 1 %"
    return f"{share * 100:.0f} %"


def headline(fidelity: Fidelity) -> str:
    """The figure that comes first."""
    total = sum(row.total for row in fidelity.kinds)
    if not total:
        return "Nothing that could be lost was summarized"
    verb = "survives" if total == 1 else "survive"
    return f"At most {percent(fidelity.survival)} of {count_text(total, 'thing')} {verb}"


UNREADABLE_SUMMARY = "Its text cannot be read, so what it keeps is not known."
"""Of a compaction whose summary is encrypted or was not recorded."""


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


def request_words(fidelity: Fidelity) -> str:
    """Whether the latest request is still seen."""
    if fidelity.request is None:
        return ""
    fate = fidelity.request.fate
    if fate is Fate.KEPT:
        return "The latest request is kept verbatim."
    if fate in (Fate.EXACT, Fate.NORMALIZED):
        return "The latest request is in the summary."
    return (
        f"The latest request is {FATE_TITLES[fate]}: "
        f"{percent(fidelity.request.overlap)} of its words are still there."
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


def file_words(fidelity: Fidelity) -> str:
    """Changed files that are not named, and named ones that nothing changed."""
    unnamed = [each.path for each in fidelity.files if each.called and not each.places]
    uncalled = [each.path for each in fidelity.files if not each.called]
    if not fidelity.files:
        return ""
    changed = sum(1 for each in fidelity.files if each.called)
    parts = []
    if changed:
        named = changed - len(unnamed)
        parts.append(f"Names {named} of {count_text(changed, 'file')} that calls changed.")
    if uncalled:
        parts.append(f"Lists {count_text(len(uncalled), 'file')} as changed that no call changed.")
    return " ".join(parts)


def finding_words(finding: Finding) -> str:
    """A finding as a sentence of one line, for lists and screen readers."""
    fact = finding.fact
    source = f"#{fact.last}" if fact.sources else "no source"
    return f"{FATE_TITLES[finding.fate]}, {ONE_KIND[fact.kind]}, {source}: {fact.text}"
