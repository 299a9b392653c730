"""The rows of many audits in a folder of Parquet files, which a later run goes on with.

There is a folder for each table of ``session_audit``, in it a file for each part of a run. Files of
one name in all four hold the same sessions; of a part, the sessions are written last. So a part
that was not finished is one without sessions, and is removed at the next run. Rows that are out of
date are taken out of their parts before a run begins; what is to be taken out is written down
first, and is done again where a run was ended in the middle of it. Needs pyarrow.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson
from msgspec import Struct, to_builtins

from explorer import private_files
from explorer.services.session_audit import (
    VERSION,
    AuditRow,
    CompactionRow,
    FindingRow,
    NeededRow,
    SessionAudit,
    row_from,
)
from explorer.settings import paths

TABLES: Mapping[str, type[Struct]] = {
    "compactions": CompactionRow, "findings": FindingRow, "needed": NeededRow,
    "sessions": AuditRow,
}  # fmt: skip
"""By name: what a row of a table is. The last one is written last."""
LOCK, TAKING_OUT = ".audits.lock", ".taking-out.json"
PART_SESSIONS, PART_ROWS, PART_S = 2_000, 20_000, 30.0
"""Sessions and rows of a part, and seconds after which what is done is written anyhow: so much is
lost when a run is killed."""

Identity = tuple[str, int]
"""What names a session in all tables: its library and its number there."""
ContentOf = Callable[[AuditRow], str]
"""What ``AuditRow.content`` of a session would be now; empty where that is not known."""


class FolderError(Exception):
    """The folder cannot be used; the message says why."""


class AuditFolder:
    """The rows of a folder, each session once. Written by one run at a time."""

    def __init__(self, folder: Path) -> None:
        """Makes the folder where there is none. Raises FolderError, OSError."""
        self.path = paths.ensure(folder)
        lock = private_files.FileLock.take(folder / LOCK)
        if lock is None:
            raise FolderError(f"{folder}: another run is writing there")
        self._lock = lock
        self._waiting: list[SessionAudit] = []
        self._rows = 0
        self._since = time.monotonic()
        self._next = 1

    def begin(self, now: Iterable[AuditRow], content_of: ContentOf) -> set[Identity]:
        """Begin a run over some sessions. ``now``: what their rows would begin with. Of their rows
        those that failed, or were made of another state, by another version or by other rules, are
        taken out. Returns the sessions whose rows are there. Raises FolderError, OSError."""
        for table in TABLES:
            paths.ensure(self.path / table)
        self._finish_earlier()
        begun = {identity(row): row for row in now}
        there: set[Identity] = set()
        old: dict[str, list[Identity]] = {}
        for part in self._parts():
            for row in _read(self.path / "sessions" / part, _STAMP):
                name = row["library"], row["session"]
                if (wanted := begun.get(name)) is None:
                    continue
                if _is_current(row, wanted, content_of):
                    there.add(name)
                else:
                    old.setdefault(part, []).append(name)
        if old:
            private_files.write(self.path / TAKING_OUT, orjson.dumps(old))
            self._take_out(old)
        return there

    def _finish_earlier(self) -> None:
        """Do what an earlier run was ended in the middle of."""
        for table in TABLES:
            for file in (self.path / table).glob(".*.part"):
                file.unlink()
        noted = self.path / TAKING_OUT
        if noted.exists():
            self._take_out(orjson.loads(noted.read_bytes()))
        for part in self._parts():
            if _version_of(self.path / "sessions" / part) != VERSION:
                (self.path / "sessions" / part).unlink()
        self._remove_unfinished()

    def _remove_unfinished(self) -> None:
        """Remove what belongs to no part with sessions. Raises FolderError for files that are none
        of ours."""
        whole = set(self._parts())
        for name in TABLES:
            for file in self._files(name):
                if file.name not in whole and _version_of(file):
                    file.unlink()
        numbers = [int(_DIGITS.findall(part)[0]) for part in whole]
        self._next = max(numbers, default=0) + 1

    def add(self, found: SessionAudit) -> None:
        """Take the rows of a session, which are written with others. Raises OSError."""
        self._waiting.append(found)
        self._rows += 1 + len(found.compactions) + len(found.findings) + len(found.needed)
        is_full = len(self._waiting) >= PART_SESSIONS or self._rows >= PART_ROWS
        if is_full or time.monotonic() > self._since + PART_S:
            self.write()

    def write(self) -> None:
        """Write what is not written yet. Raises OSError."""
        if self._waiting:
            part = f"part-{self._next:06d}.parquet"
            rows: dict[str, Sequence[Struct]] = {
                "compactions": [row for one in self._waiting for row in one.compactions],
                "findings": [row for one in self._waiting for row in one.findings],
                "needed": [row for one in self._waiting for row in one.needed],
                "sessions": [one.row for one in self._waiting],
            }
            for name in TABLES:
                _write_part(self.path / name / part, name, rows[name])
            self._next += 1
            self._waiting.clear()
            self._rows = 0
        self._since = time.monotonic()

    def rows(self) -> Iterator[AuditRow]:
        """The rows of all sessions that are there. Raises FolderError, OSError."""
        for values in table_rows(self.path, "sessions", AuditRow.__struct_fields__):
            if (row := row_from(values)) is not None:
                yield row

    def close(self) -> None:
        """Write what is not written yet, and let the folder go. Raises OSError."""
        try:
            self.write()
        finally:
            self._lock.release()

    def _parts(self) -> list[str]:
        """The names of the parts that are whole."""
        return [file.name for file in self._files("sessions")]

    def _files(self, table: str) -> list[Path]:
        return sorted((self.path / table).glob(_PARTS))

    def _take_out(self, old: Mapping[str, Sequence[Sequence[Any]]]) -> None:
        """Take sessions out of parts; what is out already stays so."""
        for part, sessions in old.items():
            gone = {(library, session) for library, session in sessions}
            for name in TABLES:
                if (path := self.path / name / part).exists():
                    _rewrite(path, name, gone)
        (self.path / TAKING_OUT).unlink(missing_ok=True)
        self._remove_unfinished()


_STAMP = ("version", "library", "session", "id", "position", "program", "rules", "status",
          "content")  # fmt: skip


def _is_current(row: Mapping[str, Any], now: AuditRow, content_of: ContentOf) -> bool:
    """Whether a row is what an audit would give now. ``row``: its ``_STAMP``."""
    by = ("id", "version", "program", "rules")
    if row["status"] == "failed" or any(row[name] != getattr(now, name) for name in by):
        return False
    return row["position"] == now.position or (
        bool(row["content"]) and row["content"] == content_of(now)
    )


def identity(row: AuditRow) -> Identity:
    """What names a session in the tables of several libraries."""
    return row.library, row.session


def can_write_tables() -> bool:
    """Whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


def table_rows(folder: Path, table: str, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows of a table, of this version. Raises FolderError where the files are none of ours,
    OSError."""
    for sessions in sorted((folder / "sessions").glob(_PARTS)):
        if _version_of(sessions) == VERSION:
            yield from _read(folder / table / sessions.name, columns)


def _read(path: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    for batch in _batches(path, columns):
        yield from batch.to_pylist()


def _batches(path: Path, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """The rows of a Parquet file, a thousand at once. Raises OSError."""
    with import_module("pyarrow.parquet").ParquetFile(path) as file:
        yield from file.iter_batches(_BATCH, columns=columns)


def _version_of(path: Path) -> int:
    """Of the tables that a part is of. Raises FolderError where it is none of ours."""
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    try:
        found = (parquet.read_schema(path).metadata or {}).get(_MARK, b"")
    except arrow.ArrowInvalid:
        found = b""
    if not found.isdigit():
        raise FolderError(f"{path} holds something else than audits")
    return int(found)


_BATCH = 1_000
_MARK = b"session_explorer_audit"
"""Its value, in each file, is the version of the tables."""
_PARTS = "part-[0-9]*.parquet"
_DIGITS = re.compile(r"\d+")


def _write_part(path: Path, table: str, rows: Sequence[Struct]) -> None:
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    schema = _schema(table)
    with (
        private_files.replacement(path) as file,
        parquet.ParquetWriter(file, schema, compression="zstd") as writer,
    ):
        values = [to_builtins(row) for row in rows]
        writer.write_table(arrow.Table.from_pylist(values, schema))


def _rewrite(path: Path, table: str, gone: set[tuple[str, int]]) -> None:
    """A part without the rows of some sessions; no part where none is left."""
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    left = 0
    with parquet.ParquetFile(path) as file:
        schema = file.schema_arrow
    with (
        private_files.replacement(path) as new,
        parquet.ParquetWriter(new, schema, compression="zstd") as writer,
    ):
        for batch in _batches(path):
            names = zip(batch["library"].to_pylist(), batch["session"].to_pylist(), strict=True)
            stays = batch.filter(arrow.array([name not in gone for name in names], arrow.bool_()))
            left += len(stays)
            writer.write_batch(stays)
    if not left and table == "sessions":
        path.unlink()


@cache
def _schema(table: str) -> Any:
    arrow = import_module("pyarrow")
    types = {
        "int": arrow.int64(), "float": arrow.float64(), "str": arrow.string(),
        "bool": arrow.bool_(), "tuple[str, ...]": arrow.list_(arrow.string()),
        "tuple[int, ...]": arrow.list_(arrow.int64()),
    }  # fmt: skip
    return arrow.schema(
        [
            arrow.field(name, types[kind.removesuffix(" | None")], kind.endswith("None"))
            for name, kind in TABLES[table].__annotations__.items()
        ],
        {_MARK: str(VERSION)},
    )
