"""Facts: what the texts of a session state, exact things and statements."""

from explorer.facts.fact import EXACT_KINDS, STATEMENT_KINDS, Fact, FactKind, Facts, Mention, Span
from explorer.facts.fact_table import (
    NO_TABLE,
    EntryFacts,
    FactTable,
    ReadEntries,
    ScanCancelled,
    extract,
    scan,
)

__all__ = [
    "EXACT_KINDS",
    "NO_TABLE",
    "STATEMENT_KINDS",
    "EntryFacts",
    "Fact",
    "FactKind",
    "FactTable",
    "Facts",
    "Mention",
    "ReadEntries",
    "ScanCancelled",
    "Span",
    "extract",
    "scan",
]
