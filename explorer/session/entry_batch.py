"""Many entries on their way in, as columns: what a large file is read into."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from explorer.session.describe import Facts
from explorer.session.file_tools import FileOp
from explorer.session.kinds import Kind
from explorer.session.records import EntryRecord

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
        found = self.rare.get(at)
        if found is not None:
            return found
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
