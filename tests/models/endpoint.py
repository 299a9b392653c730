"""A loopback service that summarizes, over HTTP or TLS, and misbehaves on demand.

with Endpoint(Reply(json={"summary": "..."})) as endpoint:
    ... post to endpoint.url ...
    endpoint.requests[0]["prompt"]
"""

from __future__ import annotations

import json
import select
import socket
import ssl
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Reply:
    """An answer: a JSON value, or bytes that need not be JSON."""

    json: Any = None
    body: bytes | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Hang:
    """Read the request and never answer; with `begun` after the head of an answer."""

    begun: bool = False


@dataclass(frozen=True)
class Flood:
    """A JSON text that never ends."""


Plan = Reply | Hang | Flood


class Endpoint:
    """Serves on a free port of 127.0.0.1 while the `with` block lasts; the last plan stays."""

    def __init__(self, *plans: Plan, certificate: Path | None = None) -> None:
        self._plans = list(plans)
        self._lock = threading.Lock()
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.asked = threading.Event()
        """Set when a request has been read."""
        self.gone = threading.Event()
        """Set when a client left while it was being answered."""
        self._closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._scheme = "http"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._http.socket = context.wrap_socket(
                self._http.socket, server_side=True, do_handshake_on_connect=False
            )
            self._scheme = "https"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"{self._scheme}://localhost:{self._http.server_address[1]}/compact"

    def __enter__(self) -> Endpoint:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)

    def _next(self) -> Plan:
        with self._lock:
            return self._plans.pop(0) if len(self._plans) > 1 else self._plans[0]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                """Nothing to the terminal."""

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                endpoint.requests.append(json.loads(body))
                endpoint.headers.append({k.lower(): v for k, v in self.headers.items()})
                endpoint.asked.set()
                try:
                    endpoint._play(self, endpoint._next())
                except OSError:
                    endpoint.gone.set()

        return Handler

    def _play(self, handler: BaseHTTPRequestHandler, plan: Plan) -> None:
        if isinstance(plan, Hang):
            if plan.begun:
                handler.send_response(200)
                handler.end_headers()
                handler.wfile.flush()
            self._wait(handler.connection)
            return
        if isinstance(plan, Flood):
            handler.send_response(200)
            handler.end_headers()
            handler.wfile.write(b'{"summary": "')
            while not self._closing.is_set():
                handler.wfile.write(b"word " * 20_000)
            return
        body = plan.body if plan.body is not None else json.dumps(plan.json).encode()
        handler.send_response(plan.status)
        for name, value in plan.headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def _wait(self, connection: socket.socket) -> None:
        while not self._closing.is_set():
            readable, _, _ = select.select([connection], [], [], 0.02)
            if readable and not connection.recv(1):
                self.gone.set()
                return
