"""How a figure of another agent's file is told in running words: calmly, and never by colour alone.

What is exact stands as it is. What is inferred has a mark before it, and what was not recorded
says so; a tip has the reason.
"""

from __future__ import annotations

from explorer.audit.provenance import Known, Provenance

MARK = "≈"
"""Before a figure that is worked out from what is recorded."""
NOT_RECORDED = "not recorded"
"""In place of a figure that is neither recorded nor to be worked out."""
TITLES = {
    Provenance.EXACT: "exact",
    Provenance.INFERRED: "inferred",
    Provenance.UNREADABLE: "unreadable",
}


def marked(figure: str, known: Known) -> str:
    """``1,200``, ``≈1,200`` or ``not recorded``."""
    if known.provenance is Provenance.UNREADABLE:
        return NOT_RECORDED
    return f"{MARK}{figure}" if known.provenance is Provenance.INFERRED else figure


def reason(of: str, known: Known) -> str:
    """How something is known, for a tip: ``Tokens before: inferred. Counted here…``"""
    head = f"{of}: " if of else ""
    return f"{head}{TITLES[known.provenance]}. {known.told}"


def spoken(words: str) -> str:
    """Words with marks as they are read aloud."""
    return words.replace(MARK, "about ")
