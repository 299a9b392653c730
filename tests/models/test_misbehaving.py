"""Servers that misbehave: what arrived stays, one sentence says why it ends, memory stays small."""

from __future__ import annotations

import asyncio
import contextlib
import json
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from explorer.models import reply_guard
from explorer.models.client import (
    CancelToken,
    ChatMessage,
    Event,
    Finished,
    ImagePart,
    ModelClient,
    ModelClientConfig,
    ModelError,
    ModelRequest,
    Silence,
    TextDelta,
    TextPart,
    ToolCallReady,
    UsageReport,
    complete,
)
from explorer.models.reply_guard import ReplyLimits
from tests.models.raw_server import (
    DONE,
    END,
    Play,
    RawServer,
    bomb,
    endless,
    events,
    head,
    message_events,
    redirect,
    reply,
    said,
    silent,
    whole,
)

OPENAI, ANTHROPIC = "openai/test-model", "anthropic/test-model"
BOTH = pytest.mark.parametrize("model", [OPENAI, ANTHROPIC])
SAID = "what arrived "


@pytest.fixture(scope="module")
def server() -> Iterator[RawServer]:
    with RawServer() as running:
        yield running


@pytest.fixture(scope="module")
def client(server: RawServer) -> Iterator[ModelClient]:
    opened = ModelClient(
        ModelClientConfig(
            api_base=server.url,
            idle_timeout_s=5,
            timeout_s=20,
            limits=ReplyLimits(2_000_000, 400_000),
        )
    )
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-key-at-all")


def heard(
    client: ModelClient, server: RawServer, play: Play, model: str = OPENAI
) -> tuple[list[Event], ModelError | None]:
    """The events of a call, and the error that ended it."""
    server.play = play
    server.requests.clear()
    got: list[Event] = []

    async def run() -> None:
        request = ModelRequest(model, (ChatMessage("user", "a secret question"),))
        async for event in client.stream(request, CancelToken()):
            got.append(event)

    try:
        asyncio.run(run())
    except ModelError as error:
        return got, error
    return got, None


def text_of(got: list[Event]) -> str:
    return "".join(event.text for event in got if isinstance(event, TextDelta))


def begun(model: str) -> bytes:
    """The beginning of a reply."""
    if model == OPENAI:
        return events(said(SAID))
    return message_events().partition(b'data: {"type": "content_block_stop"')[0]


def memory_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1_000_000 if sys.platform == "darwin" else 1_000)


@BOTH
def test_a_reply_that_swells_is_cut_and_what_arrived_stays(
    client: ModelClient, server: RawServer, model: str
) -> None:
    heard(client, server, reply(whole()), model)
    before = memory_mb()
    got, error = heard(client, server, bomb(300_000_000, begun(model)), model)
    assert error is not None
    assert "a line of more than 400,000 bytes; the rest was not read." in error.message
    assert text_of(got) == SAID
    assert memory_mb() - before < 100


@BOTH
def test_a_refusal_that_swells_is_read_in_part(
    client: ModelClient, server: RawServer, model: str
) -> None:
    before = memory_mb()
    play = bomb(300_000_000, b'{"error": {"message": "', 400, "application/json")
    _, error = heard(client, server, play, model)
    assert error is not None and error.kind == "bad_request"
    assert len(error.message) < 500
    assert memory_mb() - before < 100


@BOTH
@pytest.mark.parametrize(
    ("piece", "why"),
    [
        (b"a" * 16_384, "a line of more than 400,000 bytes"),
        (b"data: a\n" * 2_000, "one event of it is larger than 400,000 bytes"),
        (b": nothing\n\n" * 2_000, "larger than 2,000,000 bytes"),
    ],
    ids=["line", "event", "comments"],
)
def test_what_never_ends_is_cut(
    client: ModelClient, server: RawServer, model: str, piece: bytes, why: str
) -> None:
    got, error = heard(client, server, endless(piece, begun(model)), model)
    assert error is not None and why in error.message and server.host in error.message
    assert text_of(got) == SAID


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "x\x7f"])
def test_what_was_not_asked_for_is_not_unpacked(
    client: ModelClient, server: RawServer, encoding: str
) -> None:
    play = reply(b"\x00" * 100, 200, "text/event-stream", f"Content-Encoding: {encoding}")
    _, error = heard(client, server, play)
    assert error is not None and error.message.isprintable()
    assert b"accept-encoding: identity" in server.requests[0].lower()


@pytest.mark.parametrize("begin", [b"", head(), head() + events(said(SAID))])
def test_silence_is_reported_and_ends_by_itself(
    server: RawServer, monkeypatch: pytest.MonkeyPatch, begin: bytes
) -> None:
    monkeypatch.setattr(reply_guard, "FIRST_SILENCE_S", 0.2)
    client = ModelClient(ModelClientConfig(api_base=server.url))
    client.use_silence(2.0)
    try:
        got, error = heard(client, server, silent(begin))
    finally:
        client.close()
    assert error is not None and error.kind == "timeout"
    assert error.message == "The server sent no byte for 2 seconds; the call was ended."
    words = [event.sentence for event in got if isinstance(event, Silence)]
    assert words and words[0].endswith("ends after 2 s.")


def test_a_draft_hears_of_a_silence(server: RawServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reply_guard, "FIRST_SILENCE_S", 0.1)
    client = ModelClient(ModelClientConfig(api_base=server.url, idle_timeout_s=0.5))
    server.play = silent(head())
    heard_of: list[str] = []
    request = ModelRequest(OPENAI, (ChatMessage("user", "hi"),))
    try:
        with pytest.raises(ModelError, match="no byte"):
            asyncio.run(complete(client, request, CancelToken(), on_silence=heard_of.append))
    finally:
        client.close()
    assert heard_of and heard_of[0].startswith("No byte for ")


def test_a_trickle_without_end_is_ended(server: RawServer) -> None:
    client = ModelClient(ModelClientConfig(api_base=server.url, idle_timeout_s=5, timeout_s=1.0))
    play = endless(b":\n", events(said(SAID)), every_s=0.05)
    try:
        got, error = heard(client, server, play)
    finally:
        client.close()
    assert error is not None and error.kind == "timeout"
    assert "not complete after 1 seconds" in error.message
    assert text_of(got) == SAID


@BOTH
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(
    client: ModelClient, server: RawServer, model: str, status: int
) -> None:
    with RawServer(reply(whole())) as other:
        to = f"http://me:word@{other.host}/v1/elsewhere?key=hidden"
        _, error = heard(client, server, redirect(to, status), model)
        assert other.requests == []
    assert error is not None and error.kind == "unavailable"
    assert error.message == (
        f"The server at {server.host} redirects to {other.host}, which is not followed."
    )
    assert len(server.requests) == 1


def test_a_refresh_and_a_picture_of_a_reply_are_not_fetched(
    client: ModelClient, server: RawServer
) -> None:
    with RawServer(reply(b"x")) as other:
        body = whole(said(f"![]({other.url}/a.png)"))
        play = reply(body, 200, "text/event-stream", f"Refresh: 0; url={other.url}")
        got, error = heard(client, server, play)
        assert error is None and other.host in text_of(got)
        assert other.requests == []


@BOTH
def test_a_picture_that_is_an_address_is_not_fetched(
    client: ModelClient, server: RawServer, model: str
) -> None:
    with RawServer(reply(b"x")) as other:
        server.play = reply(whole())
        for part in (ImagePart("image/png", other.url), ImagePart(other.url, "QUJD")):
            request = ModelRequest(model, (ChatMessage("user", (TextPart("look"), part)),))
            with contextlib.suppress(ModelError):
                asyncio.run(complete(client, request, CancelToken()))
        assert other.requests == []


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (None, "a chunk of it is null"),
        ([], "a chunk of it is a list"),
        ("x", "a chunk of it is a text"),
        (7, "a chunk of it is a number"),
        (b"{not json", "an event of it is not JSON"),
        (b"[" * 100_000, "an event of it is nested too deep"),
        ({"choices": "x"}, "its list of choices is a text"),
        ({"choices": [None]}, "a choice of it is null"),
        ({"choices": [{"delta": []}]}, "the delta of a chunk is a list"),
        ({"choices": [{"delta": {"content": 7}}]}, "the content of a chunk is a number"),
        ({"choices": [{"delta": {"tool_calls": "x"}}]}, "its list of tool calls is a text"),
        ({"choices": [{"delta": {"tool_calls": [None]}}]}, "a tool call of it is null"),
        ({"choices": [{"delta": {"tool_calls": [{"index": 10**9}]}}]}, "an index that cannot be"),
        ({"choices": [{"delta": {"tool_calls": [{"index": -1}]}}]}, "an index that cannot be"),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_understood_is_told_in_a_sentence(
    client: ModelClient, server: RawServer, value: Any, why: str
) -> None:
    got, error = heard(client, server, reply(whole(value)))
    assert error is not None
    told = f"The server at {server.host} sent a reply that is not understood: "
    assert error.message.startswith(told) and why in error.message
    assert error.kind == "server"
    assert text_of(got) == SAID


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (None, "an event of it is null"),
        ({"type": None}, "the type of an event is null"),
        ({"type": "content_block_delta", "index": 0, "delta": None}, "delta of an event is null"),
        ({"type": "content_block_delta", "index": "x", "delta": {"type": "text_delta"}}, "index"),
        ({"type": "content_block_start", "content_block": 3}, "a block of it is a number"),
        ({"type": "message_start", "message": []}, "the message of it is a list"),
    ],
    ids=str,
)
def test_the_same_in_the_other_language(
    client: ModelClient, server: RawServer, value: Any, why: str
) -> None:
    got, error = heard(client, server, reply(message_events(value)), ANTHROPIC)
    assert error is not None and why in error.message
    assert text_of(got) == SAID


@pytest.mark.parametrize(
    "value",
    [
        {"choices": None},
        {"choices": [{"delta": None}]},
        {"choices": [{"delta": {"content": [{"type": "text", "text": ""}]}}]},
        {"choices": [{"delta": {"role": 5, "audio": 7, "annotations": "x"}}]},
        {"choices": [], "usage": "none", "id": 7, "created": "now", "model": None},
        pytest.param(b'{"choices": [], "created": ' + b"1" * 5_000 + b"}", id="endless number"),
    ],
    ids=str,
)
def test_what_can_be_understood_is(client: ModelClient, server: RawServer, value: Any) -> None:
    got, error = heard(client, server, reply(whole(value)))
    assert error is None
    assert text_of(got) == SAID and isinstance(got[-1], Finished)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"<html>Please log in</html>", "is a web page"),
        (b"hello", "not a stream of events"),
        (b"[]", "not a stream of events"),
        (b'{"error": {"message": "out of coal"}}', "out of coal"),
        (b"event: error\ndata: out of coal\n\n", "out of coal"),
        (b"", "ended before the answer was complete"),
        (b"data: \n\n", "ended before the answer was complete"),
        (b"data: [DONE]\n\n", "ended before the answer was complete"),
    ],
)  # fmt: skip
def test_what_is_no_stream_is_told(
    client: ModelClient, server: RawServer, body: bytes, why: str
) -> None:
    _, error = heard(client, server, reply(body))
    assert error is not None and why in error.message, error


def test_a_whole_reply_where_a_stream_was_asked_for_is_taken(
    client: ModelClient, server: RawServer
) -> None:
    choice = {"message": {"role": "assistant", "content": SAID}, "finish_reason": "stop"}
    body = f'{{"choices": [{json.dumps(choice)}]}}'.encode()
    got, error = heard(client, server, reply(body, 200, "application/json"))
    assert error is None and text_of(got) == SAID


FIGURES = (-1, 1.5, "12", [1], {}, True, 2**53, 2**64, 10**300, 1e308)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: str(figure)[:20])
def test_figures_that_cannot_be_right_are_not_the_providers(
    client: ModelClient, server: RawServer, figure: Any
) -> None:
    usage = {"prompt_tokens": figure, "completion_tokens": 3, "total_tokens": figure}
    got, error = heard(client, server, reply(whole({"choices": [], "usage": usage})))
    (report,) = [event.usage for event in got if isinstance(event, UsageReport)]
    assert error is None and report.source == "estimate"
    assert 0 < report.input < 100 and 0 < report.output < 100

    last = {"type": "message_delta", "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": figure, "input_tokens": 4}}  # fmt: skip
    got, error = heard(client, server, reply(message_events(last)), ANTHROPIC)
    (report,) = [event.usage for event in got if isinstance(event, UsageReport)]
    assert error is None and max(report.input, report.output, report.total) < 100


def test_halves_of_characters_and_zero_bytes_become_signs(
    client: ModelClient, server: RawServer
) -> None:
    call = {"index": 0, "id": "c", "function": {"name": "read", "arguments": r'{"a": "\ud800"}'}}
    body = (
        events(said("a\ud800\x00b")) + b"data: " + b'{"choices": [{"delta": {"content": "\xff"}}]}'
    )
    body += b"\n\n" + events({"choices": [{"delta": {"tool_calls": [call]}}]}, END, DONE)
    got, error = heard(client, server, reply(body))
    assert error is None
    assert text_of(got) == "a\ufffd\ufffdb\ufffd"
    (ready,) = [event.call for event in got if isinstance(event, ToolCallReady)]
    assert ready.arguments == {"a": "\ufffd"}


def test_calls_that_share_an_index_are_two(client: ModelClient, server: RawServer) -> None:
    def call(name: str) -> dict[str, Any]:
        function = {"name": name, "arguments": {"of": name}}
        return {
            "choices": [{"delta": {"tool_calls": [{"index": 0, "id": name, "function": function}]}}]
        }

    got, error = heard(client, server, reply(events(call("read"), call("grep"), END, DONE)))
    calls = [event.call for event in got if isinstance(event, ToolCallReady)]
    assert error is None
    assert [(one.name, one.arguments) for one in calls] == [
        ("read", {"of": "read"}), ("grep", {"of": "grep"}),
    ]  # fmt: skip


def test_the_endpoint_and_a_look_at_a_server_have_the_same_limits(tmp_path: Path) -> None:
    with RawServer(bomb(300_000_000, b'{"data": "', kind="application/json")) as server:
        client = ModelClient(ModelClientConfig(user_models=tmp_path / "own.json"))
        before = memory_mb()
        try:
            with pytest.raises(ModelError, match="4,000,000 bytes"):
                asyncio.run(client.probe_server(server.url, CancelToken()))
            client.use_endpoint(f"http://{server.host}/x")
            _, error = heard(client, server, server.play, "remote/endpoint")
            assert error is not None and "4,000,000 bytes" in error.message
            with RawServer() as other:
                server.play = redirect(f"{other.url}/models")
                with pytest.raises(ModelError, match=f"redirects to {other.host}"):
                    asyncio.run(client.probe_server(server.url, CancelToken()))
                assert other.requests == []
        finally:
            client.close()
        assert memory_mb() - before < 100
