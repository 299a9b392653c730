"""What passes between a file's reader, the store and the tree: entries on their way in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from explorer.session.describe import Facts

FormatName = Literal["pi", "omp"]


class EntryRecord(NamedTuple):
    """One entry as read: its line verbatim and what was understood of it."""

    entry_id: str
    parent: int
    """Index of the parent entry, -1 for a root; always below the entry's own index."""
    line: int
    """Line number in its file, counted from 1; 0 for an entry made here."""
    raw: str
    facts: Facts
    estimate: int
    """Tokens, ceil(UTF-16 units / 4)."""


@dataclass(frozen=True, slots=True)
class SessionHeader:
    """The first line of a session file, as far as it was understood."""

    session_id: str
    format: FormatName
    version: int
    cwd: str
    time_ms: float
    parent_session: str
    raw: str
    """The line verbatim; empty when the file has no header."""
    title: str = ""
    """oh-my-pi: the session's title when the file was opened."""


class Aside(NamedTuple):
    """A line that is not an entry (or not a usable one), kept byte for byte."""

    line: int
    raw: bytes
    reason: str


class Problem(NamedTuple):
    """Something in a file that a person should know."""

    line: int
    reason: str


@dataclass(slots=True)
class ReadReport:
    """What was found while reading, complete when the reading is."""

    asides: list[Aside] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    bytes_done: int = 0
    bytes_total: int = 0
    leaf: int | None = None
    """Index of the entry where the agent was, -1 before the first; None when the source does not
    say, which is the last index. In a file it is the last line, which is not the last index when
    a parent comes late, and a mark there may name another."""


class SessionSource(Protocol):
    """A session that can be read once from its start, in batches."""

    path: str
    header: SessionHeader
    report: ReadReport

    def batches(self) -> Iterator[Sequence[EntryRecord]]:
        """Entries in index order. Raises OSError when the file cannot be read on."""
