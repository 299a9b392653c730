"""What the store hands out and takes in, as plain values; nothing here knows the database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, field

from explorer.session.records import FormatName, Payloads, Problem, Relation, SessionHeader
from explorer.session.tree import SessionTree


class StoreError(Exception):
    """The database refused, is damaged, or is not ours; the message names the file and why."""

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = Path(path)
        self.reason = reason


class DamagedError(StoreError):
    """The database is damaged; ``salvage`` may copy out what can still be read."""


class UnreachableError(StoreError):
    """The server of a team's library is gone, or does not answer."""


class NewerVersionError(StoreError):
    """A newer version of the program wrote the database; it was left as it is."""


class ImportCancelled(Exception):
    """The import was cancelled; nothing of it was kept."""


class SessionRow(Struct, frozen=True):
    """One session as the library lists it."""

    key: int
    session_id: str
    format: FormatName
    version: int
    cwd: str
    parent_session: str
    title: str
    """The session's name, else the start of the first user message, else empty."""
    entries: int
    compactions: int
    size: int
    """Characters of all lines."""
    started_ms: float
    """Time of the header, or of the first entry that has one; milliseconds since 1970."""
    last_ms: float
    """Time of the newest entry; milliseconds since 1970, 0 when none has a time."""
    leaf: int
    path: str
    """The file it came from, empty when it was made here."""
    relation: Relation = ""
    """What it is to ``parent_session``."""
    parent_call: str = ""
    """The tool call of the parent session that started it."""
    agent_version: str = ""
    branches: int = 0
    """0 while they are not counted yet."""
    archived_ms: float = 0.0
    """0 of one that is not in the archive."""
    trashed_ms: float = 0.0
    """0 of one that is not in the trash."""
    note: str = ""
    labels: tuple[str, ...] = ()
    """Sorted."""
    file_ms: float = 0.0
    """When its file was written to, as it was last read; milliseconds since 1970, 0 without one."""


class SourceFile(NamedTuple):
    """The file that a session came from, as it was when it was read last."""

    path: str
    size: int
    """Bytes; of all files together where it is read from several."""
    mtime_ns: int
    """Of the newest of them; nanoseconds since 1970."""
    key: int
    session_id: str

    @property
    def modified_ms(self) -> float:
        """Milliseconds since 1970."""
        return self.mtime_ns / 1e6


class LoadedSession(Struct, frozen=True):
    """An opened session: the tree in memory, the payloads on demand."""

    key: int
    tree: SessionTree
    payloads: Payloads
    leaf: int
    """Index of the leaf, -1 before any entry."""
    header: SessionHeader
    row: SessionRow


class FileStamp(Struct, frozen=True):
    """What tells whether a file is as it was."""

    size: int
    mtime_ns: int

    @classmethod
    def of(cls, paths: Sequence[str]) -> FileStamp:
        """Of all files that a session is read from. Raises OSError when one cannot be asked."""
        found = [Path(path).stat() for path in paths]
        return cls(sum(one.st_size for one in found), max(one.st_mtime_ns for one in found))


class ImportReport(Struct, frozen=True):
    """What an import did. Counts are of entries unless they say otherwise."""

    key: int
    title: str
    created: bool
    """False when the session was here already and this brought it up to date."""
    added: int
    kept: int = 0
    """Entries of the file that were here already."""
    differing: int = 0
    """Of the kept ones, those whose line in the file has changed since: the first is kept, but of
    an agent whose files are only read."""
    replaced: tuple[int, ...] = ()
    """Indices of the entries that their own agent wrote more of: they are as in the file now."""
    missing: int = 0
    """Imported earlier, no longer in the file; they stay."""
    asides: int = 0
    """Lines kept aside because they are not entries."""
    unchanged: bool = False
    """The file is the one imported before, so it was not read again."""
    problems: list[Problem] = field(default_factory=list)
    stamp: FileStamp | None = None
    """Of the file as it was read; None for what comes from no file."""


OnProgress = Callable[[int, int], None]
"""Called with bytes done and bytes in all, on the importing thread."""
IsCancelled = Callable[[], bool]


class DraftRow(Struct, frozen=True):
    """A draft of a summary as it was recorded."""

    id: int
    key: int
    kind: str
    """``compaction`` or ``branch``."""
    status: str
    leaf: int
    model: str
    instructions: str
    settings: Any
    requests: Any
    """One per request: its purpose and the exact request."""
    answers: Any
    """One per request: purpose, text, stop reason, usage, time."""
    facts: Any
    summary: str
    edited_text: str | None
    problem: str
    elapsed_ms: float
    created_ms: float
    changed_ms: float
