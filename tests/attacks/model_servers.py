"""A model server that misbehaves: in its bytes, its frames, its JSON and its manners.

Whatever it does, a turn ends with one sentence, what arrived is stored, memory stays small, and no
other server is asked.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import resource
import socket
import struct
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from explorer.agent.loop import TurnLimits
from explorer.agent.turn_interface import TurnEvent, TurnResult
from explorer.models.client import (
    Cancelled,
    CancelToken,
    ChatMessage,
    ModelClient,
    ModelClientConfig,
    ModelError,
    ModelRequest,
    UsageReport,
    complete,
)
from explorer.models.reply_guard import ReplyLimits
from explorer.models.retry import RetryPolicy
from explorer.services.agent_turns import SessionTurns
from explorer.store import Store
from explorer.workbench import Workbench
from tests.attacks.attack import Attack
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
)

CALLS = 5
"""Calls to the server in one round."""
PATIENCE_S = 20.0
"""No call takes as long: the limits below are a tenth of it."""
MOST_GROWTH_MB = 300
_MOST_SENTENCE = 500
_RAW = re.compile(
    r"Traceback|NoneType|pydantic|validation error|object has no attribute| at 0x|\.py\b|litellm\.",
    re.IGNORECASE,
)
_MODELS = ("openai/test-model", "anthropic/test-model")
_TELL = [
    None, [], {}, "", "x", 0, -1, 1.5, True, [None], [[]], {"a": None}, "\ud800", "\x00", "\x1b[2J",
    10**9, 2**31, 2**53, 2**63, 2**64, 10**30, 1e308, "7", [1, 2], {"text": 5}, "a" * 10_000,
]  # fmt: skip
_JSON = (
    b"null", b"[]", b"7", b'"x"', b"NaN", b"[NaN]", b'{"choices": Infinity}', b"{", b"", b" ",
    b"[" * 50_000, b'{"a":' * 3_000, b"1" * 6_000, b'{"choices": ' + b"9" * 5_000 + b"}",
    b'"\\ud800"', b'{"choices": [{"delta": {"content": "\\ud83d"}}]}', b"\xff\xfe", b"\x00",
    b'{"error": null}', b'{"error": []}', b'{"error": {"message": null}}', b'{"error": 5}',
    b'{"error": {"message": {"a": 1}, "code": []}}', b"[DONE", b"[DONE]",
)  # fmt: skip
_STATUS = (200, 200, 200, 200, 201, 204, 205, 206, 304, 400, 401, 404, 418, 429, 500, 503, 599, 700)
_KINDS = ("text/event-stream", "application/json", "text/html", "image/png", "", "\xff")
_ENCODINGS = ("gzip", "deflate", "br", "zstd", "gzip, gzip", "identity", "compress", "\x7f")


def run(random: Random, folder: Path) -> Iterator[str]:
    """One round: a few calls, each to a server that misbehaves in another way."""
    os.environ.setdefault("ANTHROPIC_API_KEY", "an-attack-needs-none")
    before = _peak_mb()
    with (
        RawServer() as server,
        RawServer(reply(_good("openai"))) as other,
        Store.open(folder / "sessions.db") as store,
    ):
        for _ in range(CALLS):
            name, play = _misbehaviour(random, other.host)
            server.play = play
            way = random.choice((*_MODELS, *_MODELS, "remote/endpoint", "look"))
            for problem in _asked(way, server, store, folder):
                yield f"{way}, {name}: {problem}"
            if other.requests:
                yield f"{way}, {name}: another server was asked"
                other.requests.clear()
    if _peak_mb() - before > MOST_GROWTH_MB:
        yield f"{_peak_mb() - before:.0f} MB more were taken"


@cache
def _client() -> ModelClient:
    """One for all rounds: litellm takes seconds to import."""
    limits = ReplyLimits(2_000_000, 300_000)
    return ModelClient(ModelClientConfig(idle_timeout_s=0.5, timeout_s=2.0, limits=limits))


def _asked(way: str, server: RawServer, store: Store, folder: Path) -> list[str]:
    """What went wrong with one call."""
    client = _client()
    client.use_api_base(server.url)
    client.use_endpoint(f"http://{server.host}/compact")
    found: list[str] = []

    async def call() -> None:
        async with asyncio.timeout(PATIENCE_S):
            if way == "look":
                await client.probe_server(server.url, CancelToken())
            elif way == "remote/endpoint":
                request = ModelRequest(way, (ChatMessage("user", "hi"),))
                token = CancelToken()
                asyncio.get_running_loop().call_later(3, token.cancel)
                await complete(client, request, token)
            else:
                found.extend(await _turn(client, store, folder, way))

    async def outcome() -> BaseException | None:
        (ended,) = await asyncio.gather(call(), return_exceptions=True)
        return ended

    error = asyncio.run(outcome())
    if isinstance(error, ModelError):
        found.extend(_wrong_words(error.sentence))
    elif isinstance(error, TimeoutError):
        found.append(f"no end after {PATIENCE_S:g} s")
    elif error is not None and not isinstance(error, Cancelled):
        found.append(f"{type(error).__name__}: {str(error)[:300]}")
    return found


async def _turn(client: ModelClient, store: Store, folder: Path, model: str) -> list[str]:
    """A turn of the agent in a session of its own, as it is stored."""
    bench = Workbench(store, client)
    document = await bench.create(folder, "attacked")
    seen: list[TurnEvent] = []
    result: TurnResult = await SessionTurns(
        document, model, None, CancelToken(), seen.append, None, RetryPolicy(tries=1),
        limits=TurnLimits(rounds=1), date="2026-01-01",
    ).say("Go.")  # fmt: skip
    found = _wrong_words(result.error)
    for event in seen:
        if isinstance(event, UsageReport):
            usage = event.usage
            figures = (usage.input, usage.output, usage.cache_read, usage.cache_write, usage.total)
            if not all(type(one) is int and 0 <= one <= 2**53 for one in figures):
                found.append(f"usage {figures}")
    loaded = store.load(document.key)
    entries = [json.loads(loaded.payloads.raw(at)) for at in range(len(loaded.tree))]
    json.dumps(entries, allow_nan=False, ensure_ascii=False).encode("utf-8")
    return found


def _wrong_words(text: str) -> list[str]:
    """Why a sentence is not one for a person."""
    if len(text) > _MOST_SENTENCE:
        return [f"{len(text)} characters: {text[:200]!r}"]
    if found := _RAW.search(text):
        return [f"the words {found[0]!r} in {text!r}"]
    if not text.isprintable():
        return [f"signs that control a terminal in {text!r}"]
    return []


def _peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1_000_000 if sys.platform == "darwin" else 1_000)


# misbehaviours ------------------------------------------------------------------------------------


def _good(language: str) -> bytes:
    if language == "openai":
        call = {"index": 0, "id": "c", "function": {"name": "read", "arguments": '{"path": "a"}'}}
        usage = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8,
                 "prompt_tokens_details": {"cached_tokens": 1}}  # fmt: skip
        calls = {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}
        return events(said("Hello "), said("you."), calls, END,
                      {"choices": [], "usage": usage}, DONE)  # fmt: skip
    use = {"type": "tool_use", "id": "t", "name": "read", "input": {}}
    return message_events(
        {"type": "content_block_start", "index": 1, "content_block": use},
        {"type": "content_block_delta", "index": 1,
         "delta": {"type": "input_json_delta", "partial_json": "{}"}},
        {"type": "content_block_start", "index": 2,
         "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
        {"type": "content_block_delta", "index": 2,
         "delta": {"type": "signature_delta", "signature": "s"}},
    )  # fmt: skip


def _page(random: Random) -> bytes:
    """What the endpoint and the list of models answer, for whoever asks."""
    return json.dumps(
        {"data": [{"id": random.choice(("m", "x" * 999)), "max_model_len": 5}], "summary": "s",
         "models": [{"name": "m", "context_length": 9}],
         "default_generation_settings": {"n_ctx": 7}}
    ).encode()  # fmt: skip


def _body(random: Random) -> bytes:
    """A body in some language with something wrong in it."""
    body = random.choice((_good("openai"), _good("anthropic"), _page(random)))
    for _ in range(random.randint(0, 3)):
        body = random.choice((_values_changed, _values_changed, _line_changed, _bytes_changed))(
            random, body
        )
    return body


def _values_changed(random: Random, body: bytes) -> bytes:
    """One value of one event is another."""
    lines = body.split(b"\n")
    at = random.randrange(len(lines))
    begin, brace, _ = lines[at].partition(b"{")
    try:
        value = json.loads(lines[at][len(begin) :]) if brace else None
    except (ValueError, RecursionError):  # an earlier change made it hostile
        return body
    if isinstance(value, dict):
        lines[at] = begin + json.dumps(_changed(random, value)).encode()
    return b"\n".join(lines)


def _changed(random: Random, value: Any) -> Any:
    if isinstance(value, dict) and value and random.random() < 0.85:
        name = random.choice(list(value))
        return value | {name: _changed(random, value[name])}
    if isinstance(value, list) and value and random.random() < 0.85:
        at = random.randrange(len(value))
        return [*value[:at], _changed(random, value[at]), *value[at + 1 :]]
    return random.choice(_TELL)


def _line_changed(random: Random, body: bytes) -> bytes:
    lines = body.split(b"\n")
    at = random.randrange(len(lines))
    new = b"data: " + random.choice(_JSON)
    wrong = (new, b"event: error", b"", lines[at] + lines[at], b"data", b"id: \x00", b"retry: 1e9",
             new + b"\n", b"\r", random.choice(_JSON))  # fmt: skip
    lines[at] = random.choice(wrong)
    return b"\n".join(lines)


def _bytes_changed(random: Random, body: bytes) -> bytes:
    at = random.randrange(len(body) + 1)
    until = min(len(body), at + random.choice((0, 1, 30, len(body))))
    return body[:at] + random.randbytes(random.choice((0, 1, 40))) + body[until:]


def _misbehaviour(random: Random, other: str) -> tuple[str, Play]:
    make: Callable[[Random, str], Play] = random.choice(_MANNERS)
    return make.__name__.strip("_"), make(random, other)


def _wrong_body(random: Random, _other: str) -> Play:
    return reply(_body(random))


def _wrong_head(random: Random, other: str) -> Play:
    lines = random.sample(
        (
            f"Location: http://{other}/v1", f"Refresh: 0; url=http://{other}/",
            "Content-Length: 5", "Content-Length: 99999999", "Content-Length: -1",
            f"Content-Encoding: {random.choice(_ENCODINGS)}", "Retry-After: inf", "Retry-After: -9",
            f"Link: <http://{other}/>; rel=preload", "Transfer-Encoding: chunked",
            "X: " + "a" * random.choice((10, 70_000)), "Retry-After: nan", "no colon here",
        ),
        random.randint(1, 2),
    )  # fmt: skip
    begin = head(random.choice(_STATUS), random.choice(_KINDS), *lines)
    body = _body(random)
    return lambda connection, _ended: connection.sendall(begin + body)


def _packed(random: Random, _other: str) -> Play:
    body = _body(random)
    packed = random.choice(
        (zlib.compress(body), zlib.compress(body)[2:-4], body, zlib.compress(zlib.compress(body)))
    )
    encoding = random.choice(_ENCODINGS)
    return reply(packed, random.choice((200, 400)), _KINDS[0], f"Content-Encoding: {encoding}")


def _chunked(random: Random, _other: str) -> Play:
    body, end = (
        _body(random),
        random.choice((b"0\r\n\r\n", b"", b"zz\r\n", b"ffffffffffffffff\r\n")),
    )
    size = random.choice((len(body), 3, -1, 10**20))
    begin = head(200, _KINDS[0], "Transfer-Encoding: chunked")
    data = f"{size:x}\r\n".encode() + body + b"\r\n" + end
    return lambda connection, _ended: connection.sendall(begin + data)


def _reset(random: Random, _other: str) -> Play:
    body = _body(random)
    sent = head() + body[: random.randrange(len(body) + 1)]

    def play(connection: socket.socket, _ended: threading.Event) -> None:
        connection.sendall(sent[: random.choice((0, 10, len(sent)))])
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return play


def _continues(random: Random, _other: str) -> Play:
    status = random.choice((100, 101, 102, 103, 199))
    again = f"HTTP/1.1 {status} Wait\r\n\r\n".encode() * random.choice((1, 50))
    return lambda connection, _ended: connection.sendall(again + head() + _good("openai"))


def _no_http(random: Random, _other: str) -> Play:
    data = random.choice(
        (b"", b"\r\n", b"SSH-2.0-x\r\n", b"HTTP/9.9 abc\r\n\r\n", random.randbytes(99))
    )
    return lambda connection, _ended: connection.sendall(data)


def _refusal(random: Random, _other: str) -> Play:
    return reply(_body(random), random.choice((400, 401, 404, 429, 500)), random.choice(_KINDS))


def _redirect(random: Random, other: str) -> Play:
    to = (f"http://{other}/v1?key=x", f"//{other}/", "/v1", "http://[", "http://a\x1b[2J/", "")
    return redirect(random.choice(to), random.choice((300, 301, 302, 303, 307, 308)))


def _large(random: Random, _other: str) -> Play:
    begin = random.choice((_good("openai")[:300], b"", b'{"data": "', b"{"))
    return bomb(400_000_000, begin, random.choice((200, 400)), random.choice(_KINDS[:3]))


def _endless(random: Random, _other: str) -> Play:
    good = _good("openai")
    pieces = (b"a" * 16_000, b"data: a\n" * 2_000, b":\n\n" * 5_000, b"[" * 16_000,
              events(said("word ")) * 50, b"\r" * 9_000, b"\x00" * 16_000)  # fmt: skip
    return endless(random.choice(pieces), random.choice((good[:300], b"", b'{"data": [')))


def _slow(random: Random, _other: str) -> Play:
    if random.random() < 0.5:
        return silent(random.choice((b"", b"HTTP/1.1 200", head(), head() + _good("openai")[:300])))
    return endless(random.choice((b":\n", b"a", events(said("w")))), every_s=0.1)


_MANNERS = (
    *(_wrong_body,) * 8, *(_wrong_head,) * 3, _packed, _chunked, _reset, _continues, _no_http,
    _refusal, _refusal, _redirect, _large, _endless, _slow,
)  # fmt: skip

MODEL_SERVERS = Attack("model-servers", run, 3)
