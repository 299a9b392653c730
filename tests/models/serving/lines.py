"""Server-sent events on their way out."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler

PIECE = 65_536
"""Characters of a long text that go out as one event."""


class EventLines:
    """Writes events; `chunked` frames them, so that a missing end shows."""

    def __init__(self, handler: BaseHTTPRequestHandler, chunked: bool) -> None:
        self._out = handler.wfile
        self._chunked = chunked

    def data(self, text: str, event: str = "") -> None:
        """One event, with its name where it has one."""
        head = f"event: {event}\n" if event else ""
        line = f"{head}data: {text}\n\n".encode()
        if self._chunked:
            line = f"{len(line):x}\r\n".encode() + line + b"\r\n"
        self._out.write(line)
        self._out.flush()


def pieces_of(text: str, count: int) -> list[str]:
    """The text in at most `count` pieces of one size, the last perhaps shorter."""
    size = max(1, -(-len(text) // count))
    return [text[start : start + size] for start in range(0, len(text), size)]


def argument_pieces(arguments: str) -> list[str]:
    """A call's arguments in at least two pieces, none very long."""
    return pieces_of(arguments, max(2, -(-len(arguments) // PIECE)))
