"""What passes between a file's reader, the store and the tree: entries on their way in, one by one
or many at once as columns, put in an order in which every parent comes first; and where they come
from on demand.

Session files name parents by id, and a damaged or merged file may name one that comes later, never,
or form a cycle. Everything above works on indices where a parent's is below its child's, so
``Assembler`` is where those files are put right.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar, overload

from msgspec import Struct

from explorer.session.describe import Facts
from explorer.session.entries import Entry, TokenUsage
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


class Previews(Protocol):
    """Reads what rows say of entries. Implementations may be called from any thread."""

    def previews(self, indices: Sequence[int]) -> list[str]:
        """What rows say of entries, for lists and the map. Some are made of payloads, which takes a
        millisecond or two each."""

    def first_words(self, indices: Sequence[int]) -> tuple[list[str], list[int]]:
        """What rows can say at once, and the entries among them of which ``previews`` says more."""


class Payloads(Previews, Protocol):
    """Reads payloads by entry index. Implementations may be called from any thread."""

    @property
    def format(self) -> FormatName:
        """The format of the records."""

    def raw(self, index: int) -> str:
        """The record of the entry as it was read: one line, or several."""

    def entry(self, index: int) -> Entry:
        """The entry."""

    def entries(self, indices: Sequence[int]) -> list[Entry]:
        """Several entries, in the order asked for."""

    def raws(self, indices: Sequence[int]) -> Iterable[tuple[int, str]]:
        """The records of several entries, given in ascending order; those that are there."""

    def usages(self, wanted: Sequence[tuple[int, int]]) -> Iterable[tuple[int, TokenUsage | None]]:
        """What providers reported for entries, given in ascending order, each with the tokens of
        context that it is known to report; quicker than reading the entries."""

    def forget(self, indices: Sequence[int]) -> None:
        """Read what is cached of these entries again: they have changed."""


Item = TypeVar("Item")
Fault = Literal["", "orphan", "cycle", "self"]
"""Why an entry became a root although it names a parent: the parent is nowhere, it is below the
entry itself, or it is the entry itself."""


class Placement(NamedTuple, Generic[Item]):
    """An item with its parent's index; the item's own index is the order of placements."""

    item: Item
    parent: int
    fault: Fault


class _Pending(NamedTuple, Generic[Item]):
    order: int
    entry_id: str
    parent_id: str
    item: Item


class Assembler(Generic[Item]):
    """Places entries one by one, holding back those whose parent has not come yet.

    The result is the order in which each time the earliest entry of the file is taken whose
    parent has been taken; a file that is in order stays as it is and nothing waits.
    """

    def __init__(self, ids_ahead: Callable[[], Container[str]] | None = None) -> None:
        """``ids_ahead`` gives the ids that the rest of the input holds; it is asked once, when a
        parent is missing, so that orphans keep their place instead of waiting for the end."""
        self.placed: dict[str, int] = {}
        """Index of every placed id. A reader may add entries whose parent is placed already,
        as ``placed[entry_id] = len(placed)``, without going through ``place``."""
        self._ids_ahead = ids_ahead
        self._ahead: Container[str] | None = None
        self._waiting: dict[str, list[_Pending[Item]]] = {}
        self._pending: dict[str, _Pending[Item]] = {}

    @property
    def holding(self) -> bool:
        """Whether any entry waits for its parent; while one does, use ``place`` for all."""
        return bool(self._pending)

    def copy(self) -> Assembler[Item]:
        """One that goes on from here by itself."""
        other: Assembler[Item] = Assembler(self._ids_ahead)
        other.placed = self.placed.copy()
        other._ahead = self._ahead
        other._waiting = {name: list(waiting) for name, waiting in self._waiting.items()}
        other._pending = self._pending.copy()
        return other

    def __contains__(self, entry_id: str) -> bool:
        return entry_id in self.placed or entry_id in self._pending

    def place_at_once(self, entry_id: str, parent_id: str) -> int | None:
        """Add the next entry of the file, of an id that is not there yet, and return its parent's
        index; None, and nothing is done, where it or any other has to wait."""
        if self._pending or (parent_id and parent_id not in self.placed):
            return None
        parent = self.placed.get(parent_id, -1)
        self.placed[entry_id] = len(self.placed)
        return parent

    def place(self, entry_id: str, parent_id: str, item: Item) -> list[Placement[Item]]:
        """Add the next entry of the file; an empty ``parent_id`` makes it a root.

        Returns what can be placed now: nothing when the parent is still to come, else the entry
        and what had been waiting for it. Raises ValueError when the id was added before.
        """
        if entry_id in self:
            raise ValueError(f"entry id {entry_id!r} exists already")
        at_once = self.place_at_once(entry_id, parent_id)
        if at_once is not None:
            return [Placement(item, at_once, "")]
        # Of the entries that came before, each is in one of them.
        order = len(self.placed) + len(self._pending)
        pending = _Pending(order, entry_id, parent_id, item)
        if not parent_id or parent_id in self.placed:
            return self._release(pending, "")
        if parent_id == entry_id:
            return self._release(pending, "self")
        if parent_id not in self._pending and not self._comes_later(parent_id):
            return self._release(pending, "orphan")
        self._pending[entry_id] = pending
        self._waiting.setdefault(parent_id, []).append(pending)
        return []

    def finish(self) -> list[Placement[Item]]:
        """Place what still waits: orphans and cycles, each opened at its first entry."""
        out: list[Placement[Item]] = []
        for pending in list(self._pending.values()):
            if pending.entry_id in self._pending:
                start, fault = self._start_of(pending)
                del self._pending[start.entry_id]
                self._waiting[start.parent_id].remove(start)
                out += self._release(start, fault)
        return out

    def _comes_later(self, entry_id: str) -> bool:
        if self._ids_ahead is None:
            return True
        if self._ahead is None:
            self._ahead = self._ids_ahead()
        return entry_id in self._ahead

    def _start_of(self, pending: _Pending[Item]) -> tuple[_Pending[Item], Fault]:
        """The entry to make a root so that ``pending`` can be placed."""
        walked: dict[str, _Pending[Item]] = {}
        at = pending
        while at.entry_id not in walked:
            walked[at.entry_id] = at
            above = self._pending.get(at.parent_id)
            if above is None:
                return at, "orphan"
            at = above
        names = list(walked)
        cycle = names[names.index(at.entry_id) :]
        return min((walked[name] for name in cycle), key=lambda one: one.order), "cycle"

    def _release(self, pending: _Pending[Item], fault: Fault) -> list[Placement[Item]]:
        out: list[Placement[Item]] = []
        ready = [(pending.order, pending)]
        while ready:
            _, one = heappop(ready)
            parent = -1 if fault else self.placed.get(one.parent_id, -1)
            self.placed[one.entry_id] = len(self.placed)
            out.append(Placement(one.item, parent, fault))
            fault = ""
            for child in self._waiting.pop(one.entry_id, ()):
                del self._pending[child.entry_id]
                heappush(ready, (child.order, child))
        return out
