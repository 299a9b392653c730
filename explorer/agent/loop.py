"""One turn of the agent: the reply, the tools it asks for, and the replies after them.

Every message is appended as soon as it is complete, so that a crash leaves a session that can be
gone on with. A reply that was stopped or failed is kept with what had arrived, and says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from explorer.agent.tools import ToolOutcome, read_only_tools, run_tool
from explorer.agent.workspace import Workspace
from explorer.models.door import (
    Cancelled,
    CancelToken,
    ChatMessage,
    Event,
    ModelDoor,
    ModelError,
    ModelRequest,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolCallReady,
    Usage,
    UsageReport,
)

MOST_ROUNDS = 24
"""Replies in one turn, after which the turn ends by itself."""

TurnEnd = Literal["done", "stopped", "failed", "too_many_rounds"]


class SessionPort(Protocol):
    """What a turn needs of the session that it works in."""

    async def append_message(self, message: Mapping[str, Any]) -> int:
        """Append a message entry at the leaf; returns its index after the commit."""

    def chat_messages(self) -> Sequence[ChatMessage]:
        """What the model sees at the leaf now."""

    def now_ms(self) -> int: ...


@dataclass(frozen=True, slots=True)
class ToolStarted:
    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolEnded:
    call: ToolCall
    outcome: ToolOutcome


TurnEvent = Event | ToolStarted | ToolEnded


@dataclass(frozen=True, slots=True)
class TurnResult:
    """How a turn ended; ``error`` is the sentence for the person when it failed."""

    end: TurnEnd
    error: str = ""
    entries: tuple[int, ...] = ()


@dataclass(slots=True)
class _Reply:
    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    usage: Usage | None = None
    stop_reason: str = ""

    def take(self, event: Event) -> None:
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
        return not ("".join(self.text).strip() or self.thinking or self.calls)


class AgentTurn:
    """Runs turns for one session with one model and the tools that only look."""

    def __init__(
        self,
        port: SessionPort,
        door: ModelDoor,
        model: str,
        system: str,
        workspace: Workspace | None,
    ) -> None:
        self._port = port
        self._door = door
        self._model = model
        self._system = system
        self._workspace = workspace
        self._entries: list[int] = []

    async def run(
        self, text: str, cancel: CancelToken, on_event: Callable[[TurnEvent], None]
    ) -> TurnResult:
        """Append the person's message and work until the model has nothing more to call."""
        await self._append({"role": "user", "content": [{"type": "text", "text": text}]})
        for _ in range(MOST_ROUNDS):
            reply = _Reply()
            error = await self._stream(reply, cancel, on_event)
            if error or cancel.cancelled:
                return await self._broken_off(reply, error)
            await self._append(self._reply_message(reply, _STOP_NAMES[reply.stop_reason]))
            if not reply.calls:
                return TurnResult("done", "", tuple(self._entries))
            if not await self._run_tools(reply.calls, cancel, on_event):
                return TurnResult("stopped", "", tuple(self._entries))
        return TurnResult(
            "too_many_rounds",
            f"The turn ended after {MOST_ROUNDS} replies with tool calls.",
            tuple(self._entries),
        )

    async def _append(self, message: dict[str, Any]) -> None:
        message["timestamp"] = self._port.now_ms()
        self._entries.append(await self._port.append_message(message))

    async def _stream(
        self, reply: _Reply, cancel: CancelToken, on_event: Callable[[TurnEvent], None]
    ) -> str:
        """Fill the reply; returns the error for the person, or an empty text."""
        messages = (ChatMessage("system", self._system), *self._port.chat_messages())
        tools = read_only_tools() if self._workspace else ()
        request = ModelRequest(self._model, messages, tools=tools)
        try:
            async for event in self._door.stream(request, cancel):
                reply.take(event)
                on_event(event)
        except Cancelled:
            return ""
        except ModelError as error:
            return error.told
        if not reply.stop_reason and not cancel.cancelled:
            return "The answer ended before the model said that it was complete."
        return ""

    async def _broken_off(self, reply: _Reply, error: str) -> TurnResult:
        if error or not reply.empty:
            reply.calls.clear()
            message = self._reply_message(reply, "error" if error else "aborted")
            message["errorMessage"] = error or "Stopped by the person"
            await self._append(message)
        return TurnResult("failed" if error else "stopped", error, tuple(self._entries))

    def _reply_message(self, reply: _Reply, stop_reason: str) -> dict[str, Any]:
        content: list[dict[str, Any]] = []
        if reply.thinking:
            content.append({"type": "thinking", "thinking": "".join(reply.thinking)})
        if text := "".join(reply.text):
            content.append({"type": "text", "text": text})
        for call in reply.calls:
            content.append(
                {"type": "toolCall", "id": call.id, "name": call.name, "arguments": call.arguments}
            )
        provider, _, model = self._model.partition("/")
        return {
            "role": "assistant",
            "content": content,
            "api": "session-explorer",
            "provider": provider,
            "model": model or provider,
            "usage": _usage(reply.usage),
            "stopReason": stop_reason,
        }

    async def _run_tools(
        self,
        calls: Sequence[ToolCall],
        cancel: CancelToken,
        on_event: Callable[[TurnEvent], None],
    ) -> bool:
        """Run the calls one after the other; False when the turn was stopped meanwhile."""
        for call in calls:
            on_event(ToolStarted(call))
            if self._workspace is None:
                outcome = ToolOutcome("no workspace was chosen, so no tool can run", True)
            elif cancel.cancelled:
                outcome = ToolOutcome("stopped by the person before it ran", True)
            else:
                outcome = await asyncio.to_thread(
                    run_tool, self._workspace, call.name, call.arguments, cancel
                )
            on_event(ToolEnded(call, outcome))
            await self._append(
                {
                    "role": "toolResult",
                    "toolCallId": call.id,
                    "toolName": call.name,
                    "content": [{"type": "text", "text": outcome.text}],
                    "isError": outcome.is_error,
                }
            )
        return not cancel.cancelled


_STOP_NAMES = {"stop": "stop", "length": "length", "tool_calls": "toolUse"}


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
