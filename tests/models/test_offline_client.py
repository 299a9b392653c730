"""The offline models through the client: no litellm, any loop, cancel, usage."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.models.client import (
    DEMO,
    EXTRACTIVE,
    Cancelled,
    CancelToken,
    ChatMessage,
    Event,
    Finished,
    ModelClient,
    ModelClientConfig,
    ModelError,
    ModelInfo,
    ModelRequest,
    TextDelta,
    UsageReport,
    complete,
)
from explorer.models.offline.scenario import scenarios
from tests.models.survival import summary_request

TALK = "\n\n".join(
    f"[User]: Module number {index} must never import module {index + 1}, see src/m{index}.py."
    for index in range(400)
)


@pytest.fixture
def client() -> Iterator[ModelClient]:
    opened = ModelClient()
    yield opened
    opened.close()


def test_offline_models_never_import_litellm(repository: Path) -> None:
    script = """
import asyncio, sys
from explorer.models.client import *
client = ModelClient()
async def run():
    for model in (EXTRACTIVE, DEMO):
        request = ModelRequest(model, (ChatMessage("user", "<conversation>\\n[User]: hi there"
            "\\n</conversation>\\nwhat can you do?"),))
        answer = await complete(client, request, CancelToken())
        assert answer.text, model
    assert client.info("gpt-4o").window, "prices and windows are read without the import"
    client.models()
asyncio.run(run())
client.close()
loaded = [name for name in sys.modules if name.split(".")[0] in ("litellm", "openai", "PySide6")]
assert not loaded, loaded
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=repository, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


def test_a_summary_streams_in_small_pieces_and_ends_with_usage(client: ModelClient) -> None:
    async def run() -> list[Event]:
        request = summary_request(TALK, limit=400)
        return [event async for event in client.stream(request, CancelToken())]

    events = asyncio.run(run())
    pieces = [event.text for event in events if isinstance(event, TextDelta)]
    assert len(pieces) > 10
    assert max(map(len, pieces)) <= 64
    report = events[-2]
    assert isinstance(report, UsageReport)
    assert report.usage.source == "estimate"
    assert report.usage.total == report.usage.input + report.usage.output > 0
    assert events[-1] == Finished("stop")


def test_the_same_request_gives_the_same_summary(client: ModelClient) -> None:
    async def run() -> list[str]:
        request = summary_request(TALK, limit=600)
        return [(await complete(client, request, CancelToken())).text for _ in range(2)]

    first, second = asyncio.run(run())
    assert first == second


def test_cancel_mid_stream_leaves_nothing_running(client: ModelClient) -> None:
    token = CancelToken()

    async def run() -> None:
        async for event in client.stream(summary_request(TALK, limit=3000), token):
            if isinstance(event, TextDelta):
                token.cancel()
        raise AssertionError("the stream ended without Cancelled")

    with pytest.raises(Cancelled):
        asyncio.run(run())
    assert client.running == 0


def test_a_cancelled_token_starts_nothing(client: ModelClient) -> None:
    token = CancelToken()
    token.cancel()

    async def run() -> None:
        async for _ in client.stream(summary_request(TALK), token):
            raise AssertionError("an event of a cancelled call")

    with pytest.raises(Cancelled):
        asyncio.run(run())


def test_cancel_while_a_megabyte_is_being_read(client: ModelClient) -> None:
    token = CancelToken()
    big = "\n\n".join(f"{TALK} {index}" for index in range(25))

    async def run() -> None:
        task = asyncio.create_task(complete(client, summary_request(big), token))
        await asyncio.sleep(0.05)
        token.cancel()
        with pytest.raises(Cancelled):
            await task
        assert client.running == 0

    asyncio.run(run())


def test_an_unknown_offline_model_is_unavailable(client: ModelClient) -> None:
    request = ModelRequest("offline/none", (ChatMessage("user", "hi"),))
    with pytest.raises(ModelError) as caught:
        asyncio.run(complete(client, request, CancelToken()))
    assert caught.value.kind == "unavailable"


def test_a_closed_client_says_so() -> None:
    client = ModelClient()
    client.close()
    with pytest.raises(ModelError) as caught:
        asyncio.run(complete(client, summary_request(TALK), CancelToken()))
    assert caught.value.kind == "unavailable"


def test_defaults_send_nothing_away_unasked() -> None:
    plain, chosen = ModelClient(), ModelClient(ModelClientConfig(default="openai/mine"))
    assert plain.default_model() == EXTRACTIVE
    assert chosen.default_model() == "openai/mine"
    plain.close()
    chosen.close()


def test_models_are_those_that_can_be_called(
    client: ModelClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = {scenario.model for scenario in scenarios()}
    assert {info.id for info in client.models()} == {EXTRACTIVE, DEMO} | played
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-real-key")
    ids = {info.id for info in client.models()}
    assert any(name.startswith("anthropic/claude") for name in ids)
    assert not any(name.startswith("openai/") for name in ids)


def test_windows_limits_and_prices_are_known(client: ModelClient) -> None:
    info = client.info("openai/gpt-4o")
    assert (info.window, info.output_limit, info.offline) == (128_000, 16_384, False)
    assert info.input_price is not None
    assert info.output_price is not None
    assert 0 < info.input_price < info.output_price
    unknown = client.info("openai/who-knows")
    assert (unknown.window, unknown.output_limit, unknown.input_price) == (None, None, None)
    assert client.info(EXTRACTIVE).offline


def test_declared_models_come_first() -> None:
    mine = ModelInfo("openai/mine", "My server", 8000, 1000, input_price=0.0, output_price=0.0)
    client = ModelClient(ModelClientConfig(models=(mine,)))
    assert client.info("openai/mine") == mine
    assert mine in client.models()
    client.close()


def test_cancel_callbacks_run_once_and_can_be_taken_back() -> None:
    token, calls = CancelToken(), []
    token.add_callback(lambda: calls.append("kept"))
    token.add_callback(lambda: calls.append("removed"))()
    token.cancel()
    token.cancel()
    token.add_callback(lambda: calls.append("late"))
    assert calls == ["kept", "late"]
    assert token.cancelled
