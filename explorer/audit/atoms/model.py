"""Atoms: the exact things and the statements of a session, each with where it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

ReadEntries = Callable[[Sequence[int]], Sequence[Mapping[str, Any]]]
"""Reads the JSON of entries by index, in the order asked for (``Payloads.entries``)."""


class AtomKind(StrEnum):
    """What an atom is."""

    PATH = "path"
    SYMBOL = "symbol"
    """A function, a class, an environment variable, a flag of a command."""
    COMMAND = "command"
    ERROR = "error"
    """A line that tells of a failure."""
    NUMBER = "number"
    """A figure with what it measures: ``250 ms``, ``5 retries``, ``port 8443``."""
    VERSION = "version"
    URL = "url"
    HASH = "hash"
    """A commit, a digest, a UUID, a ticket: an identifier that means nothing when it is cut."""
    CONSTRAINT = "constraint"
    """What the user forbade, demanded or limited."""
    DECISION = "decision"
    QUESTION = "question"
    """A question that nothing after it answers in so many words."""
    REQUEST = "request"
    """What the user asked for; the last one of a range is its latest request."""
    TODO = "todo"


EXACT_KINDS = (
    AtomKind.PATH,
    AtomKind.SYMBOL,
    AtomKind.COMMAND,
    AtomKind.ERROR,
    AtomKind.NUMBER,
    AtomKind.VERSION,
    AtomKind.URL,
    AtomKind.HASH,
)
"""Kinds that are worth nothing when they are paraphrased."""

STATEMENT_KINDS = (
    AtomKind.CONSTRAINT,
    AtomKind.DECISION,
    AtomKind.QUESTION,
    AtomKind.REQUEST,
    AtomKind.TODO,
)
"""Kinds that are sentences: other words may say the same."""


class Span(NamedTuple):
    """A stretch of an entry's text, in UTF-16 units."""

    entry: int
    """Index of the entry in the session."""
    start: int
    end: int
    block: int = 0
    """Which block of the message's content; 0 of a content that is one string, and of an entry
    whose text is its ``summary``, ``output`` or ``command``."""
    argument: str = ""
    """Of a tool call: the argument in whose text the range counts."""


@dataclass(frozen=True, slots=True)
class Atom:
    """One thing that a summary may keep or lose, wherever it was said."""

    kind: AtomKind
    text: str
    """As it was first written."""
    key: str
    """What all mentions of the same thing have in common: case, ``./``, units, quotes evened."""
    sources: tuple[int, ...] = ()
    """Indices of the entries that say it, ascending."""
    spans: tuple[Span, ...] = ()
    """Where it stands, in order; at least one per source."""
    stale: bool = False
    """Said otherwise later: what it states holds no more."""
    replaced_by: str = ""
    """Of a stale atom: the text of what holds instead, where that is known."""

    @property
    def last(self) -> int:
        """The entry that said it last; -1 of an atom without sources."""
        return self.sources[-1] if self.sources else -1


@dataclass(frozen=True, slots=True)
class Atoms:
    """The atoms of a range of entries, each once, in the order in which they were first said."""

    items: tuple[Atom, ...] = ()
    latest: Atom | None = None
    """What the user asked last, a question among it."""

    def __iter__(self) -> Iterator[Atom]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def of(self, kind: AtomKind) -> tuple[Atom, ...]:
        """Those of one kind."""
        return tuple(atom for atom in self.items if atom.kind is kind)

    @property
    def request(self) -> Atom | None:
        """The latest request; None where nobody asked for anything."""
        return self.latest


NOTHING = Atoms()
