"""What passes between a file's reader, the store and the tree: entries on their way in, one by one
or many at once as columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, overload

from msgspec import Struct

from explorer.session.describe import Facts
from explorer.session.file_tools import FileOp
from explorer.session.kinds import Kind

FormatName = str
"""As ``explorer.formats`` names a format."""
LARGE_UNITS = 65_536
"""Characters of a record from which an entry is marked ``Flag.LARGE``."""


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


Relation = Literal["", "fork", "subagent", "compactor"]
"""What a session is to the one that it names as its parent: a copy that goes on by itself, an agent
that one of its calls started, or the agent that wrote the summary of one of its compactions."""
STARTED: tuple[Relation, ...] = ("subagent", "compactor")
"""Of agents that another session started."""


class SessionHeader(Struct, frozen=True):
    """What a session file says of the session as a whole, as far as it was understood."""

    session_id: str
    format: FormatName
    version: int
    cwd: str
    time_ms: float
    parent_session: str
    raw: str
    """The line verbatim; empty when the file has no header."""
    title: str = ""
    """The session's title when the file was opened, where its format gives one."""
    relation: Relation = ""
    parent_call: str = ""
    """The tool call of the parent session that started this one."""
    agent_version: str = ""
    """Version of the agent that wrote it; empty where none is recorded."""


class Aside(NamedTuple):
    """A line that is not an entry (or not a usable one), kept byte for byte."""

    line: int
    raw: bytes
    reason: str


class Problem(NamedTuple):
    """Something in a file that a person should know."""

    line: int
    """Counted from 1; 0 for the file as a whole."""
    reason: str
    is_remark: bool = False
    """No fault of the file: how something in it is known, or that it is kept as it is."""
    unit: str = "line"
    """What is counted: a line, or a message where a file is one document."""

    def at(self, name: str) -> str:
        """The place and what is there. ``name``: the file's."""
        place = f"{name}, {self.unit} {self.line}" if self.line else name
        return f"{place}: {self.reason}"


def remark(line: int, reason: str, unit: str = "line") -> Problem:
    """A ``Problem`` that is no fault."""
    return Problem(line, reason, True, unit)


class ReadReport(Struct):
    """What was found while reading, complete when the reading is."""

    asides: list[Aside] = []
    problems: list[Problem] = []
    bytes_done: int = 0
    bytes_total: int = 0
    withdrawn: list[int] = []
    """Of a source of what was added to a file: lines that an earlier one put aside and that may be
    part of an entry now."""
    leaf: int | None = None
    """Index of the entry where the agent was, -1 before the first; None when the source does not
    say, which is the last index. In a file it is the last line, which is not the last index when
    a parent comes late, and a mark there may name another."""


class SessionSource(Protocol):
    """A session that can be read once from its start, in batches."""

    path: str
    header: SessionHeader
    report: ReadReport

    @property
    def files(self) -> Sequence[str]:
        """All files that it is read from: when none of them has changed, it has not."""

    def batches(self) -> Iterator[Sequence[EntryRecord]]:
        """Entries in index order. Raises OSError when the file cannot be read on."""


Ops = tuple[tuple[Any, ...], ...]
"""The file operations of a reply: of each the fields of a ``FileOp``, as plain data."""

_KINDS = tuple(Kind)


@dataclass(slots=True)
class EntryBatch(Sequence[EntryRecord]):
    """A sequence of ``EntryRecord`` that makes a record only when it is asked for one.

    Its texts are sound UTF-8 and its numbers fit the columns of a session.
    """

    ids: Sequence[str]
    parents: Sequence[int]
    lines: Sequence[int]
    raws: Sequence[bytes]
    """The lines as they are in the file, valid UTF-8."""
    kinds: bytes
    flags: Sequence[int]
    times: Sequence[float]
    usages: Sequence[int]
    models: Sequence[str]
    previews: Sequence[str]
    calls: Sequence[str]
    tools: Sequence[str]
    estimates: Sequence[int]
    ops: Mapping[int, Ops] = field(default_factory=dict)
    """By position: the file operations of replies that have any."""
    rare: Mapping[int, Facts] = field(default_factory=dict)
    """By position: all facts of entries that have more than the columns above hold."""
    characters: int = 0
    """Of all lines together."""

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, at: int) -> EntryRecord: ...
    @overload
    def __getitem__(self, at: slice) -> list[EntryRecord]: ...
    def __getitem__(self, at: int | slice) -> EntryRecord | list[EntryRecord]:
        if isinstance(at, slice):
            return [self._record(one) for one in range(*at.indices(len(self)))]
        if not -len(self) <= at < len(self):
            raise IndexError(f"entry {at} of {len(self)}")
        return self._record(at % len(self))

    def __iter__(self) -> Iterator[EntryRecord]:
        return map(self._record, range(len(self)))

    def facts(self, at: int) -> Facts:
        """The facts of one entry."""
        facts = self.rare.get(at)
        if facts is not None:
            return facts
        return Facts(
            _KINDS[self.kinds[at]],
            self.flags[at],
            self.times[at],
            self.usages[at],
            self.models[at],
            self.previews[at],
            0,
            tuple(FileOp(*op) for op in self.ops.get(at, ())),
            self.calls[at],
            self.tools[at],
        )

    def _record(self, at: int) -> EntryRecord:
        return EntryRecord(
            self.ids[at],
            self.parents[at],
            self.lines[at],
            self.raws[at].decode(),
            self.facts(at),
            self.estimates[at],
        )
