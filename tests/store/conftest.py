"""A store of the test's own, closed at its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from explorer.store import Store


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


@pytest.fixture
def store(database: Path) -> Iterator[Store]:
    opened = Store.open(database)
    yield opened
    opened.close()


def eventually(condition: Callable[[], bool], what: str, seconds: float = 60) -> None:
    """Wait for something that a background thread does; fails naming it."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            pytest.fail(f"never happened: {what}")
        time.sleep(0.01)


@pytest.fixture
def indexed(store: Store) -> Callable[[], None]:
    """Waits until everything is in the search index."""

    def wait() -> None:
        eventually(lambda: store.search_state().complete, "the index is complete")

    return wait
