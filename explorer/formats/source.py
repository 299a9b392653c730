"""Reading a session file: a stream of entries in index order, and a report of what was wrong."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson

from explorer.formats import omp, pi
from explorer.formats.errors import ReadCancelled
from explorer.formats.jsonl import (
    BYTE_ORDER_MARK,
    BadLine,
    is_blank,
    line_groups,
    parse,
    parse_hard,
)
from explorer.formats.sniff import Sniffed, sniff
from explorer.session.assembly import Assembler, Placement
from explorer.session.describe import describe
from explorer.session.kinds import Flag
from explorer.session.records import Aside, EntryRecord, Problem, ReadReport
from explorer.tokens.estimate import estimate_entry

Progress = Callable[[int, int], None]
"""Called with bytes done and bytes in all."""
Cancelled = Callable[[], bool]

BATCH_LINES = 1_000
LARGE_BYTES = 64 << 10
# Types that need a second look: headers, title slots, and what marks a leaf.
_SPECIAL = frozenset({pi.HEADER_TYPE, omp.TITLE_TYPE, "custom"})
_FAULTS = {
    "orphan": "the parent {parent!r} is not in the file; the entry became a root",
    "cycle": "the parent {parent!r} is below the entry itself; the entry became a root",
    "self": "the entry is its own parent; it became a root",
}


def open_source(
    path: str | os.PathLike[str],
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> FileSource:
    """Open a session file of pi (versions 1 to 3) or oh-my-pi.

    ``progress`` and ``cancelled`` are called from the thread that reads, about once per MB.
    Raises FormatError when the file is no session, OSError when it cannot be read.
    """
    place = Path(path)
    with place.open("rb", buffering=0) as file:
        sniffed = sniff(place, file)
    return FileSource(place, sniffed, progress, cancelled)


class FileSource:
    """A ``SessionSource`` over one file. What it cannot use is kept in ``report.asides``."""

    def __init__(
        self,
        path: Path,
        sniffed: Sniffed,
        progress: Progress | None,
        cancelled: Cancelled | None,
    ) -> None:
        self.path = str(path)
        self.header = sniffed.header
        self.report = ReadReport(problems=list(sniffed.problems))
        self._place = path
        self._sniffed = sniffed
        self._progress = progress
        self._cancelled = cancelled
        self._line = 0
        # The place of the next JSON value; a header that is missing had place 0.
        self._values = 0 if sniffed.header_line else 1
        self._last_id = ""
        self._leaf_id = ""
        self._assembler: Assembler[tuple[EntryRecord, str]] = Assembler(self._ids_ahead)

    def batches(self) -> Iterator[list[EntryRecord]]:
        """Entries in index order, in lists of about 1,000 or 1 MB; to be read once.

        Raises ReadCancelled when ``cancelled`` answers true, OSError when the file cannot be
        read on. The report is complete when the iteration has ended.
        """
        with self._place.open("rb", buffering=0) as file:
            self.report.bytes_total = os.fstat(file.fileno()).st_size
            for lines, done in line_groups(file):
                if not self._line:
                    self._leave_out_mark(lines)
                for start in range(0, len(lines), BATCH_LINES):
                    batch: list[EntryRecord] = []
                    self._read(lines[start : start + BATCH_LINES], batch)
                    if batch:
                        yield batch
                self._tell(done)
            batch = []
            self._emit(self._assembler.finish(), batch)
            if batch:
                yield batch
        self.report.leaf = self._assembler.placed.get(self._leaf_id, -1)

    def _leave_out_mark(self, lines: list[bytes]) -> None:
        if lines[0].startswith(BYTE_ORDER_MARK):
            lines[0] = lines[0][len(BYTE_ORDER_MARK) :]
            self.report.problems.append(Problem(1, "a byte order mark was left out"))

    def _tell(self, done: int) -> None:
        self.report.bytes_done = done
        self.report.bytes_total = max(self.report.bytes_total, done)
        if self._progress is not None:
            self._progress(done, self.report.bytes_total)
        if self._cancelled is not None and self._cancelled():
            raise ReadCancelled(f"{self.path}: reading stopped at line {self._line}")

    # lines -----------------------------------------------------------------------------------

    def _read(self, lines: list[bytes], batch: list[EntryRecord]) -> None:
        """Read lines into ``batch``. Sound entries below an entry that has been read take the
        short way here: this loop is what an import's speed hangs on."""
        placed = self._assembler.placed
        in_order = not (self._sniffed.linear or self._assembler.holding)
        loads, large = orjson.loads, LARGE_BYTES
        for line in lines:
            self._line += 1
            try:
                entry = loads(line)
                entry_id, parent_id = entry["id"], entry["parentId"]
                parent = -1 if parent_id is None else placed[parent_id]
                plain = in_order and type(entry_id) is str and entry["type"] not in _SPECIAL
            except (orjson.JSONDecodeError, KeyError, TypeError):
                plain = False
            if not plain or not entry_id or entry_id in placed:
                self._read_hard(line, batch)
                in_order = not (self._sniffed.linear or self._assembler.holding)
                continue
            facts, tokens = describe(entry), estimate_entry(entry)
            if len(line) > large:
                facts = facts._replace(flags=facts.flags | Flag.LARGE)
            placed[entry_id] = len(placed)
            self._leaf_id = entry_id
            batch.append(EntryRecord(entry_id, parent, self._line, line.decode(), facts, tokens))

    def _read_hard(self, line: bytes, batch: list[EntryRecord]) -> None:
        """Read a line of which nothing is known."""
        try:
            value = clean = orjson.loads(line)
        except orjson.JSONDecodeError:
            try:
                value, clean = parse_hard(line)
            except BadLine as error:
                self._put_bad_line_aside(line, str(error))
                return
        self._values += 1
        if not isinstance(clean, dict):
            self._put_aside(line, "not a JSON object")
        elif clean.get("type") == pi.HEADER_TYPE:
            if self._line != self._sniffed.header_line:
                self._put_aside(line, "a second header")
        elif omp.is_title_slot(clean):
            self.report.asides.append(Aside(self._line, line, "the title slot"))
        else:
            self._take(line, value, clean, batch)

    def _take(
        self, line: bytes, value: dict[str, Any], clean: dict[str, Any], batch: list[EntryRecord]
    ) -> None:
        entry_id, parent_id = self._names(clean)
        if not entry_id:
            self._put_aside(line, "an entry without an id")
            return
        if entry_id in self._assembler:
            self._put_aside(line, f"the id {entry_id[:80]!r} exists already; the first one counts")
            return
        if self._sniffed.linear and clean.get("type") == "compaction":
            clean = pi.with_kept_id(clean)
        facts = describe(clean)
        if len(line) > LARGE_BYTES:
            facts = facts._replace(flags=facts.flags | Flag.LARGE)
        record = EntryRecord(entry_id, -1, self._line, line.decode(), facts, estimate_entry(value))
        self._last_id = entry_id
        is_mark = clean.get("type") == "custom" and clean.get("customType") == pi.LEAF_TYPE
        self._leaf_id = parent_id if is_mark else entry_id
        self._emit(self._assembler.place(entry_id, parent_id, (record, parent_id)), batch)

    def _names(self, entry: dict[str, Any]) -> tuple[str, str]:
        """The entry's id and its parent's; an empty parent is none."""
        if self._sniffed.linear:
            return pi.positional_id(self._values - 1), self._last_id
        entry_id, parent_id = entry.get("id"), entry.get("parentId")
        return (
            entry_id if isinstance(entry_id, str) else "",
            parent_id if isinstance(parent_id, str) else "",
        )

    def _emit(
        self, placements: list[Placement[tuple[EntryRecord, str]]], batch: list[EntryRecord]
    ) -> None:
        for (record, parent_id), parent, fault in placements:
            if fault:
                reason = _FAULTS[fault].format(parent=parent_id[:80])
                self.report.problems.append(Problem(record.line, reason))
            batch.append(record._replace(parent=parent))

    # what is no entry --------------------------------------------------------------------------

    def _put_aside(self, line: bytes, reason: str) -> None:
        self.report.asides.append(Aside(self._line, line, reason))
        self.report.problems.append(Problem(self._line, f"{reason}; the line was kept aside"))

    def _put_bad_line_aside(self, line: bytes, reason: str) -> None:
        if is_blank(line):
            self.report.asides.append(Aside(self._line, line, "a blank line"))
        else:
            self._put_aside(line, reason)

    def _ids_ahead(self) -> set[str]:
        """The ids of all entries from the current line on."""
        found: set[str] = set()
        number = 0
        with self._place.open("rb", buffering=0) as file:
            for lines, _ in line_groups(file):
                unread = lines[max(0, self._line - number) :]
                found.update(map(_id_of, unread))
                number += len(lines)
        return found


def _id_of(line: bytes) -> str:
    try:
        value = parse(line)
    except BadLine:
        return ""
    entry_id = value.get("id") if isinstance(value, dict) else None
    return entry_id if isinstance(entry_id, str) and value.get("type") != pi.HEADER_TYPE else ""
