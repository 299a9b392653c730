"""The file of a session whose agent's dialect is only read, put together again from its records.

Some records hold lines that stood apart, or lines of which only a part is theirs, and then their
order is not known. What comes out is therefore compared with the size of the file that was read,
and nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from explorer.formats.annotation import split_annotation
from explorer.formats.jsonl import BYTE_ORDER_MARK

Line = tuple[int, str | bytes]


class NotOneFile(ValueError):
    """The records are not the lines of one file, each at its place."""

    def __init__(self) -> None:
        super().__init__("its records are not the lines of one file, each at its place")


def original_file(header: str, lines: Iterable[Line], size: int) -> bytes:
    """The bytes of the file that a session was read from.

    ``header``: the line that says what session it is; it may be an entry too. ``lines``: number
    and record, or line that was put aside, in the order of the file. ``size``: bytes of the file,
    as it was read last. Raises NotOneFile.
    """
    ordered = b"\n".join(_in_order(lines, header.encode("utf-8", "surrogatepass")))
    for begin in (b"", BYTE_ORDER_MARK):
        for end in (b"\n", b""):
            if len(begin) + len(ordered) + len(end) == size:
                return begin + ordered + end
    raise NotOneFile


def _in_order(lines: Iterable[Line], header: bytes) -> Iterator[bytes]:
    """All records; the header where the first line is none of theirs."""
    following = 1
    for number, raw in lines:
        if following == 1 and number == 2:
            yield header
            following = number
        if number != following:
            raise NotOneFile
        record = raw
        if isinstance(raw, str):
            record = split_annotation(raw)[0].encode("utf-8", "surrogatepass")
        assert isinstance(record, bytes)
        yield record
        following += record.count(b"\n") + 1
