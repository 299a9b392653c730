"""A library of many gigabytes of text: made, and looked through."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from random import Random
from typing import Any

from explorer.formats.registry import write_record
from explorer.session.entries import Entry, ToolResultMessage, UserMessage, text_content
from explorer.session.kinds import Kind
from explorer.session.records import SessionHeader
from explorer.store import Store
from explorer.store.database import row_id
from explorer.store.search import SearchIndex
from explorer.store.sessions import create_session
from tests.benchmarks.children.storing import database_of

SESSIONS = 20_000
QUERIES = {
    "a word of one entry of the oldest": "needle17",
    "a word of nearly every entry": "the",
    "the first two letters of many words": "re",
    "two words of many entries": "error timeout",
    "a path": "src/store/queue.py",
    "a phrase of common words, in many": '"the error"',
    "a phrase of five common words, in one of the oldest": '"the result of the timeout"',
    "a phrase of common words, nowhere": '"the of to error timeout retry"',
    "no entry": "no such words here",
    "signs that are no words, nowhere": "=>>",
}
MOST_SEARCH_S = 5.0
"""Seconds after which a search is given up, as a person would."""
MOST_S = 1500
"""Seconds that the making may take."""
_SEED = 5
_COMMON = ("the", "of", "to", "error", "timeout", "return", "result", "reads", "reserve", "retry")
_LINES = 150_000
_LINE_WORDS = 12
_VOCABULARY = 200_000
_DAY_MS = 86_400_000.0


def fill(home: str, gigabytes: float) -> dict[str, float]:
    """A database of SESSIONS sessions with so many gigabytes of entries, all of them indexed. Half
    of it can be looked for; the other half lies beside it, as in recorded sessions: results that
    are there a second time, signatures, pictures. Written straight into the tables: an import of
    that size takes an hour."""
    path = database_of(home)
    path.parent.mkdir(parents=True)
    Store.open(path).close()
    started, written, number = time.perf_counter(), 0, 0
    random = Random(_SEED)
    lines, beside = _lines(random), random.randbytes(1_000_000).hex()
    with sqlite3.connect(path, isolation_level=None) as db:
        db.execute("PRAGMA synchronous = OFF")
        library = db.execute("SELECT value FROM library WHERE name = 'id'").fetchone()[0]
        index = SearchIndex(path, library)
        size = int(gigabytes * 1e9 / SESSIONS / 2)
        sample = [text for at in range(40) for text in islice(_texts(at, size, random, lines), 8)]
        while number < SESSIONS and time.perf_counter() - started < MOST_S:
            parts = _texts(number, size, random, lines)
            written += _add_session(db, index, number, parts, beside, sample)
            number += 1
        index.close()
    db.close()
    return {"sessions": number, "bytes": written, "seconds": time.perf_counter() - started}


def _lines(random: Random) -> Sequence[str]:
    """Lines of words, of which few are in most lines and most in few."""
    names = ["".join(random.choices("abcdefghiklmnoprstuvw", k=random.randint(4, 11)))
             for _ in range(_VOCABULARY)]  # fmt: skip
    words = [*_COMMON, *names]
    weights = list(accumulate(1 / (at + 2) for at in range(len(words))))
    return [" ".join(random.choices(words, cum_weights=weights, k=_LINE_WORDS))
            for _ in range(_LINES)]  # fmt: skip


def _add_session(
    db: sqlite3.Connection,
    index: SearchIndex,
    number: int,
    parts: Iterator[str],
    beside: str,
    sample: Sequence[str],
) -> int:
    """Returns the bytes of its payloads."""
    last_ms = 1.7e12 + number * _DAY_MS / 20
    header = SessionHeader(f"session-{number}", "pi", 3, f"/home/ada/work-{number % 40}", 1.0, "",
                           "", f"Session {number}")  # fmt: skip
    db.execute("BEGIN")
    key = create_session(db, header)
    rows, payloads, texts, size = [], [], [], 0
    for at, text in enumerate(parts):
        kind = Kind.USER if at % 12 == 0 else Kind.TOOL_RESULT
        raw = write_record("pi", _entry(kind, at, text, last_ms, beside[: len(text)]))
        rows.append((row_id(key, at), f"e{at}", at - 1, at + 2, int(kind), last_ms, text[:80]))
        payloads.append((row_id(key, at), raw))
        texts.append((at, text))
        size += len(raw)
    db.executemany(
        "INSERT INTO entries (id, entry_id, parent, line, kind, flags, time_ms, estimate, usage,"
        " preview) VALUES (?, ?, ?, ?, ?, 0, ?, 1, -1, ?)", rows
    )  # fmt: skip
    db.executemany("INSERT INTO payloads VALUES (?, ?)", payloads)
    db.execute(
        "UPDATE sessions SET entries = ?, size = ?, leaf = ?, started_ms = ?, last_ms = ?,"
        " changed_ms = ?, branches = 1, summed = ? WHERE key = ?",
        (len(rows), size, len(rows) - 1, last_ms, last_ms, last_ms, len(rows), key),
    )
    db.execute("COMMIT")
    with index.step(key):
        index.add(key, texts, len(rows), lambda: sample)
    return size


def _entry(kind: Kind, at: int, text: str, time_ms: float, beside: str) -> Entry:
    content = text_content(text)
    body = (
        UserMessage(content)
        if kind is Kind.USER
        else ToolResultMessage(f"call-{at}", "bash", content, details=beside)
    )
    return Entry.of(body, f"e{at}", f"e{at - 1}" if at else None, time_ms)


def _texts(number: int, most: int, random: Random, lines: Sequence[str]) -> Iterator[str]:
    size = at = 0
    while size < most:
        count = 3 if at % 12 == 0 else random.choice((1, 2, 8, 30, 130))
        first = random.randrange(len(lines) - count)
        parts = [f"entry {number}-{at} {random.getrandbits(64):x}", *lines[first : first + count]]
        if (number + at) % 40 == 0:
            parts.append("edited src/store/queue.py: the error is gone")
        if number == 3 and at == 1:
            parts.append("needle17 lies here: the result of the timeout")
        text = "\n".join(parts)
        size += len(text)
        at += 1
        yield text


def find(home: str, rounds: int, limit: int) -> dict[str, Any]:
    """By the words looked for: until the first hits and until the end, in ms, of which the thread
    was running so many; how many entries were found, and in how many of the sessions they were
    looked for when ``MOST_SEARCH_S`` ended it."""
    found: dict[str, Any] = {}
    with Store.open(database_of(home), maintained=False) as store:
        for name, query in QUERIES.items():
            results = [_found(store, query, limit) for _ in range(rounds)]
            times = zip(*(one[:3] for one in results), strict=True)
            found[name] = dict(zip(("first_ms", "ms", "cpu_ms"), map(list, times), strict=True))
            found[name] |= dict(zip(("hits", "searched", "sessions"), results[-1][3:], strict=True))
    return found


def _found(store: Store, query: str, limit: int) -> tuple[float, float, float, int, int, int]:
    start, cpu, first, hits = time.perf_counter(), time.thread_time(), 0.0, 0
    for step in store.search_steps(query, None, limit):
        took = time.perf_counter() - start
        hits += len(step.hits)
        first = first or (took if hits else 0.0)
        if took > MOST_SEARCH_S:
            break
    took, ran = time.perf_counter() - start, time.thread_time() - cpu
    first = first or took
    return first * 1000, took * 1000, ran * 1000, hits, step.searched, step.sessions
