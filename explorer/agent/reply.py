"""One reply of the model while it arrives, and the message that is stored of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from explorer.models.door import (
    Event,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolCallReady,
    Usage,
    UsageReport,
)

STOP_NAMES = {"stop": "stop", "length": "length", "tool_calls": "toolUse"}
"""Why a reply ended, as sessions spell it."""


@dataclass(slots=True)
class Reply:
    """What has arrived so far."""

    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    usage: Usage | None = None
    stop_reason: str = ""

    def take(self, event: Event) -> None:
        """Add one event of the stream."""
        if isinstance(event, TextDelta):
            self.text.append(event.text)
        elif isinstance(event, ThinkingDelta):
            self.thinking.append(event.text)
        elif isinstance(event, ToolCallReady):
            self.calls.append(event.call)
        elif isinstance(event, UsageReport):
            self.usage = event.usage
        else:
            self.stop_reason = event.stop_reason

    @property
    def empty(self) -> bool:
        """Nothing that anyone could read or run."""
        return not ("".join(self.text).strip() or self.thinking or self.calls)

    @property
    def says_nothing(self) -> bool:
        """No answer and no call: thinking alone answers nobody."""
        return not ("".join(self.text).strip() or self.calls)

    @property
    def read_tokens(self) -> int:
        """Tokens that the provider says it read, from a cache or not; 0 when it said nothing."""
        if self.usage is None or self.usage.source != "provider":
            return 0
        return self.usage.input + self.usage.cache_read

    def message(self, model: str, stop_reason: str) -> dict[str, Any]:
        """The message as pi writes it, without its time. ``model`` is ``provider/name``."""
        content: list[dict[str, Any]] = []
        if self.thinking:
            content.append({"type": "thinking", "thinking": "".join(self.thinking)})
        if text := "".join(self.text):
            content.append({"type": "text", "text": text})
        for call in self.calls:
            content.append(
                {"type": "toolCall", "id": call.id, "name": call.name, "arguments": call.arguments}
            )
        provider, _, name = model.partition("/")
        return {
            "role": "assistant",
            "content": content,
            "api": "session-explorer",
            "provider": provider,
            "model": name or provider,
            "usage": _usage(self.usage),
            "stopReason": stop_reason,
        }


def _usage(usage: Usage | None) -> dict[str, Any]:
    """The record as pi writes it; all zero when the provider reported nothing."""
    nothing = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
    if usage is None or usage.source != "provider":
        return {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0,
                "cost": nothing}  # fmt: skip
    return {
        "input": usage.input,
        "output": usage.output,
        "cacheRead": usage.cache_read,
        "cacheWrite": usage.cache_write,
        "totalTokens": usage.total,
        "cost": nothing,
    }
