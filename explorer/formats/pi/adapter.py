"""pi and oh-my-pi as formats: one dialect, two spellings."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from explorer.formats.adapter import FoundSession, IsCancelled, Progress
from explorer.formats.pi.entries import read_entry, read_usage
from explorer.formats.pi.entry_writer import write_entry
from explorer.formats.pi.export import dumps
from explorer.formats.pi.recognition import find_sessions, head_format
from explorer.formats.pi.source import FileSource, open_source
from explorer.session.entries import Entry, TokenUsage
from explorer.session.json_values import read_json, without_depths
from explorer.session.records import FormatName, SessionHeader

_USAGE = re.compile(r'"usage"\s*:\s*(\{[^{}"]*(?:"[^"\\]*"[^{}"]*|\{[^{}]*\}[^{}"]*)*\})')


class PiAdapter(Struct, frozen=True):
    """An ``Adapter``."""

    name: FormatName
    title: str
    command: str
    writes: bool = True
    unknown: tuple[str, ...] = ("the system prompt", "the descriptions of the tools")

    def recognises(self, path: Path, head: bytes) -> bool:
        """See ``Adapter``."""
        return head_format(path, head) == self.name

    def open(
        self,
        path: str | os.PathLike[str],
        progress: Progress | None = None,
        cancelled: IsCancelled | None = None,
        session_id: str = "",
    ) -> FileSource:
        """See ``Adapter``. A file holds one session."""
        return open_source(path, progress, cancelled)

    def related(self, path: Path, session_id: str = "") -> tuple[()]:
        """See ``Adapter``."""
        return ()

    def resume(self, header: SessionHeader) -> Sequence[str]:
        """See ``Adapter``."""
        return (self.command, "--session", header.session_id)

    def read(self, record: str | bytes) -> Entry:
        """See ``Adapter``. What earlier versions stored may be nested more deeply than is read
        now: it is there as deep as that."""
        try:
            value = without_depths(record, read_json(record))
        except ValueError:
            value = None
        return read_entry(value) if isinstance(value, dict) else Entry.NONE

    def usage(self, record: str, context: int) -> TokenUsage | None:
        """See ``Adapter``. A line may be long, and other objects in it may have a "usage" too: the
        one that fits is looked for without reading all of it."""
        for found in reversed(_USAGE.findall(record)):
            try:
                usage = read_usage(read_json(found))
            except ValueError:
                continue
            if usage is not None and usage.context == context:
                return usage
        return self.read(record).usage

    def write(self, entry: Entry) -> str:
        """See ``Adapter``."""
        return dumps(write_entry(entry, self.name))

    def find(self, home: Path, environment: Mapping[str, str]) -> Iterator[FoundSession]:
        """See ``Adapter``."""
        return find_sessions(home, self.name)


PI = PiAdapter("pi", "pi", "pi")
OMP = PiAdapter("omp", "oh-my-pi", "omp")
