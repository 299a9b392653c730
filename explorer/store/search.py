"""Search over the text of entries: the full-text index, which is a separate file beside the
database, finds words; the payloads confirm and show them."""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from explorer import private_files
from explorer.session.describe import describe
from explorer.session.entries import Entry, all_texts
from explorer.session.kinds import Flag, Kind
from explorer.store.database import BUSY_MS, Readers
from explorer.store.entry_rows import index_of
from explorer.store.payloads import stored_payloads
from explorer.store.rows import IsCancelled
from explorer.store.schema import INDEX_BITS, id_range, row_id

TEXT_VERSION = 3
"""Raised when ``entry_text``, ``indexed`` or the tables change: the index is then made anew."""
_PART_BITS = 7
"""128 sessions have a table of words. A beginning of a word is looked up by merging the entries of
all words that begin so: in one table that would take seconds in a library of many gigabytes, while
here the newest sessions answer first, and mostly are enough."""
TEXT_LIMIT = 1_000_000
"""Characters of one entry that are searched; what a tool printed beyond that is not."""

_TOKEN = re.compile(r"[^\W_]+")
_QUERY_PART = re.compile(r'"([^"]*)"?|(\S+)')
# Scripts without spaces between words: every character is a separate word.
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])"
)
_BEFORE, _AFTER = 50, 110
"""Characters of a snippet before the match, and from its start on."""


class Term(NamedTuple):
    """One part of a query: all its words must be in the entry."""

    text: str
    words: tuple[str, ...]
    quoted: bool

    @property
    def literal(self) -> bool:
        """Whether the text itself must stand in the entry, not only its words: for what is
        quoted and for what looks like code (paths, dots, dashes, underscores)."""
        return self.quoted or len(self.words) != 1 or len(self.words[0]) != len(self.text)


def entry_text(entry: Entry) -> str:
    """The texts of an entry that a person may look for, one per line."""
    parts: list[str] = []
    left = TEXT_LIMIT
    for text in all_texts(entry):
        if not text:
            continue
        parts.append(text[:left])
        left -= len(text)
        if left <= 0:
            break
    return "\n".join(parts)


def indexed(text: str) -> str:
    """The text as it goes into the index."""
    if text.isascii():
        return text
    plain = text.encode("utf-8", "replace").decode()
    return _UNSPACED.sub(r" \1 ", plain)


def parse_query(query: str) -> list[Term]:
    """The terms of what a person typed. Quotes hold words together; nothing is an error."""
    terms: list[Term] = []
    for part in _QUERY_PART.finditer(query):
        quoted = part[1] is not None
        text = (part[1] if quoted else part[2]).strip()
        if text:
            words = tuple(_TOKEN.findall(indexed(text).replace("\0", " ")))
            terms.append(Term(text, words, quoted))
    return terms


def match_expression(terms: list[Term]) -> str:
    """The index's expression for all words of the terms; the last word of a term that is not
    quoted may go on. Empty when there is no word."""
    parts: list[str] = []
    for term in terms:
        for at, word in enumerate(term.words):
            open_end = not term.quoted and at == len(term.words) - 1 and term.text.endswith(word)
            parts.append(f'"{word}"{"*" if open_end else ""}')
    return " AND ".join(dict.fromkeys(parts))


def folded(text: str) -> str:
    """The text without case and accents, to compare literally."""
    if text.isascii():
        return text.lower()
    bare = unicodedata.normalize("NFD", text)
    return "".join(one for one in bare if not unicodedata.combining(one)).casefold()


def holds(text: str, terms: list[Term]) -> bool:
    """Whether a text found by its words holds the literal terms as they were typed."""
    wanted = [folded(term.text) for term in terms if term.literal]
    if not wanted:
        return True
    plain = folded(text)
    return all(one in plain for one in wanted)


def snippet(text: str, terms: list[Term]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A stretch of one line around the first match, and where in it the terms are."""
    patterns = [re.escape(form) for form in _shown_forms(terms)]
    pattern = re.compile("|".join(patterns), re.IGNORECASE) if patterns else None
    first = pattern.search(text) if pattern else None
    at = first.start() if first else 0
    start, end = max(0, at - _BEFORE), min(len(text), at + _AFTER)
    cut = " ".join(text[start:end].split())
    out = ("…" if start else "") + cut + ("…" if end < len(text) else "")
    marks = tuple(found.span() for found in pattern.finditer(out)) if pattern else ()
    return out, marks


def _shown_forms(terms: list[Term]) -> list[str]:
    forms = [" ".join(term.text.split()) for term in terms]
    return sorted(forms, key=len, reverse=True)


Texts = Sequence[tuple[int, str]]
"""Entry index and text, ascending."""

_DAMAGE = (
    sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT,
    # The statements are right: where one is refused, the tables are not as they were made.
    sqlite3.SQLITE_ERROR,
)  # fmt: skip


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
                row = db.execute("SELECT value FROM mark").fetchone()
                if row is None or row[0] != self._mark:
                    self._create(db)
        except sqlite3.Error:
            db.close()
            raise
        return db

    def _create(self, db: sqlite3.Connection) -> None:
        old = db.execute("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%'")
        for (name,) in old.fetchall():
            db.execute(f'DROP TABLE "{name}"')
        for statement in (
            "DROP TABLE IF EXISTS done",
            "DELETE FROM mark",
            "CREATE TABLE done (session INTEGER PRIMARY KEY, entries INTEGER NOT NULL)",
        ):
            db.execute(statement)
        db.execute("INSERT INTO mark VALUES (?)", (self._mark,))

    def _words(self, session: int) -> str:
        """The table of a session's words, made where there is none."""
        table = f"words_{session >> _PART_BITS}"
        self._db.execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS {table} USING fts5(text, content = '',"
            ' detail = none, tokenize = "unicode61 remove_diacritics 2")'
        )
        return table

    def _parts(self) -> list[int]:
        """The parts that there are, that of the newest sessions first."""
        tables = self._db.execute(
            "SELECT substr(name, 7) FROM sqlite_master WHERE name GLOB 'words_[0-9]*'"
            " AND sql LIKE 'CREATE VIRTUAL%'"
        )
        return sorted((int(number) for (number,) in tables), reverse=True)

    # filling -----------------------------------------------------------------------------------

    def done(self) -> dict[int, int]:
        """For every session, how many of its entries are indexed."""
        return dict(self._db.execute("SELECT session, entries FROM done").fetchall())

    @contextmanager
    def step(self, session: int) -> Iterator[int]:
        """A transaction on one session's part of the index; gives how many entries are in it.

        Two programs may index the same database: the second one sees what is done.
        """
        with transaction(self._db):
            row = self._db.execute(
                "SELECT entries FROM done WHERE session = ?", (session,)
            ).fetchone()
            yield row[0] if row else 0

    def add(self, session: int, texts: Texts, entries: int) -> None:
        """Index texts; ``entries`` is how many of the session are done then."""
        self._db.executemany(
            f"INSERT INTO {self._words(session)} (rowid, text) VALUES (?, ?)",
            [(row_id(session, index), text) for index, text in texts],
        )
        self._db.execute("INSERT OR REPLACE INTO done VALUES (?, ?)", (session, entries))

    def remove(self, session: int, texts: Texts, entries: int) -> None:
        """Take texts out, which must be what was put in; 0 ``entries`` forgets the session."""
        table = self._words(session)
        self._db.executemany(
            f"INSERT INTO {table} ({table}, rowid, text) VALUES ('delete', ?, ?)",
            [(row_id(session, index), text) for index, text in texts],
        )
        if entries:
            self._db.execute("INSERT OR REPLACE INTO done VALUES (?, ?)", (session, entries))
        else:
            self._db.execute("DELETE FROM done WHERE session = ?", (session,))

    # asking ------------------------------------------------------------------------------------

    def accepts(self, expression: str) -> bool:
        """Whether the index understands an expression."""
        for part in self._parts()[:1]:
            try:
                self._db.execute(
                    f"SELECT rowid FROM words_{part} WHERE words_{part} MATCH ? LIMIT 1",
                    (expression,),
                ).fetchall()
            except sqlite3.OperationalError as error:
                if _code(error) in _DAMAGE[:-1]:
                    raise
                return False
        return True

    def matches(self, expression: str, low: int, high: int) -> Iterator[int]:
        """Row ids between two bounds that match, the newest first."""
        first, last = (bound >> (INDEX_BITS + _PART_BITS) for bound in (low, high))
        for part in self._parts():
            if not first <= part <= last:
                continue
            rows = self._db.execute(
                f"SELECT rowid FROM words_{part} WHERE words_{part} MATCH ?"
                " AND rowid BETWEEN ? AND ? ORDER BY rowid DESC",
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
    return _code(error) in _DAMAGE


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


_ASKED = 64
"""Candidates whose payloads are read at once."""


class SearchHit(Struct, frozen=True):
    """An entry that holds all words of a query."""

    key: int
    index: int
    snippet: str
    """A line around the first match."""
    marks: tuple[tuple[int, int], ...] = ()
    """Where in the snippet the query's words are: start and end."""
    kind: int = Kind.CUSTOM
    flags: int = 0
    """Those of its entry; see ``Flag``."""
    time_ms: float = 0.0
    """When it was made; 0 where that is not known."""


class SearchState(Struct, frozen=True):
    """How far the index is, in entries."""

    done: int
    total: int

    @property
    def complete(self) -> bool:
        return self.done >= self.total


def search(
    readers: Readers,
    index: SearchIndex,
    query: str,
    key: int | None,
    limit: int,
    cancelled: IsCancelled | None,
    only_errors: bool = False,
) -> list[SearchHit]:
    """See ``Store.search``. Raises StoreError, sqlite3.Error for the index."""
    terms = parse_query(query)
    if not terms or limit <= 0:
        return []
    with readers.read() as db:
        counts = dict(db.execute("SELECT key, entries FROM sessions WHERE complete = 1").fetchall())
    if key is not None:
        counts = {key: counts[key]} if key in counts else {}
    hits: list[SearchHit] = []
    expression, exact = match_expression(terms), True
    if expression and not index.accepts(expression):
        # Python and SQLite differ on a few characters of rare scripts: look at the text for those.
        plain = [term._replace(words=tuple(filter(str.isascii, term.words))) for term in terms]
        expression, exact = match_expression(plain), False
    low, high = (0, (1 << 62)) if key is None else id_range(key)
    matches = index.matches(expression, low, high) if expression else iter(())
    late = _not_indexed(counts, index.done() if expression else {})
    for candidates, confirmed in ((late, False), (matches, exact)):
        for part in _few(candidates):
            if cancelled is not None and cancelled():
                return hits
            found = _confirm(readers, part, counts, terms, confirmed)
            hits += [hit for hit in found if not only_errors or hit.flags & Flag.ERROR]
            if len(hits) >= limit:
                return hits[:limit]
    return hits


def _few(candidates: Iterator[int]) -> Iterator[list[int]]:
    while part := list(islice(candidates, _ASKED)):
        yield part


def _not_indexed(counts: dict[int, int], done: dict[int, int]) -> Iterator[int]:
    """Entries that the index does not have yet, the newest first: looked at one by one."""
    for key in sorted(counts, reverse=True):
        for index in range(counts[key] - 1, done.get(key, 0) - 1, -1):
            yield row_id(key, index)


def _confirm(
    readers: Readers, part: list[int], counts: dict[int, int], terms: list[Term], found: bool
) -> list[SearchHit]:
    """The candidates that hold the terms, in the order given."""
    by_key: dict[int, list[int]] = {}
    for identifier in part:
        key, index = identifier >> INDEX_BITS, index_of(identifier)
        if index < counts.get(key, 0):
            by_key.setdefault(key, []).append(index)
    texts: dict[int, str] = {}
    entries: dict[int, Entry] = {}
    for key, indices in by_key.items():
        for index, entry in stored_payloads(readers, key).found(indices):
            texts[row_id(key, index)] = entry_text(entry)
            entries[row_id(key, index)] = entry
    hits: list[SearchHit] = []
    for identifier in part:
        text = texts.get(identifier)
        if text is not None and (holds(text, terms) if found else _has_all(text, terms)):
            entry = entries[identifier]
            key, index = identifier >> INDEX_BITS, index_of(identifier)
            flags = describe(entry).flags
            line = snippet(text, terms)
            hits.append(SearchHit(key, index, *line, entry.kind, flags, entry.time_ms))
    return hits


def _has_all(text: str, terms: list[Term]) -> bool:
    """What the index would answer, for a text that is not in it."""
    return holds(text, [term._replace(quoted=True) for term in terms])
