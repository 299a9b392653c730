"""The database: filling one, opening it, loading a session, appending."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from itertools import count as count_from
from pathlib import Path
from typing import Any

from explorer.formats.registry import open_source, write_record
from explorer.session.entries import Entry, UserMessage, text_content
from explorer.store import Store
from explorer.tokens.counters import DEFAULT_ENCODING
from tests.benchmarks.children.process import memory_mb, times_ms

INDEX_WAIT_S = 600
TOGETHER = 100
"""Entries that are handed in at once."""
BLOCK = b"x" * 40_000
"""As much as the log of the database grows by with one entry."""


def database_of(home: str) -> Path:
    return Path(home) / "data" / "sessions.db"


def fill(home: str, sessions: list[str]) -> dict[str, list[int]]:
    """Import sessions and wait until they are indexed; their counts are the estimates, stored as
    the tokenizer's, so that opening one does not start to count it."""
    path = database_of(home)
    path.parent.mkdir(parents=True)
    keys = []
    with Store.open(path) as store:
        for session in sessions:
            key = store.import_session(open_source(session)).key
            estimates = store.load(key).tree.columns.estimate
            store.set_token_counts(key, DEFAULT_ENCODING, 0, estimates).result()
            keys.append(key)
        end = time.monotonic() + INDEX_WAIT_S
        while time.monotonic() < end:
            state = store.search_state()
            if state.complete and state.total:
                break
            time.sleep(0.2)
    return {"keys": keys}


def load(home: str) -> dict[str, Any]:
    """Open the database and load its first session."""
    path = database_of(home)

    def open_it() -> None:
        Store.open(path).close()

    opened = times_ms(open_it)
    with Store.open(path) as store:
        key = store.sessions()[0].key
        before = memory_mb()
        store.load(key)
        grown = memory_mb() - before
        loaded = times_ms(lambda: store.load(key))
    return {"open_ms": opened, "load_ms": loaded, "grown_mb": grown}


def append(home: str, count: int) -> dict[str, Any]:
    """Append messages one by one, each waited for, in turn with the sync of a block that is written
    to a file beside the database; then as many again, of which a hundred wait at once."""
    one, synced, many = [], [], []
    block = Path(home) / "block"
    with Store.open(database_of(home)) as store, block.open("wb", buffering=0) as file:
        loaded = store.load(store.sessions()[0].key)
        appends = _appends(store, loaded.key, loaded.tree.columns.ids[-1])
        sync = getattr(os, "fdatasync", os.fsync)
        for _ in range(count):
            one.append(_ms(lambda: next(appends).result()))
            synced.append(_ms(lambda: (file.write(BLOCK), sync(file.fileno()))))
        for _ in range(count // TOGETHER):
            together = _ms(lambda: [f.result() for f in [next(appends) for _ in range(TOGETHER)]])
            many.append(together / TOGETHER)
    block.unlink()
    return {"ms": one, "together_ms": many, "together": TOGETHER, "sync_ms": synced}


def _ms(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def _appends(store: Store, key: int, parent: str) -> Iterator[Future[list[int]]]:
    for number in count_from():
        entry_id = f"made-{time.time_ns():x}-{number}"
        body = UserMessage(text_content("go on " * 40))
        entry = Entry.of(body, entry_id, parent, 1.8e12 + number)
        yield store.append(key, [(write_record("pi", entry), parent)], leaf_id=entry_id)
        parent = entry_id
