"""A library that a team shares, in PostgreSQL 15 or later; see ``library.SessionLibrary``.

One connection serves all threads in turn. What a method returns was committed by the server; a
server that is lost ends a method with StoreError, and the next one connects anew. psycopg is
imported when a library is opened: it is an extra that most installations do not have.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from importlib import import_module
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec
import orjson
from msgspec import Struct
from msgspec.structs import replace

from explorer.formats.registry import read_record
from explorer.session.records import Aside, EntryRecord, SessionHeader, SessionSource
from explorer.settings import paths
from explorer.store.entry_rows import record_of
from explorer.store.library import BLOCK, LONGEST_WORD, publish_copy, storable
from explorer.store.rows import (
    ImportReport,
    IsCancelled,
    NewerVersionError,
    OnProgress,
    SessionRow,
    StoreError,
    UnreachableError,
)
from explorer.store.search import SearchHit
from explorer.store.search_text import (
    Term,
    entry_text,
    holds,
    indexed,
    parse_query,
    snippet,
    words_of,
)

_LOOKED_AT_S, _ANSWERS_S = 0.5, 1.0
"""Seconds after which, and then as often as which, it is looked whether a server answers; and how
long it has for that."""
_ASKS_FOR_TLS = struct.pack("!ii", 8, 80877103)
"""Which a server of any setting answers by one byte, before it asks who is there."""


class ServerWatch:
    """Ends a connection whose server does not answer any more: one that waits for a frozen server,
    or for one behind a cut cable, would wait for ever. A server that only takes long does answer
    who asks it for something else."""

    def __init__(self, connection: Any) -> None:
        """``connection``: one of psycopg, to be watched for as long as the block lasts."""
        self._socket = connection.pgconn.socket
        host, port = connection.info.host, connection.info.port
        self._place = f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, port)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="team-server", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def _run(self) -> None:
        while not self._ended.wait(_LOOKED_AT_S):
            if self._answers() or self._ended.is_set():
                continue
            with socket.socket(fileno=os.dup(self._socket)) as ours:
                ours.shutdown(socket.SHUT_RDWR)
            return

    def _answers(self) -> bool:
        try:
            with self._connected() as asking:
                asking.settimeout(_ANSWERS_S)
                asking.sendall(_ASKS_FOR_TLS)
                return bool(asking.recv(1))
        except OSError:
            return False

    def _connected(self) -> socket.socket:
        if isinstance(self._place, tuple):
            return socket.create_connection(self._place, _ANSWERS_S)
        asking = socket.socket(socket.AF_UNIX)
        asking.settimeout(_ANSWERS_S)
        asking.connect(self._place)
        return asking


Read = TypeVar("Read")

ROLES = ("reader", "publisher", "steward")
"""What a person may be there, each with what those before may; see ``resources/team/roles.sql``."""
VERSION = 2
"""Of the layout of a team's library: the number of files ``resources/team/N.sql``."""
_LOST_S = 2
"""Seconds after which a server that does not answer has been lost."""
_LIMITS = MappingProxyType(
    {
        "connect_timeout": _LOST_S, "tcp_user_timeout": 1000 * _LOST_S, "keepalives_idle": 1,
        "keepalives_interval": 1, "keepalives_count": 1, "client_encoding": "utf8",
        "application_name": "session-explorer",
    }
)  # fmt: skip
_LARGEST = 1 << 30
"""Bytes that a block may be unpacked to: what others packed may grow a thousandfold."""
_CANDIDATES, _AT_ONCE = 20_000, 50
"""Entries that are looked at for a search, and how many are fetched at once."""


class Shared(Struct, frozen=True):
    """A session that somebody published."""

    row: SessionRow
    publisher: str
    published_ms: float
    """Milliseconds since 1970, by the server's clock."""
    model: str = ""
    """The model that wrote most of its replies; empty where none is recorded."""
    digest: str = ""
    """``CopyDigest`` of its entries."""


class Note(Struct, frozen=True):
    """What a person wrote to a shared session, to an entry of it, or to a finding there."""

    id: int
    key: int
    entry_id: str
    """Empty for the session as a whole."""
    kind: str
    """``note`` or ``label``."""
    text: str
    author: str
    made_ms: float
    finding: str = ""
    """The id of a finding of the audit, ``Finding.id``; empty for the entry itself."""


class TeamLibrary:
    """An open library of a team; all methods may be called from any thread."""

    def __init__(self, name: str, address: str, password: str | None = None) -> None:
        """``address``: as ``postgresql://...``, without a password; ``password``: None leaves it to
        ``.pgpass``, a service file or the environment. Connects at once. Raises StoreError."""
        self.name = name
        self._driver = _driver(name)
        self._address, self._password = address, password
        self._lock = threading.RLock()
        self._connection: Any = None
        self._stops: list[Callable[[], None]] = []
        self.person = ""
        """Who asks, as the server knows them: the publisher and author of what they write."""
        self.role = ""
        """The highest of ``ROLES`` that they have; empty before there are any."""
        self.used_password = False
        """Whether the server asked for a password, which was found then."""
        self.version = self._read_version()

    @classmethod
    def open(cls, name: str, address: str, password: str | None = None) -> TeamLibrary:
        """Open a library of this version. Raises StoreError (NewerVersionError)."""
        library = cls(name, address, password)
        if library.version < VERSION:
            library.close()
            hint = f"session-explorer library setup {name}"
            found = "holds no sessions yet" if not library.version else "has an older layout"
            raise StoreError(library.place, f"{found}; whoever may, runs: {hint}")
        return library

    @property
    def place(self) -> str:
        """What the person calls it, for messages."""
        return f"team library {self.name}"

    def close(self) -> None:
        """Let go of the server."""
        for stop in self._stops:
            stop()
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _connect(self) -> Any:
        # Where neither the address nor a service file says otherwise; a socket has no use for it.
        os.environ.setdefault("PGSSLMODE", "require")
        conninfo = self._driver.conninfo
        given = conninfo.conninfo_to_dict(self._address)
        if self._password is not None:
            given["password"] = self._password
        return self._driver.connect(
            conninfo.make_conninfo(**{**_LIMITS, **given}), autocommit=True, prepare_threshold=None
        )

    @contextmanager
    def _asking(self) -> Iterator[Any]:
        """The connection, in a transaction that is committed at the end."""
        with self._lock:
            try:
                if self._connection is None or self._connection.closed:
                    self._connection = self._connect()
                with ServerWatch(self._connection), self._connection.transaction():
                    yield self._connection
            except self._driver.Error as error:
                raise self._translated(error) from error

    def _translated(self, error: Exception) -> StoreError:
        reason = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, self._driver.errors.InsufficientPrivilege):
            return StoreError(self.place, f"you may not do this there: {reason}")
        if self._connection is None or self._connection.closed:
            return UnreachableError(self.place, f"the server was not reached: {reason}")
        return StoreError(self.place, f"the server refused: {reason}")

    # the layout ----------------------------------------------------------------------------------

    def _read_version(self) -> int:
        """Raises StoreError; NewerVersionError where a newer program made the layout."""
        with self._asking() as db:
            self.used_password = bool(db.pgconn.used_password)
            self.person, may_look, roles = db.execute(_WHO).fetchone()
            if not may_look:
                raise StoreError(
                    self.place,
                    f"{self.person} has no role there; whoever owns it gives one, such as:"
                    f" GRANT session_explorer_reader TO {self.person}",
                )
            held = [one for one in ROLES if f"session_explorer_{one}" in roles]
            self.role = held[-1] if held else ""
            version = _version(db)
        if version > VERSION:
            self.close()
            raise NewerVersionError(
                self.place,
                f"a newer Session Explorer made it (version {version}, this one knows {VERSION});"
                " nothing was changed: update Session Explorer",
            )
        return version

    def setup(self) -> None:
        """Make the tables and the roles, or bring them to this version: all of it or nothing.
        Raises StoreError."""
        with self._asking() as db:
            db.execute("SELECT pg_advisory_xact_lock(hashtext('session_explorer'))")
            db.execute("CREATE SCHEMA IF NOT EXISTS session_explorer")
            for version in range(_version(db) + 1, VERSION + 1):
                db.execute(paths.resource("team", f"{version}.sql").read_text("utf-8"))
            db.execute(paths.resource("team", "roles.sql").read_text("utf-8"))
        self.version = VERSION

    # sessions ------------------------------------------------------------------------------------

    def shared(self, key: int | None = None, most: int | None = None) -> list[Shared]:
        """What is published, or one session of it, the last published first. Raises StoreError."""
        with self._asking() as db:
            found = db.execute(
                "SELECT key, publisher, extract(epoch FROM published) * 1000, model, digest,"
                ' "row"'
                " FROM session_explorer.sessions WHERE %(key)s::bigint IS NULL OR key = %(key)s"
                " ORDER BY published DESC, key DESC LIMIT %(most)s",
                {"key": key, "most": most},
            ).fetchall()
        return [
            Shared(self._row(at, row), publisher, float(published), model, digest)
            for at, publisher, published, model, digest, row in found
        ]

    def _row(self, key: int, text: str) -> SessionRow:
        """A row as its publisher's program wrote it; one that says so where it cannot be read, for
        the sake of the others."""
        try:
            return replace(self._read(text, SessionRow), key=key)
        except StoreError as error:
            return SessionRow(key, "", "", 0, "", "", str(error), 0, 0, 0, 0.0, 0.0, -1, "")

    def sessions(self, *, all_places: bool = False, most: int | None = None) -> list[SessionRow]:
        """All sessions, the last published first; there is no archive and no trash."""
        return [one.row for one in self.shared(most=most)]

    def session(self, key: int) -> SessionRow:
        """One session. Raises StoreError when there is none of that key."""
        return self.shared_session(key).row

    def shared_session(self, key: int) -> Shared:
        """One session with its publisher. Raises StoreError when there is none of that key."""
        for one in self.shared(key):
            return one
        raise StoreError(self.place, f"holds no session {key}; it may have been withdrawn")

    def header(self, key: int) -> SessionHeader:
        """What the file of a session says of it as a whole. Raises StoreError."""
        with self._asking() as db:
            found = db.execute(
                "SELECT header FROM session_explorer.sessions WHERE key = %s", (key,)
            ).fetchone()
        if found is None:
            raise StoreError(self.place, f"holds no session {key}; it may have been withdrawn")
        return self._read(found[0], SessionHeader)

    def digest(self, header: SessionHeader) -> str:
        """``CopyDigest`` of what this person published of a session; empty for nothing."""
        with self._asking() as db:
            found = db.execute(
                "SELECT digest FROM session_explorer.sessions"
                " WHERE publisher = current_user AND format = %s AND session_id = %s",
                (header.format, storable(header.session_id)),
            ).fetchone()
        return found[0] if found else ""

    def records(self, key: int, first: int, last: int) -> list[EntryRecord]:
        """The entries with the indices ``first`` to ``last``. Raises StoreError."""
        with self._asking() as db:
            blocks = db.execute(
                "SELECT first, data FROM session_explorer.blocks WHERE session = %s"
                " AND first BETWEEN 0 AND %s AND last >= %s ORDER BY first",
                (key, last, first),
            ).fetchall()
        found = []
        for start, data in blocks:
            for at, record in enumerate(self._records_in(data), start):
                # What comes from others must not lead round in a circle.
                if not -1 <= record.parent < at:
                    raise StoreError(self.place, f"entry {at} of session {key} is no tree's")
                if first <= at <= last:
                    found.append(record)
        return found

    def asides(self, key: int) -> list[Aside]:
        """The lines of a session's file that are not entries. Raises StoreError."""
        with self._asking() as db:
            found = db.execute(
                "SELECT data FROM session_explorer.blocks WHERE session = %s AND first = -1", (key,)
            ).fetchone()
        if found is None:
            return []
        rows = self._unpacked(found[0])
        return [Aside(line, raw.encode("latin-1"), reason) for line, raw, reason in rows]

    def _records_in(self, data: bytes) -> list[EntryRecord]:
        try:
            return [record_of(row[:-1], row[-1]) for row in self._unpacked(data)]
        except (ValueError, TypeError, LookupError) as error:
            raise StoreError(self.place, f"entries cannot be read: {error}") from error

    def _unpacked(self, data: bytes) -> Any:
        try:
            text = zlib.decompressobj().decompress(data, _LARGEST)
            try:
                return orjson.loads(text)
            except orjson.JSONDecodeError:  # it reads no lone surrogates, and is five times as fast
                return json.loads(text)
        except (ValueError, zlib.error) as error:
            raise StoreError(self.place, f"entries cannot be read: {error}") from error

    def _read(self, text: str, kind: type[Read]) -> Read:
        try:
            return msgspec.convert(json.loads(text), kind)
        except (ValueError, msgspec.ValidationError) as error:
            raise StoreError(self.place, f"a session cannot be read: {error}") from error

    def delete(self, key: int) -> Future[bool]:
        """Withdraw a session with the notes on it; False where there is none of that key, or it is
        another's."""
        done: Future[bool] = Future()
        try:
            with self._asking() as db:
                gone = db.execute("DELETE FROM session_explorer.sessions WHERE key = %s", (key,))
            done.set_result(gone.rowcount == 1)
        except StoreError as error:
            done.set_exception(error)
        return done

    def take_copy(
        self,
        source: SessionSource,
        progress: OnProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> ImportReport:
        """Publish a session in one transaction, in place of what this person published of it
        before, whose notes stay. Raises StoreError, ImportCancelled, and what the source
        raises; what was there is as it was then."""
        with self._asking() as db:
            return publish_copy(db, self.place, source, progress, cancelled)

    # finding, noticing, notes --------------------------------------------------------------------

    def search(
        self,
        query: str,
        key: int | None = None,
        limit: int = 200,
        cancelled: IsCancelled | None = None,
    ) -> list[SearchHit]:
        """Entries that hold all words of the query, the newest session and entry first; as
        ``Store.search_steps`` reads a query. Raises StoreError."""
        terms = parse_query(query)
        if not terms:
            return []
        wanted = _words_wanted(terms)
        hits: list[SearchHit] = []
        seen = 0
        for most in (2 * limit, _CANDIDATES):
            rows = self._candidates(wanted, key, most)
            for first in range(seen, len(rows), _AT_ONCE):
                part = rows[first : first + _AT_ONCE]
                blocks = self._blocks([(session, entry) for session, entry, *_ in part])
                for session, entry, kind, flags, time_ms, form in part:
                    if len(hits) >= limit or (cancelled is not None and cancelled()):
                        return hits
                    line = _line_in(blocks.get((session, entry - entry % BLOCK)), entry % BLOCK)
                    if line is None:
                        continue  # It was withdrawn meanwhile, or cannot be read.
                    text = entry_text(read_record(form, line))
                    if holds(text, terms):
                        shown = snippet(text, terms)
                        hits.append(SearchHit(session, entry, *shown, kind, flags, time_ms))
            seen = len(rows)
            if seen < most:
                break
        return hits

    def _blocks(self, entries: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Any]:
        """What the blocks with some entries hold, by session and first entry: each alone would
        cost a question to the server. Raises StoreError."""
        wanted = {(session, entry - entry % BLOCK) for session, entry in entries}
        with self._asking() as db:
            found = db.execute(
                "SELECT session, first, data FROM session_explorer.blocks"
                " JOIN unnest(%s::bigint[], %s::integer[]) AS wanted (session, first)"
                " USING (session, first)",
                ([session for session, _ in wanted], [first for _, first in wanted]),
            ).fetchall()
        return {(session, first): self._unpacked(data) for session, first, data in found}

    def _candidates(self, wanted: str, key: int | None, most: int) -> list[tuple[Any, ...]]:
        """The newest entries that have the words of a search; a few of them are found without
        looking at all. Raises StoreError."""
        with self._asking() as db:
            return list(db.execute(
                "SELECT e.session, e.entry, e.kind, e.flags, e.time_ms, s.format"
                " FROM session_explorer.entries e JOIN session_explorer.sessions s"
                " ON s.key = e.session WHERE (%(words)s = '' OR e.words @@ %(words)s::tsquery)"
                " AND (%(key)s::bigint IS NULL OR e.session = %(key)s)"
                " ORDER BY e.session DESC, e.entry DESC LIMIT %(most)s",
                {"words": wanted, "key": key, "most": most},
            ).fetchall())  # fmt: skip

    def watch(self, callback: Callable[[], object], interval_s: float = 0.5) -> Callable[[], None]:
        """Call back, on a thread of its own, when something was published, withdrawn or noted, and
        while the server is lost: who asks then is given the reason. ``interval_s``: how often it is
        looked for again. Returns what ends it. Raises StoreError."""
        try:
            first = self._listening()
        except self._driver.Error as error:
            raise self._translated(error) from error
        ended = threading.Event()

        def run() -> None:
            listening = first
            while not ended.is_set():
                try:
                    if listening.closed:
                        listening = self._listening()
                        callback()  # Nobody noticed what happened in between.
                    for _ in listening.notifies(timeout=interval_s, stop_after=1):
                        callback()
                except self._driver.Error:
                    listening.close()
                    callback()
                    ended.wait(interval_s)
            listening.close()

        thread = threading.Thread(target=run, name="team-library", daemon=True)
        thread.start()

        def stop() -> None:
            ended.set()
            if thread is not threading.current_thread():
                thread.join()

        self._stops.append(stop)
        return stop

    def _listening(self) -> Any:
        connection = self._connect()
        connection.execute("LISTEN session_explorer")
        return connection

    def add_note(
        self, key: int, text: str, entry_id: str = "", kind: str = "note", finding: str = ""
    ) -> int:
        """Write a note or a label on a session, an entry, or a finding with the entry that it
        stands at, by this person's name; returns its number. Raises StoreError."""
        with self._asking() as db:
            found = db.execute(
                "INSERT INTO session_explorer.notes (session, entry_id, kind, content, finding)"
                " VALUES (%s, %s, %s, %s, %s) RETURNING id",
                (key, storable(entry_id), kind, storable(text), storable(finding)),
            ).fetchone()
        return int(found[0])

    def remove_note(self, note: int) -> bool:
        """Take a note away; False where there is none of that number, or it is another's."""
        with self._asking() as db:
            gone = db.execute("DELETE FROM session_explorer.notes WHERE id = %s", (note,))
        return bool(gone.rowcount == 1)

    def notes(self, key: int | None = None) -> list[Note]:
        """The notes on a session, or on all, the oldest first. Raises StoreError."""
        with self._asking() as db:
            found = db.execute(
                "SELECT id, session, entry_id, kind, content, author,"
                " extract(epoch FROM made)::float8 * 1000, finding FROM session_explorer.notes"
                " WHERE %(key)s::bigint IS NULL OR session = %(key)s ORDER BY id",
                {"key": key},
            ).fetchall()
        return [Note(*row) for row in found]


def _line_in(block: Any, at: int) -> str | None:
    """The line of an entry in what a block holds, which others wrote; None where there is none."""
    try:
        line = block[at][-1]
    except (TypeError, LookupError):
        return None
    return line if isinstance(line, str) else None


def _driver(name: str) -> Any:
    try:
        return import_module("psycopg")
    except ImportError as error:
        reason = f'needs the package psycopg: pip install "session-explorer[team]" ({error})'
        raise StoreError(f"team library {name}", reason) from error


_WHO = """
SELECT current_user,
  coalesce((SELECT has_schema_privilege(oid, 'USAGE') FROM pg_namespace
            WHERE nspname = 'session_explorer'), true),
  array(SELECT rolname::text FROM pg_roles
        WHERE rolname LIKE 'session_explorer_%' AND pg_has_role(oid, 'MEMBER'))
"""


def _version(db: Any) -> int:
    """The version of the layout; 0 where there is none."""
    if db.execute("SELECT to_regclass('session_explorer.library')").fetchone()[0] is None:
        return 0
    found = db.execute("SELECT value FROM session_explorer.library WHERE name = 'version'")
    return int(found.fetchone()[0])


def _words_wanted(terms: Sequence[Term]) -> str:
    """The words of a query as PostgreSQL writes a tsquery; the last of a term that is not quoted
    may go on."""
    wanted = []
    for term in terms:
        words = [one[:LONGEST_WORD] for one in words_of(indexed(term.text))]
        is_open = not term.quoted and term.words and term.text.endswith(term.words[-1])
        wanted += [f"'{one}'" for one in words]
        if words and is_open:
            wanted[-1] += ":*"
    return " & ".join(dict.fromkeys(wanted))
