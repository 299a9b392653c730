"""What the person's own library and one that a team shares have in common, and copies from one into
the other.

A session goes into a team's library as its entries in compressed blocks and the words that are
searched: by COPY, into tables of the transaction first, since COPY cannot write into tables whose
rows have owners.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from explorer.formats.registry import read_record
from explorer.formats.typed_source import entry_record
from explorer.session.kinds import Kind
from explorer.session.records import Aside, EntryRecord, ReadReport, SessionHeader, SessionSource
from explorer.session.secrets import find_secrets, mask
from explorer.session.text import legible, title_line
from explorer.store.entry_rows import ENTRY_WIDTH, Batch, text_out
from explorer.store.imports import source_leaf
from explorer.store.rows import (
    ImportCancelled,
    ImportReport,
    IsCancelled,
    OnProgress,
    SessionRow,
)
from explorer.store.search import SearchHit
from explorer.store.search_text import entry_text, indexed, words_of
from explorer.store.sessions import SessionSummary

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


BLOCK = 64
"""Entries that are compressed together."""
LONGEST_WORD, _WORDS_BYTES = 200, 900_000
"""Characters of a word, and bytes of all words of an entry, that are searched: PostgreSQL takes 2
KB and 1 MB."""


def publish_copy(
    db: Any,
    place: str,
    source: SessionSource,
    progress: OnProgress | None,
    cancelled: IsCancelled | None,
) -> ImportReport:
    """Put a session into the tables, in place of what the person of the connection published of it
    before. ``db``: a connection of psycopg in a transaction; ``place``: what it is called. Raises
    ImportCancelled, and what the source and psycopg raise."""
    header, summary, digest, count = source.header, SessionSummary(), CopyDigest(), 0
    models = Counter[str]()
    db.execute(_STAGED)
    for records in source.batches():
        if cancelled is not None and cancelled():
            raise ImportCancelled(f"publishing to {place} was cancelled")
        if records:
            summary.take(Batch(records))
            digest.take(records)
            models.update(filter(None, map(_answering_model, records)))
            _copy_in(db, header, count, records)
            count += len(records)
        if progress is not None:
            progress(source.report.bytes_done, source.report.bytes_total)
    asides = [(a.line, a.raw.decode("latin-1"), a.reason) for a in source.report.asides]
    if asides:
        block = (-1, -1, _packed(asides))
        db.execute("INSERT INTO new_blocks VALUES (%s, %s, %s)", block)
    leaf = source_leaf(source, count)
    row = _row_of(header, summary, count, leaf)
    key, created = db.execute(
        _TAKE, (header.format, storable(header.session_id), digest.value(leaf),
                _json(msgspec.to_builtins(header)), _json(msgspec.to_builtins(row)),
                storable(next((name for name, _ in models.most_common(1)), ""))),
    ).fetchone()  # fmt: skip
    for table in ("blocks", "entries"):
        if not created:
            db.execute(f"DELETE FROM session_explorer.{table} WHERE session = %s", (key,))
        db.execute(f"INSERT INTO session_explorer.{table} SELECT %s, * FROM new_{table}", (key,))
    return ImportReport(key, row.title, created, count, asides=len(asides))


_STAGED = """
CREATE TEMPORARY TABLE new_blocks (first integer, last integer, data bytea) ON COMMIT DROP;
CREATE TEMPORARY TABLE new_entries (entry integer, kind smallint, flags integer,
  time_ms double precision, words tsvector) ON COMMIT DROP
"""
_TAKE = """
INSERT INTO session_explorer.sessions (format, session_id, digest, header, "row", model)
VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (publisher, format, session_id) DO UPDATE SET published = now(),
  digest = excluded.digest, header = excluded.header, "row" = excluded."row",
  model = excluded.model
RETURNING key, xmax = 0
"""


def _copy_in(db: Any, header: SessionHeader, first: int, records: Sequence[EntryRecord]) -> None:
    """Send entries; ``first``: the index of the first of them."""
    with db.cursor().copy("COPY new_blocks FROM STDIN") as copy:
        for at in range(0, len(records), BLOCK):
            part = records[at : at + BLOCK]
            flat = Batch(part).entry_values(first + at)
            rows = [
                [*(text_out(one) if isinstance(one, bytes) else one for one in row), record.raw]
                for record, row in zip(
                    part,
                    (flat[n : n + ENTRY_WIDTH] for n in range(0, len(flat), ENTRY_WIDTH)),
                    strict=True,
                )
            ]
            copy.write_row((first + at, first + at + len(part) - 1, _packed(rows)))
    with db.cursor().copy("COPY new_entries FROM STDIN") as copy:
        for at, record in enumerate(records, first):
            facts, text = record.facts, entry_text(read_record(header.format, record.raw))
            copy.write_row((at, int(facts.kind), facts.flags, facts.time_ms, _vector(text)))


def _answering_model(record: EntryRecord) -> str:
    """The model that wrote a reply; empty for anything else."""
    return record.facts.model if record.facts.kind == Kind.ASSISTANT else ""


def _row_of(header: SessionHeader, summary: SessionSummary, count: int, leaf: int) -> SessionRow:
    title = summary.name or header.title or title_line(summary.first_said)
    return SessionRow(
        0, header.session_id, header.format, header.version, header.cwd, header.parent_session,
        mask(legible(title)), count, summary.compactions, summary.size,
        header.time_ms or summary.started_ms, summary.last_ms, leaf, "",
        header.relation, header.parent_call, header.agent_version,
    )  # fmt: skip


def _json(value: Any) -> str:
    """JSON in ASCII: a text of PostgreSQL has neither NUL nor lone surrogates."""
    return json.dumps(value, separators=(",", ":"))


def _packed(value: Any) -> bytes:
    return zlib.compress(_json(value).encode("ascii"))


def storable(text: str) -> str:
    """A text as PostgreSQL takes it: without NUL and lone surrogates."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _vector(text: str) -> str:
    """The words of a text as PostgreSQL writes a tsvector. Where they stand is left out: a phrase
    is looked for in the texts that have its words."""
    words, size = [], 0
    for word in sorted({one[:LONGEST_WORD] for one in words_of(indexed(text))}):
        size += len(word.encode()) + 4
        if size > _WORDS_BYTES:
            break
        words.append(f"'{word}'")
    return " ".join(words)
