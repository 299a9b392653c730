"""A loopback server that speaks chat completions as server-sent events, and misbehaves on demand.

    with ChatServer() as server:
        server.plan(Answer(text="hello"), Stall(after=1), HttpFailure(429, retry_after="7"))
        door = ModelDoor(ModelDoorConfig(api_base=server.url))
        ... ask for "openai/test-model" ...
        server.requests[0]["messages"]

Each request takes the next plan; the last one is used again when they run out. Plans can be made
for one model, and the server can have a window of its own, beyond which it refuses as providers do.
"""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """A whole answer; `usage=None` leaves the usage chunk out, `finish=None` the finish reason."""

    text: str = "hello world"
    pieces: int = 4
    finish: str | None = "stop"
    tool_calls: tuple[tuple[str, str, str], ...] = ()  # id, name, JSON arguments
    thinking: str = ""
    usage: dict[str, Any] | None = field(
        default_factory=lambda: {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    )
    done_line: bool = True
    measured: bool = False
    """Report what the request really takes, four characters a token, instead of `usage`."""


@dataclass(frozen=True)
class Stall:
    """Send `after` pieces of text, then nothing until the client goes away."""

    after: int = 1
    text: str = "some words that never end "


@dataclass(frozen=True)
class Cut:
    """Send `after` pieces, then end the connection: `clean` closes as if all were sent."""

    after: int = 1
    clean: bool = True
    text: str = "half an answer"


@dataclass(frozen=True)
class Malformed:
    """A data line in the middle that is not JSON."""

    line: str = '{"choices": [{"delta": '


@dataclass(frozen=True)
class HttpFailure:
    """A status with a body; `retry_after` becomes the header."""

    status: int
    message: str = "no"
    code: str | None = None
    error_type: str | None = None
    retry_after: str | None = None
    raw_body: str | None = None


OVERFLOW = HttpFailure(
    400,
    "This model's maximum context length is 8192 tokens, your messages hold 9000.",
    code="context_length_exceeded",
    error_type="invalid_request_error",
)
RATE_LIMIT = HttpFailure(
    429, "Rate limit reached for requests", code="rate_limit_exceeded", retry_after="7"
)

Plan = Answer | Stall | Cut | Malformed | HttpFailure


class ChatServer:
    """Serves on a free port of 127.0.0.1 while the `with` block lasts."""

    def __init__(self) -> None:
        self._plans: list[Plan] = [Answer()]
        self._of_model: dict[str, list[Plan]] = {}
        self.window: int | None = None
        """Tokens that a request may take, four characters each; None takes any."""
        self._lock = threading.Lock()
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.gone = threading.Event()
        """Set when a client closed its connection while it was being answered."""
        self.started = threading.Event()
        """Set when the first piece of an answer has been sent."""
        self._closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """The base address to give as `api_base`."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def plan(self, *plans: Plan, model: str = "") -> None:
        """What the next requests get, in order; those for `model` (without its provider) only,
        where one is named."""
        with self._lock:
            if model:
                self._of_model[model] = list(plans)
            else:
                self._plans = list(plans)

    def forget(self) -> None:
        """As when it was started."""
        with self._lock:
            self._plans, self._of_model, self.window = [Answer()], {}, None
            self.requests.clear()
            self.headers.clear()
        self.gone.clear()
        self.started.clear()

    def __enter__(self) -> ChatServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)

    def _next(self, body: dict[str, Any]) -> Plan:
        with self._lock:
            if self.window is not None and taken(body) > self.window:
                return OVERFLOW
            plans = self._of_model.get(str(body.get("model")), self._plans)
            plan = plans.pop(0) if len(plans) > 1 else plans[0]
        if isinstance(plan, Answer) and plan.measured:
            read, written = taken(body), len(plan.text) // 4
            usage = {"prompt_tokens": read, "completion_tokens": written}
            return replace(plan, usage=usage | {"total_tokens": read + written})
        return plan

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                """Nothing to the terminal."""

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                asked = json.loads(body)
                server.requests.append(asked)
                server.headers.append(dict(self.headers))
                try:
                    server._play(self, server._next(asked))
                except (BrokenPipeError, ConnectionResetError):
                    server.gone.set()
                self.close_connection = True

        return Handler

    def _play(self, handler: BaseHTTPRequestHandler, plan: Plan) -> None:
        if isinstance(plan, HttpFailure):
            self._fail(handler, plan)
            return
        chunked = isinstance(plan, Cut) and not plan.clean
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        if chunked:
            handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        out = _Lines(handler, chunked)
        if isinstance(plan, Answer):
            self._answer(out, plan)
        elif isinstance(plan, Malformed):
            out.delta({"content": "so far so good"})
            out.data(plan.line)
        elif isinstance(plan, Cut):
            for _ in range(plan.after):
                out.delta({"content": plan.text})
            if chunked:
                handler.connection.shutdown(socket.SHUT_RDWR)
        else:
            for _ in range(plan.after):
                out.delta({"content": plan.text})
                self.started.set()
            self.started.set()
            self._wait_for_client_to_leave(handler.connection)

    def _answer(self, out: _Lines, plan: Answer) -> None:
        if plan.thinking:
            out.delta({"reasoning_content": plan.thinking})
        size = max(1, -(-len(plan.text) // plan.pieces))
        for start in range(0, len(plan.text), size):
            out.delta({"content": plan.text[start : start + size]})
            self.started.set()
        for index, (call_id, name, arguments) in enumerate(plan.tool_calls):
            head, tail = arguments[: len(arguments) // 2], arguments[len(arguments) // 2 :]
            function = {"name": name, "arguments": head}
            out.delta(
                {
                    "tool_calls": [
                        {"index": index, "id": call_id, "type": "function", "function": function}
                    ]
                }
            )
            out.delta({"tool_calls": [{"index": index, "function": {"arguments": tail}}]})
        if plan.finish is not None:
            out.delta({}, plan.finish)
        if plan.usage is not None:
            out.data(json.dumps({**_chunk(), "choices": [], "usage": plan.usage}))
        if plan.done_line:
            out.data("[DONE]")

    def _fail(self, handler: BaseHTTPRequestHandler, plan: HttpFailure) -> None:
        error = {"message": plan.message, "type": plan.error_type, "code": plan.code}
        body = (plan.raw_body or json.dumps({"error": error})).encode()
        handler.send_response(plan.status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        if plan.retry_after is not None:
            handler.send_header("Retry-After", plan.retry_after)
        handler.end_headers()
        handler.wfile.write(body)

    def _wait_for_client_to_leave(self, connection: socket.socket) -> None:
        while not self._closing.is_set():
            readable, _, _ = select.select([connection], [], [], 0.02)
            if readable and connection.recv(1, socket.MSG_PEEK) == b"":
                self.gone.set()
                return


class _Lines:
    def __init__(self, handler: BaseHTTPRequestHandler, chunked: bool) -> None:
        self._out = handler.wfile
        self._chunked = chunked

    def data(self, text: str) -> None:
        line = f"data: {text}\n\n".encode()
        if self._chunked:
            line = f"{len(line):x}\r\n".encode() + line + b"\r\n"
        self._out.write(line)
        self._out.flush()

    def delta(self, delta: dict[str, Any], finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        self.data(json.dumps({**_chunk(), "choices": [choice]}))


def taken(body: dict[str, Any]) -> int:
    """Tokens that the messages of a request take: four characters each."""
    return len(json.dumps(body["messages"], ensure_ascii=False)) // 4


def _chunk() -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": "test-model",
    }
