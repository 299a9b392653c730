"""Server-sent events of a reply, taken apart and put together again as they should have been.

What reads them afterwards keeps unfinished events in buffers that it copies at every piece, and
fails in a way of its own at each thing that is not as expected.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

from explorer.models.sense import MessageEvents, Misunderstood, clean_chunk, read_json
from explorer.models.shown import shortened

Language = Literal["completions", "messages"]
_DONE = "[DONE]"
_SHOWN = 200


class EventStream:
    """Takes bytes and gives whole events of one language, each with one line of JSON."""

    def __init__(self, language: Language, most_event: int) -> None:
        self._clean = clean_chunk if language == "completions" else MessageEvents().clean
        self._named = language == "messages"
        self._most = most_event
        self._rest: list[bytes] = []
        self._data: list[str] = []
        self._name = ""
        self._size = 0
        self._events = 0
        self._other: list[str] = []
        """Lines that are no events, before the first event."""
        self.done = False
        """The server said that nothing more will come."""

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The events that end in a piece. Raises Misunderstood."""
        if piece.endswith(b"\r"):
            piece, held = piece[:-1], [b"\r"]
        else:
            held = []
        if b"\n" not in piece and b"\r" not in piece and not self._held():
            self._rest += [piece, *held]
            return
        text = b"".join((*self._rest, piece)).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, rest = text.split(b"\n")
        self._rest = [rest, *held]
        for line in lines:
            yield from self._line(line.decode("utf-8", "replace"))
            if self.done:
                return

    def _held(self) -> bool:
        return bool(self._rest) and self._rest[-1] == b"\r"

    def end(self) -> Iterator[bytes]:
        """What is left at the end. Raises Misunderstood where nothing was a reply."""
        rest = b"".join(self._rest).decode("utf-8", "replace").strip("\r")
        self._rest = []
        if rest:
            yield from self._line(rest)
        if self._data:
            # An event that was cut off is none; whoever reads on sees that the end is missing.
            with_end = _parsed("\n".join(self._data))
            if with_end is not None:
                yield from self._event()
        if not self._events and not self.done:
            yield from self._whole("\n".join(self._other).strip())

    def _line(self, line: str) -> Iterator[bytes]:
        if not line:
            yield from self._event()
            return
        self._size += len(line)
        if self._size > self._most:
            raise Misunderstood(f"one event of it is larger than {self._most:,} bytes")
        field, colon, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
        elif not self._events and not (colon and field in ("", "id", "retry")):
            self._other.append(line)
        elif not field:
            self._size -= len(line)  # a comment: a sign of life that nobody keeps

    def _event(self) -> Iterator[bytes]:
        data, name = self._data, self._name
        self._data, self._name = [], ""
        if not self._other:
            self._size = 0
        if not data:
            return
        self._events += 1
        self._other.clear()
        joined = "\n".join(data)
        if joined.strip().startswith(_DONE):
            self.done = True
            yield b"data: [DONE]\n\n"
            return
        if not joined.strip():
            return
        # Some servers leave out the empty line between events.
        alone = len(data) > 1 and _parsed(joined) is None
        for text in data if alone else (joined,):
            yield from self._said(text, name)

    def _said(self, text: str, name: str) -> Iterator[bytes]:
        if name == "error":
            value = _parsed(text)
            if not isinstance(value, dict) or not value.get("error"):
                words = value.get("message") if isinstance(value, dict) else text
                told = shortened(str(words or text), _SHOWN)
                value = {"type": "error", "error": {"message": told}}
        else:
            value = read_json(text, "an event of it")
        clean = self._clean(value)
        if clean is not None:
            kind = f"event: {clean['type']}\n" if self._named else ""
            yield f"{kind}data: {json.dumps(clean)}\n\n".encode()

    def _whole(self, text: str) -> Iterator[bytes]:
        """A reply that is no stream: a refusal, or all of it at once."""
        if not text:
            return  # as if the connection had been cut
        value = _parsed(text)
        if isinstance(value, dict):
            yield from self._said(text, "")
        elif text.startswith("<"):
            raise Misunderstood("it is a web page")
        else:
            raise Misunderstood("it is not a stream of events")


def _parsed(text: str) -> Any:
    """The JSON value of a text; None where it has none."""
    try:
        return read_json(text, "")
    except Misunderstood:
        return None
