"""What a fact is: its kind, its text, and where in a session it stands."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct

from explorer.facts.entry_texts import Speaker


class FactKind(StrEnum):
    """The kind of a fact. Exact kinds are strings that must survive letter for letter; statement
    kinds are sentences, recognised by rule of thumb."""

    PATH = "path"
    SYMBOL = "symbol"
    """A function, a class, an environment variable, a command's flag."""
    COMMAND = "command"
    ERROR = "error"
    """A line that reports a failure."""
    NUMBER = "number"
    """A figure with its unit: ``250 ms``, ``5 retries``, ``port 8443``."""
    VERSION = "version"
    URL = "url"
    HASH = "hash"
    """A commit, a digest, a UUID, a ticket: worthless when it is cut."""
    CONSTRAINT = "constraint"
    """What the user forbade, demanded or limited."""
    DECISION = "decision"
    QUESTION = "question"
    REQUEST = "request"
    """What the user asked for; the last one of a range is its latest request."""
    TODO = "todo"
    """Work that is said to be left."""


EXACT_KINDS = (
    FactKind.PATH,
    FactKind.SYMBOL,
    FactKind.COMMAND,
    FactKind.ERROR,
    FactKind.NUMBER,
    FactKind.VERSION,
    FactKind.URL,
    FactKind.HASH,
)
STATEMENT_KINDS = (
    FactKind.CONSTRAINT,
    FactKind.DECISION,
    FactKind.QUESTION,
    FactKind.REQUEST,
    FactKind.TODO,
)


class Span(NamedTuple):
    """A range of an entry's text, in UTF-16 units."""

    entry: int
    """Index of the entry in the session."""
    start: int
    end: int
    block: int = 0
    """Index of the content block; 0 where the content is one string, and for an entry whose text
    is its ``summary``, ``output`` or ``command``."""
    argument: str = ""
    """Of a tool call: the name of the argument whose text the range counts in."""


class Mention(Struct, frozen=True, gc=False):
    """One occurrence of a fact in one text; offsets in characters while a text is read, in
    UTF-16 units in what ``extract`` returns."""

    kind: FactKind
    text: str
    key: str
    """Equal for all mentions of one fact: case, ``./``, units and quotes are normalised."""
    start: int
    end: int
    block: int = 0
    argument: str = ""
    speaker: Speaker = Speaker.ASSISTANT
    context: str = ""
    """Of a figure: what precedes it in its line, a line break, what follows. Of a version: what it
    is of, up to its end."""


class Fact(Struct, frozen=True):
    """One thing that a summary may keep or lose, with all places that mention it."""

    kind: FactKind
    text: str
    """As first written."""
    key: str
    """See ``Mention.key``."""
    sources: tuple[int, ...] = ()
    """Indices of the entries that mention it, ascending."""
    spans: tuple[Span, ...] = ()
    """Where it stands, in order; at least one per source."""
    stale: bool = False
    """Changed by a later statement: it no longer holds."""
    replaced_by: str = ""
    """Of a stale fact: the text of the statement that holds instead."""
    named: str = ""
    """Of a version that is a whole number: the name before it too, ``PostgreSQL 15``."""

    @property
    def title(self) -> str:
        """Its text as it is shown, which says what it is."""
        return self.named or self.text

    @property
    def last(self) -> int:
        """Index of the last entry that mentions it; -1 without sources."""
        return self.sources[-1] if self.sources else -1


class Facts(Struct, frozen=True):
    """The facts of a range of entries, each once, in the order of their first mention."""

    items: tuple[Fact, ...] = ()
    request: Fact | None = None
    """The latest request of the user, or a question where that came last; None without either."""

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def of(self, kind: FactKind) -> tuple[Fact, ...]:
        """The facts of one kind."""
        return tuple(fact for fact in self.items if fact.kind is kind)
