"""Lines of a file, and one line's JSON: a fast parser for sound lines, a slow one for the others;
and files that their agent appends to: reading on where an earlier reading stopped.

Of a growing file only whole lines are taken for good. A line without its end, and what waits for
lines to come, are read with a copy of the reader, which is thrown away.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol, TypeVar, runtime_checkable
from zlib import crc32

import orjson
from msgspec import Struct

from explorer.formats.adapter import FormatError
from explorer.session.json_values import TOO_DEEP, is_too_deep, read_patiently
from explorer.session.records import SessionSource

CHUNK_BYTES = 1 << 20
MAX_LINE_BYTES = 256 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_DIGITS_OF_A_FLOAT = 308


class BadLine(ValueError):
    """A line that is not a JSON value; the text says why."""


class HardValue(NamedTuple):
    """A JSON value that the fast parser refuses."""

    value: Any
    """As written: texts may hold halves of surrogate pairs."""
    clean: Any
    """The same with U+FFFD in place of such halves, which no database or screen takes."""


def line_groups(file: BinaryIO) -> Iterator[tuple[list[bytes], int]]:
    """The lines from the file's position on, without their line feeds, in groups of about 1 MB,
    each with the bytes read so far. An empty last line is not one.

    A carriage return before the line feed stays: JSON reads over it, and the line is kept as it
    was. Raises OSError when the file cannot be read on, FormatError for a line that is longer than
    what a program can hold and a database store.
    """
    parts: list[bytes] = []
    done = number = pending = 0
    while chunk := file.read(CHUNK_BYTES):
        done += len(chunk)
        lines, rest = _split(chunk)
        number += len(lines)
        pending = len(rest) if lines else pending + len(rest)
        if pending > MAX_LINE_BYTES:
            reason = f"the line is longer than {MAX_LINE_BYTES >> 20} MB"
            raise FormatError(str(file.name), number + 1, reason)
        if lines and parts:
            parts.append(lines[0])
            lines[0] = b"".join(parts)
            parts.clear()
        if rest:
            parts.append(rest)
        if lines:
            yield lines, done
    if parts:
        yield [b"".join(parts)], done


def _split(chunk: bytes) -> tuple[list[bytes], bytes]:
    """The whole lines, and what follows the last line feed. Looking for one line feed after the
    other is quicker than ``split``, which looks at every single byte."""
    lines: list[bytes] = []
    start, find, add = 0, chunk.find, lines.append
    while (end := find(b"\n", start)) >= 0:
        add(chunk[start:end])
        start = end + 1
    return lines, chunk[start:]


def is_blank(line: bytes) -> bool:
    return not line or line.isspace()


def parse(line: bytes) -> Any:
    """The JSON value of a line, with halves of surrogate pairs made readable.

    Raises BadLine.
    """
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return parse_hard(line).clean
    if is_too_deep(line, value):
        raise BadLine(TOO_DEEP)
    return value


def parse_hard(line: bytes) -> HardValue:
    """The JSON value of a line that ``orjson`` refused: halves of surrogate pairs, NaN, large
    numbers. Raises BadLine naming what is wrong with the line."""
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise BadLine(f"invalid UTF-8 at byte {error.start + 1} of the line") from error
    if "\0" in text:
        raise BadLine(f"not JSON: holds {text.count(chr(0))} NUL bytes")
    try:
        value = read_patiently(text)
    except json.JSONDecodeError as error:
        raise BadLine(f"not JSON: {error.msg} at character {error.colno}") from error
    except ValueError as error:
        raise BadLine(str(error)) from error
    if is_too_deep(line, value):
        raise BadLine(TOO_DEEP)
    return HardValue(value, _without_halves(value))


def _without_halves(value: Any) -> Any:
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    return value


class Verbatim(Struct, frozen=True):
    """A number that no number of Python is equal to, or can be written from."""

    digits: str


def parse_exactly(line: bytes) -> Any:
    """The JSON value of a sound line, to be written again: texts and numbers as they are there.

    Raises ValueError.
    """
    return json.loads(line, parse_int=_exact_integer, parse_float=_exact_float)


def _exact_integer(digits: str) -> int | Verbatim:
    return int(digits) if len(digits) <= _DIGITS_OF_A_FLOAT else Verbatim(digits)


def _exact_float(digits: str) -> float | Verbatim:
    number = float(digits)
    return number if isfinite(number) else Verbatim(digits)


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
