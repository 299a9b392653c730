"""A workbench over a real database, and sessions in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from explorer.models.client import ModelClient, ModelClientConfig
from explorer.services.document import Document
from explorer.store import Store
from explorer.workbench import Workbench
from tests.extensions.making import conversation
from tests.models.server import Answer, ChatServer
from tests.models.summaries import GOOD
from tests.services.clock import SAMPLE, Clock
from tests.services.extension_place import Place


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


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """A session of ten long turns."""
    return conversation(tmp_path)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A workbench with a folder of extensions."""
    made = Place(tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@pytest.fixture(scope="module")
def client(server: ChatServer) -> Iterator[ModelClient]:
    opened = ModelClient(ModelClientConfig(api_base=server.url, timeout_s=20, idle_timeout_s=20))
    yield opened
    opened.close()


@pytest.fixture
def online(server: ChatServer, client: ModelClient, tmp_path: Path) -> Iterator[Place]:
    """A place whose models answer over HTTP."""
    server.forget()
    server.plan(Answer(text=GOOD))
    made = Place(tmp_path, client)
    yield made
    made.close()
