"""The rows of many audits in a folder: ``audits.jsonl``, a JSON line for each session, which a
later run goes on with; and ``audits.parquet``, the same as a table.

The fields are those of ``session_audit``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import orjson
from msgspec import to_builtins

from explorer import private_files
from explorer.services.session_audit import VERSION, AuditRow, row_from, stamp_of
from explorer.settings import paths

LINES, TABLE, LOCK = "audits.jsonl", "audits.parquet", ".audits.lock"
_ROWS = 5_000
"""Of a table, written at once."""
_NAMES = frozenset(AuditRow.__struct_fields__)


class FolderError(Exception):
    """The folder cannot be used; the message says why."""


def line_of(row: AuditRow) -> bytes:
    """A row as a line of JSON."""
    return orjson.dumps(to_builtins(row), option=orjson.OPT_APPEND_NEWLINE)


class AuditFolder:
    """The rows of a folder, each session once. Used by one run at a time."""

    def __init__(self, folder: Path) -> None:
        """Makes the folder where there is none. Raises FolderError, OSError."""
        self.path = paths.ensure(folder)
        self._lines: BinaryIO | None = None
        lock = private_files.FileLock.take(folder / LOCK)
        if lock is None:
            raise FolderError(f"{folder}: another run is writing there")
        self._lock = lock

    def begin(self, now: Iterable[AuditRow]) -> set[int]:
        """Begin a run over some sessions. ``now``: what their rows would begin with. Of their rows
        those that failed, or were made of another state, by another version or by other rules, are
        dropped, as is the line that a killed run left half written. Returns the numbers of the
        sessions whose row is there. Raises FolderError, OSError; the rows are as they were then."""
        stamps = {_identity(row): stamp_of(row) for row in now}
        seen: set[tuple[int, str]] = set()
        with private_files.replacement(self.path / LINES) as file:
            for row in self.rows():
                name = _identity(row)
                is_old = row.status == "failed" or stamps.get(name) != stamp_of(row)
                if name in seen or (name in stamps and is_old):
                    continue
                file.write(line_of(row))
                seen.add(name)
        self._lines = open(self.path / LINES, "ab")  # noqa: SIM115 -- closed by close
        return {session for session, _ in seen & stamps.keys()}

    def add(self, row: AuditRow) -> None:
        """Write a row down; others can read it at once. Raises OSError."""
        assert self._lines is not None
        self._lines.write(line_of(row))
        self._lines.flush()

    def rows(self) -> Iterator[AuditRow]:
        """The rows that are there, but those of another version. Raises FolderError where the file
        holds something else, OSError."""
        try:
            lines = open(self.path / LINES, "rb")  # noqa: SIM115 -- closed by the next block
        except FileNotFoundError:
            return
        with lines:
            for line in lines:
                values = _values(line)
                if values is None and line.endswith(b"\n"):
                    raise FolderError(f"{self.path / LINES} holds something else than audits")
                if values is not None and (row := row_from(values)) is not None:
                    yield row

    def write_table(self) -> None:
        """Write the rows as a Parquet file, whole or not at all. Raises OSError; needs pyarrow."""
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        schema = arrow.schema(
            [(name, _arrow_type(arrow, kind)) for name, kind in AuditRow.__annotations__.items()]
        )
        rows = self.rows()
        with (
            private_files.replacement(self.path / TABLE) as file,
            parquet.ParquetWriter(file, schema) as writer,
        ):
            while some := [to_builtins(one) for one in islice(rows, _ROWS)]:
                writer.write_table(arrow.Table.from_pylist(some, schema))

    def close(self) -> None:
        """Let the folder go."""
        if self._lines is not None:
            self._lines.close()
        self._lock.release()


def can_write_tables() -> bool:
    """Whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


def _values(line: bytes) -> dict[str, Any] | None:
    """The fields of a row of any version; None for anything else."""
    try:
        values = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(values, dict) or not values.keys() >= {"version", "session", "position"}:
        return None
    return values if values["version"] != VERSION or values.keys() == _NAMES else None


def _identity(row: AuditRow) -> tuple[int, str]:
    return row.session, row.id


def _arrow_type(arrow: Any, annotation: object) -> Any:
    """The type of a column by the annotation of its field."""
    types = {
        "int": arrow.int64(), "float": arrow.float64(), "float | None": arrow.float64(),
        "str": arrow.string(), "tuple[str, ...]": arrow.list_(arrow.string()),
    }  # fmt: skip
    return types[str(annotation)]
