"""The payloads of a stored session, read when they are asked for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from explorer.store.codec import entry_of, index_of, text_out
from explorer.store.readers import Readers
from explorer.store.schema import row_id

_BLOCK = 64
"""Previews are read and kept by blocks of this many entries."""
_BLOCKS_KEPT = 512
_ASKED = 400
"""Entries asked for in one statement."""


class Piece(NamedTuple):
    """A stretch of a line. Offsets are bytes of its UTF-8 form."""

    text: str
    start: int
    end: int
    """Where the next piece starts."""
    total: int


class StoredPayloads:
    """Payloads by entry index. May be called from any thread; raises StoreError.

    An index that the session does not have raises IndexError.
    """

    def __init__(self, readers: Readers, key: int) -> None:
        self._readers = readers
        self._key = key
        self._blocks: OrderedDict[int, list[str]] = OrderedDict()
        self._lock = threading.Lock()

    def raw(self, index: int) -> str:
        """The line of the entry, verbatim."""
        with self._readers.read() as db:
            found = db.execute(
                "SELECT raw FROM payloads WHERE id = ?", (row_id(self._key, index),)
            ).fetchone()
        if found is None or index < 0:
            raise IndexError(f"session {self._key} has no entry {index}")
        return text_out(found[0])

    def size(self, index: int) -> int:
        """Bytes of the entry's line in UTF-8, without reading it."""
        with self._readers.read() as db, _open(db, self._key, index) as blob:
            return len(blob)

    def raw_piece(self, index: int, offset: int, length: int) -> Piece:
        """At most ``length`` bytes (4 or more) of the line, from the byte ``offset``.

        The piece starts with the whole character that the offset is in and ends at a character's
        end; give its ``end`` as the next offset.
        """
        with self._readers.read() as db, _open(db, self._key, index) as blob:
            total = len(blob)
            start = max(0, min(offset, total))
            while 0 < start < total and blob[start] & 0xC0 == 0x80:
                start -= 1
            blob.seek(start)
            data = blob.read(max(length, 4))
        at_end = start + len(data) >= total
        if not at_end:
            data = data[: _whole(data)]
        text = data.decode("utf-8", "surrogatepass")
        return Piece(text, start, start + len(data), total)

    def entry(self, index: int) -> Mapping[str, Any]:
        """The entry's JSON object."""
        return entry_of(self.raw(index))

    def entries(self, indices: Sequence[int]) -> list[Mapping[str, Any]]:
        """Several entries, in the order asked for."""
        found: dict[int, Mapping[str, Any]] = {}
        for at, raw in self.raws(sorted(set(indices))):
            found[at] = entry_of(raw)
        try:
            return [found[at] for at in indices]
        except KeyError as error:
            raise IndexError(f"session {self._key} has no entry {error.args[0]}") from error

    def raws(self, indices: Sequence[int]) -> Iterator[tuple[int, str]]:
        """The lines of several entries, given in ascending order, a few hundred at a time."""
        for at in range(0, len(indices), _ASKED):
            part = [row_id(self._key, index) for index in indices[at : at + _ASKED] if index >= 0]
            if not part:
                continue
            # Of few lengths: a connection keeps every statement that it has compiled.
            part += part[-1:] * ((1 << (len(part) - 1).bit_length()) - len(part))
            marks = ", ".join("?" * len(part))
            with self._readers.read() as db:
                rows = db.execute(
                    f"SELECT id, raw FROM payloads WHERE id IN ({marks}) ORDER BY id", part
                ).fetchall()
            for identifier, raw in rows:
                yield index_of(identifier), text_out(raw)

    def previews(self, indices: Sequence[int]) -> list[str]:
        """First lines, for lists and the map; empty for entries that are not there."""
        blocks: dict[int, list[str]] = {}
        out: list[str] = []
        for index in indices:
            number, at = divmod(index, _BLOCK)
            block = blocks.get(number)
            if block is None:
                block = blocks[number] = self._block(number)
            out.append(block[at] if at < len(block) else "")
        return out

    def _block(self, number: int) -> list[str]:
        with self._lock:
            found = self._blocks.get(number)
            if found is not None:
                self._blocks.move_to_end(number)
                return found
        first = row_id(self._key, number * _BLOCK)
        with self._readers.read() as db:
            rows = db.execute(
                "SELECT preview FROM entries WHERE id BETWEEN ? AND ? ORDER BY id",
                (first, first + _BLOCK - 1),
            ).fetchall()
        block = [row[0] for row in rows]
        # The last block may still grow, here or in another window.
        if len(block) == _BLOCK:
            with self._lock:
                self._blocks[number] = block
                while len(self._blocks) > _BLOCKS_KEPT:
                    self._blocks.popitem(last=False)
        return block


def _open(db: Any, key: int, index: int) -> Any:
    found = db.execute("SELECT 1 FROM payloads WHERE id = ?", (row_id(key, index),)).fetchone()
    if found is None or index < 0:
        raise IndexError(f"session {key} has no entry {index}")
    return db.blobopen("payloads", "raw", row_id(key, index), readonly=True)


def _whole(data: bytes) -> int:
    """Length of the data without a character that is cut off at its end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            width = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) if width <= back else len(data) - back
    return len(data)
