"""A team's library on a server of its own: sessions published, then many, listed and searched, and
filtered letter by letter in the window."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from explorer.services.publication import publish
from explorer.settings.libraries import add_library
from explorer.settings.paths import database_path
from explorer.store import Store
from explorer.store.postgres import TeamLibrary
from tests.benchmarks.children.bulk import fill
from tests.benchmarks.children.window import run_window, until
from tests.benchmarks.children.window_library import typed
from tests.team.cluster import Cluster
from ui.session import WindowSession

_MULTIPLY = """
CREATE TEMP TABLE copies AS SELECT s.key AS origin, n FROM session_explorer.sessions s
  CROSS JOIN generate_series(1, %(times)s) n;
INSERT INTO session_explorer.sessions
  (publisher, published, format, session_id, digest, header, "row", model)
  SELECT s.publisher, s.published - n * interval '1 hour', s.format, s.session_id || '/' || n,
    s.digest, s.header, s."row", s.model
  FROM copies JOIN session_explorer.sessions s ON s.key = origin;
CREATE TEMP TABLE pairs AS SELECT origin, t.key AS made FROM copies
  JOIN session_explorer.sessions s ON s.key = origin
  JOIN session_explorer.sessions t ON t.session_id = s.session_id || '/' || n;
INSERT INTO session_explorer.blocks SELECT made, first, last, data
  FROM pairs JOIN session_explorer.blocks ON session = origin;
DROP INDEX session_explorer.entries_words;
INSERT INTO session_explorer.entries SELECT made, entry, kind, flags, time_ms, words
  FROM pairs JOIN session_explorer.entries ON session = origin;
CREATE INDEX entries_words ON session_explorer.entries USING gin (words);
"""
"""A server makes copies of what was published many times faster than a client publishes them."""
WORDS = ("orders lookup", "part_7", "no such words")
QUERIES = {"a common word": "lookup", "three words": "lookup step value_7", "a number": "7777"}


def measure(home: str, published: int, sessions: int, rounds: int) -> dict[str, Any]:
    """Seconds to publish so many sessions; of so many, and their entries: milliseconds to list the
    newest 200 and all, to find the first 200 entries of each query, and to show the rows in the
    window after each letter of a filter."""
    fill(published, home)
    server = Cluster()
    try:
        server.start()
        database = server.database()
        address = server.address(database)
        owner = TeamLibrary("acme", address)
        owner.setup()
        owner.close()
        team = TeamLibrary.open("acme", address)
        started = time.monotonic()
        with Store.open(database_path(), maintained=False) as store:
            for row in store.sessions():
                publish(store, row.key, team)
        publishing_s = time.monotonic() - started
        server.sql(_MULTIPLY % {"times": sessions // published - 1}, database=database)
        server.sql("ANALYZE", database=database)
        found = {
            "publishing_s": publishing_s,
            "sessions": len(team.shared()),
            "entries": sum(one.row.entries for one in team.shared()),
            "first_ms": _median(lambda: team.shared(most=200), rounds),
            "all_ms": _median(team.shared, rounds),
            "search_ms": {
                name: _median(partial(team.search, query), rounds)
                for name, query in QUERIES.items()
            },
        }
        team.close()
        add_library("acme", address, None)
        found["letters_ms"] = run_window(partial(_filter, sessions=found["sessions"]))
        return found
    finally:
        server.remove()


async def _filter(running: WindowSession, sessions: int) -> list[float]:
    controller = running.library_page
    controller.open()
    await until(lambda: controller.page is not None)
    page = controller.page
    assert page is not None
    page.filters.library_chosen.emit("acme")
    await until(lambda: page.table.rows.rowCount() == sessions)
    await asyncio.sleep(0.5)
    return await typed(page, WORDS)


def _median(work: Callable[[], object], rounds: int) -> float:
    """Milliseconds, the first time among them."""
    took = []
    for _ in range(max(3, rounds)):
        started = time.monotonic()
        work()
        took.append(1000 * (time.monotonic() - started))
    return sorted(took)[len(took) // 2]
