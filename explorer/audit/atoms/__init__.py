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

__all__ = [
    "EXACT_KINDS",
    "NOTHING",
    "STATEMENT_KINDS",
    "Atom",
    "AtomKind",
    "Atoms",
    "ReadEntries",
    "Span",
]
