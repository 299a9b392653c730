"""Typed atoms of a session: paths, commands, errors, numbers, constraints, decisions and more."""

from explorer.audit.atoms.model import (
    EXACT_KINDS,
    NOTHING,
    STATEMENT_KINDS,
    Atom,
    AtomKind,
    Atoms,
    ReadEntries,
    Span,
)
from explorer.audit.atoms.table import NO_TABLE, AtomTable, ScanCancelled, extract, scan

__all__ = [
    "EXACT_KINDS",
    "NOTHING",
    "NO_TABLE",
    "STATEMENT_KINDS",
    "Atom",
    "AtomKind",
    "AtomTable",
    "Atoms",
    "ReadEntries",
    "ScanCancelled",
    "Span",
    "extract",
    "scan",
]
