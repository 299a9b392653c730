"""One whole answer from a stream of events."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from explorer.models.cancel import CancelToken
from explorer.models.events import (
    Event,
    Finished,
    ModelError,
    Silence,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolCallReady,
    Usage,
    UsageReport,
)
from explorer.models.request import ModelRequest, ToolCall


class Streams(Protocol):
    """Anything that answers requests with events: the door, or a replay of one."""

    def stream(self, request: ModelRequest, cancel: CancelToken) -> AsyncIterator[Event]:
        """The events of one answer."""
        ...


@dataclass(frozen=True, slots=True)
class Completion:
    """A finished answer. `usage` is None where nobody counted; `elapsed_ms` in milliseconds."""

    text: str
    thinking: str
    tool_calls: tuple[ToolCall, ...]
    usage: Usage | None
    stop_reason: StopReason
    elapsed_ms: float
    short_summary: str = ""
    """Sentences for display, where an endpoint gave them along (A29)."""


async def complete(
    door: Streams,
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
    events = door.stream(request, cancel)
    async with aclosing(events) as open_events:  # type: ignore[type-var]
        async for event in open_events:
            match event:
                case TextDelta(piece):
                    text.append(piece)
                    if on_text is not None:
                        on_text(piece)
                case Silence() if on_silence is not None:
                    on_silence(event.told)
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
