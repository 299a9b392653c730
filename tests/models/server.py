"""A loopback provider that speaks chat completions and Anthropic's messages as server-sent
events, and misbehaves on demand.

    with ChatServer() as server:
        server.plan(Answer(text="hello"), Stall(after=1), HttpFailure(429, retry_after="7"))
        client = ModelClient(ModelClientConfig(api_base=server.url))
        ... ask for "openai/test-model", or "anthropic/test-model" ...
        server.requests[0]["messages"]

Each request takes the next plan; the last one is used again when they run out. Plans can be made
for one model, and the server can have a window of its own, beyond which it refuses as providers do.
Which of the two languages it answers in, the path of the request decides. The plans are in
``tests/models/serving/plans.py``.
"""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from msgspec.structs import replace

from tests.models.serving import completions, messages
from tests.models.serving.lines import EventLines
from tests.models.serving.plans import (
    OVERFLOW,
    OVERLOADED,
    RATE_LIMIT,
    SERVER_ERROR,
    Answer,
    Cut,
    HttpFailure,
    Malformed,
    Plan,
    SimplePlan,
    Stall,
    StreamFailure,
    WrongOrder,
    calls,
    huge_call,
    ten_calls,
)
from tests.models.serving.speaking import (
    Spelling,
    say_answer,
    say_failure,
    say_half,
    say_in_wrong_order,
    say_malformed,
)

__all__ = [
    "OVERFLOW",
    "OVERLOADED",
    "RATE_LIMIT",
    "SERVER_ERROR",
    "Answer",
    "ChatServer",
    "Cut",
    "HttpFailure",
    "Malformed",
    "Plan",
    "SimplePlan",
    "Stall",
    "StreamFailure",
    "WrongOrder",
    "calls",
    "huge_call",
    "taken",
    "ten_calls",
]

Page = object | Callable[[dict[str, Any]], object]
"""A JSON value, or a function that makes one from the JSON that was posted."""


class ChatServer:
    """Serves on a free port of 127.0.0.1 while the `with` block lasts."""

    def __init__(self) -> None:
        self._plans: list[Plan] = [Answer()]
        self._of_model: dict[str, list[Plan]] = {}
        self.window: int | None = None
        """Tokens that a request may take, four characters each; None takes any."""
        self.pages: dict[str, Page] = {}
        """By path (``/v1/models``): what is answered to GET, and to POST, as JSON. All other paths
        that are got are 404."""
        self.asked_for: list[str] = []
        """The paths that were got."""
        self._lock = threading.Lock()
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
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
        """The base address to give as `api_base`, for either language."""
        return f"{self.root}/v1"

    @property
    def root(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

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
            for kept in (self.requests, self.headers, self.paths, self.asked_for, self.pages):
                kept.clear()
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

    def _next(self, body: dict[str, Any]) -> SimplePlan:
        with self._lock:
            if self.window is not None and taken(body) > self.window:
                return OVERFLOW
            plans = self._of_model.get(str(body.get("model")), self._plans)
            chosen = plans.pop(0) if len(plans) > 1 else plans[0]
        plan = chosen(body) if callable(chosen) else chosen
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

            def do_GET(self) -> None:
                server.asked_for.append(self.path)
                self._guarded(lambda: server._page(self, server.pages.get(self.path), {}))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                asked = json.loads(body)
                if self.path in server.pages:
                    self._guarded(lambda: server._page(self, server.pages[self.path], asked))
                    return
                server.requests.append(asked)
                server.headers.append(dict(self.headers))
                server.paths.append(self.path)
                self._guarded(lambda: server._play(self, server._next(asked), asked))

            def _guarded(self, work: Callable[[], None]) -> None:
                try:
                    work()
                except (BrokenPipeError, ConnectionResetError):
                    server.gone.set()
                self.close_connection = True

        return Handler

    def _page(self, handler: BaseHTTPRequestHandler, page: Page, asked: dict[str, Any]) -> None:
        value = page(asked) if callable(page) else page
        if isinstance(value, Stall):
            self._wait_for_client_to_leave(handler.connection)
        elif isinstance(value, HttpFailure):
            self._fail(handler, value)
        elif value is None:
            self._fail(handler, HttpFailure(404, "not found"))
        else:
            _send(handler, 200, json.dumps(value), {})

    def _play(
        self, handler: BaseHTTPRequestHandler, plan: SimplePlan, asked: dict[str, Any]
    ) -> None:
        if isinstance(plan, HttpFailure):
            self._fail(handler, plan)
            return
        if isinstance(plan, Stall) and plan.silent:
            self.started.set()
            self._wait_for_client_to_leave(handler.connection)
            return
        chunked = isinstance(plan, Cut) and not plan.clean
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        if chunked:
            handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        lines, model = EventLines(handler, chunked), str(asked.get("model"))
        out: Spelling = (
            messages.MessageStream(lines, model)
            if speaks_messages(handler.path)
            else completions.CompletionStream(lines, model)
        )
        self._say(handler, out, plan, chunked)

    def _say(
        self, handler: BaseHTTPRequestHandler, out: Spelling, plan: SimplePlan, chunked: bool
    ) -> None:
        if isinstance(plan, Answer):
            say_answer(out, plan, self._pace(plan.per_second))
        elif isinstance(plan, Malformed):
            say_malformed(out, plan)
        elif isinstance(plan, WrongOrder):
            say_in_wrong_order(out, plan, self.started.set)
        elif isinstance(plan, StreamFailure):
            say_failure(out, plan, self.started.set)
        elif isinstance(plan, Cut):
            say_half(out, plan.after, plan.text, plan.in_call, self.started.set)
            if chunked:
                handler.connection.shutdown(socket.SHUT_RDWR)
        elif isinstance(plan, Stall):
            say_half(out, plan.after, plan.text, plan.in_call, self.started.set)
            self.started.set()
            self._wait_for_client_to_leave(handler.connection)

    def _pace(self, per_second: float) -> Callable[[], None]:
        """Told of each piece that is out; keeps to so many a second, however long sending took."""
        begun, sent = time.monotonic(), 0

        def told() -> None:
            nonlocal sent
            self.started.set()
            sent += 1
            if per_second:
                self._closing.wait(max(0.0, begun + sent / per_second - time.monotonic()))

        return told

    def _fail(self, handler: BaseHTTPRequestHandler, plan: HttpFailure) -> None:
        language = messages if speaks_messages(handler.path) else completions
        body = language.failure_body(plan) if plan.raw_body is None else plan.raw_body
        headers = dict(plan.headers)
        if plan.retry_after is not None:
            headers["Retry-After"] = plan.retry_after
        _send(handler, plan.status, body, headers)

    def _wait_for_client_to_leave(self, connection: socket.socket) -> None:
        while not self._closing.is_set():
            readable, _, _ = select.select([connection], [], [], 0.02)
            if readable and connection.recv(1, socket.MSG_PEEK) == b"":
                self.gone.set()
                return


def _send(handler: BaseHTTPRequestHandler, status: int, text: str, headers: dict[str, str]) -> None:
    body = text.encode()
    handler.send_response(status)
    for name, value in {"Content-Type": "application/json", **headers}.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    # The connection ends here; a client that is not told so may ask again on it.
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.wfile.write(body)


def speaks_messages(path: str) -> bool:
    """Whether a request wants Anthropic's stream."""
    return path.partition("?")[0].rstrip("/").endswith("/messages")


def taken(body: dict[str, Any]) -> int:
    """Tokens that the messages of a request take: four characters each."""
    return len(json.dumps(body["messages"], ensure_ascii=False)) // 4
