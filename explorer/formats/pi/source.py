"""Reading a session file: a stream of entries in index order, and a report of what was wrong."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from io import FileIO
from itertools import chain
from operator import lt
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import orjson

from explorer.formats.adapter import IsCancelled, Progress, ReadCancelled
from explorer.formats.jsonl import (
    BYTE_ORDER_MARK,
    EMPTY,
    BadLine,
    Prefix,
    is_blank,
    line_groups,
    parse,
    parse_hard,
    stamp_of,
)
from explorer.formats.pi import omp
from explorer.formats.pi.digest import (
    LARGE_BYTES,
    Digest,
    DigestLost,
    DigestProcess,
    Piece,
    characters,
    digest,
    is_apart,
    pieces,
)
from explorer.formats.pi.entries import read_entry
from explorer.formats.pi.header import HEADER_TYPE, LEAF_TYPE, positional_id
from explorer.formats.pi.recognition import Sniffed, sniff
from explorer.formats.typed_source import placed_records
from explorer.session.describe import describe
from explorer.session.json_values import TOO_DEEP, is_too_deep
from explorer.session.kinds import Flag
from explorer.session.records import Aside, Assembler, EntryBatch, EntryRecord, Problem, ReadReport
from explorer.tokens.estimate import estimate_entry

APART_BYTES = 4 << 20
"""From this size on a file is understood in a separate process."""
_SHORT = 100
"""Sound entries between others that are put together with them."""
T = TypeVar("T")
_log = logging.getLogger(__name__)


def open_source(
    path: str | os.PathLike[str],
    progress: Progress | None = None,
    cancelled: IsCancelled | None = None,
    apart: bool | None = None,
) -> FileSource:
    """Open a session file of pi (versions 1 to 3) or oh-my-pi.

    ``progress`` and ``cancelled`` are called from the thread that reads, about once per MB.
    ``apart`` says whether a separate process understands the lines, None: chosen by size.
    Raises FormatError when the file is no session, OSError when it cannot be read.
    """
    place = Path(path)
    with place.open("rb", buffering=0) as file:
        sniffed = sniff(place, file)
        if apart is None:
            apart = os.fstat(file.fileno()).st_size >= APART_BYTES
    return FileSource(place, sniffed, progress, cancelled, apart)


class _Stopped(NamedTuple):
    """Where a reading stopped behind the last whole line, to go on from there."""

    prefix: Prefix
    line: int
    values: int
    last_id: str
    leaf_id: str
    placed: dict[str, int]
    problems: list[Problem]
    asides: list[int]
    """Lines that were put aside because the file ended there."""


class FileSource:
    """A ``GrowingSource`` over one file. What it cannot use is kept in ``report.asides``."""

    def __init__(
        self,
        path: Path,
        sniffed: Sniffed,
        progress: Progress | None,
        cancelled: IsCancelled | None,
        apart: bool,
    ) -> None:
        self.path = str(path)
        self.files = (self.path,)
        self.header = sniffed.header
        self.report = ReadReport(problems=list(sniffed.problems))
        self._place = path
        self._sniffed = sniffed
        self._progress = progress
        self._cancelled = cancelled
        self._apart = apart
        self._line = 0
        # The place of the next JSON value; a header that is missing had place 0.
        self._values = 0 if sniffed.header_line else 1
        self._last_id = ""
        self._leaf_id = ""
        self._assembler: Assembler[tuple[EntryRecord, str]] = Assembler(self._ids_ahead)
        self._has_looked_ahead = False
        self._prefix: Prefix | None = None
        self._start = 0
        """Bytes that an earlier source read."""
        self._stopped: _Stopped | None = None
        self.earlier: list[str] = []
        """See ``GrowingSource``."""

    def follow(self) -> None:
        """See ``GrowingSource``."""
        self._prefix = self._prefix or EMPTY

    def grown(self) -> FileSource | None:
        """See ``GrowingSource``. Raises OSError."""
        stopped = self._stopped
        if stopped is None or not stopped.prefix.begins(self._place):
            return None
        with self._place.open("rb", buffering=0) as file:
            if sniff(self._place, file) != self._sniffed:
                return None  # What came since says what the file is.
        source = FileSource(self._place, self._sniffed, self._progress, self._cancelled, False)
        source._prefix, source._start = stopped.prefix, stopped.prefix.size
        source._line, source._values = stopped.line, stopped.values
        source._last_id, source._leaf_id = stopped.last_id, stopped.leaf_id
        source._assembler.placed = stopped.placed
        source.report.problems, source.report.withdrawn = stopped.problems, stopped.asides
        source.earlier = list(stopped.placed)
        return source

    def _stop(self, offset: int, began: tuple[int, int]) -> None:
        """Remember how far it was read. What waits for its parent, or was found to have none, may
        be placed otherwise when more has come: then all of the file is to be read."""
        if self._prefix is None or self._assembler.holding or self._has_looked_ahead:
            return
        prefix = self._prefix.extended(self._place, offset)
        if stamp_of(self._place) == began:
            self._stopped = _Stopped(
                prefix, self._line, self._values, self._last_id, self._leaf_id,
                self._assembler.placed.copy(), list(self.report.problems), [],
            )  # fmt: skip

    def batches(self) -> Iterator[Sequence[EntryRecord]]:
        """Entries in index order, in sequences of up to 1,000 or 1 MB; to be read once.

        Raises ReadCancelled when ``cancelled`` answers true, OSError when the file cannot be
        read on. The report is complete when the iteration has ended.
        """
        began, end, is_whole = stamp_of(self._place), self._start, True
        with self._place.open("rb", buffering=0) as file:
            self.report.bytes_total = os.fstat(file.fileno()).st_size
            with ExitStack() as stack:
                process = self._process(file, stack)
                file.seek(self._start)
                for number, piece in enumerate(pieces(file)):
                    found = None
                    if 0 < piece.done < piece.end:
                        is_whole = False  # It is the last line, without its end.
                        self._stop(end, began)
                    end = self._start + piece.end
                    if process is not None and is_apart(number):
                        found = self._found_apart(process, piece)
                        process = process if found is not None else None
                    yield from self._placed(piece.lines, found or digest(piece.lines))
                    if piece.done:
                        self._tell(self._start + piece.done)
            if is_whole:
                self._stop(end, began)
            batch: list[EntryRecord] = []
            batch += placed_records(self._assembler.finish(), self.report)
            if batch:
                yield batch
        self.report.leaf = self._assembler.placed.get(self._leaf_id, -1)

    def _process(self, file: FileIO, stack: ExitStack) -> DigestProcess | None:
        """What understands the lines of a large file, as long as it can."""
        if not self._apart or self._sniffed.linear:
            return None
        try:
            return stack.enter_context(DigestProcess(self._place, file))
        except DigestLost as error:
            _log.warning("%s: all is read in this process: %s", self.path, error)
        return None

    def _found_apart(self, process: DigestProcess, piece: Piece) -> Digest | None:
        try:
            return process.next(piece)
        except DigestLost as error:
            _log.warning("%s: read on in this process: %s", self.path, error)
        return None

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

    def _placed(self, lines: list[bytes], found: Digest) -> Iterator[Sequence[EntryRecord]]:
        """The entries of some lines: long stretches of sound ones at once, others one by one."""
        place = at = 0
        if not self._line:
            self._leave_out_mark(lines)
        batch: list[EntryRecord] = []
        others = range(len(lines)) if self._sniffed.linear else found.others
        for stop in chain(others, (len(lines),)):
            count = stop - at
            sound = self._take_sound(found, lines[at:stop], place) if count else None
            if sound is None:
                for line in lines[at:stop]:
                    self._read_hard(line, batch)
            elif count < _SHORT:
                batch.extend(sound)
            else:
                if batch:
                    yield batch
                    batch = []
                yield sound
            if stop < len(lines):
                self._read_hard(lines[stop], batch)
            at, place = stop + 1, place + count
        if batch:
            yield batch

    def _take_sound(self, found: Digest, lines: list[bytes], place: int) -> EntryBatch | None:
        """Place the entries of lines together, which stand in the columns from ``place`` on; None,
        and nothing is done, when any of them has no parent before it or an id of another."""
        placed, columns, count = self._assembler.placed, found.columns, len(lines)
        if len(columns[0]) > count:
            columns = tuple(column[place : place + count] for column in columns)
        first, ids = len(placed), columns[0]
        fresh = dict(zip(ids, range(first, first + count), strict=True))
        if self._assembler.holding or len(fresh) < count or not placed.keys().isdisjoint(fresh):
            return None
        placed.update(fresh)
        parents = self._parents(columns[1], first)
        if parents is None:
            for name in ids:
                del placed[name]
            return None
        numbers = range(self._line + 1, self._line + count + 1)
        self._line += count
        self._leaf_id = ids[-1]
        kinds, flags, times, usages, models, previews, calls, tools, estimates = columns[2:]
        return EntryBatch(
            ids=ids,
            parents=parents,
            lines=numbers,
            raws=lines,
            kinds=bytes(kinds),
            flags=flags,
            times=times,
            usages=usages,
            models=models,
            previews=previews,
            calls=calls,
            tools=tools,
            estimates=estimates,
            ops=_moved(found.ops, place, count),
            rare=_moved(found.rare, place, count),
            characters=found.characters or characters(lines),
        )

    def _parents(self, parent_ids: Sequence[str | None], first: int) -> list[int] | None:
        """Index of each parent; None when any is not an earlier entry than its child."""
        placed = cast("dict[str | None, int]", self._assembler.placed)
        parents = [placed.get(parent_id) for parent_id in parent_ids]
        if None in parents:
            roots = [parent_id is None for parent_id in parent_ids]
            parents = [-1 if root else at for root, at in zip(roots, parents, strict=True)]
            if None in parents:
                return None
        known = cast("list[int]", parents)
        return known if all(map(lt, known, range(first, first + len(known)))) else None

    def _read_hard(self, line: bytes, batch: list[EntryRecord]) -> None:
        """Read a line of which nothing is known."""
        self._line += 1
        try:
            value = clean = orjson.loads(line)
        except orjson.JSONDecodeError:
            try:
                value, clean = parse_hard(line)
            except BadLine as error:
                self._put_bad_line_aside(line, str(error))
                return
        if is_too_deep(line, clean):
            self._put_bad_line_aside(line, TOO_DEEP)
            return
        self._values += 1
        if not isinstance(clean, dict):
            self._put_aside(line, "not a JSON object")
        elif clean.get("type") == HEADER_TYPE:
            if self._line != self._sniffed.header_line:
                self._put_aside(line, "a second header")
        elif omp.is_title_slot(clean):
            self._add_aside(line, "the title slot")
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
        entry = read_entry(clean)
        facts = describe(entry)
        if len(line) > LARGE_BYTES:
            facts = facts._replace(flags=facts.flags | Flag.LARGE)
        exact = entry if value is clean else read_entry(value)
        tokens = estimate_entry(exact)
        record = EntryRecord(entry_id, -1, self._line, line.decode(), facts, tokens)
        self._last_id = entry_id
        is_mark = clean.get("type") == "custom" and clean.get("customType") == LEAF_TYPE
        self._leaf_id = parent_id if is_mark else entry_id
        placements = self._assembler.place(entry_id, parent_id, (record, parent_id))
        batch += placed_records(placements, self.report)

    def _names(self, entry: dict[str, Any]) -> tuple[str, str]:
        """The entry's id and its parent's; an empty parent is none."""
        if self._sniffed.linear:
            return positional_id(self._values - 1), self._last_id
        entry_id, parent_id = entry.get("id"), entry.get("parentId")
        return (
            entry_id if isinstance(entry_id, str) else "",
            parent_id if isinstance(parent_id, str) else "",
        )

    # what is no entry --------------------------------------------------------------------------

    def _put_aside(self, line: bytes, reason: str) -> None:
        self._add_aside(line, reason)
        self.report.problems.append(Problem(self._line, f"{reason}; the line was kept aside"))

    def _add_aside(self, line: bytes, reason: str) -> None:
        self.report.asides.append(Aside(self._line, line, reason))
        if self._stopped is not None:
            self._stopped.asides.append(self._line)

    def _put_bad_line_aside(self, line: bytes, reason: str) -> None:
        if is_blank(line):
            self._add_aside(line, "a blank line")
        else:
            self._put_aside(line, reason)

    def _ids_ahead(self) -> set[str]:
        """The ids of all entries from the current line on."""
        self._has_looked_ahead = True
        ids: set[str] = set()
        number = 0
        with self._place.open("rb", buffering=0) as file:
            for lines, _ in line_groups(file):
                unread = lines[max(0, self._line - number) :]
                ids.update(map(_id_of, unread))
                number += len(lines)
        return ids


def _moved(by_place: dict[int, T], place: int, count: int) -> dict[int, T]:
    """What stands at ``count`` places from ``place`` on, counted from there."""
    if not place and all(at < count for at in by_place):
        return by_place
    return {at - place: one for at, one in by_place.items() if place <= at < place + count}


def _id_of(line: bytes) -> str:
    try:
        value = parse(line)
    except BadLine:
        return ""
    entry_id = value.get("id") if isinstance(value, dict) else None
    return entry_id if isinstance(entry_id, str) and value.get("type") != HEADER_TYPE else ""
