"""Search over the text of entries: the full-text index, which is a separate file beside the
database, finds words; the payloads confirm and show them."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from explorer import private_files
from explorer.session.describe import describe
from explorer.session.entries import Entry
from explorer.session.kinds import Kind
from explorer.store.database import BUSY_MS, INDEX_BITS, Readers, id_range, row_id, transaction
from explorer.store.entry_rows import index_of
from explorer.store.payloads import stored_payloads
from explorer.store.rows import IsCancelled
from explorer.store.search_text import (
    Term,
    common_words,
    entry_text,
    holds,
    match_expression,
    pairs_of,
    parse_query,
    snippet,
    would_match,
)
from explorer.store.sessions import is_undone

TEXT_VERSION = 5
"""Raised when ``entry_text``, ``indexed`` or the tables change: the index is then made anew."""
_PART_BITS = 7
"""128 sessions have a table of words. A beginning of a word is looked up by merging the entries of
all words that begin so: in one table that would take seconds in a library of many gigabytes, while
here the newest sessions answer first, and mostly are enough."""

Texts = Sequence[tuple[int, str]]
"""Entry index and text, ascending."""
EntryRule = Callable[[Entry, Entry | None], bool]
"""A rule for an entry and, of a result, the reply whose call it answers."""
Sample = Callable[[], Iterable[str]]
"""Reads texts from all over the library, of which the common words are learned."""

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
        self._known: dict[int, frozenset[str]] = {}
        """By part that was asked: the words whose pairs it has, which never change."""
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
        self._known.clear()
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
                if row is None:
                    db.execute("INSERT INTO mark VALUES (?)", (self._mark,))
                    db.execute(
                        "CREATE TABLE done (session INTEGER PRIMARY KEY, entries INTEGER NOT NULL)"
                    )
                    db.execute(
                        "CREATE TABLE common (part INTEGER PRIMARY KEY, words TEXT NOT NULL)"
                    )
        except sqlite3.Error:
            db.close()
            raise
        if row is None or row[0] == self._mark:
            return db
        # Dropping its tables would read all of it, which may be gigabytes.
        db.close()
        self.discard()
        return self._prepared()

    def _part(self, part: int, sample: Sample) -> Collection[str]:
        """Make the table of a part where there is none; gives the words whose pairs it has.

        It knows the places of words, and the pairs of those that were common when it was made:
        without them a phrase of common words would be looked for in nearly every text.
        """
        known = self._common(part)
        if known is not None:
            return known
        common = common_words(sample())
        self._db.execute("INSERT INTO common VALUES (?, ?)", (part, " ".join(common)))
        self._db.execute(
            f"CREATE VIRTUAL TABLE words_{part} USING fts5(text, pairs, content = '',"
            ' columnsize = 0, tokenize = "unicode61 remove_diacritics 2")'
        )
        return frozenset(common)

    def _common(self, part: int) -> frozenset[str] | None:
        """The words whose pairs a part has; None where there is no such part."""
        row = self._db.execute("SELECT words FROM common WHERE part = ?", (part,)).fetchone()
        return frozenset(row[0].split()) if row is not None else None

    def parts(self) -> list[int]:
        """The parts that there are, that of the newest sessions first; see ``part_of``."""
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

    def add(self, session: int, texts: Texts, entries: int, sample: Sample) -> None:
        """Index texts; ``entries`` is how many of the session are done then."""
        part = part_of(session)
        common = self._part(part, sample)
        self._db.executemany(
            f"INSERT INTO words_{part} (rowid, text, pairs) VALUES (?, ?, ?)",
            [(row_id(session, index), text, pairs_of(text, common)) for index, text in texts],
        )
        self._db.execute("INSERT OR REPLACE INTO done VALUES (?, ?)", (session, entries))

    def remove(self, session: int, texts: Texts, entries: int) -> None:
        """Take texts out, which must be what was put in; 0 ``entries`` forgets the session."""
        part = part_of(session)
        common = self._common(part) or ()
        self._db.executemany(
            f"INSERT INTO words_{part} (words_{part}, rowid, text, pairs)"
            " VALUES ('delete', ?, ?, ?)",
            [(row_id(session, index), text, pairs_of(text, common)) for index, text in texts],
        )
        if entries:
            self._db.execute("INSERT OR REPLACE INTO done VALUES (?, ?)", (session, entries))
        else:
            self._db.execute("DELETE FROM done WHERE session = ?", (session,))

    # asking ------------------------------------------------------------------------------------

    def matches(
        self, part: int, terms: Sequence[Term], low: int, high: int, limit: int
    ) -> list[int]:
        """Row ids of a part between two bounds that match, the newest first."""
        if part not in self._known:
            self._known[part] = self._common(part) or frozenset()
        rows = self._db.execute(
            f"SELECT rowid FROM words_{part} WHERE words_{part} MATCH ?"
            " AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?",
            (match_expression(terms, self._known[part]), low, high, limit),
        )
        return [identifier for (identifier,) in rows]


def part_of(session: int) -> int:
    """The part of the index that has the words of a session."""
    return session >> _PART_BITS


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the file itself is bad, so that making it anew helps."""
    return _code(error) in _DAMAGE


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


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
    is_undone: bool = False
    """Whether it is a compaction that was undone."""


class SearchState(Struct, frozen=True):
    """How far the index is, in entries."""

    done: int
    total: int

    @property
    def complete(self) -> bool:
        return self.done >= self.total


class SearchStep(Struct, frozen=True):
    """What a search found in a while, and how far it is."""

    hits: list[SearchHit]
    searched: int
    """Sessions that were looked through so far."""
    sessions: int
    """Sessions that are to be looked through."""
    left_out: int = 0
    """Older sessions that are not, since nothing but signs is looked for."""

    @property
    def note(self) -> str:
        """What a person should know of the sessions that are not searched; empty for none."""
        if not self.left_out:
            return ""
        newest = "session" if self.sessions == 1 else f"{self.sessions:,} sessions"
        return (
            f"Signs without a word are looked for in the newest {newest} of"
            f" {self.sessions + self.left_out:,} only: add a word to search all."
        )


FIRST_STEP_S, STEP_S = 0.1, 0.3
"""How long the first step of a search takes, and each of the others."""
_ASKED = 32
"""Candidates whose payloads are read before somebody looks at the time."""
_FETCHED = 1_000
"""Matches that are taken from the index at once."""
_FEW = 1_000
"""Entries without an index that are looked at before all others; more come last, since reading them
takes longer than the whole index."""
_SIGNS_IN = 20_000
"""Entries that are read for signs without a word, which the index does not have: about as many as
are read in 3 s."""


class Search:
    """A search, a while at a time: the newest sessions first. Used by one thread at a time.

    Nothing is left open between two steps, so that others may write into the index there.
    """

    def __init__(
        self,
        readers: Readers,
        query: str,
        keys: Collection[int] | None,
        limit: int,
        is_wanted: EntryRule | None = None,
    ) -> None:
        """See ``Store.search_steps``. Raises StoreError."""
        self._readers = readers
        self._terms = parse_query(query)
        self._has_words = any(term.words for term in self._terms)
        self._is_wanted = is_wanted
        self._left = limit if self._terms else 0
        with readers.read() as db:
            counts = complete_sessions(db)
        self._counts = {key: counts[key] for key in counts if keys is None or key in keys}
        self._left_out = 0
        if not self._has_words:
            newest = _newest(self._counts, _SIGNS_IN)
            self._left_out, self._counts = len(self._counts) - len(newest), newest
        self._given: set[int] = set()
        self._begin()

    def _begin(self) -> None:
        self._batches: Iterator[tuple[Sequence[int], bool]] | None = None
        self._waiting: deque[int] = deque()
        self._is_matched = False
        """Whether those that wait are matches of the index."""
        self._searched = 0

    @property
    def is_done(self) -> bool:
        """Whether nothing more is looked for."""
        return self._left <= 0

    def step(self, index: SearchIndex, budget_s: float, cancelled: IsCancelled) -> SearchStep:
        """Go on for about so many seconds. Raises StoreError, sqlite3.Error for the index, after
        which the next step begins anew; nothing is found twice."""
        hits: list[SearchHit] = []
        deadline = time.monotonic() + budget_s
        try:
            while not self.is_done and not cancelled():
                hits += self._some(index)
                if time.monotonic() >= deadline:
                    break
        except sqlite3.Error:
            self._begin()
            self._given.difference_update(row_id(hit.key, hit.index) for hit in hits)
            self._left += len(hits)
            raise
        return SearchStep(hits, self._searched, len(self._counts), self._left_out)

    def _some(self, index: SearchIndex) -> list[SearchHit]:
        """What is found among the next few candidates."""
        if self._batches is None:
            self._batches = self._candidates(index)
        if not self._waiting:
            batch = next(self._batches, None)
            if batch is None:
                self._searched, self._left = len(self._counts), 0
                return []
            self._waiting.extend(batch[0])
            self._is_matched = batch[1]
        part = [self._waiting.popleft() for _ in range(min(_ASKED, len(self._waiting)))]
        found = _confirm(
            self._readers, part, self._counts, self._terms, self._is_matched, self._is_wanted
        )
        new = [hit for hit in found if row_id(hit.key, hit.index) not in self._given]
        new = new[: self._left]
        self._given.update(row_id(hit.key, hit.index) for hit in new)
        self._left -= len(new)
        return new

    def _candidates(self, index: SearchIndex) -> Iterator[tuple[Sequence[int], bool]]:
        """Row ids of entries that may hold what is looked for, and whether they were matched."""
        done = index.done() if self._has_words else {}
        late = {
            key: done.get(key, 0)
            for key, entries in sorted(self._counts.items(), reverse=True)
            if done.get(key, 0) < entries
        }
        are_few = sum(self._counts[key] - first for key, first in late.items()) <= _FEW
        if are_few:
            yield from self._not_indexed(late)
        if self._has_words:
            yield from self._matched(index, [] if are_few else late)
        if not are_few:
            yield from self._not_indexed(late)

    def _matched(
        self, index: SearchIndex, late: Collection[int]
    ) -> Iterator[tuple[Sequence[int], bool]]:
        """``late``: sessions that are looked through again after this."""
        keys = [key for key in self._counts if key not in late]
        by_part = Counter(map(part_of, keys))
        low, high = min(self._counts, default=0), max(self._counts, default=0)
        first, last = row_id(low, 0), id_range(high)[1]
        self._searched = 0
        for part in index.parts():
            below = last
            while part in by_part:
                found = index.matches(part, self._terms, first, below, _FETCHED)
                yield [one for one in found if one >> INDEX_BITS in self._counts], True
                if len(found) < _FETCHED:
                    break
                below = found[-1] - 1
            self._searched += by_part[part]

    def _not_indexed(self, late: Mapping[int, int]) -> Iterator[tuple[Sequence[int], bool]]:
        """Entries that the index does not have yet, the newest first: looked at one by one."""
        for key, first in late.items():
            for last in range(self._counts[key], first, -_FETCHED):
                indices = range(last - 1, max(first, last - _FETCHED) - 1, -1)
                yield [row_id(key, at) for at in indices], False
            self._searched += 1


def complete_sessions(db: sqlite3.Connection) -> dict[int, int]:
    """By the key of every session that is there as a whole, how many entries it has."""
    return dict(db.execute("SELECT key, entries FROM sessions WHERE complete = 1").fetchall())


def entries_of(db: sqlite3.Connection, key: int) -> int:
    """How many entries a session has; 0 where it is not there as a whole."""
    found = db.execute("SELECT entries FROM sessions WHERE key = ? AND complete = 1", (key,))
    row = found.fetchone()
    return row[0] if row is not None else 0


def _newest(counts: Mapping[int, int], most: int) -> dict[int, int]:
    """Of some sessions with their numbers of entries the newest, up to so many entries, and one at
    least."""
    found: dict[int, int] = {}
    for key, entries in sorted(counts.items(), reverse=True):
        most -= entries
        if most < 0 and found:
            break
        found[key] = entries
    return found


def _confirm(
    readers: Readers,
    part: list[int],
    counts: dict[int, int],
    terms: list[Term],
    matched: bool,
    is_wanted: EntryRule | None,
) -> list[SearchHit]:
    """The candidates that hold the terms, in the order given; ``matched``: by the index."""
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
        if text is not None and (holds if matched else would_match)(text, terms):
            entry = entries[identifier]
            key, index = identifier >> INDEX_BITS, index_of(identifier)
            if is_wanted is not None:
                reply = stored_payloads(readers, key).reply_to(index)
                if not is_wanted(entry, reply):
                    continue
            flags = describe(entry).flags
            line = snippet(text, terms)
            undone = entry.kind == Kind.COMPACTION and _is_undone(readers, key, index)
            hits.append(SearchHit(key, index, *line, entry.kind, flags, entry.time_ms, undone))
    return hits


def _is_undone(readers: Readers, key: int, index: int) -> bool:
    with readers.read() as db:
        return is_undone(db, key, index)
