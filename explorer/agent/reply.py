"""One reply of the model while it arrives, and the message that is stored of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from explorer.models.catalogue import usage_record
from explorer.models.client import (
    Event,
    Finished,
    ModelInfo,
    TextDelta,
    ThinkingDelta,
    ThinkingSigned,
    ToolCall,
    ToolCallReady,
    Usage,
    UsageReport,
)
from explorer.tokens.estimate import estimate_text

STOP_NAMES = {"stop": "stop", "length": "length", "tool_calls": "toolUse"}
"""Why a reply ended, as sessions spell it."""
REDACTED = "[Thinking that the provider does not show]"


@dataclass(slots=True)
class _Block:
    """One stretch of text or of thinking."""

    kind: Literal["text", "thinking"]
    pieces: list[str] = field(default_factory=list)
    signature: str = ""
    redacted: bool = False

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def stored(self) -> dict[str, Any]:
        """The content block as pi writes it."""
        if self.kind == "text":
            return {"type": "text", "text": self.text}
        block = {"type": "thinking", "thinking": REDACTED if self.redacted else self.text}
        signed = {"thinkingSignature": self.signature} if self.signature else {}
        return {**block, **signed, **({"redacted": True} if self.redacted else {})}


class Reply:
    """What has arrived so far, in the order in which it came."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        """``taken``: ids of calls that the conversation has already; a call gets one of its own."""
        self._ids = set(taken)
        self._blocks: list[_Block] = []
        self.calls: list[ToolCall] = []
        self.usage: Usage | None = None
        self.stop_reason = ""

    def take(self, event: Event) -> Event:
        """Add one event of the stream; returns it as it counts, a call with an id of its own."""
        match event:
            case TextDelta(text):
                self._block("text").pieces.append(text)
            case ThinkingDelta(text):
                self._block("thinking").pieces.append(text)
            case ThinkingSigned():
                self._sign(event)
            case ToolCallReady(call):
                own = self._named(call)
                self.calls.append(own)
                return ToolCallReady(own)
            case UsageReport(usage):
                self.usage = usage
            case Finished(reason):
                self.stop_reason = reason
        return event

    def _block(self, kind: Literal["text", "thinking"]) -> _Block:
        last = self._blocks[-1] if self._blocks else None
        if last is None or last.kind != kind or last.signature:
            last = _Block(kind)
            self._blocks.append(last)
        return last

    def _sign(self, event: ThinkingSigned) -> None:
        if event.redacted:
            self._blocks.append(_Block("thinking", [], event.signature, redacted=True))
            return
        self._block("thinking").signature = event.signature

    def _named(self, call: ToolCall) -> ToolCall:
        """The call with an id that no other call of the conversation has: results find it by
        that, and providers refuse an id that comes twice."""
        wanted = call.id.strip() or f"call_{len(self.calls)}"
        own, number = wanted, 1
        while own in self._ids:
            number += 1
            own = f"{wanted}_{number}"
        self._ids.add(own)
        return call if own == call.id else replace(call, id=own)

    @property
    def text(self) -> str:
        """All that was said, without the thinking."""
        return "".join(block.text for block in self._blocks if block.kind == "text")

    @property
    def empty(self) -> bool:
        """Nothing that anyone could read or run."""
        return not (self._blocks or self.calls) or (self.says_nothing and not self._thought)

    @property
    def _thought(self) -> bool:
        return any(block.kind == "thinking" for block in self._blocks)

    @property
    def says_nothing(self) -> bool:
        """No answer and no call: thinking alone answers nobody."""
        return not (self.text.strip() or self.calls)

    @property
    def read_tokens(self) -> int:
        """Tokens that the provider says it read, from a cache or not; 0 when it said nothing."""
        if self.usage is None or self.usage.source != "provider":
            return 0
        return self.usage.input + self.usage.cache_read

    @property
    def written_tokens(self) -> int:
        """Tokens of what arrived, by the estimate."""
        said = sum(estimate_text(block.text) for block in self._blocks)
        return said + sum(
            estimate_text(call.name) + estimate_text(call.raw or str(call.arguments))
            for call in self.calls
        )

    def message(
        self, model: str, stop_reason: str, info: ModelInfo | None = None
    ) -> dict[str, Any]:
        """The message as pi writes it, without its time. ``model`` is ``provider/name``; its
        prices, where ``info`` has them, make the cost."""
        content = [block.stored() for block in self._blocks if block.pieces or block.signature]
        provider, _, name = model.partition("/")
        return {
            "role": "assistant",
            "content": [*content, *map(_stored_call, self.calls)],
            "api": "session-explorer",
            "provider": provider,
            "model": name or provider,
            "usage": usage_record(self.usage, info),
            "stopReason": stop_reason,
        }


def _stored_call(call: ToolCall) -> dict[str, Any]:
    stored = {"type": "toolCall", "id": call.id, "name": call.name, "arguments": call.arguments}
    # What cannot be used is kept beside it, for whoever looks for the reason.
    return stored | {"malformedArguments": call.raw} if call.problem else stored
