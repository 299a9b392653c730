"""Thinking levels as they go over the wire, each provider's own way."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from explorer.models.client import (
    CancelToken,
    ChatMessage,
    ModelClient,
    ModelClientConfig,
    ModelRequest,
    Override,
    Server,
    complete,
    levels_of,
)
from explorer.models.request import as_level
from tests.models.server import Answer, ChatServer

GPT5 = "openai/gpt-5"
SONNET = "anthropic/claude-sonnet-4-5"
ADAPTIVE = "anthropic/claude-opus-4-6"


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@pytest.fixture(scope="module")
def client(server: ChatServer) -> Iterator[ModelClient]:
    opened = ModelClient(ModelClientConfig(api_base=server.url, timeout_s=20, idle_timeout_s=20))
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch, server: ChatServer) -> None:
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", "a-key-for-tests")
    server.forget()


def sent(
    client: ModelClient, server: ChatServer, model: str, level: str | None, **more: Any
) -> dict[str, Any]:
    request = ModelRequest(model, (ChatMessage("user", "hi"),), thinking=level, **more)
    asyncio.run(complete(client, request, CancelToken()))
    return server.requests[-1]


@pytest.mark.parametrize("level", ["minimal", "low", "medium", "high"])
def test_openai_is_told_an_effort(client: ModelClient, server: ChatServer, level: str) -> None:
    assert sent(client, server, GPT5, level)["reasoning_effort"] == level


def test_a_level_that_a_model_does_not_take_is_the_next_one(
    client: ModelClient, server: ChatServer
) -> None:
    assert sent(client, server, "openai/o3", "minimal")["reasoning_effort"] == "low"


@pytest.mark.parametrize("model", ["openai/gpt-4o-mini", "openai/nobody-knows-this"])
@pytest.mark.parametrize("level", ["off", "high"])
def test_a_model_that_does_not_reason_is_told_nothing(
    client: ModelClient, server: ChatServer, model: str, level: str
) -> None:
    body = sent(client, server, model, level)
    assert not {"reasoning_effort", "thinking"} & body.keys()


@pytest.mark.parametrize("level", [None, "off"])
def test_off_and_nothing_chosen_ask_for_no_thinking(
    client: ModelClient, server: ChatServer, level: str | None
) -> None:
    assert "thinking" not in sent(client, server, SONNET, level)
    assert "reasoning_effort" not in sent(client, server, GPT5, level)


@pytest.mark.parametrize(
    ("level", "budget"), [("minimal", 1024), ("low", 2048), ("medium", 8192), ("high", 16_384)]
)
def test_anthropic_is_told_a_budget_beside_the_answer(
    client: ModelClient, server: ChatServer, level: str, budget: int
) -> None:
    body = sent(client, server, SONNET, level, max_output_tokens=4000, temperature=0.0)
    assert body["thinking"] == {"type": "enabled", "budget_tokens": budget}
    assert body["max_tokens"] == 4000 + budget
    assert "temperature" not in body, "it takes none with thinking"


def test_a_budget_stays_below_the_output_limit(client: ModelClient, server: ChatServer) -> None:
    client.user_models.set_override(SONNET, Override(output_limit=6000))
    try:
        body = sent(client, server, SONNET, "high", max_output_tokens=4000)
        assert body["max_tokens"] == 6000
        assert body["thinking"]["budget_tokens"] == 6000 - 1024
        client.user_models.set_override(SONNET, Override(output_limit=2000))
        assert "thinking" not in sent(client, server, SONNET, "high", max_output_tokens=1500)
    finally:
        client.user_models.set_override(SONNET, None)


def test_a_model_that_measures_its_thinking_itself_is_told_an_effort(
    client: ModelClient, server: ChatServer
) -> None:
    body = sent(client, server, ADAPTIVE, "low")
    assert body["thinking"]["type"] == "adaptive"
    assert body["output_config"] == {"effort": "low"}


def test_a_server_of_ones_own_is_told_where_the_person_says_that_it_reasons(
    client: ModelClient, server: ChatServer
) -> None:
    client.user_models.save_server(Server("box", server.root))
    try:
        assert "reasoning_effort" not in sent(client, server, "box/qwen", "high")
        client.user_models.set_override("box/qwen", Override(reasoning=True))
        assert sent(client, server, "box/qwen", "high")["reasoning_effort"] == "high"
    finally:
        client.user_models.set_override("box/qwen", None)
        client.user_models.remove_server("box")


def test_signed_thinking_comes_back_whole(client: ModelClient, server: ChatServer) -> None:
    server.plan(Answer(thinking="step by step", text="done", signature="abc"))
    request = ModelRequest(SONNET, (ChatMessage("user", "hi"),), thinking="low")
    answer = asyncio.run(complete(client, request, CancelToken()))
    assert (answer.thinking, answer.text) == ("step by step", "done")


def test_the_levels_that_a_model_has(client: ModelClient) -> None:
    assert levels_of(client.info("openai/gpt-4o-mini")) == ("off",)
    assert levels_of(client.info(SONNET)) == ("off", "minimal", "low", "medium", "high")


@pytest.mark.parametrize(
    ("said", "level"), [("low", "low"), ("xhigh", "high"), ("", None), (None, None), (3, None)]
)
def test_levels_of_other_systems_are_read(said: object, level: str | None) -> None:
    assert as_level(said) == level
