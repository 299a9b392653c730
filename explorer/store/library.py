"""What the person's own library and one that a team shares have in common, and copies from one
into the other."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Protocol

from msgspec.structs import replace

from explorer.formats.registry import read_record
from explorer.formats.typed_source import entry_record
from explorer.session.records import Aside, EntryRecord, ReadReport, SessionHeader, SessionSource
from explorer.session.secrets import find_secrets, mask
from explorer.store.rows import ImportReport, IsCancelled, OnProgress, SessionRow
from explorer.store.search import SearchHit

_AT_ONCE = 256
"""Entries that are read in one go."""


class SessionLibrary(Protocol):
    """Sessions to be listed, searched, read, taken in and deleted: ``Store`` for a person's own in
    SQLite, ``TeamLibrary`` for shared ones in PostgreSQL. All methods may be called from any thread
    and raise StoreError."""

    def sessions(self, *, all_places: bool = False, most: int | None = None) -> list[SessionRow]:
        """The sessions, the last changed first."""

    def session(self, key: int) -> SessionRow:
        """One session."""

    def header(self, key: int) -> SessionHeader:
        """What a session's file says of it as a whole."""

    def records(self, key: int, first: int, last: int) -> list[EntryRecord]:
        """The entries with the indices ``first`` to ``last``."""

    def asides(self, key: int) -> list[Aside]:
        """The lines of a session's file that are not entries."""

    def take_copy(
        self,
        source: SessionSource,
        progress: OnProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> ImportReport:
        """Take in a session that comes from no file, all of it or nothing."""

    def delete(self, key: int) -> Future[bool]:
        """Delete a session; whether there was one that may be deleted."""

    def search(
        self,
        query: str,
        key: int | None = None,
        limit: int = 200,
        cancelled: IsCancelled | None = None,
    ) -> list[SearchHit]:
        """Entries that hold all words of the query, the newest session and entry first."""

    def watch(self, callback: Callable[[], object], interval_s: float = 0.5) -> Callable[[], None]:
        """Call back, on another thread, after somebody else has changed something; returns what
        ends it."""

    def close(self) -> None:
        """Let go of what is open."""


class LibraryCopy:
    """A session of a library as a source for another one. Reads as it goes, on its thread."""

    def __init__(self, origin: SessionLibrary, key: int, *, masks: bool) -> None:
        """``masks``: put masks of the same length in the place of secrets. Raises StoreError."""
        self.path, self.files = "", ()
        self._origin, self._key, self._masks = origin, key, masks
        self.row = origin.session(key)
        header = origin.header(key)
        self.report = ReadReport(bytes_total=self.row.entries)
        self.masked: Counter[str] = Counter()
        """Secrets that were masked so far, by kind."""
        self.masked_entries: list[int] = []
        self.characters = 0
        """Of the lines that were read."""
        names = ("raw", "cwd", "parent_session", "title")
        changed = {name: self._masked(getattr(header, name)) for name in names}
        self.header = replace(header, **changed)

    def batches(self) -> Iterator[Sequence[EntryRecord]]:
        """The entries in index order. Raises StoreError."""
        for first in range(0, self.row.entries, _AT_ONCE):
            last = min(first + _AT_ONCE, self.row.entries) - 1
            records = self._origin.records(self._key, first, last)
            self.report.bytes_done = last + 1
            yield [self._copied(first + at, record) for at, record in enumerate(records)]
        self.report.leaf = self.row.leaf
        for line, raw, reason in self._origin.asides(self._key):
            text = self._masked(raw.decode("utf-8", "surrogateescape"))
            self.characters += len(text)
            self.report.asides.append(Aside(line, text.encode("utf-8", "surrogateescape"), reason))

    def _copied(self, index: int, record: EntryRecord) -> EntryRecord:
        raw = self._masked(record.raw)
        self.characters += len(raw)
        if raw is record.raw:
            return record
        self.masked_entries.append(index)
        # What is known of the entry was read from its line, and may show what is masked there.
        entry = read_record(self.header.format, raw)
        made = entry_record(entry, raw, record.parent)
        facts = made.facts._replace(flags=made.facts.flags | record.facts.flags)
        return made._replace(entry_id=record.entry_id, line=record.line, facts=facts)

    def _masked(self, text: str) -> str:
        masked = mask(text) if self._masks else text
        if masked is not text:
            self.masked.update(span.kind for span in find_secrets(text))
        return masked


class CopyDigest:
    """Tells two states of a session apart."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def take(self, records: Sequence[EntryRecord]) -> None:
        """Entries in their order."""
        for record in records:
            self._hash.update(record.raw.encode("utf-8", "surrogatepass") + b"\n")

    def value(self, leaf: int) -> str:
        """The digest, once all entries are taken."""
        return f"{self._hash.hexdigest()}:{leaf}"
