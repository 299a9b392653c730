"""Anthropic's stream, which litellm reads in another way than OpenAI's; and wrong order in both."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from explorer.models.client import (
    CancelToken,
    ChatMessage,
    Completion,
    ModelClient,
    ModelClientConfig,
    ModelError,
    ModelRequest,
    TextDelta,
    ThinkingPart,
    ThinkingSigned,
    ToolCall,
    ToolSpec,
    Usage,
    complete,
)
from tests.models.server import (
    OVERLOADED,
    RATE_LIMIT,
    SERVER_ERROR,
    Answer,
    ChatServer,
    Cut,
    Malformed,
    Plan,
    Stall,
    WrongOrder,
    calls,
    huge_call,
    ten_calls,
)

ANTHROPIC = "anthropic/test-model"
OPENAI = "openai/test-model"
BOTH = pytest.mark.parametrize("model", [ANTHROPIC, OPENAI])
ASK = (ChatMessage("user", "hi"),)


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
def fresh(monkeypatch: pytest.MonkeyPatch, server: ChatServer) -> None:
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", "a-key-for-tests")
    server.forget()


def ask(client: ModelClient, model: str = ANTHROPIC) -> Completion:
    return asyncio.run(complete(client, ModelRequest(model, ASK), CancelToken()))


def failure(client: ModelClient, model: str = ANTHROPIC) -> ModelError:
    with pytest.raises(ModelError) as caught:
        ask(client, model)
    assert client.running == 0
    return caught.value


def test_text_thinking_usage_and_end(server: ChatServer, client: ModelClient) -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 5,
        "total_tokens": 105,
        "prompt_tokens_details": {"cached_tokens": 60},
        "cache_creation_input_tokens": 30,
    }
    server.plan(Answer(text="one two three four", thinking="let me see", usage=usage))
    answer = ask(client)
    assert (answer.text, answer.thinking) == ("one two three four", "let me see")
    assert answer.usage == Usage(10, 5, cache_read=60, cache_write=30, total=105)
    assert server.paths[0].endswith("/messages")
    assert server.headers[0]["x-api-key"] == "a-key-for-tests"


def test_the_signature_of_thinking_comes_with_it(server: ChatServer, client: ModelClient) -> None:
    server.plan(Answer(thinking="let me see", signature="signed"))

    async def collect() -> list[object]:
        return [event async for event in client.stream(ModelRequest(ANTHROPIC, ASK), CancelToken())]

    events = asyncio.run(collect())
    assert ThinkingSigned("signed") in events
    assert any(isinstance(event, TextDelta) for event in events)


def test_thinking_goes_back_with_its_signature(server: ChatServer, client: ModelClient) -> None:
    messages = (
        *ASK,
        ChatMessage(
            "assistant", "", (ToolCall("c1", "ls", {}),), thinking=ThinkingPart("let me", "signed")
        ),
        ChatMessage("tool", "a.py", tool_call_id="c1"),
    )
    tools = (ToolSpec("ls", "lists", {"type": "object", "properties": {}}),)
    request = ModelRequest(ANTHROPIC, messages, tools=tools)
    asyncio.run(complete(client, request, CancelToken()))
    content = server.requests[0]["messages"][1]["content"]
    assert content[0] == {"type": "thinking", "thinking": "let me", "signature": "signed"}
    assert content[1]["type"] == "tool_use"


@BOTH
def test_usage_that_never_came_is_no_providers(
    server: ChatServer, client: ModelClient, model: str
) -> None:
    server.plan(Answer(usage=None))
    usage = ask(client, model).usage
    assert usage is not None and usage.source == "estimate"


@BOTH
def test_ten_calls_and_a_megabyte_arrive_whole(
    server: ChatServer, client: ModelClient, model: str
) -> None:
    server.plan(ten_calls())
    paths = [call.arguments["path"] for call in ask(client, model).tool_calls]
    assert paths == [f"src/module_{number}.py" for number in range(10)]
    server.plan(huge_call())
    (call,) = ask(client, model).tool_calls
    assert len(call.arguments["content"]) == 1_000_000


@BOTH
@pytest.mark.parametrize(
    ("plan", "kind"),
    [
        (SERVER_ERROR, "server"),
        (OVERLOADED, "server"),
        (Cut(clean=True), "network"),
        (Cut(clean=False), "network"),
        (Cut(in_call=True), "network"),
        (Cut(in_call=True, clean=False), "network"),
        (Answer(finish=None, usage=None), "network"),
        (Answer(finish="content_filter"), "bad_request"),
    ],
)
def test_what_goes_wrong_is_told_in_words(
    server: ChatServer, client: ModelClient, model: str, plan: Plan, kind: str
) -> None:
    server.plan(plan)
    error = failure(client, model)
    assert error.kind == kind
    assert "{" not in error.message and "litellm" not in error.message
    assert len(server.requests) == 1, "the client never repeats a call by itself"


@BOTH
def test_what_is_not_json_in_the_middle_is_no_answer(
    server: ChatServer, client: ModelClient, model: str
) -> None:
    server.plan(Malformed())
    error = failure(client, model)
    assert error.kind in ("server", "network")
    assert error.message.startswith(("The server at 127.0.0.1", "The connection ended"))


def test_a_rate_limit_says_how_long_to_wait(server: ChatServer, client: ModelClient) -> None:
    server.plan(RATE_LIMIT)
    error = failure(client)
    assert (error.kind, error.retry_after_s) == ("rate_limit", 7.0)
    assert error.sentence == "Rate limit reached for requests. The provider asks to wait 7 seconds."


@BOTH
@pytest.mark.parametrize("plan", [Stall(silent=True), Stall(after=0), Stall(in_call=True)])
def test_silence_ends_by_itself(server: ChatServer, model: str, plan: Plan) -> None:
    client = ModelClient(ModelClientConfig(api_base=server.url, timeout_s=0.5, idle_timeout_s=0.3))
    server.plan(plan)
    try:
        assert failure(client, model).kind == "timeout"
        assert server.gone.wait(5)
    finally:
        client.close()


def test_a_slow_answer_is_no_stall(server: ChatServer) -> None:
    """Each piece comes in time, all of them together do not."""
    client = ModelClient(ModelClientConfig(api_base=server.url, timeout_s=20, idle_timeout_s=0.5))
    server.plan(Answer(text="word " * 10, pieces=10, per_second=10))
    try:
        assert ask(client, OPENAI).text == "word " * 10
    finally:
        client.close()


# wrong order --------------------------------------------------------------------------------------

WHOLE = (
    ToolCall("call-a", "read", {"path": "src/a.py", "limit": 40}),
    ToolCall("call-b", "grep", {"pattern": "retry", "path": "src"}),
)


@pytest.mark.parametrize(
    "plan",
    [
        WrongOrder("arguments-first"),
        WrongOrder("interleaved"),
        WrongOrder("finish-early"),
        WrongOrder("usage-first"),
    ],
)
def test_completions_in_wrong_order_are_put_together(
    server: ChatServer, client: ModelClient, plan: WrongOrder
) -> None:
    server.plan(plan)
    answer = ask(client, OPENAI)
    assert answer.tool_calls == WHOLE
    assert answer.usage is not None and answer.usage.total == 18


@pytest.mark.parametrize("order", ["arguments-first", "interleaved", "finish-early"])
def test_messages_in_wrong_order_never_run_a_call_with_half_its_arguments(
    server: ChatServer, client: ModelClient, order: str
) -> None:
    """What belongs to one call may be read as another's: no damaged call looks sound."""
    server.plan(WrongOrder(order))  # type: ignore[arg-type]
    answer = ask(client)
    assert answer.stop_reason == "tool_calls"
    sound = [call for call in answer.tool_calls if not call.problem]
    assert all(call in WHOLE for call in sound)
    assert len(sound) < 2 and len(answer.tool_calls) == 2


def test_messages_that_end_before_they_say_anything_are_empty(
    server: ChatServer, client: ModelClient
) -> None:
    """litellm takes the count for the end; whoever asked sees that nothing was said."""
    server.plan(WrongOrder("usage-first"))
    answer = ask(client)
    assert (answer.text, answer.tool_calls) == ("", ())


def test_a_call_without_arguments_is_whole(server: ChatServer, client: ModelClient) -> None:
    for model in (ANTHROPIC, OPENAI):
        server.plan(calls(("ls", {}), ("pwd", {})))
        assert [call.problem for call in ask(client, model).tool_calls] == ["", ""]
