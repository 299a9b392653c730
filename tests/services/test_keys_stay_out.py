"""A key is handed to the provider and stands nowhere else: in no file, message or record."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

import keyring
import pytest

from explorer.agent.turn_interface import TurnResult
from explorer.models.client import CancelToken, ModelClient, ModelClientConfig, Server
from explorer.models.user_models import ServerModel
from explorer.services.agent_turns import SessionTurns
from explorer.services.document import Document
from explorer.services.draft_records import DraftFailed
from explorer.settings import paths
from explorer.store import Store
from explorer.workbench import Workbench
from tests.models.memory_keyring import MemoryKeyring
from tests.models.server import Answer, ChatServer, HttpFailure, StreamFailure
from tests.services.conftest import SAMPLE, Clock
from tests.services.test_over_http import compaction, order

IN_ENVIRONMENT = "planted-in-the-environment-4711"
IN_KEYRING = "planted-in-the-keyring-0815"
PLANTED = (IN_ENVIRONMENT, IN_KEYRING)
MODELS = ("openai/gpt-4o-mini", "box/qwen")
ECHOED = f"Incorrect API key provided: {IN_ENVIRONMENT} {IN_KEYRING}."


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@pytest.fixture
def ring() -> Iterator[MemoryKeyring]:
    before = keyring.get_keyring()
    made = MemoryKeyring()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


@pytest.fixture
def bench(
    server: ChatServer, ring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Workbench]:
    monkeypatch.setenv("OPENAI_API_KEY", IN_ENVIRONMENT)
    paths.ensure(paths.database_path().parent)
    config = ModelClientConfig(
        api_base=server.url, user_models=paths.models_path(), timeout_s=20, idle_timeout_s=20
    )
    client = ModelClient(config)
    client.user_models.save_server(
        Server("box", server.root, "vllm", (ServerModel("qwen", 32_768),))
    )
    client.keys.keep("box", IN_KEYRING)
    made = Workbench(Store.open(paths.database_path()), client, clock_ms=Clock(), random=Random(7))
    yield made
    client.close()
    made.store.close()


def everything_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def say(document: Document, model: str) -> TurnResult:
    return await SessionTurns(document, model, None, CancelToken(), lambda _event: None).say(
        "hello"
    )


@pytest.mark.usefixtures("quick_retries")
def test_a_planted_key_is_found_in_no_file_after_turns_errors_drafts_and_an_export(
    bench: Workbench, server: ChatServer, explorer_home: Path
) -> None:
    document = bench.open_blocking(bench.import_blocking(SAMPLE).key)

    async def work() -> None:
        for model in MODELS:
            server.plan(Answer(text="yes"))
            assert (await say(document, model)).end != "failed"
            for plan in (HttpFailure(401, ECHOED), StreamFailure(1, ECHOED, "api_error")):
                server.plan(plan)
                assert (await say(document, model)).end == "failed"
            server.plan(HttpFailure(403, ECHOED))
            with pytest.raises(DraftFailed) as failed:
                await document.compaction.summarize(compaction(document), order())
            assert not any(key in str(failed.value) for key in PLANTED)
            assert (await bench.client.test_key(model.split("/")[0], None, CancelToken())).sentence
        await bench.export(document.key, explorer_home / "original.jsonl", "original")
        await bench.export(document.key, explorer_home / "pi.jsonl", "pi-v3")

    asyncio.run(work())
    sent = {headers["authorization"] for headers in server.headers}
    assert sent == {f"Bearer {IN_ENVIRONMENT}", f"Bearer {IN_KEYRING}"}, "the provider had them"
    written = everything_in(explorer_home)
    assert b"Incorrect API key provided: [key]" in written
    for key in PLANTED:
        assert key.encode() not in written
    assert IN_KEYRING not in os.environ.values(), "commands of the agent would read it there"
