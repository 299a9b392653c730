"""Search over the text of entries: the index finds words, the payloads confirm and show them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from explorer.store.codec import entry_of, index_of
from explorer.store.payloads import StoredPayloads
from explorer.store.readers import Readers
from explorer.store.rows import IsCancelled
from explorer.store.schema import INDEX_BITS, row_id
from explorer.store.search_index import SearchIndex
from explorer.store.text import Term, entry_text, holds, match_expression, parse_query, snippet

_ASKED = 64
"""Candidates whose payloads are read at once."""


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry that holds all words of a query."""

    key: int
    index: int
    snippet: str
    """A line around the first match."""
    marks: tuple[tuple[int, int], ...] = ()
    """Where in the snippet the query's words are: start and end."""


@dataclass(frozen=True, slots=True)
class SearchState:
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
) -> list[Hit]:
    """See ``Store.search``. Raises StoreError, sqlite3.Error for the index."""
    terms = parse_query(query)
    if not terms or limit <= 0:
        return []
    with readers.read() as db:
        counts = dict(db.execute("SELECT key, entries FROM sessions WHERE complete = 1").fetchall())
    if key is not None:
        counts = {key: counts[key]} if key in counts else {}
    hits: list[Hit] = []
    expression, exact = match_expression(terms), True
    if expression and not index.accepts(expression):
        # Python and SQLite differ on a few letters of rare scripts: look at the text for those.
        plain = [term._replace(words=tuple(filter(str.isascii, term.words))) for term in terms]
        expression, exact = match_expression(plain), False
    low, high = (0, (1 << 62)) if key is None else (row_id(key, 0), row_id(key + 1, 0) - 1)
    found = index.matches(expression, low, high) if expression else iter(())
    late = _not_indexed(counts, index.done() if expression else {})
    for candidates, confirmed in ((late, False), (found, exact)):
        for part in _parts(candidates):
            if cancelled is not None and cancelled():
                return hits
            hits += _confirm(readers, part, counts, terms, confirmed)
            if len(hits) >= limit:
                return hits[:limit]
    return hits


def _parts(candidates: Iterator[int]) -> Iterator[list[int]]:
    while part := list(islice(candidates, _ASKED)):
        yield part


def _not_indexed(counts: dict[int, int], done: dict[int, int]) -> Iterator[int]:
    """Entries that the index does not have yet, the newest first: looked at one by one."""
    for key in sorted(counts, reverse=True):
        for index in range(counts[key] - 1, done.get(key, 0) - 1, -1):
            yield row_id(key, index)


def _confirm(
    readers: Readers, part: list[int], counts: dict[int, int], terms: list[Term], found: bool
) -> list[Hit]:
    """The candidates that hold the terms, in the order given."""
    by_key: dict[int, list[int]] = {}
    for identifier in part:
        key, index = identifier >> INDEX_BITS, index_of(identifier)
        if index < counts.get(key, 0):
            by_key.setdefault(key, []).append(index)
    texts: dict[int, str] = {}
    for key, indices in by_key.items():
        for index, raw in StoredPayloads(readers, key).raws(indices):
            texts[row_id(key, index)] = entry_text(entry_of(raw))
    hits: list[Hit] = []
    for identifier in part:
        text = texts.get(identifier)
        if text is not None and (holds(text, terms) if found else _has_all(text, terms)):
            hits.append(Hit(identifier >> INDEX_BITS, index_of(identifier), *snippet(text, terms)))
    return hits


def _has_all(text: str, terms: list[Term]) -> bool:
    """What the index would answer, for a text that is not in it."""
    return holds(text, [term._replace(quoted=True) for term in terms])
