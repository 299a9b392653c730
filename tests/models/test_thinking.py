"""Thinking levels as they go over the wire, each provider's own way."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from explorer.models.client import (
    CancelToken,
    ChatMessage,
    ModelDoor,
    ModelDoorConfig,
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
def door(server: ChatServer) -> Iterator[ModelDoor]:
    opened = ModelDoor(ModelDoorConfig(api_base=server.url, timeout_s=20, idle_timeout_s=20))
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch, server: ChatServer) -> None:
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", "a-key-for-tests")
    server.forget()


def sent(
    door: ModelDoor, server: ChatServer, model: str, level: str | None, **more: Any
) -> dict[str, Any]:
    request = ModelRequest(model, (ChatMessage("user", "hi"),), thinking=level, **more)
    asyncio.run(complete(door, request, CancelToken()))
    return server.requests[-1]


@pytest.mark.parametrize("level", ["minimal", "low", "medium", "high"])
def test_openai_is_told_an_effort(door: ModelDoor, server: ChatServer, level: str) -> None:
    assert sent(door, server, GPT5, level)["reasoning_effort"] == level


def test_a_level_that_a_model_does_not_take_is_the_next_one(
    door: ModelDoor, server: ChatServer
) -> None:
    assert sent(door, server, "openai/o3", "minimal")["reasoning_effort"] == "low"


@pytest.mark.parametrize("model", ["openai/gpt-4o-mini", "openai/nobody-knows-this"])
@pytest.mark.parametrize("level", ["off", "high"])
def test_a_model_that_does_not_reason_is_told_nothing(
    door: ModelDoor, server: ChatServer, model: str, level: str
) -> None:
    body = sent(door, server, model, level)
    assert not {"reasoning_effort", "thinking"} & body.keys()


@pytest.mark.parametrize("level", [None, "off"])
def test_off_and_nothing_chosen_ask_for_no_thinking(
    door: ModelDoor, server: ChatServer, level: str | None
) -> None:
    assert "thinking" not in sent(door, server, SONNET, level)
    assert "reasoning_effort" not in sent(door, server, GPT5, level)


@pytest.mark.parametrize(
    ("level", "budget"), [("minimal", 1024), ("low", 2048), ("medium", 8192), ("high", 16_384)]
)
def test_anthropic_is_told_a_budget_beside_the_answer(
    door: ModelDoor, server: ChatServer, level: str, budget: int
) -> None:
    body = sent(door, server, SONNET, level, max_output_tokens=4000, temperature=0.0)
    assert body["thinking"] == {"type": "enabled", "budget_tokens": budget}
    assert body["max_tokens"] == 4000 + budget
    assert "temperature" not in body, "it takes none with thinking"


def test_a_budget_stays_below_the_output_limit(door: ModelDoor, server: ChatServer) -> None:
    door.own.set_override(SONNET, Override(output_limit=6000))
    try:
        body = sent(door, server, SONNET, "high", max_output_tokens=4000)
        assert body["max_tokens"] == 6000
        assert body["thinking"]["budget_tokens"] == 6000 - 1024
        door.own.set_override(SONNET, Override(output_limit=2000))
        assert "thinking" not in sent(door, server, SONNET, "high", max_output_tokens=1500)
    finally:
        door.own.set_override(SONNET, None)


def test_a_model_that_measures_its_thinking_itself_is_told_an_effort(
    door: ModelDoor, server: ChatServer
) -> None:
    body = sent(door, server, ADAPTIVE, "low")
    assert body["thinking"]["type"] == "adaptive"
    assert body["output_config"] == {"effort": "low"}


def test_a_server_of_ones_own_is_told_where_the_person_says_that_it_reasons(
    door: ModelDoor, server: ChatServer
) -> None:
    door.own.keep_server(Server("box", server.root))
    try:
        assert "reasoning_effort" not in sent(door, server, "box/qwen", "high")
        door.own.set_override("box/qwen", Override(reasoning=True))
        assert sent(door, server, "box/qwen", "high")["reasoning_effort"] == "high"
    finally:
        door.own.set_override("box/qwen", None)
        door.own.drop_server("box")


def test_signed_thinking_comes_back_whole(door: ModelDoor, server: ChatServer) -> None:
    server.plan(Answer(thinking="step by step", text="done", signature="abc"))
    request = ModelRequest(SONNET, (ChatMessage("user", "hi"),), thinking="low")
    answer = asyncio.run(complete(door, request, CancelToken()))
    assert (answer.thinking, answer.text) == ("step by step", "done")


def test_the_levels_that_a_model_has(door: ModelDoor) -> None:
    assert levels_of(door.info("openai/gpt-4o-mini")) == ("off",)
    assert levels_of(door.info(SONNET)) == ("off", "minimal", "low", "medium", "high")


@pytest.mark.parametrize(
    ("said", "level"), [("low", "low"), ("xhigh", "high"), ("", None), (None, None), (3, None)]
)
def test_levels_of_other_systems_are_read(said: object, level: str | None) -> None:
    assert as_level(said) == level
