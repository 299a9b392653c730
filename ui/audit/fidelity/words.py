"""Fates and kinds of atoms as people read them, with the texture of each fate."""

from __future__ import annotations

from explorer.audit.atoms import AtomKind
from explorer.audit.findings import Fate, Fidelity, Finding
from ui.theme.verdicts import KEPT, LOST, NOT_SENT, PRUNED, TO_SUMMARIZE, TURN_PREFIX
from ui.widgets.figures import count, full

FATE_TITLES = {
    Fate.KEPT: "kept verbatim",
    Fate.EXACT: "exact in the summary",
    Fate.NORMALIZED: "spelled otherwise",
    Fate.RECOVERABLE: "recoverable",
    Fate.LOST: "lost",
    Fate.INVENTED: "invented",
    Fate.MUTATED: "mutated",
    Fate.STALE: "stale, told as current",
}
TEXTURES = {
    Fate.KEPT: KEPT,
    Fate.EXACT: TO_SUMMARIZE,
    Fate.NORMALIZED: TURN_PREFIX,
    Fate.RECOVERABLE: PRUNED,
    Fate.LOST: LOST,
    Fate.INVENTED: NOT_SENT,
    Fate.MUTATED: NOT_SENT,
    Fate.STALE: NOT_SENT,
}
"""The verdict whose texture tells a fate: what is in a summary is hatched, what is kept solid."""
BAR = (Fate.KEPT, Fate.EXACT, Fate.NORMALIZED, Fate.RECOVERABLE, Fate.LOST)
"""What a bar is made of, from left to right."""
KIND_TITLES = {
    AtomKind.PATH: "Paths",
    AtomKind.SYMBOL: "Symbols",
    AtomKind.COMMAND: "Commands",
    AtomKind.ERROR: "Error lines",
    AtomKind.NUMBER: "Figures",
    AtomKind.VERSION: "Versions",
    AtomKind.URL: "Addresses",
    AtomKind.HASH: "Identifiers",
    AtomKind.CONSTRAINT: "Constraints",
    AtomKind.DECISION: "Decisions",
    AtomKind.QUESTION: "Questions",
    AtomKind.REQUEST: "Requests",
    AtomKind.TODO: "To-dos",
}
ONE_KIND = {
    AtomKind.PATH: "path",
    AtomKind.SYMBOL: "symbol",
    AtomKind.COMMAND: "command",
    AtomKind.ERROR: "error line",
    AtomKind.NUMBER: "figure",
    AtomKind.VERSION: "version",
    AtomKind.URL: "address",
    AtomKind.HASH: "identifier",
    AtomKind.CONSTRAINT: "constraint",
    AtomKind.DECISION: "decision",
    AtomKind.QUESTION: "question",
    AtomKind.REQUEST: "request",
    AtomKind.TODO: "to-do",
}
UPPER_BOUND = (
    "An upper bound: that a string survives does not say that a model will recall it. Where string "
    "search found 82 to 93 % of the facts in summaries, models asked for them recalled 0 to 7 % "
    "(Lost in Compaction, 2026)."
)


def percent(share: float) -> str:
    """``43 %``; never 100 or 0 where something is lacking or left."""
    if 0.995 <= share < 1:
        return "99 %"
    if 0 < share < 0.005:
        return "under 1 %"
    return f"{share * 100:.0f} %"


def headline(told: Fidelity) -> str:
    """The figure that comes first."""
    total = sum(row.total for row in told.kinds)
    if not total:
        return "Nothing that could be lost was summarized"
    return f"At most {percent(told.survival)} of {count(total, 'thing')} survives"


def size_words(told: Fidelity) -> str:
    """How large the summary is against what it took the place of."""
    if not told.tokens_before:
        return ""
    times = told.tokens_before / told.tokens_after if told.tokens_after else 0.0
    if times < 1:
        shrunk = "not shorter"
    else:
        shrunk = f"{times:.0f} to 1" if times >= 10 else f"{times:.1f} to 1"
    return (
        f"The summary takes {full(told.tokens_after)} tokens in place of "
        f"{full(told.tokens_before)}: {shrunk}."
    )


def request_words(told: Fidelity) -> str:
    """Whether the latest request is still seen."""
    if told.request is None:
        return ""
    fate = told.request.fate
    if fate is Fate.KEPT:
        return "The latest request is kept verbatim."
    if fate in (Fate.EXACT, Fate.NORMALIZED):
        return "The latest request is in the summary."
    return (
        f"The latest request is {FATE_TITLES[fate]}: {percent(told.request.overlap)} of its words "
        "are still there."
    )


def section_words(told: Fidelity) -> str:
    """Required sections that are missing, and any that are there twice."""
    missing = [each.name for each in told.sections if each.required and not each.count]
    twice = [each.name for each in told.sections if each.count > 1]
    parts = []
    if missing:
        parts.append(f"Sections missing: {', '.join(missing)}.")
    if twice:
        parts.append(f"There more than once: {', '.join(twice)}.")
    if told.sections and not parts:
        parts.append("All sections of its form are there, each once.")
    return " ".join(parts)


def file_words(told: Fidelity) -> str:
    """Changed files that are not named, and named ones that nothing changed."""
    unnamed = [each.path for each in told.files if each.called and not each.places]
    uncalled = [each.path for each in told.files if not each.called]
    if not told.files:
        return ""
    changed = sum(1 for each in told.files if each.called)
    parts = [f"Names {changed - len(unnamed)} of {count(changed, 'file')} that calls changed."]
    if uncalled:
        parts.append(f"Says of {count(len(uncalled), 'file')} that no call changed it.")
    return " ".join(parts)


def finding_words(finding: Finding) -> str:
    """A finding as a sentence of one line, for lists and screen readers."""
    atom = finding.atom
    said = f"#{atom.last}" if atom.sources else "no source"
    return f"{FATE_TITLES[finding.fate]}, {ONE_KIND[atom.kind]}, {said}: {atom.text}"
