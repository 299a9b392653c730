"""The tables, described with SQLModel, which makes them in a new database.

No value is made of these classes: rows are written by plain SQL, so columns have no defaults.
Imported when a database is made, and at no other time.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from sqlalchemy import JSON, Column, LargeBinary, create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool
from sqlmodel import Field, SQLModel


def _session(primary: bool = True, indexed: bool = False) -> Any:
    return Field(foreign_key="sessions.key", primary_key=primary, ondelete="CASCADE", index=indexed)


class SessionTable(SQLModel, table=True):
    """Sessions. One that is being imported or deleted has ``complete`` 0 and is not shown."""

    __tablename__ = "sessions"
    __table_args__ = {"sqlite_autoincrement": True}
    key: int | None = Field(primary_key=True)
    session_id: str = Field(index=True)
    format: str
    version: int
    cwd: str
    parent_session: str
    header: str
    """The header line verbatim."""
    complete: int
    claim: str
    """Names the lock file of the process that is importing it."""
    entries: int
    leaf: int
    name: str
    first_said: str
    compactions: int
    size: int
    header_ms: float
    started_ms: float
    last_ms: float
    changed_ms: float = Field(index=True)
    """Indexed since version 5: what was used last is listed first."""
    relation: str | None
    """What it is to the parent session. Since version 4, like the next two."""
    parent_call: str | None
    """The tool call of the parent session that started it."""
    agent_version: str | None
    summed: int | None
    """How many of its entries are in ``totals``. Since version 4, like the next ones."""
    branches: int | None
    archived_ms: float | None
    """When it was archived; NULL of one that is not."""
    trashed_ms: float | None
    """When it was put into the trash; NULL of one that was not."""
    note: str | None
    labels: str | None
    """A label on each line. Since version 5."""


class TotalTable(SQLModel, table=True):
    """What a session took of a model on a day; see ``totals``. Since version 4."""

    __tablename__ = "totals"
    session: int = _session()
    day: int = Field(primary_key=True)
    """Days since 1970, UTC; 0 for none."""
    model: str = Field(primary_key=True)
    size: int = Field(primary_key=True)
    """``price_size`` of the calls. Since version 6."""
    input: int
    output: int
    cache_read: int
    cache_write: int
    cache_write_1h: int
    """Of those, for an hour. Since version 8."""
    cost: float
    calls: int
    unpriced: int
    uncounted: int


class EntryTable(SQLModel, table=True):
    """Entries without their payload. They never change."""

    __tablename__ = "entries"
    id: int = Field(primary_key=True)
    """``row_id(key, index)``."""
    entry_id: str
    parent: int
    line: int
    kind: int
    flags: int
    time_ms: float
    estimate: int
    usage: int
    model: str | None
    preview: str
    call_id: str | None
    rare: str | None
    """JSON of the facts that few entries have; see ``codec``."""
    tool: str | None
    """The tool that made a tool result. Since version 3."""


class PayloadTable(SQLModel, table=True):
    """The lines of the entries, verbatim."""

    __tablename__ = "payloads"
    id: int = Field(primary_key=True)
    raw: str


class ColumnsTable(SQLModel, table=True):
    """The columns of a session's first entries, packed; can be made again from ``entries``."""

    __tablename__ = "columns"
    session: int = _session()
    entries: int
    data: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class AsideTable(SQLModel, table=True):
    """Lines of a file that are not entries, byte for byte."""

    __tablename__ = "asides"
    session: int = _session()
    line: int = Field(primary_key=True)
    raw: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    reason: str


class LabelTable(SQLModel, table=True):
    """Label entries, so that labels are found across sessions. Since version 2."""

    __tablename__ = "labels"
    session: int = _session()
    entry: int = Field(primary_key=True)
    """Index of the label entry."""
    target_id: str
    label: str
    """Empty when it takes the target's label away."""


class SourceTable(SQLModel, table=True):
    """The file that a session came from, as it was when it was last read."""

    __tablename__ = "sources"
    session: int = _session()
    path: str = Field(index=True)
    size: int
    mtime_ns: int
    digest: str
    """SHA-256 of the header line."""
    lines: int
    """Number of the last line that gave an entry."""
    last: int
    """Index of the entry that was last in the file: the leaf that its agent had."""
    problems: list[Any] = Field(sa_column=Column(JSON, nullable=False))


class DraftTable(SQLModel, table=True):
    """Drafts of summaries: what was asked, of whom, what came back, what became of it."""

    __tablename__ = "drafts"
    __table_args__ = {"sqlite_autoincrement": True}
    id: int | None = Field(primary_key=True)
    session: int = _session(primary=False, indexed=True)
    kind: str
    """``compaction`` or ``branch``."""
    status: str
    leaf: int
    model: str
    instructions: str
    settings: Any = Field(sa_column=Column(JSON))
    requests: Any = Field(sa_column=Column(JSON))
    """A list, one per request: its purpose and the exact request."""
    answers: Any = Field(sa_column=Column(JSON))
    """A list, one per request: purpose, text, stop reason, usage, time."""
    facts: Any = Field(sa_column=Column(JSON))
    summary: str
    edited_text: str | None
    problem: str
    elapsed_ms: float
    created_ms: float
    changed_ms: float


class SettingTable(SQLModel, table=True):
    """What a person chose for one session."""

    __tablename__ = "session_settings"
    session: int = _session()
    name: str = Field(primary_key=True)
    value: Any = Field(sa_column=Column(JSON))


class CountTable(SQLModel, table=True):
    """Token counts of a tokenizer, in chunks of entries; see ``counts``."""

    __tablename__ = "token_counts"
    session: int = _session()
    counter: str = Field(primary_key=True)
    chunk: int = Field(primary_key=True)
    tokens: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class AuditTable(SQLModel, table=True):
    """What an audit found in a session, as one row of figures. Since version 6."""

    __tablename__ = "audits"
    session: int = _session()
    stamp: str
    """What was audited by which rules: where it is another one now, the figures are old."""
    figures: Any = Field(sa_column=Column(JSON))


class LibraryTable(SQLModel, table=True):
    """Facts about the database itself: ``id`` is a random name. Since version 2."""

    __tablename__ = "library"
    name: str = Field(primary_key=True)
    value: str


def create_tables(db: sqlite3.Connection) -> None:
    """Make all tables. Raises sqlite3.Error."""
    engine = create_engine("sqlite://", poolclass=StaticPool, creator=lambda: db)
    try:
        SQLModel.metadata.create_all(engine)
    except DBAPIError as error:
        raise error.orig or error from error
