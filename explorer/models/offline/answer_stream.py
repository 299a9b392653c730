"""Streaming of texts and of the end of an answer, for the offline models."""

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
from explorer.tokens.estimate import estimate_text

_PIECE = 48
"""Characters of one text event at most."""

Emit = Callable[[Event], None]
IsCancelled = Callable[[], bool]


def send_text(text: str, emit: Emit, cancelled: IsCancelled) -> bool:
    """Send a text in pieces that break at spaces; False when cancelled on the way."""
    start = 0
    while start < len(text):
        if cancelled():
            return False
        end = min(len(text), start + _PIECE)
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

    ``source``: ``provider`` where the model is an agent. Its count is the estimate then, and
    is stored with its replies, as rules need it that go by the provider's count. Nowhere
    else it counts as a report (``SessionColumns.is_counted_here``).
    """
    given = sum(_given(message) for message in request.messages)
    made = estimate_text(output)
    emit(UsageReport(Usage(input=given, output=made, total=given + made, source=source)))
    emit(Finished(reason))


def _given(message: ChatMessage) -> int:
    """Tokens of a message and of its calls."""
    calls = sum(estimate_text(call.name + str(call.arguments)) for call in message.tool_calls)
    return estimate_text(message.text) + calls
