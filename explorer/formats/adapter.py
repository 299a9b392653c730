"""What a format is: one adapter that recognises an agent's files, finds them, and turns their
records into typed entries and back; and what can go wrong with a file as a whole. Damage within a
file is reported, not raised.

A dialect's field names stand in its adapter's module and nowhere else.
"""

from __future__ import annotations

import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from explorer.session.entries import Entry, TokenUsage
from explorer.session.records import FormatName, SessionHeader, SessionSource

Progress = Callable[[int, int], None]
"""Called with bytes done and bytes in all."""
IsCancelled = Callable[[], bool]


class FoundSession(NamedTuple):
    """A session file as far as its first lines tell."""

    path: Path
    format: FormatName
    cwd: str
    """Working directory; empty when the header does not say or is damaged."""
    size: int
    """Bytes."""
    modified_ms: float
    """Milliseconds since 1970."""
    header: SessionHeader | None
    """None when the first lines hold no header; the file may open nevertheless."""
    session_id: str = ""
    """Which session it is, of a file that holds several; else empty."""

    @classmethod
    def at(
        cls,
        path: Path,
        format_name: FormatName,
        status: os.stat_result,
        header: SessionHeader | None,
    ) -> FoundSession:
        """A file that holds one session."""
        cwd = header.cwd if header is not None else ""
        return cls(path, format_name, cwd, status.st_size, status.st_mtime_ns / 1e6, header)


def read_head(path: Path, size: int) -> tuple[bytes, os.stat_result] | None:
    """The first bytes of a file, and its state; None when it cannot be read, is blank or is no
    file: opening a pipe would wait for who writes to it."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return None
        with path.open("rb", buffering=0) as file:
            head = file.read(size)
    except OSError:
        return None
    return (head, status) if head.strip() else None


class Related(NamedTuple):
    """A session that comes with another one: in the same file, or started by it."""

    path: Path
    session_id: str
    """Empty for the session that the file is named for."""


class Adapter(Protocol):
    """One agent's format. A record is the text of one entry as its file has it: one line, or
    several joined by newlines, byte for byte."""

    @property
    def name(self) -> FormatName:
        """As the database names the format."""

    @property
    def title(self) -> str:
        """The agent's name for people."""

    @property
    def writes(self) -> bool:
        """Whether ``write`` writes the agent's dialect; else what is added to a session of this
        format is a branch of ours, in a dialect of ours."""

    @property
    def unknown(self) -> Sequence[str]:
        """What the agent sends to its model and records nowhere, in a few words each: "the system
        prompt"."""

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether a file that begins with these bytes is of this format."""

    def open(
        self,
        path: str | os.PathLike[str],
        progress: Progress | None = None,
        cancelled: IsCancelled | None = None,
        session_id: str = "",
    ) -> SessionSource:
        """Read a session. ``session_id``: which one, of a file that holds several; by default the
        one that was used last, or that the others belong to. ``progress`` and ``cancelled`` are
        called from the thread that reads.

        Raises FormatError when the file is no such session, OSError when it cannot be read.
        """

    def related(self, path: Path, session_id: str = "") -> Sequence[Related]:
        """The sessions that come with one, itself left out: those that it started, and by default
        all others of its file. Raises OSError, FormatError."""

    def resume(self, header: SessionHeader) -> Sequence[str]:
        """The agent's own command to go on with a session in its folder, as arguments; empty where
        it has none."""

    def read(self, record: str | bytes) -> Entry:
        """A record as a typed entry; what cannot be read is an entry of an unknown kind. A
        compaction says how certain it is (``CompactionSummary.certainty``)."""

    def usage(self, record: str, context: int) -> TokenUsage | None:
        """What a provider reported in a record that is known to report so many tokens of context;
        None for nothing. Quicker than ``read`` where that is possible."""

    def write(self, entry: Entry) -> str:
        """A new entry as a record. Raises ValueError for a time that cannot be written."""

    def find(self, home: Path, environment: Mapping[str, str]) -> Iterator[FoundSession]:
        """The agent's sessions in its usual places, newest first; what cannot be read is passed
        over. ``environment``: variables that move those places. Only headers are read."""


class ReadOnlyAdapter(ABC):
    """What adapters have in common whose agents' files are only read."""

    name: FormatName
    title: str
    unknown: Sequence[str] = ("the system prompt", "the descriptions of the tools")
    writes = False

    @abstractmethod
    def read(self, record: str | bytes) -> Entry:
        """See ``Adapter``."""

    def usage(self, record: str, context: int) -> TokenUsage | None:
        """See ``Adapter``."""
        return self.read(record).usage

    def write(self, entry: Entry) -> str:
        """See ``Adapter``. Raises ValueError always."""
        raise ValueError(f"sessions of {self.title} are only read")

    def related(self, path: Path, session_id: str = "") -> Sequence[Related]:
        """See ``Adapter``. A file holds one session, which starts no others."""
        return ()


class FormatError(ValueError):
    """A file that cannot be opened as a session: which, at which line, and why."""

    def __init__(self, path: str, line: int, reason: str) -> None:
        super().__init__(f"{path}, line {line}: {reason}")
        self.path = path
        self.line = line
        """Line number counted from 1."""
        self.reason = reason


class ReadCancelled(Exception):
    """The person stopped a reading or writing before its end."""
