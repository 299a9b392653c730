"""Rows read straight from the pages of a SQLite file, for when the way to them is damaged.

A table's rows lie in leaf pages; the pages above only lead there. When one of those is spoilt
SQLite cannot reach what hangs below it, though it is whole. Here every page that looks like a
leaf is read by the file format's own rules (sqlite.org/fileformat2.html, sections 1.6 and 2).
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path

Value = None | int | float | str | bytes

_LEAF = 13
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""Bytes of an integer by its serial type."""
_BAD = (IndexError, ValueError, struct.error)


class Carver:
    """Finds rows by the number of their columns and their integer key."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        size = path.stat().st_size
        self._data = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
        page = int.from_bytes(self._data[16:18], "big")
        self._page = 65536 if page == 1 else page
        if self._page < 512 or self._page & (self._page - 1):
            self._page = 16384
        self._usable = self._page - (self._data[20] if size > 20 else 0)
        self._cells: dict[tuple[int, int], int] | None = None

    def close(self) -> None:
        if isinstance(self._data, mmap.mmap):
            self._data.close()
        self._file.close()

    def row(self, columns: int, key: int) -> list[Value] | None:
        """The row of so many columns with that key; None when no page holds it whole."""
        if self._cells is None:
            self._cells = {}
            for at in self._leaf_cells():
                try:
                    identifier, values = self._read(at, whole=False)
                except _BAD:
                    continue
                # A key may stand in several places, the later being no better than the first.
                self._cells.setdefault((len(values), identifier), at)
        at_key = self._cells.get((columns, key))
        if at_key is None:
            return None
        try:
            return self._read(at_key, whole=True)[1]
        except _BAD:
            return None

    def keys(self, columns: int) -> list[int]:
        """The keys of all rows of so many columns, ascending."""
        self.row(columns, -1)
        return sorted(key for width, key in self._cells or () if width == columns)

    def _leaf_cells(self) -> Iterator[int]:
        for start in range(0, len(self._data) - self._page + 1, self._page):
            head = start + (100 if start == 0 else 0)
            if self._data[head] != _LEAF:
                continue
            count = int.from_bytes(self._data[head + 3 : head + 5], "big")
            for number in range(min(count, self._page // 4)):
                at = head + 8 + 2 * number
                cell = int.from_bytes(self._data[at : at + 2], "big")
                if head + 8 - start <= cell < self._page:
                    yield start + cell

    def _read(self, at: int, whole: bool) -> tuple[int, list[Value]]:
        """The key and values of a cell; without ``whole`` the values are not read."""
        size, at = self._varint(at)
        key, at = self._varint(at)
        data = self._local(size, at) if not whole else self._payload(size, at)
        header, position = _varint(data, 0)
        kinds: list[int] = []
        while position < header:
            kind, position = _varint(data, position)
            kinds.append(kind)
        if position != header or not 0 < len(kinds) < 64:
            raise ValueError("not a row")
        if not whole:
            return key, [None] * len(kinds)
        values: list[Value] = []
        for kind in kinds:
            value, position = _value(data, kind, position)
            values.append(value)
        if position != size:
            raise ValueError("not a whole row")
        return key, values

    def _local_size(self, size: int) -> int:
        most = self._usable - 35
        if size <= most:
            return size
        least = (self._usable - 12) * 32 // 255 - 23
        local = least + (size - least) % (self._usable - 4)
        return local if local <= most else least

    def _local(self, size: int, at: int) -> bytes:
        return bytes(self._data[at : at + self._local_size(size)])

    def _payload(self, size: int, at: int) -> bytes:
        parts = [self._local(size, at)]
        left = size - len(parts[0])
        at += len(parts[0])
        following = int.from_bytes(self._data[at : at + 4], "big") if left else 0
        while left > 0:
            start = (following - 1) * self._page
            if following < 1 or start + self._page > len(self._data):
                raise ValueError("the row goes on outside the file")
            take = min(left, self._usable - 4)
            parts.append(self._data[start + 4 : start + 4 + take])
            following = int.from_bytes(self._data[start : start + 4], "big")
            left -= take
        return b"".join(parts)

    def _varint(self, at: int) -> tuple[int, int]:
        return _varint(self._data, at)


def _varint(data: bytes | mmap.mmap, at: int) -> tuple[int, int]:
    value = 0
    for number in range(9):
        byte = data[at]
        at += 1
        if number == 8:
            return value << 8 | byte, at
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return value, at


def _value(data: bytes, kind: int, at: int) -> tuple[Value, int]:
    if kind == 0:
        return None, at
    if kind in (8, 9):
        return kind - 8, at
    if kind == 7:
        return struct.unpack_from(">d", data, at)[0], at + 8
    if kind in _INTEGERS:
        end = at + _INTEGERS[kind]
        return int.from_bytes(data[at:end], "big", signed=True), end
    if kind < 12:
        raise ValueError("not a kind of value")
    end = at + (kind - 12) // 2
    if end > len(data):
        raise ValueError("the value goes on outside the row")
    return (data[at:end] if kind % 2 == 0 else data[at:end].decode()), end
