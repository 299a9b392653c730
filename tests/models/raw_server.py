"""A loopback server that misbehaves down to the bytes: what it sends is no library's business.

    with RawServer(bomb(4_000_000_000)) as server:
        client = ModelClient(ModelClientConfig(api_base=server.url))

A play is a function that writes to the connection once a request has been read; it must look at
``ended`` where it writes for long. One play answers all requests, whatever their path.
"""

from __future__ import annotations

import json
import socket
import threading
import zlib
from collections.abc import Callable, Iterator
from typing import Any

Play = Callable[[socket.socket, threading.Event], None]
_STREAM = "text/event-stream"
_MOST_REQUEST = 50_000_000


class RawServer:
    """Serves on a free port of 127.0.0.1 while the `with` block lasts."""

    def __init__(self, play: Play | None = None) -> None:
        self.play: Play = play or reply(b"{}")
        self.requests: list[bytes] = []
        """Head and body of every request, in order."""
        self._ended = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.host = f"127.0.0.1:{self._listener.getsockname()[1]}"
        """Address and port."""
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._connections: list[socket.socket] = []

    @property
    def url(self) -> str:
        """The base address to give as `api_base`."""
        return f"http://{self.host}/v1"

    def __enter__(self) -> RawServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)
        for connection in self._connections:
            connection.close()

    def _serve(self) -> None:
        while not self._ended.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._connections.append(connection)
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        try:
            connection.settimeout(10)
            request = _request(connection)
            if request:
                self.requests.append(request)
                self.play(connection, self._ended)
        except OSError:
            pass  # the client has gone: that is its right
        finally:
            connection.close()


def _request(connection: socket.socket) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received and len(received) < _MOST_REQUEST:
        piece = connection.recv(65_536)
        if not piece:
            return b""
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    while len(body) < length and (piece := connection.recv(65_536)):
        body += piece
    return head + b"\r\n\r\n" + body


def head(status: int = 200, kind: str = _STREAM, *lines: str) -> bytes:
    """The head of a reply; ``lines`` are further headers."""
    told = (f"HTTP/1.1 {status} X", f"Content-Type: {kind}", "Connection: close", *lines)
    return "".join(f"{line}\r\n" for line in told).encode() + b"\r\n"


def reply(body: bytes, status: int = 200, kind: str = _STREAM, *lines: str) -> Play:
    """One body; the connection is closed behind it."""
    return lambda connection, _ended: connection.sendall(head(status, kind, *lines) + body)


def events(*values: Any) -> bytes:
    """Server-sent events, each of a JSON value or of bytes as they are."""
    texts = [value if isinstance(value, bytes) else json.dumps(value).encode() for value in values]
    return b"".join(b"data: " + text + b"\n\n" for text in texts)


def said(text: str, **more: Any) -> dict[str, Any]:
    """A chunk of chat completions with text."""
    return {
        "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "test-model",
        "choices": [{"index": 0, "delta": {"role": "assistant", "content": text}} | more],
    }  # fmt: skip


END = said("", finish_reason="stop")
DONE = b"[DONE]"


def whole(*values: Any) -> bytes:
    """Events that begin well, then the given ones, then the end of a good reply."""
    return events(said("what arrived "), *values, END, DONE)


def message_events(*values: Any, delta: Any = "what arrived ") -> bytes:
    """The same in Anthropic's language."""
    start = {
        "type": "message_start",
        "message": {
            "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [],
            "usage": {"input_tokens": 1, "output_tokens": 1},
        },
    }  # fmt: skip
    block = {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "text", "text": ""},
    }
    text = {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "text_delta", "text": delta},
    }
    stop = {"type": "content_block_stop", "index": 0}
    last = {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 2},
    }
    return events(start, block, text, *values, stop, last, {"type": "message_stop"})


def redirect(to: str, status: int = 307) -> Play:
    """Send the client to another address."""
    return reply(b"", status, "text/plain", f"Location: {to}", "Content-Length: 0")


def bomb(size: int, begin: bytes = b"", status: int = 200, kind: str = _STREAM) -> Play:
    """``size`` bytes of one line, squeezed to a thousandth; ``begin`` comes first."""

    def play(connection: socket.socket, ended: threading.Event) -> None:
        connection.sendall(head(status, kind, "Content-Encoding: gzip"))
        for piece in _squeezed(size, begin):
            if ended.is_set():
                return
            connection.sendall(piece)

    return play


def _squeezed(size: int, begin: bytes) -> Iterator[bytes]:
    squeezer = zlib.compressobj(6, zlib.DEFLATED, 31)
    yield squeezer.compress(begin)
    block = b"a" * 10_000_000
    for _ in range(size // len(block)):
        yield squeezer.compress(block)
    yield squeezer.flush()


def endless(piece: bytes, begin: bytes = b"", kind: str = _STREAM, every_s: float = 0.0) -> Play:
    """``piece`` again and again until the client goes."""

    def play(connection: socket.socket, ended: threading.Event) -> None:
        connection.sendall(head(200, kind) + begin)
        while not ended.wait(every_s):
            connection.sendall(piece)

    return play


def silent(begin: bytes = b"") -> Play:
    """``begin``, then nothing, with the connection open."""

    def play(connection: socket.socket, ended: threading.Event) -> None:
        connection.sendall(begin)
        ended.wait(30)

    return play
