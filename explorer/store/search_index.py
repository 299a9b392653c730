"""The full-text index: a file of its own beside the database, which can be made again any time.

Being apart it never keeps an append waiting, does not weigh on backups, and when it is damaged
it is simply thrown away. It holds no texts, only which words are in which entry (FTS5,
contentless, ``detail=none``); texts for checking and for snippets come from the payloads.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from explorer import private_files
from explorer.store.database import BUSY_MS
from explorer.store.schema import row_id
from explorer.store.text import TEXT_VERSION

Texts = Sequence[tuple[int, str]]
"""Entry index and text, ascending."""

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT)


def index_path(database: Path) -> Path:
    """Where the index of a database is."""
    return Path(f"{database}.search")


class SearchIndex:
    """A connection to the index, for one thread. Raises sqlite3.Error."""

    def __init__(self, database: Path, library: str) -> None:
        self._path = index_path(database)
        self._mark = f"{TEXT_VERSION}:{library}"
        """An index that was made for another database or by other rules is made anew."""
        self._db = self._open()

    def close(self) -> None:
        self._db.close()

    def _open(self) -> sqlite3.Connection:
        try:
            return self._prepared()
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
        self.discard()
        return self._prepared()

    def discard(self) -> None:
        """Remove the files of the index; it is made again when it is next opened."""
        for end in ("", "-wal", "-shm"):
            Path(f"{self._path}{end}").unlink(missing_ok=True)

    def reopen(self) -> None:
        """Throw a damaged index away and begin a new one."""
        self._db.close()
        self.discard()
        self._db = self._prepared()

    def _prepared(self) -> sqlite3.Connection:
        private_files.create_empty(self._path)
        db = sqlite3.connect(
            self._path, timeout=BUSY_MS / 1000, isolation_level=None, check_same_thread=False
        )
        try:
            db.execute("PRAGMA journal_mode = WAL")
            # A power cut may cost the index, which is then made again.
            db.execute("PRAGMA synchronous = OFF")
            with transaction(db):
                db.execute("CREATE TABLE IF NOT EXISTS mark (value TEXT NOT NULL)")
                found = db.execute("SELECT value FROM mark").fetchone()
                if found is None or found[0] != self._mark:
                    self._create(db)
        except sqlite3.Error:
            db.close()
            raise
        return db

    def _create(self, db: sqlite3.Connection) -> None:
        for statement in (
            "DROP TABLE IF EXISTS words",
            "DROP TABLE IF EXISTS done",
            "DELETE FROM mark",
            "CREATE VIRTUAL TABLE words USING fts5(text, content = '', detail = none,"
            ' tokenize = "unicode61 remove_diacritics 2")',
            "CREATE TABLE done (session INTEGER PRIMARY KEY, entries INTEGER NOT NULL)",
        ):
            db.execute(statement)
        db.execute("INSERT INTO mark VALUES (?)", (self._mark,))

    # filling -----------------------------------------------------------------------------------

    def done(self) -> dict[int, int]:
        """For every session, how many of its entries are indexed."""
        return dict(self._db.execute("SELECT session, entries FROM done").fetchall())

    @contextmanager
    def step(self, session: int) -> Iterator[int]:
        """A transaction on one session's part of the index; gives how many entries are in it.

        Two programs may index the same database: whoever comes second sees what is done.
        """
        with transaction(self._db):
            found = self._db.execute(
                "SELECT entries FROM done WHERE session = ?", (session,)
            ).fetchone()
            yield found[0] if found else 0

    def add(self, session: int, texts: Texts, entries: int) -> None:
        """Index texts; ``entries`` is how many of the session are done then."""
        self._db.executemany(
            "INSERT INTO words (rowid, text) VALUES (?, ?)",
            [(row_id(session, index), text) for index, text in texts],
        )
        self._db.execute("INSERT OR REPLACE INTO done VALUES (?, ?)", (session, entries))

    def remove(self, session: int, texts: Texts, entries: int) -> None:
        """Take texts out, which must be what was put in; 0 ``entries`` forgets the session."""
        self._db.executemany(
            "INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)",
            [(row_id(session, index), text) for index, text in texts],
        )
        if entries:
            self._db.execute("INSERT OR REPLACE INTO done VALUES (?, ?)", (session, entries))
        else:
            self._db.execute("DELETE FROM done WHERE session = ?", (session,))

    # asking ------------------------------------------------------------------------------------

    def accepts(self, expression: str) -> bool:
        """Whether the index understands an expression."""
        try:
            self._db.execute(
                "SELECT rowid FROM words WHERE words MATCH ? LIMIT 1", (expression,)
            ).fetchall()
        except sqlite3.OperationalError as error:
            if is_damage(error):
                raise
            return False
        return True

    def matches(self, expression: str, low: int, high: int) -> Iterator[int]:
        """Row ids between two bounds that match, the newest first."""
        rows = self._db.execute(
            "SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
            " ORDER BY rowid DESC",
            (expression, low, high),
        )
        for (identifier,) in rows:
            yield identifier


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Locks at once, commits at the end, rolls back on an error."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the file itself is bad, so that making it anew helps."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE
