"""Rows read straight from the pages of a SQLite file, for when the way to them is damaged.

A table's rows lie in leaf pages; the pages above only lead there. When one of those is spoilt
SQLite cannot reach what hangs below it, though it is whole. Here every page that looks like a
leaf is read by the rules of the file format (sqlite.org/fileformat2.html, sections 1.6 and 2).
"""

from __future__ import annotations

import contextlib
import mmap
import shutil
import sqlite3
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from explorer.formats.registry import read_record
from explorer.formats.typed_source import entry_record
from explorer.session.describe import describe
from explorer.session.entries import Entry
from explorer.session.kinds import Flag
from explorer.session.records import Aside, EntryRecord, FormatName, ReadReport, SessionHeader
from explorer.store.database import INDEX_BITS, PAGE_SIZE, id_range, row_id
from explorer.store.entry_rows import (
    ENTRY_COLUMNS,
    ENTRY_WIDTH,
    PAYLOAD_COLUMNS,
    Row,
    facts_of,
    from_json,
    from_json_column,
    index_of,
    text_out,
)
from explorer.store.rows import DamagedError, StoreError
from explorer.store.store import Store

Value = None | int | float | str | bytes

_LEAF = 13
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""Bytes of an integer by its serial type."""
_BAD = (IndexError, ValueError, struct.error)


class Carver:
    """Finds rows of a database of this program by the number of their columns and their key."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        size = path.stat().st_size
        self._data = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
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
        for start in range(0, len(self._data) - PAGE_SIZE + 1, PAGE_SIZE):
            # The first page begins with the file's header, and holds no rows of ours.
            if self._data[start] != _LEAF:
                continue
            count = int.from_bytes(self._data[start + 3 : start + 5], "big")
            for number in range(min(count, PAGE_SIZE // 4)):
                at = start + 8 + 2 * number
                cell = int.from_bytes(self._data[at : at + 2], "big")
                if 8 <= cell < PAGE_SIZE:
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
        if position != header:
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

    def _local(self, size: int, at: int) -> bytes:
        return bytes(self._data[at : at + _local_size(size)])

    def _payload(self, size: int, at: int) -> bytes:
        parts = [self._local(size, at)]
        left = size - len(parts[0])
        at += len(parts[0])
        following = int.from_bytes(self._data[at : at + 4], "big") if left else 0
        while left > 0:
            start = (following - 1) * PAGE_SIZE
            if following < 1 or start + PAGE_SIZE > len(self._data):
                raise ValueError("the row goes on outside the file")
            take = min(left, PAGE_SIZE - 4)
            parts.append(self._data[start + 4 : start + 4 + take])
            following = int.from_bytes(self._data[start : start + 4], "big")
            left -= take
        return b"".join(parts)

    def _varint(self, at: int) -> tuple[int, int]:
        return _varint(self._data, at)


def _local_size(size: int) -> int:
    """How much of a row of that size lies in its own page."""
    most, least = PAGE_SIZE - 35, (PAGE_SIZE - 12) * 32 // 255 - 23
    if size <= most:
        return size
    local = least + (size - least) % (PAGE_SIZE - 4)
    return local if local <= most else least


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


_HEADER_BYTES = 100
_STRETCH = 256
_BATCH = 1000
PAYLOAD_WIDTH = PAYLOAD_COLUMNS.count(",") + 1


class SalvagedSession(Struct, frozen=True):
    """One session that was copied out."""

    key: int
    """In the new database."""
    title: str
    entries: int
    lost: int
    """Entries that could not be read; what hung below them hangs below what was above them."""


class SalvageReport(Struct):
    """What could be read."""

    target: Path
    sessions: list[SalvagedSession] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What was left out beside entries, in words."""


def salvage(path: Path | str, target: Path | str) -> SalvageReport:
    """Copy all that can be read from the database ``path`` into a new one, ``target``.

    Importing a session's file again afterwards restores its lost entries. Raises
    StoreError when ``target`` exists, DamagedError when nothing can be read at all.
    """
    path, target = Path(path).absolute(), Path(target).absolute()
    if target.exists():
        raise StoreError(target, "exists already; choose another name")
    report = SalvageReport(target)
    with _opened(path) as damaged:
        keys = damaged.keys()
        with Store.open(target) as store:
            for key in keys:
                _copy(damaged, key, store, report)
    return report


class _Damaged:
    """A database of which any part may be unreadable."""

    def __init__(self, db: sqlite3.Connection, carver: Carver) -> None:
        self.db = db
        self._carver = carver
        names = [name.strip() for name in ENTRY_COLUMNS.split(",")]
        have: set[str] = set()
        with contextlib.suppress(sqlite3.DatabaseError):
            have = {row[1] for row in db.execute("PRAGMA table_info(entries)").fetchall()}
        # A column that an older layout has not yet is one of the last.
        missing = [name for name in names if have and name not in have]
        self.entry_columns = ", ".join("NULL" if name in missing else name for name in names)
        self.missing = len(missing)
        """How many columns of ``entries`` came after the layout of this database."""

    def ask(self, query: str, *values: int) -> tuple[Any, ...] | None:
        """The first row of an answer; None when there is none or it cannot be read."""
        with contextlib.suppress(sqlite3.DatabaseError, UnicodeDecodeError):
            row: tuple[Any, ...] | None = self.db.execute(query, values).fetchone()
            return row
        return None

    def rows(self, table: str, columns: str, low: int, high: int) -> Iterator[tuple[Row, int]]:
        """The rows of ``entries`` or ``payloads`` with ids between the bounds, with their ids."""
        stack = [(at, min(at + _STRETCH - 1, high)) for at in range(low, high + 1, _STRETCH)]
        stack.reverse()
        query = f"SELECT {columns}, id FROM {table} WHERE id BETWEEN ? AND ? ORDER BY id"
        while stack:
            first, last = stack.pop()
            try:
                rows = self.db.execute(query, (first, last)).fetchall()
            except (sqlite3.DatabaseError, UnicodeDecodeError):
                if first < last:
                    middle = (first + last) // 2
                    stack += [(middle + 1, last), (first, middle)]
                elif (row := self._carved(table, first)) is not None:
                    yield row, first
                continue
            for row in rows:
                yield row[:-1], row[-1]

    def _carved(self, table: str, identifier: int) -> Row | None:
        width = ENTRY_WIDTH - self.missing if table == "entries" else PAYLOAD_WIDTH
        values = self._carver.row(width, identifier)
        if values is None:
            return None
        # The id itself is not stored in the row.
        if table == "entries":
            return (identifier, *values[1:], *[None] * self.missing)
        return tuple(values[1:])

    def keys(self) -> list[int]:
        """The keys of the sessions: from their rows, else from what payloads there are."""
        with contextlib.suppress(sqlite3.DatabaseError):
            rows = self.db.execute("SELECT key FROM sessions WHERE complete = 1").fetchall()
            counted = self.db.execute("SELECT count(*) FROM sessions").fetchone()[0]
            if counted:
                return sorted(key for (key,) in rows)
        keys: set[int] = set()
        at: int | None = 0
        while at is not None:
            try:
                row = self.db.execute("SELECT min(id) FROM payloads WHERE id >= ?", (at,))
                (lowest,) = row.fetchone()
            except sqlite3.DatabaseError:
                return sorted({key >> INDEX_BITS for key in self._carver.keys(PAYLOAD_WIDTH)} - {0})
            at = None
            if lowest is not None:
                keys.add(lowest >> INDEX_BITS)
                at = row_id((lowest >> INDEX_BITS) + 1, 0)
        return sorted(keys)

    def count(self, key: int) -> int:
        """How many entries a session has, as far as anything records it."""
        low, high = id_range(key)
        number = 0
        for query, values in (
            ("SELECT entries FROM sessions WHERE key = ?", (key,)),
            ("SELECT max(id) + 1 - ?1 FROM payloads WHERE id BETWEEN ?1 AND ?2", (low, high)),
            ("SELECT max(id) + 1 - ?1 FROM entries WHERE id BETWEEN ?1 AND ?2", (low, high)),
        ):
            row = self.ask(query, *values)
            number = max(number, int(row[0] or 0) if row else 0)
        if not number:
            carved = self._carver.keys(PAYLOAD_WIDTH)
            number = max((at + 1 - low for at in carved if low <= at <= high), default=0)
        return number


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[_Damaged]:
    """The database, opened so that the file and what lies beside it are left alone."""
    wal = Path(f"{path}-wal")
    with contextlib.ExitStack() as cleanup:
        place, how = path, "mode=ro&immutable=1"
        logged, missing = wal.exists() and wal.stat().st_size > 0, _missing_bytes(path)
        if logged or missing:
            # The newest commits are in the log, and SQLite refuses a file that is cut short as a
            # whole; mending either would write, so use copies.
            folder = Path(cleanup.enter_context(tempfile.TemporaryDirectory()))
            place = Path(shutil.copy(path, folder))
            with place.open("ab") as copy:
                copy.truncate(place.stat().st_size + missing)
            if logged:
                how = "mode=rw"
                shutil.copy(wal, folder)
        try:
            db = sqlite3.connect(f"{place.as_uri()}?{how}", uri=True, isolation_level=None)
            cleanup.callback(db.close)
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if logged:
                db.execute("PRAGMA wal_checkpoint(FULL)").fetchone()
        except sqlite3.Error as error:
            raise DamagedError(path, f"cannot be read at all: {error}") from error
        carver = Carver(place)
        cleanup.callback(carver.close)
        yield _Damaged(db, carver)


def _missing_bytes(path: Path) -> int:
    """How much shorter a database file is than its header says; 0 when it is whole."""
    with path.open("rb") as file:
        head = file.read(_HEADER_BYTES)
    claimed = int.from_bytes(head[28:32], "big") * PAGE_SIZE
    size = path.stat().st_size
    # A header that is damaged itself may claim anything; half of a file is worth reading.
    return claimed - size if len(head) == _HEADER_BYTES and size < claimed < 64 * size else 0


class _Salvaged:
    """A damaged session as a source to import from."""

    def __init__(self, damaged: _Damaged, key: int) -> None:
        self._damaged = damaged
        self._key = key
        self.count = damaged.count(key)
        self.report = ReadReport()
        self.header = self._header()
        source = damaged.ask("SELECT path FROM sources WHERE session = ?", key)
        self.path = text_out(source[0]) if source else f"session-{key}"
        self.files = (self.path,)
        self.placed: dict[int, int] = {}
        """New index of every entry that could be read."""

    def _header(self) -> SessionHeader:
        row = self._damaged.ask(
            "SELECT session_id, format, version, cwd, header_ms, parent_session, header, name"
            " FROM sessions WHERE key = ?",
            self._key,
        )
        if row is None:
            return SessionHeader("", "pi", 3, "", 0.0, "", "")
        identifier, form, version, cwd, ms, parent, raw, name = row
        # An older layout does not have these yet.
        relation, call, agent_version = self._damaged.ask(
            "SELECT relation, parent_call, agent_version FROM sessions WHERE key = ?", self._key
        ) or ("", "", "")
        return SessionHeader(
            text_out(identifier), form, version, text_out(cwd), ms, text_out(parent), text_out(raw),
            text_out(name or ""), relation or "", text_out(call or ""),
            text_out(agent_version or ""),
        )  # fmt: skip

    def batches(self) -> Iterator[list[EntryRecord]]:
        low, high = row_id(self._key, 0), row_id(self._key, self.count) - 1
        if self.count:
            columns = self._damaged.entry_columns
            rows = {at: row for row, at in self._damaged.rows("entries", columns, low, high)}
            yield from self._entries(rows, low, high)
        leaf = self._damaged.ask("SELECT leaf FROM sessions WHERE key = ?", self._key)
        if leaf is not None:
            self.report.leaf = self._above(leaf[0], {})
        self.report.asides = self._asides()

    def _entries(self, rows: dict[int, Row], low: int, high: int) -> Iterator[list[EntryRecord]]:
        parents = {index_of(at): row[2] for at, row in rows.items()}
        ids: dict[str, int] = {}
        batch: list[EntryRecord] = []
        for (raw,), at in self._damaged.rows("payloads", "raw", low, high):
            record = _record(
                self.header.format, rows.get(at), raw, ids, anew=self._damaged.missing > 0
            )
            if record is None or record.entry_id in ids:
                continue
            if at in rows:
                record = record._replace(parent=self._above(record.parent, parents))
            ids[record.entry_id] = self.placed[index_of(at)] = len(self.placed)
            batch.append(record)
            if len(batch) == _BATCH:
                yield batch
                batch = []
        if batch:
            yield batch

    def _above(self, index: int, parents: dict[int, int]) -> int:
        """The new index of an entry, or of the nearest above it that could be read."""
        while index >= 0 and index not in self.placed:
            index = parents.get(index, index - 1)
        return self.placed[index] if index >= 0 else -1

    def _asides(self) -> list[Aside]:
        try:
            rows = self._damaged.db.execute(
                "SELECT line, raw, reason FROM asides WHERE session = ? ORDER BY line",
                (self._key,),
            )
            return [Aside(*row) for row in rows]
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            return []


def _record(
    format_name: FormatName,
    row: Row | None,
    raw: str | bytes | None,
    ids: dict[str, int],
    *,
    anew: bool,
) -> EntryRecord | None:
    """The record of a payload; without its row the row's values are computed again. ``anew``:
    the facts are too, since the row is of an older layout."""
    if raw is None:
        return None
    try:
        text = text_out(raw)
        entry = read_record(format_name, text)
    except (ValueError, RecursionError):
        return None
    if entry is Entry.NONE:
        return None
    if row is not None:
        with contextlib.suppress(ValueError, TypeError, AttributeError, KeyError):
            facts = facts_of(row)
            if anew:
                described = describe(entry)
                facts = described._replace(
                    flags=described.flags | facts.flags & (Flag.LARGE | Flag.INHERITED)
                )
            return EntryRecord(text_out(row[1]), row[2], row[3], text, facts, row[7])
    if not entry.id:
        return None
    return entry_record(entry, text, parent=ids.get(entry.parent_id or "", -1))


def _copy(damaged: _Damaged, key: int, store: Store, report: SalvageReport) -> None:
    source = _Salvaged(damaged, key)
    found = store.take_salvaged(source)
    report.sessions.append(
        SalvagedSession(found.key, found.title, found.added, source.count - found.added)
    )
    for table in ("drafts", "session_settings"):
        try:
            _copy_kept(damaged.db, key, store, found.key, table, source)
        except (sqlite3.DatabaseError, ValueError) as error:
            report.notes.append(f"{found.title or key}: some {table} were left out ({error})")


def _copy_kept(
    db: sqlite3.Connection, key: int, store: Store, new: int, table: str, source: _Salvaged
) -> None:
    cursor = db.execute(f"SELECT * FROM {table} WHERE session = ?", (key,))
    names = [column[0] for column in cursor.description]
    for row in cursor:
        kept = dict(zip(names, row, strict=True))
        if table == "session_settings":
            store.set_session_setting(new, kept["name"], from_json_column(kept["value"])).result()
            continue
        for name in ("settings", "requests", "answers", "facts"):
            kept[name] = from_json(kept[name]) if kept[name] else None
        kept["leaf"] = source.placed.get(kept["leaf"], -1)
        for name in ("id", "session", "created_ms", "changed_ms"):
            del kept[name]
        store.add_draft(new, kept).result()
