"""What both offline models share: estimates and streaming in small pieces."""

from __future__ import annotations

from collections.abc import Callable

from explorer.models.events import (
    Event,
    Finished,
    StopReason,
    TextDelta,
    Usage,
    UsageReport,
    UsageSource,
)
from explorer.models.request import ChatMessage, ModelRequest

PIECE = 48

Emit = Callable[[Event], None]
IsCancelled = Callable[[], bool]


def utf16_units(text: str) -> int:
    """The length of a text in UTF-16 code units, as JavaScript counts it (B8)."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def estimate_tokens(text: str) -> int:
    """ceil(UTF-16 units / 4): the estimate that all profiles share (B8)."""
    return -(-utf16_units(text) // 4)


def send_text(text: str, emit: Emit, cancelled: IsCancelled) -> bool:
    """Send a text in pieces that break at spaces; False when cancelled on the way."""
    start = 0
    while start < len(text):
        if cancelled():
            return False
        end = min(len(text), start + PIECE)
        if end < len(text):
            space = text.rfind(" ", start + 1, end)
            end = space if space > start else end
        emit(TextDelta(text[start:end]))
        start = end
    return True


def send_end(
    request: ModelRequest,
    output: str,
    reason: StopReason,
    emit: Emit,
    source: UsageSource = "estimate",
) -> None:
    """Send the usage by the estimate and the finish.

    ``source``: ``provider`` where the model is an agent. Its own count is the estimate then, and
    is stored with its replies, as rules want it that go by what a provider said.
    """
    given = sum(_given(message) for message in request.messages)
    made = estimate_tokens(output)
    emit(UsageReport(Usage(input=given, output=made, total=given + made, source=source)))
    emit(Finished(reason))


def _given(message: ChatMessage) -> int:
    """Tokens of a message and of its calls."""
    calls = sum(estimate_tokens(call.name + str(call.arguments)) for call in message.tool_calls)
    return estimate_tokens(message.text) + calls
