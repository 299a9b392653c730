"""The store: every session, its entries and all that is kept about them, in one SQLite file."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from explorer.formats.jsonl import GrowingSource
from explorer.session.records import Aside, EntryRecord, SessionHeader, SessionSource
from explorer.session.tree import SessionTree
from explorer.store import database
from explorer.store import sessions as values
from explorer.store.appends import Appender, NewEntry, move_leaf
from explorer.store.database import Readers, id_range
from explorer.store.drafts import (
    STREAMING,
    add_draft,
    draft_usages,
    read_drafts,
    update_draft,
)
from explorer.store.entry_rows import index_of, text_out
from explorer.store.imports import NewImport, Update, find_known
from explorer.store.maintenance import MaintenanceThread
from explorer.store.migrations import migrate
from explorer.store.other_programs import Claim, Watch
from explorer.store.payloads import StoredPayloads, asides, line_number, session_lines
from explorer.store.rows import (
    DraftRow,
    FileStamp,
    ImportReport,
    IsCancelled,
    LoadedSession,
    OnProgress,
    SessionRow,
    SourceFile,
)
from explorer.store.search import (
    FIRST_STEP_S,
    STEP_S,
    EntryRule,
    Search,
    SearchHit,
    SearchState,
    SearchStep,
)
from explorer.store.sessions import (
    Arranged,
    arrange_sessions,
    create_session,
    family_rows,
    hide_session,
    session_row,
    session_rows,
    source_files,
)
from explorer.store.stored_columns import (
    REPACK_ROWS,
    load_columns,
    pack,
    records_from,
    store_columns,
)
from explorer.store.totals import Total, totals
from explorer.store.writer import Writer


class Store:
    """An open database. All methods may be called from any thread.

    A future that a method returns is done when the change is committed and synced to the disk: a
    kill or a power cut after that does not lose it, as far as the disk itself keeps what it has
    reported as written. It has StoreError when the change was refused. The same holds when an
    import returns. Changes that wait for the writer at the same time share one sync.
    """

    def __init__(
        self, path: Path, connection: sqlite3.Connection, library: str, maintained: bool
    ) -> None:
        self.path = path
        self._readers = Readers(path)
        self._appender = Appender(path)
        self._writer = Writer(connection, path, self._appender.forget)
        self._watches: list[Watch] = []
        self._claim: Claim | None = None
        self._background = MaintenanceThread(path, library, self._writer, self._readers)
        if maintained:
            self._background.start()

    @classmethod
    def open(cls, path: Path | str, *, maintained: bool = True) -> Store:
        """Open the database, making it when there is none, and bring its layout up to date.
        ``maintained``: with the work in the background (sums, the search index, removals).

        Before that a copy is put beside it. Raises StoreError (NewerVersionError, DamagedError)
        naming the file and the reason; the file is as it was then.
        """
        path = Path(path).absolute()
        if not path.exists():
            database.create(path)
        database.inspect(path)
        try:
            connection = database.connect_writer(path)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                migrate(connection, path)
                session_rows(connection, all_places=True)
                row = connection.execute("SELECT value FROM library WHERE name = 'id'").fetchone()
            except BaseException:
                connection.close()
                raise
        except sqlite3.Error as error:
            raise database.translated(path, error) from error
        return cls(path, connection, row[0] if row else "", maintained)

    def close(self) -> None:
        """Finish what was handed in, end all threads and close the file."""
        for watch in self._watches:
            watch.stop()
        self._background.stop()
        self._readers.close()
        # The last connection works the log into the file, and only the writer's can.
        self._writer.close()
        if self._claim is not None:
            self._claim.release()
            self._claim = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # sessions --------------------------------------------------------------------------------

    def sessions(self, *, all_places: bool = False, most: int | None = None) -> list[SessionRow]:
        """All sessions, the last changed first. ``all_places``: with those in the archive and in
        the trash; ``most``: how many at most."""
        with self._readers.read() as db:
            return session_rows(db, all_places, most)

    def family(self, key: int) -> list[SessionRow]:
        """A session with those that may be its parent or name it as theirs; see
        ``related_sessions``. Raises StoreError."""
        with self._readers.read() as db:
            return family_rows(db, key)

    def source_files(self) -> list[SourceFile]:
        """The files that sessions came from, as they were when they were last read."""
        with self._readers.read() as db:
            return source_files(db)

    def arrange(
        self, keys: Sequence[int], field: Arranged, value: float | str | None
    ) -> Future[None]:
        """Put sessions into the archive or the trash (milliseconds since 1970, None takes them out
        again), or write a note on them, or their labels, one a line."""
        return self._writer.submit(lambda db: arrange_sessions(db, keys, field, value))

    def session(self, key: int) -> SessionRow:
        """One session. Raises StoreError when there is none of that key."""
        with self._readers.read() as db:
            return session_row(db, key, self.path)[0]

    def header(self, key: int) -> SessionHeader:
        """What the file of a session says of it as a whole, with its title as it is now. Raises
        StoreError."""
        with self._readers.snapshot() as db:
            _, header = session_row(db, key, self.path)
            (name,) = db.execute("SELECT name FROM sessions WHERE key = ?", (key,)).fetchone()
        return replace(header, title=text_out(name))

    def import_session(
        self,
        source: SessionSource,
        progress: OnProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> ImportReport:
        """Import a session file, or bring the session that came from it up to date.

        Runs on the caller's thread. A new session is shown when all of it is there; after an
        error or a cancel nothing of it is. Entries that are here already stay as they are, and
        so do those made here. Raises StoreError, ImportCancelled, OSError, and what the source
        raises.
        """
        report = self._import(source, progress, cancelled, None)
        assert report is not None
        return report

    def import_growth(self, source: GrowingSource, since: FileStamp) -> ImportReport | None:
        """Bring a session up to date with what was added to its file. ``since``: the file as it was
        when that of the report before was read. None, and nothing is done, where the session here
        is not as that import left it. Raises as ``import_session``."""
        return self._import(source, None, None, (since, source.earlier))

    def _import(
        self,
        source: SessionSource,
        progress: OnProgress | None,
        cancelled: IsCancelled | None,
        growth: tuple[FileStamp, Sequence[str]] | None,
    ) -> ImportReport | None:
        stamp = FileStamp.of(source.files)
        with self._background.paused():
            with self._readers.read() as db:
                known = find_known(db, source)
            if growth is not None and (known is None or known.stamp != growth[0]):
                return None
            if known is None:
                new = NewImport(self._writer, self.path, source, stamp)
                return new.run(progress, cancelled)
            update = Update(
                self._writer, self._readers, self._appender, source, self._background.unindex,
                growth[1] if growth is not None else None,
            )  # fmt: skip
            return update.run(known, stamp, progress, cancelled)

    def begin_keys_at(self, first: int) -> Future[None]:
        """Give sessions keys from this one on (less than 2**31) in a database that has none yet,
        which tell them from those of another one."""

        def job(db: sqlite3.Connection) -> None:
            db.execute("INSERT INTO sqlite_sequence VALUES ('sessions', ?)", (first - 1,))

        return self._writer.submit(job)

    def create_session(self, header: SessionHeader) -> Future[int]:
        """Begin an empty session that comes from no file; the future has its key."""
        return self._writer.submit(lambda db: create_session(db, header))

    def take_copy(
        self,
        source: SessionSource,
        progress: OnProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> ImportReport:
        """Store what another session gives as a separate session, which comes from no file; as
        ``import_session`` it runs on the caller's thread and shows all of it or nothing."""
        with self._background.paused():
            return NewImport(self._writer, self.path, source, None).run(progress, cancelled)

    def take_salvaged(self, source: SessionSource) -> ImportReport:
        """Import what was read out of a damaged database. The file that it once came from counts
        as changed, so that importing that again fills the gaps."""
        unknown = FileStamp(-1, -1)
        return NewImport(self._writer, self.path, source, unknown).run(None, None)

    def load(self, key: int) -> LoadedSession:
        """Open a session. Raises StoreError, DamagedError when entries cannot be read."""
        with self._readers.snapshot() as db:
            row, header = session_row(db, key, self.path)
            columns, packed = load_columns(db, key, row.entries, self.path)
        if row.entries - packed >= REPACK_ROWS:
            block, count = pack(columns), row.entries
            self._writer.submit(lambda db: store_columns(db, key, block, count))
        payloads = StoredPayloads(self._readers, key, header.format, header.cwd)
        return LoadedSession(key, SessionTree(columns), payloads, row.leaf, header, row)

    def delete(self, key: int) -> Future[bool]:
        """Delete a session and all that is kept about it; whether there was one.

        It is gone for every reader at once; the disk's space comes back in small steps.
        """
        hidden = self._writer.submit(lambda db: hide_session(db, key))
        hidden.add_done_callback(lambda _: self._background.wake())
        return hidden

    def lines(self, key: int) -> Iterator[tuple[int, str | bytes]]:
        """The lines of a session in the order of its file, without the header: number and line.

        A text is an entry, bytes are what was kept aside; entries made here have number 0 and
        come last. Raises StoreError.
        """
        return session_lines(self._readers, key, self.session(key).entries)

    def source_file(self, key: int) -> SourceFile | None:
        """The file that a session came from; None of one that was made here. Raises StoreError."""
        with self._readers.read() as db:
            row = db.execute(
                "SELECT o.path, o.size, o.mtime_ns, s.session_id FROM sources o"
                " JOIN sessions s ON s.key = o.session WHERE o.session = ?",
                (key,),
            ).fetchone()
        if row is None:
            return None
        return SourceFile(text_out(row[0]), row[1], row[2], key, text_out(row[3]))

    def has_additions(self, key: int) -> bool:
        """Whether a session has entries that came from no file. Raises StoreError."""
        with self._readers.read() as db:
            row = db.execute(
                "SELECT 1 FROM entries WHERE id BETWEEN ? AND ? AND line = 0 LIMIT 1",
                id_range(key),
            ).fetchone()
        return row is not None

    def is_of_file(self, key: int, index: int) -> bool:
        """Whether an entry came with the session's file; False for one made here, or copied by a
        fork. Raises StoreError."""
        return line_number(self._readers, key, index) > 0

    def asides(self, key: int) -> list[Aside]:
        """The lines of a session's file that are not entries, byte for byte."""
        return list(asides(self._readers, key))

    # entries ---------------------------------------------------------------------------------

    def append(
        self, key: int, records: Sequence[NewEntry], leaf_id: str | None = None
    ) -> Future[list[int]]:
        """Append entries, each with the id of its parent (None: a root; may be one of these).

        The future has their indices when they are on the disk. ``leaf_id`` makes an entry, new
        or old, the leaf in the same commit.
        """
        entries = list(records)
        future = self._writer.submit(lambda db: self._appender.append(db, key, entries, leaf_id))
        future.add_done_callback(lambda _: self._background.wake())
        return future

    def tail(self, key: int, first_index: int) -> list[EntryRecord]:
        """The entries from an index on, from any program."""
        with self._readers.snapshot() as db:
            row, _ = session_row(db, key, self.path)
            return records_from(db, key, first_index, row.entries - 1)

    def records(self, key: int, first: int, last: int) -> list[EntryRecord]:
        """The entries with the indices ``first`` to ``last``, as they were stored."""
        with self._readers.read() as db:
            return records_from(db, key, first, last)

    def results_of(self, key: int, calls: Sequence[str]) -> dict[str, int]:
        """By the id of a tool call: the entry that holds its result, of those that have one."""
        found: dict[str, int] = {}
        with self._readers.read() as db:
            for call in set(calls):
                row = db.execute(
                    "SELECT min(id) FROM entries WHERE call_id = ? AND id BETWEEN ? AND ?",
                    (call, *id_range(key)),
                ).fetchone()
                if row[0] is not None:
                    found[call] = index_of(row[0])
        return found

    def totals(self, keys: Collection[int] | None = None) -> list[Total]:
        """What some sessions (None: all) took, by session, day and model, as far as it is summed
        up."""
        with self._readers.read() as db:
            return totals(db, keys)

    def set_leaf(self, key: int, index: int) -> Future[None]:
        """Store the leaf of a session, -1 for none; refused out of range."""
        return self._writer.submit(lambda db: move_leaf(db, key, index, self.path))

    def labels(self, key: int | None = None) -> list[tuple[int, str, str]]:
        """Labels in force, of one session or of all: session key, target's id, label."""
        with self._readers.read() as db:
            return values.read_labels(db, key)

    # drafts, settings, counts ----------------------------------------------------------------

    def add_draft(self, key: int, fields: Mapping[str, Any]) -> Future[int]:
        """Write a draft down; the future has its id. Fields are those of ``DraftRow``.

        One that is ``streaming`` when this process dies has failed for the next one.
        """
        kept = dict(fields)

        def job(db: sqlite3.Connection) -> int:
            if kept.get("status") == STREAMING:
                if self._claim is None:
                    self._claim = Claim.make(self.path)
                kept["facts"] = {**(kept.get("facts") or {}), "claim": self._claim.name}
            return add_draft(db, key, kept, self.path)

        return self._writer.submit(job)

    def update_draft(self, draft_id: int, fields: Mapping[str, Any]) -> Future[None]:
        """Change fields of a draft."""
        kept = dict(fields)
        return self._writer.submit(lambda db: update_draft(db, draft_id, kept, self.path))

    def drafts(self, key: int, *, with_requests: bool = True) -> list[DraftRow]:
        """The drafts of a session, the oldest first; requests, which are as long as the session,
        are None where they are not wanted."""
        with self._readers.read() as db:
            return read_drafts(db, key, with_requests=with_requests)

    def draft_usages(self, key: int) -> list[tuple[str, Any]]:
        """Of every call that the drafts of a session made: its model, and what was counted."""
        with self._readers.read() as db:
            return draft_usages(db, key)

    def session_settings(self, key: int) -> dict[str, Any]:
        """What a person chose for a session."""
        with self._readers.read() as db:
            return values.read_settings(db, key)

    def set_session_setting(self, key: int, name: str, value: Any) -> Future[None]:
        """Keep a choice (JSON); None forgets it."""
        return self._writer.submit(lambda db: values.write_setting(db, key, name, value))

    def counted_sessions(self, counter: str) -> set[int]:
        """The sessions of which all entries are counted by a counter."""
        with self._readers.read() as db:
            return values.counted_sessions(db, counter)

    def token_counts(self, key: int, counter: str) -> array[int]:
        """Tokens per entry by a counter, -1 where it has not counted yet."""
        with self._readers.snapshot() as db:
            entries = session_row(db, key, self.path)[0].entries
            return values.read_counts(db, key, counter, entries)

    def set_token_counts(
        self, key: int, counter: str, first: int, tokens: Sequence[int]
    ) -> Future[None]:
        """Keep the counts of the entries from the index ``first`` on."""
        kept = array("i", tokens)
        return self._writer.submit(lambda db: values.write_counts(db, key, counter, first, kept))

    def audits(self) -> dict[int, tuple[str, Any]]:
        """By session key: what ``keep_audit`` kept last, its stamp and its figures."""
        with self._readers.read() as db:
            return values.read_audits(db)

    def keep_audit(self, key: int, stamp: str, figures: Any) -> Future[None]:
        """Keep what an audit of a session found (JSON), with a stamp that says of what and by which
        rules."""
        return self._writer.submit(lambda db: values.write_audit(db, key, stamp, figures))

    # finding, noticing -----------------------------------------------------------------------

    def search(
        self,
        query: str,
        key: int | None = None,
        limit: int = 200,
        cancelled: IsCancelled | None = None,
    ) -> list[SearchHit]:
        """All that ``search_steps`` finds, in one session or in all of them. Raises StoreError."""
        keys = None if key is None else (key,)
        steps = self.search_steps(query, keys, limit, cancelled)
        return [hit for step in steps for hit in step.hits]

    def search_steps(
        self,
        query: str,
        keys: Collection[int] | None = None,
        limit: int = 200,
        cancelled: IsCancelled | None = None,
        is_wanted: EntryRule | None = None,
    ) -> Iterator[SearchStep]:
        """Entries that hold all words of the query, the newest session and entry first, as they are
        found: in steps of a fraction of a second, of which the first is short.

        ``keys``: the sessions to be searched, None for all; ``is_wanted``: a rule for what is
        found besides.
        The last word of each part may be a beginning. What is quoted, and what has dots, dashes,
        slashes or the like in it, must stand there as it was typed, case and accents aside. Any
        text is a valid query; one without words is looked for in the newest sessions alone, see
        ``SearchStep.note``. Entries that are not indexed yet are looked through one by one, after
        all others where they are many. Raises StoreError.
        """
        is_cancelled = cancelled or (lambda: False)
        search, budget_s = Search(self._readers, query, keys, limit, is_wanted), FIRST_STEP_S
        while not search.is_done and not is_cancelled():
            step = partial(search.step, budget_s=budget_s, cancelled=is_cancelled)
            yield self._background.with_index(step)
            budget_s = STEP_S

    def search_state(self) -> SearchState:
        """How far the full-text index is, in entries."""
        return self._background.state()

    def watch(self, callback: Callable[[], object], interval_s: float = 0.5) -> Callable[[], None]:
        """Call back, on a separate thread, after another program has committed.

        Returns what ends it. Closing the store ends it too.
        """
        watch = Watch(self._writer, callback, interval_s)
        self._watches.append(watch)
        return watch.stop
