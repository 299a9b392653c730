"""A workbench over a real database, and sessions in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from explorer import paths
from explorer.models.client import ModelClient
from explorer.services.document import Document
from explorer.store import Store
from explorer.workbench import Workbench

SAMPLE = paths.resource_path("samples", "retry-that-flakes.jsonl")


class Clock:
    """A clock that moves on by a second at every look."""

    def __init__(self) -> None:
        self.now = 1_800_000_000_000

    def __call__(self) -> int:
        self.now += 1000
        return self.now


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


def open_bench(database: Path) -> Workbench:
    return Workbench(Store.open(database), ModelClient(), clock_ms=Clock(), random=Random(7))


def close_bench(bench: Workbench) -> None:
    bench.client.close()
    bench.store.close()


@pytest.fixture
def bench(database: Path) -> Iterator[Workbench]:
    made = open_bench(database)
    yield made
    close_bench(made)


@pytest.fixture
def document(bench: Workbench) -> Document:
    """The bundled session, opened."""
    return bench.open_blocking(bench.import_blocking(SAMPLE).key)
