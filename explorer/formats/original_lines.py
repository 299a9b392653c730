"""The file of a session whose agent's dialect is only read, put together again from its records.

A record knows the number of its first line. The lines that follow in the same record may stand
after lines of other records; each goes to the next place that is free. What comes out is compared
with the size of the file that was read, so that nothing but that file is ever written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from explorer.formats.annotation import split_annotation
from explorer.formats.jsonl import BYTE_ORDER_MARK

Line = tuple[int, str | bytes]


class NotOneFile(ValueError):
    """The records are not the lines of one file; the text says why, to follow a colon."""


def original_file(header: str, lines: Iterable[Line], size: int) -> bytes:
    """The bytes of the file that a session was read from.

    ``header``: the line that says what session it is; it may be an entry too. ``lines``: number
    and record, or line that was put aside. ``size``: bytes of the file, as it was read last.

    Raises NotOneFile where entries were added here, where the records do not tell the order of
    their lines, and where they are not the whole of one file.
    """
    starts = _by_number(lines)
    first = header.encode("utf-8", "surrogatepass")
    is_entry = any(first in record for record in starts.values())
    ordered = b"\n".join(_in_order(starts, b"" if is_entry else first))
    for begin in (b"", BYTE_ORDER_MARK):
        for end in (b"\n", b""):
            if len(begin) + len(ordered) + len(end) == size:
                return begin + ordered + end
    raise NotOneFile("its records are not the whole of one file of lines")


def _by_number(lines: Iterable[Line]) -> dict[int, Sequence[bytes]]:
    """The lines of each record, by the number of the first."""
    starts: dict[int, Sequence[bytes]] = {}
    for number, raw in lines:
        if not number:
            raise NotOneFile("entries were added here, and no other program could read them")
        if number in starts:
            raise NotOneFile(f"more than one record begins on line {number:,}")
        if isinstance(raw, bytes):
            starts[number] = [raw]
        else:
            record = split_annotation(raw)[0]
            starts[number] = record.encode("utf-8", "surrogatepass").split(b"\n")
    return starts


def _in_order(starts: dict[int, Sequence[bytes]], header: bytes) -> Iterator[bytes]:
    """All lines from the first to the last; a number that nothing begins on is the next line of a
    record that goes on, or the header, or blank."""
    waiting: list[Iterator[bytes]] = []
    total = sum(len(record) for record in starts.values())
    last = max(starts, default=0)
    number = written = 0
    while number < last or written < total:
        number += 1
        if number in starts:
            record = iter(starts[number])
            yield next(record)
            written += 1
            waiting.append(record)
            continue
        following = [(at, line) for at in waiting if (line := next(at, None)) is not None]
        if len(following) > 1:
            raise NotOneFile(f"the records do not tell which of them has line {number:,}")
        waiting = [at for at, _ in following]
        if following:
            yield following[0][1]
            written += 1
        else:
            # The header counts once; what is missing after it can only be blank.
            yield header
            header = b""
