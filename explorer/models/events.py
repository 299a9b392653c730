"""The events of a streamed answer, its errors, its cancellation, and the whole answer collected."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any, Literal, Protocol

from msgspec import Struct

from explorer.models.request import ModelRequest, ToolCall

UsageSource = Literal["provider", "estimate"]
StopReason = Literal["stop", "length", "tool_calls"]
ErrorKind = Literal[
    "overflow",
    "rate_limit",
    "auth",
    "network",
    "timeout",
    "bad_request",
    "server",
    "unavailable",
]


class Usage(Struct, frozen=True):
    """Tokens of one call. `input` leaves out what was read from or written to a cache.

    `total` is the provider's sum where it gives one (B9). `source` is whether
    the provider counted or this side estimated.
    """

    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0
    total: int = 0
    source: UsageSource = "provider"


class TextDelta(Struct, frozen=True):
    """The next piece of the answer's text."""

    text: str


class ThinkingDelta(Struct, frozen=True):
    """The next piece of the model's thinking."""

    text: str


class ThinkingSigned(Struct, frozen=True):
    """The provider's signature of the thinking that came before it, which ends with it.

    `redacted`: of thinking that is not shown, so that nothing came before.
    """

    signature: str
    redacted: bool = False


class ToolCallReady(Struct, frozen=True):
    """A tool call that has arrived whole. Arguments that cannot be used are the call's `problem`:
    the answer is not lost with them."""

    call: ToolCall


class UsageReport(Struct, frozen=True):
    """The tokens of this call; sent once, before `Finished`."""

    usage: Usage


class Finished(Struct, frozen=True):
    """The end of the answer and its reason. Always the last event."""

    stop_reason: StopReason
    short_summary: str = ""
    """Sentences for display, from an endpoint that gives them along with a summary (A29)."""


class Silence(Struct, frozen=True):
    """No data has arrived for a while; times in seconds. No part of an answer: it comes any number
    of times, between any two other events."""

    so_far_s: float
    limit_s: float
    """After so long the call ends."""

    @property
    def sentence(self) -> str:
        """In words, for the person."""
        return f"No byte for {self.so_far_s:.0f} s; ends after {self.limit_s:g} s."


Event = (
    TextDelta | ThinkingDelta | ThinkingSigned | ToolCallReady | UsageReport | Finished | Silence
)


class ModelError(Exception):
    """A call that gave no whole answer.

    Kinds: `overflow` (the request is larger than the window), `rate_limit`, `auth`,
    `network` (never reached, or the connection was cut), `timeout`, `bad_request`,
    `server` (the provider failed, worth another try), `unavailable` (no such model, or
    it cannot be called from here). `retry_after_s` is in seconds, where the provider named it.
    """

    def __init__(self, kind: ErrorKind, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind
        self.message = message
        self.retry_after_s = retry_after_s

    @property
    def sentence(self) -> str:
        """The message for a person, with how long the provider asks to wait."""
        if not self.retry_after_s:
            return self.message
        wait = f"{self.retry_after_s:g} second{'' if self.retry_after_s == 1 else 's'}"
        return f"{self.message.rstrip('.')}. The provider asks to wait {wait}."

    def __repr__(self) -> str:
        return f"ModelError({self.kind!r}, {self.message!r}, {self.retry_after_s!r})"


class Cancelled(Exception):
    """The call was given up through its cancel token."""


class CancelToken:
    """Cancelled once, for good. Callbacks run on the thread that cancels."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancelled = False
        self._callbacks: dict[int, Callable[[], None]] = {}
        self._next = 0

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled

    def cancel(self) -> None:
        """Cancel. A second call does nothing."""
        with self._lock:
            if self._cancelled:
                return
            self._cancelled = True
            callbacks = list(self._callbacks.values())
            self._callbacks.clear()
        for callback in callbacks:
            callback()

    def add_callback(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Run `callback` at the cancel, or now if that has happened; returns its removal."""
        with self._lock:
            if not self._cancelled:
                key = self._next
                self._next += 1
                self._callbacks[key] = callback
                return lambda: self._remove(key)
        callback()
        return lambda: None

    def _remove(self, key: int) -> None:
        with self._lock:
            self._callbacks.pop(key, None)


class Streams(Protocol):
    """Anything that answers requests with events: the model client, or a replay of one."""

    def stream(self, request: ModelRequest, cancel: CancelToken) -> AsyncIterator[Event]:
        """The events of one answer."""
        ...


class Completion(Struct, frozen=True):
    """A finished answer. `usage` is None where it is unknown; `elapsed_ms` in milliseconds."""

    text: str
    thinking: str
    tool_calls: tuple[ToolCall, ...]
    usage: Usage | None
    stop_reason: StopReason
    elapsed_ms: float
    short_summary: str = ""
    """Sentences for display, where an endpoint gave them along (A29)."""


async def complete(
    client: Streams,
    request: ModelRequest,
    cancel: CancelToken,
    on_text: Callable[[str], None] | None = None,
    *,
    clock: Callable[[], float] = time.monotonic,
    on_silence: Callable[[str], None] | None = None,
) -> Completion:
    """Wait for the whole answer; `on_text` gets each piece of text as it comes, `on_silence` a
    sentence where nothing comes for a while.

    `clock` gives seconds. Raises ModelError and Cancelled as `stream` does, and ModelError
    (network) when the events end without a finish.
    """
    started = clock()
    text: list[str] = []
    thinking: list[str] = []
    calls: list[ToolCall] = []
    usage: Usage | None = None
    stop: StopReason | None = None
    short = ""
    events = client.stream(request, cancel)
    async with aclosing(events) as open_events:  # type: ignore[type-var]
        async for event in open_events:
            match event:
                case TextDelta(piece):
                    text.append(piece)
                    if on_text is not None:
                        on_text(piece)
                case Silence() if on_silence is not None:
                    on_silence(event.sentence)
                case ThinkingDelta(piece):
                    thinking.append(piece)
                case ToolCallReady(call):
                    calls.append(call)
                case UsageReport(counted):
                    usage = counted
                case Finished(reason, sentences):
                    stop, short = reason, sentences
    if stop is None:
        raise ModelError("network", "The answer ended without saying that it was complete.")
    return Completion(
        "".join(text),
        "".join(thinking),
        tuple(calls),
        usage,
        stop,
        (clock() - started) * 1000,
        short,
    )


async def done_or_cancelled(waited: asyncio.Future[Any], cancel: CancelToken) -> bool:
    """Wait until ``waited``, a future of the running loop, is done or ``cancel`` is cancelled, from
    any thread; returns whether it is done and not cancelled. ``waited`` itself goes on."""
    loop = asyncio.get_running_loop()
    given_up = asyncio.Event()

    def give_up() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(given_up.set)

    forget = cancel.add_callback(give_up)
    waiting = asyncio.ensure_future(given_up.wait())
    try:
        await asyncio.wait((waited, waiting), return_when=asyncio.FIRST_COMPLETED)
    finally:
        forget()
        waiting.cancel()
    return waited.done() and not cancel.cancelled
