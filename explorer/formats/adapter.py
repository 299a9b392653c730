"""What a format is: one adapter that recognises an agent's files, finds them, and turns their
records into typed entries and back.

A dialect's field names stand in its adapter's module and nowhere else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
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

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether a file that begins with these bytes is of this format."""

    def open(
        self, path: str | os.PathLike[str], progress: Progress | None, cancelled: IsCancelled | None
    ) -> SessionSource:
        """Read a file. ``progress`` and ``cancelled`` are called from the thread that reads.

        Raises FormatError when the file is no such session, OSError when it cannot be read.
        """

    def read(self, record: str | bytes) -> Entry:
        """A record as a typed entry; what cannot be read is an entry of an unknown kind. A
        compaction says how certain it is (``CompactionSummary.certainty``)."""

    def usage(self, record: str, context: int) -> TokenUsage | None:
        """What a provider reported in a record that is known to report so many tokens of context;
        None for nothing. Quicker than ``read`` where that is possible."""

    def write(self, entry: Entry) -> str:
        """A new entry as a record. Raises ValueError for a time that cannot be written."""

    def find(self, home: Path) -> Iterator[FoundSession]:
        """The agent's session files below a person's home, newest first; what cannot be read is
        passed over."""
