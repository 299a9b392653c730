"""litellm really called, against a loopback server: answers, failures, cancel (A43, E12, E19)."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.models.client import (
    Cancelled,
    CancelToken,
    ChatMessage,
    Completion,
    Finished,
    ImagePart,
    ModelClient,
    ModelClientConfig,
    ModelError,
    ModelInfo,
    ModelRequest,
    TextDelta,
    TextPart,
    ToolCall,
    ToolSpec,
    Usage,
    UsageReport,
    complete,
)
from tests.models.server import (
    OVERFLOW,
    RATE_LIMIT,
    Answer,
    ChatServer,
    Cut,
    HttpFailure,
    Malformed,
    Plan,
    Stall,
)

MODEL = "openai/test-model"
ASK = ModelRequest(MODEL, (ChatMessage("user", "hi"),))


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@pytest.fixture(scope="module")
def client(server: ChatServer) -> Iterator[ModelClient]:
    config = ModelClientConfig(
        models=(ModelInfo(MODEL, "test", 8192, 500),),
        api_base=server.url,
        headers={"X-Trace": "seven"},
        timeout_s=20,
        idle_timeout_s=20,
    )
    opened = ModelClient(config)
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def fresh(server: ChatServer) -> None:
    server.gone.clear()
    server.started.clear()
    server.requests.clear()
    server.headers.clear()


def ask(client: ModelClient, request: ModelRequest = ASK) -> Completion:
    return asyncio.run(complete(client, request, CancelToken()))


def failure(client: ModelClient, request: ModelRequest = ASK) -> ModelError:
    with pytest.raises(ModelError) as caught:
        ask(client, request)
    assert client.running == 0
    return caught.value


def test_an_answer_arrives_in_pieces_with_usage_and_finish(
    server: ChatServer, client: ModelClient
) -> None:
    server.plan(Answer(text="one two three four", pieces=6))

    async def collect() -> list[object]:
        return [event async for event in client.stream(ASK, CancelToken())]

    events = asyncio.run(collect())
    pieces = [event.text for event in events if isinstance(event, TextDelta)]
    assert len(pieces) > 2
    assert "".join(pieces) == "one two three four"
    assert events[-2:] == [UsageReport(Usage(11, 7, total=18, source="provider")), Finished("stop")]
    assert server.headers[0]["x-trace"] == "seven"


def test_a_connection_that_is_kept_holds_nothing_of_its_caller(
    server: ChatServer, client: ModelClient
) -> None:
    server.plan(Answer(text="one"))

    async def loop_of_a_call() -> weakref.ref[asyncio.AbstractEventLoop]:
        await complete(client, ASK, CancelToken())
        return weakref.ref(asyncio.get_running_loop())

    loop = asyncio.run(loop_of_a_call())
    # The client's own thread may still be at the end of the call.
    end = time.monotonic() + 20
    while loop() is not None and time.monotonic() < end:
        time.sleep(0.05)
        gc.collect()
    assert loop() is None, "what waited for the answer is gone, while the client goes on"


def test_cached_tokens_are_told_apart_from_input(server: ChatServer, client: ModelClient) -> None:
    """B9: the provider's prompt count includes what came from the cache."""
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 5,
        "total_tokens": 105,
        "prompt_tokens_details": {"cached_tokens": 80},
    }
    server.plan(Answer(usage=usage))
    assert ask(client).usage == Usage(20, 5, cache_read=80, total=105, source="provider")


def test_missing_usage_is_estimated_and_says_so(server: ChatServer, client: ModelClient) -> None:
    """E7: usage that never came must not look like the provider's."""
    server.plan(Answer(usage=None))
    usage = ask(client).usage
    assert usage is not None
    assert usage.source == "estimate"


def test_a_length_stop_and_an_empty_answer_are_reported_as_such(
    server: ChatServer, client: ModelClient
) -> None:
    """B12: the caller rejects these, so it must be able to see them."""
    server.plan(Answer(finish="length"), Answer(text=""))
    assert ask(client).stop_reason == "length"
    empty = ask(client)
    assert (empty.text, empty.stop_reason) == ("", "stop")


def test_tool_calls_are_joined_from_their_pieces(server: ChatServer, client: ModelClient) -> None:
    calls = (("a", "read", '{"path": "x y"}'), ("b", "ls", "{}"))
    server.plan(Answer(text="", finish="tool_calls", tool_calls=calls, thinking="let me look"))
    tools = (ToolSpec("read", "reads", {"type": "object", "properties": {}}),)
    answer = ask(client, ModelRequest(MODEL, ASK.messages, tools=tools, tool_choice="auto"))
    assert answer.tool_calls == (ToolCall("a", "read", {"path": "x y"}), ToolCall("b", "ls", {}))
    assert (answer.thinking, answer.stop_reason) == ("let me look", "tool_calls")
    assert server.requests[0]["tools"][0]["function"]["name"] == "read"
    assert server.requests[0]["tool_choice"] == "auto"
    assert not [name for name in server.requests[0] if name.startswith("_")]


def test_tool_arguments_that_are_no_json_are_the_calls_problem(
    server: ChatServer, client: ModelClient
) -> None:
    server.plan(Answer(text="", finish="tool_calls", tool_calls=(("a", "read", '{"path": '),)))
    (call,) = ask(client).tool_calls
    assert (call.name, call.arguments, call.raw) == ("read", {}, '{"path": ')
    assert "not JSON" in call.problem


@pytest.mark.parametrize("levels", [190, 5_000])
def test_tool_arguments_too_deep_to_be_stored_are_the_calls_problem(
    server: ChatServer, client: ModelClient, levels: int
) -> None:
    """The entry that holds them would be kept aside when it is read again."""
    raw = f'{{"path": {"[" * levels}{"]" * levels}}}'
    server.plan(Answer(text="", finish="tool_calls", tool_calls=(("a", "read", raw),)))
    (call,) = ask(client).tool_calls
    assert (call.name, call.arguments) == ("read", {})
    assert "deep" in call.problem


def test_messages_go_out_whole(server: ChatServer, client: ModelClient) -> None:
    server.plan(Answer())
    messages = (
        ChatMessage("system", "s"),
        ChatMessage("user", (TextPart("look"), ImagePart("image/png", "QUJD"))),
        ChatMessage("assistant", "", (ToolCall("c", "ls", {"path": "."}),)),
        ChatMessage("tool", "a.py", tool_call_id="c"),
    )
    ask(client, ModelRequest(MODEL, messages, temperature=0.0))
    sent = server.requests[0]
    assert sent["messages"][1]["content"][1]["image_url"]["url"] == "data:image/png;base64,QUJD"
    assert sent["messages"][2]["tool_calls"][0]["function"]["arguments"] == '{"path": "."}'
    assert sent["messages"][3]["tool_call_id"] == "c"
    assert sent["temperature"] == 0.0


def test_output_cap_is_clamped_to_the_models_limit_E19(
    server: ChatServer, client: ModelClient
) -> None:
    server.plan(Answer())
    ask(client, ModelRequest(MODEL, ASK.messages, max_output_tokens=13_107))
    ask(client, ModelRequest(MODEL, ASK.messages, max_output_tokens=100))
    assert [sent["max_tokens"] for sent in server.requests] == [500, 100]


@pytest.mark.parametrize(
    ("plan", "kind"),
    [
        (OVERFLOW, "overflow"),
        (HttpFailure(400, "too much text", code="context_length_exceeded"), "overflow"),
        (RATE_LIMIT, "rate_limit"),
        (HttpFailure(401, "who are you"), "auth"),
        (HttpFailure(403, "not for you"), "auth"),
        (HttpFailure(404, "no such model"), "unavailable"),
        (HttpFailure(400, "what is this"), "bad_request"),
        (HttpFailure(500, "broken"), "server"),
        (HttpFailure(503, "busy"), "server"),
        (HttpFailure(500, raw_body="<html>oops</html>"), "server"),
        (Malformed(), "server"),
    ],
)
def test_failures_are_told_apart(
    server: ChatServer, client: ModelClient, plan: Plan, kind: str
) -> None:
    server.plan(plan)
    assert failure(client).kind == kind
    assert len(server.requests) == 1, "the client never repeats a call by itself"


def test_throttling_is_never_an_overflow_E12(server: ChatServer, client: ModelClient) -> None:
    """A 429 whose words speak of context stays a rate limit."""
    words = "This model's maximum context length is 8192 tokens per minute for your tier"
    server.plan(HttpFailure(429, words, code="context_length_exceeded", retry_after="12"))
    error = failure(client)
    assert (error.kind, error.retry_after_s) == ("rate_limit", 12.0)


@pytest.mark.parametrize("plan", [Cut(clean=True), Cut(clean=False), Cut(after=0, clean=True)])
def test_an_answer_that_just_stops_is_an_error(
    server: ChatServer, client: ModelClient, plan: Plan
) -> None:
    server.plan(plan)
    error = failure(client)
    assert error.kind == "network"
    assert "Error" not in error.message and error.message.endswith(".")


def test_a_done_line_without_a_finish_reason_is_no_finished_answer(
    server: ChatServer, client: ModelClient
) -> None:
    server.plan(Answer(finish=None, usage=None))
    assert failure(client).kind == "network"


def test_a_stalled_answer_times_out(server: ChatServer) -> None:
    client = ModelClient(ModelClientConfig(api_base=server.url, idle_timeout_s=0.2))
    server.plan(Stall())
    try:
        assert failure(client).kind == "timeout"
        assert server.gone.wait(5)
    finally:
        client.close()


def test_nobody_at_the_address_is_a_network_error() -> None:
    client = ModelClient(ModelClientConfig(api_base="http://127.0.0.1:9/v1", timeout_s=10))
    try:
        assert failure(client).kind == "network"
    finally:
        client.close()


def test_a_provider_nobody_knows_is_unavailable(client: ModelClient) -> None:
    request = ModelRequest("nobody-knows-this/model", ASK.messages)
    assert failure(client, request).kind in ("unavailable", "bad_request")


def test_keys_never_stand_in_an_error(
    server: ChatServer, client: ModelClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-very-private-value")
    server.plan(HttpFailure(401, "key a-very-private-value or sk-0123456789abcdefgh is wrong"))
    message = failure(client).message
    assert "a-very-private-value" not in message
    assert "0123456789" not in message


def test_cancel_mid_stream_closes_the_connection_and_leaves_nothing(
    server: ChatServer, client: ModelClient
) -> None:
    """A43, E21."""
    server.plan(Stall(after=3))
    token = CancelToken()

    async def run() -> list[str]:
        seen: list[str] = []
        try:
            async for event in client.stream(ASK, token):
                if isinstance(event, TextDelta):
                    seen.append(event.text)
                    token.cancel()
        except Cancelled:
            assert client.running == 0
            return seen
        raise AssertionError("the stream ended without Cancelled")

    assert asyncio.run(run())
    assert server.gone.wait(5), "the connection stayed open"


def test_cancel_before_the_first_byte(server: ChatServer, client: ModelClient) -> None:
    server.plan(Stall(after=0))
    token = CancelToken()

    async def run() -> None:
        task = asyncio.create_task(complete(client, ASK, token))
        await asyncio.to_thread(server.started.wait, 5)
        token.cancel()
        with pytest.raises(Cancelled):
            await task
        assert client.running == 0

    asyncio.run(run())
    assert server.gone.wait(5)


def test_cancelling_the_reading_task_ends_the_call_too(
    server: ChatServer, client: ModelClient
) -> None:
    server.plan(Stall())

    async def run() -> None:
        task = asyncio.create_task(complete(client, ASK, CancelToken()))
        await asyncio.to_thread(server.started.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert client.running == 0

    asyncio.run(run())
    assert server.gone.wait(5)


def test_leaving_the_stream_early_ends_the_call(server: ChatServer, client: ModelClient) -> None:
    server.plan(Stall())

    async def run() -> None:
        events = client.stream(ASK, CancelToken())
        assert isinstance(await anext(events), TextDelta)
        await events.aclose()  # type: ignore[attr-defined]
        assert client.running == 0

    asyncio.run(run())
    assert server.gone.wait(5)


def test_the_client_answers_after_a_cancel_and_on_another_loop(
    server: ChatServer, client: ModelClient
) -> None:
    """E21: a cancel leaves no state behind."""
    server.plan(Stall(), Answer(text="still here"))
    token = CancelToken()

    async def cancelled() -> None:
        async for _ in client.stream(ASK, token):
            token.cancel()

    with pytest.raises(Cancelled):
        asyncio.run(cancelled())
    assert ask(client).text == "still here"


def test_two_answers_at_once(server: ChatServer, client: ModelClient) -> None:
    """A20: the two summaries of a split turn are made concurrently."""
    server.plan(Answer(text="both"))

    async def run() -> list[Completion]:
        return list(await asyncio.gather(*(complete(client, ASK, CancelToken()) for _ in range(2))))

    assert [answer.text for answer in asyncio.run(run())] == ["both", "both"]


def test_elapsed_time_comes_from_the_given_clock(server: ChatServer, client: ModelClient) -> None:
    server.plan(Answer())
    ticks = iter((10.0, 12.5))
    answer = asyncio.run(complete(client, ASK, CancelToken(), clock=lambda: next(ticks)))
    assert answer.elapsed_ms == 2500.0


def test_closing_the_client_ends_what_runs(server: ChatServer) -> None:
    client = ModelClient(ModelClientConfig(api_base=server.url))
    server.plan(Stall())

    async def run() -> None:
        task = asyncio.create_task(complete(client, ASK, CancelToken()))
        await asyncio.to_thread(server.started.wait, 5)
        await asyncio.to_thread(client.close)
        with pytest.raises(Cancelled):
            await task

    asyncio.run(run())
    assert server.gone.wait(5)
    assert failure(client).kind == "unavailable"


def test_content_filter_is_no_answer(server: ChatServer, client: ModelClient) -> None:
    server.plan(Answer(finish="content_filter"))
    assert failure(client).kind == "bad_request"


def test_a_projects_environment_file_is_not_taken_into_this_process(
    repository: Path, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("PYTHONPATH=evil\nOPENAI_BASE_URL=http://127.0.0.1:9/\n")
    script = """
import os, sys
before = dict(os.environ)
sys.frozen = True  # Then such a file is looked for where the program was started.
from explorer.models.provider import import_litellm
import_litellm()
assert {"PYTHONPATH", "OPENAI_BASE_URL"}.isdisjoint(os.environ.keys() - before.keys())
assert os.environ["PYTHONPATH"] == before["PYTHONPATH"]
"""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(repository)}
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, check=True)
