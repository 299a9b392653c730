"""Files that their agent appends to: reading on where an earlier reading stopped.

Only whole lines are taken for good. A line without its end, and what waits for lines to come, are
read with a copy of the reader, which is thrown away.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable
from zlib import crc32

from explorer.formats.jsonl import line_groups
from explorer.session.records import SessionSource

_CHUNK = 1 << 20
Read = TypeVar("Read", covariant=True)


class Prefix(NamedTuple):
    """What a file begins with. Checksums of 100 MB take 50 ms, so that all of it can be compared:
    an agent may write a file anew and leave its ends as they were."""

    size: int
    """Bytes."""
    checksum: int

    def begins(self, path: Path) -> bool:
        """Whether a file still begins with it. Raises OSError."""
        with path.open("rb", buffering=0) as file:
            return _checksum(file.read, self.size, 0) == self.checksum

    def extended(self, path: Path, size: int) -> Prefix:
        """A longer one, of a file that begins with it. Raises OSError."""
        with path.open("rb", buffering=0) as file:
            file.seek(self.size)
            return Prefix(size, _checksum(file.read, size - self.size, self.checksum))


EMPTY = Prefix(0, 0)


class _ReadBytes(Protocol):
    def __call__(self, size: int, /) -> bytes: ...


def _checksum(read: _ReadBytes, size: int, start: int) -> int:
    """The checksum of the next ``size`` bytes, -1 where there are fewer."""
    while size > 0:
        chunk = read(min(size, _CHUNK))
        if not chunk:
            return -1
        start = crc32(chunk, start)
        size -= len(chunk)
    return start


class LineGroup(NamedTuple):
    """Lines of a file that follow each other, about 1 MB, without their line feeds."""

    lines: list[bytes]
    start: int
    """Bytes before the first."""
    is_whole: bool
    """Whether the line feed of the last one is there: one without it is a group by itself."""


def groups_from(path: Path, start: int) -> Iterator[LineGroup]:
    """The lines of a file from a byte on. Raises OSError, FormatError."""
    with path.open("rb") as file:
        file.seek(start)
        at = start
        for lines, done in line_groups(file):
            begin, at = at, at + sum(map(len, lines)) + len(lines)
            yield LineGroup(lines, begin, at <= start + done)


def stamp_of(path: Path) -> tuple[int, int]:
    """Size and time of a file's last change, in nanoseconds. Raises OSError."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns


class GrowingReader(Protocol[Read]):
    """Reads the records of one file that grows."""

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def offset(self) -> int:
        """How many bytes were taken for good: whole lines."""

    @property
    def began(self) -> tuple[int, int]:
        """The file as it was before ``more`` read from it; see ``stamp_of``."""

    def more(self) -> Iterator[Read]:
        """What follows from the whole lines that came since, and nothing to come will change.
        Raises OSError, FormatError."""

    def copy(self) -> GrowingReader[Read]:
        """One that goes on from here by itself."""

    def end(self) -> Iterator[Read]:
        """What else follows if the file ends here; no further call is possible then."""

    def known_ids(self) -> list[str] | None:
        """Of a copy whose ``end`` gives what the first one's gave: the ids of what it leaves out,
        because nothing that came since changes it. None where it cannot go on. Asked before
        ``more``."""


@runtime_checkable
class GrowingSource(SessionSource, Protocol):
    """A source that can be read on, when its file has grown."""

    def follow(self) -> None:
        """Remember, while it is read, what is needed to read on."""

    def grown(self) -> GrowingSource | None:
        """A source of what was added since this one was read: new entries, and those that may be
        other ones now. None where it has to be read anew: it was changed otherwise."""

    @property
    def earlier(self) -> list[str]:
        """Ids of the entries that an earlier source gave, in index order."""
