"""Every provider's way to say that a request is too large, over HTTP and through litellm (E12)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from explorer.models.client import (
    CancelToken,
    ChatMessage,
    ModelClient,
    ModelClientConfig,
    ModelError,
    ModelRequest,
    complete,
)
from explorer.models.provider_error import ProviderRefusal, is_overflow, window_in
from tests.models.overflow_replies import OVERFLOW_REPLIES, THROTTLED_REPLIES, OverflowReply
from tests.models.server import ChatServer, HttpFailure, StreamFailure
from tests.models.serving.overflow import model_of, refusal

ASK = (ChatMessage("user", "hi"),)
KEYS = (
    "ANTHROPIC", "OPENAI", "GEMINI", "MISTRAL", "DEEPSEEK", "GROQ", "XAI", "OPENROUTER",
    "TOGETHERAI", "FIREWORKS", "CEREBRAS", "AZURE",
)  # fmt: skip


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
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.setenv(f"{name}_API_KEY", "a-key-for-tests")
    monkeypatch.setenv("AZURE_API_VERSION", "2024-10-21")
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "a-token-for-tests")
    monkeypatch.setenv("AWS_REGION_NAME", "eu-west-1")


def failure(client: ModelClient, model: str) -> ModelError:
    with pytest.raises(ModelError) as caught:
        asyncio.run(complete(client, ModelRequest(model, ASK), CancelToken()))
    return caught.value


def named(row: OverflowReply) -> str:
    return f"{row.provider}-{row.status}-{row.text[:24]}"


@pytest.mark.parametrize("row", OVERFLOW_REPLIES, ids=named)
def test_E12_every_providers_overflow_is_recognised(
    server: ChatServer, client: ModelClient, row: OverflowReply
) -> None:
    server.plan(refusal(row))
    error = failure(client, model_of(row))
    assert error.kind == "overflow"
    assert row.text[:60] in error.message, "told in the provider's own words"
    assert "{" not in error.message and "Error code" not in error.message


@pytest.mark.parametrize("row", THROTTLED_REPLIES, ids=named)
def test_E12_what_is_throttled_is_no_overflow(
    server: ChatServer, client: ModelClient, row: OverflowReply
) -> None:
    server.plan(refusal(row))
    assert failure(client, model_of(row)).kind == "rate_limit"


@pytest.mark.parametrize("row", OVERFLOW_REPLIES, ids=named)
def test_E12_the_same_words_with_429_are_a_rate_limit(
    server: ChatServer, client: ModelClient, row: OverflowReply
) -> None:
    server.plan(refusal(row._replace(status=429)))
    assert failure(client, model_of(row)).kind == "rate_limit"


@pytest.mark.parametrize("status", [400, 413])
def test_E12_cerebras_says_nothing_at_all(
    server: ChatServer, client: ModelClient, status: int
) -> None:
    server.plan(HttpFailure(status, raw_body=""))
    error = failure(client, "cerebras/test-model")
    assert error.kind == "overflow"
    assert error.message == f"The provider refused the request as too large (status {status})."


def test_a_refusal_without_words_is_an_overflow_only_where_it_is_known_to_be(
    server: ChatServer, client: ModelClient
) -> None:
    server.plan(HttpFailure(400, raw_body=""))
    assert failure(client, "openai/test-model").kind == "bad_request"
    server.plan(HttpFailure(413, raw_body=""))
    assert failure(client, "openai/test-model").kind == "overflow"


@pytest.mark.parametrize("model", ["openai/test-model", "anthropic/test-model"])
def test_an_overflow_told_inside_the_stream(
    server: ChatServer, client: ModelClient, model: str
) -> None:
    row = OVERFLOW_REPLIES[2]
    server.plan(StreamFailure(0, row.text, row.error_type, row.code))
    assert failure(client, model).kind == "overflow"


@pytest.mark.parametrize("model", ["openai/test-model", "anthropic/test-model"])
def test_a_failure_inside_the_stream_is_the_providers(
    server: ChatServer, client: ModelClient, model: str
) -> None:
    server.plan(StreamFailure())
    error = failure(client, model)
    assert (error.kind, error.message) == ("server", "Overloaded")


def test_an_account_with_nothing_left_is_not_waited_for(
    server: ChatServer, client: ModelClient
) -> None:
    words = "You exceeded your current quota, please check your plan and billing details."
    server.plan(HttpFailure(429, words, code="insufficient_quota"))
    assert failure(client, "openai/test-model").kind == "auth"


@pytest.mark.parametrize(
    "text",
    [
        "Unsupported value: 'max_tokens' is too large: 64000.",
        "messages: at least one message is required",
        "tools.0.input_schema: maximum depth exceeded",
        "image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes",
        "",
    ],
)
def test_other_refusals_are_none(text: str) -> None:
    refusal = ProviderRefusal(400, "invalid_value", "invalid_request_error", text, answered=True)
    assert not is_overflow(refusal, "openai")


def test_every_reply_says_where_it_was_seen() -> None:
    for row in (*OVERFLOW_REPLIES, *THROTTLED_REPLIES):
        assert row.source.startswith("https://"), row


def test_the_window_is_read_where_a_text_names_it() -> None:
    sizes = {row.text[:20]: window_in(row.text) for row in OVERFLOW_REPLIES}
    assert sizes["prompt is too long: "] == 200_000
    assert sizes["The input token coun"] == 1_048_576
    assert sizes["input length and `ma"] == 200_000
    assert window_in("Current length is 42328 while limit is 40000") == 40_000


def test_llama_cpp_tells_its_window_beside_its_words(
    server: ChatServer, client: ModelClient
) -> None:
    (row, *_) = (each for each in OVERFLOW_REPLIES if each.provider == "llama.cpp")
    server.plan(refusal(row))
    assert window_in(failure(client, model_of(row)).message) == 8192
