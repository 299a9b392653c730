"""A turn's surroundings in memory: a session in a list, written answers, and tools of a test's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

from explorer.agent.tools.port import ToolOutcome
from explorer.formats.pi.entries import read_message
from explorer.formats.pi.entry_writer import write_message
from explorer.models.client import (
    Cancelled,
    CancelToken,
    ChatMessage,
    Event,
    Finished,
    ModelClient,
    ModelRequest,
    ToolCall,
    ToolCallReady,
    ToolSpec,
)
from explorer.services.agent import chat_of
from explorer.session.entries import Message, ModelMessage

Run = Callable[[ToolCall, CancelToken, Callable[[str], None]], Awaitable[ToolOutcome]]


def sent_messages(messages: Sequence[dict[str, Any]]) -> list[ModelMessage]:
    """Messages in pi's JSON, as they are sent to a model."""
    read = map(read_message, messages)
    return [one for one in read if isinstance(one, ModelMessage)]


class Log:
    """A session in a list."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    async def append(self, body: Message) -> int:
        await asyncio.sleep(0)
        self.messages.append(write_message(body))
        return len(self.messages) - 1

    def chat_messages(self) -> Sequence[ChatMessage]:
        return chat_of(enumerate(sent_messages(self.messages)))

    def open_calls(self) -> Sequence[ToolCall]:
        answered: set[str] = set()
        for message in reversed(self.messages):
            if message["role"] == "toolResult":
                answered.add(message["toolCallId"])
            elif message["role"] == "user" or message["stopReason"] in ("error", "aborted"):
                return []
            else:
                calls = [b for b in message["content"] if b["type"] == "toolCall"]
                return [ToolCall(b["id"], b["name"]) for b in calls if b["id"] not in answered]
        return []

    @property
    def roles(self) -> list[str]:
        return [message["role"] for message in self.messages]

    def texts(self, role: str) -> list[str]:
        """All texts of messages of one role."""
        blocks = [b for m in self.messages if m["role"] == role for b in m["content"]]
        return [b["text"] for b in blocks if b["type"] == "text"]


class Hold:
    """Stands in an answer: wait here until the turn is stopped."""


class Scripted(ModelClient):
    """A client whose answers are written down, to reach what offline models never do."""

    def __init__(self, *answers: Sequence[Event | Exception | Hold | Callable[[], None]]) -> None:
        super().__init__()
        self._answers = list(answers)
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest, cancel: CancelToken) -> AsyncIterator[Event]:
        self.requests.append(request)
        for item in self._answers.pop(0):
            await asyncio.sleep(0)
            if isinstance(item, Hold):
                while not cancel.cancelled:
                    await asyncio.sleep(0)
                raise Cancelled
            if isinstance(item, Exception):
                raise item
            if callable(item):
                item()
                continue
            if cancel.cancelled:
                raise Cancelled
            yield item


class Box:
    """Tools that a test writes; names that begin with ``change`` change things."""

    def __init__(self, **tools: Run) -> None:
        self._tools = tools
        self.running: set[str] = set()
        self.most_running = 0
        self.log: list[str] = []

    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(ToolSpec(name, name) for name in self._tools)

    def is_exclusive(self, call: ToolCall) -> bool:
        return call.name.startswith("change")

    async def run(
        self, call: ToolCall, cancel: CancelToken, on_output: Callable[[str], None]
    ) -> ToolOutcome:
        self.running.add(call.id)
        self.most_running = max(self.most_running, len(self.running))
        self.log.append(f"+{call.id}")
        try:
            return await self._tools[call.name](call, cancel, on_output)
        finally:
            self.running.discard(call.id)
            self.log.append(f"-{call.id}")


def gives(text: str = "fine", ticks: int = 0, **more: Any) -> Run:
    """A tool that gives a text after so many turns of the loop."""

    async def run(
        call: ToolCall, cancel: CancelToken, on_output: Callable[[str], None]
    ) -> ToolOutcome:
        for _ in range(ticks):
            await asyncio.sleep(0)
        return ToolOutcome(text, **more)

    return run


def calling(*calls: ToolCall) -> list[Event]:
    """An answer of calls alone."""
    return [*(ToolCallReady(call) for call in calls), Finished("tool_calls")]


def check_pairs(messages: Sequence[ChatMessage]) -> None:
    """Every call has its result right behind it, under an id that no other call has."""
    seen: set[str] = set()
    at = 0
    while at < len(messages):
        message = messages[at]
        assert message.role != "tool", "a result of nobody"
        ids = [call.id for call in message.tool_calls]
        assert all(ids) and len(set(ids)) == len(ids) and not seen & set(ids)
        seen |= set(ids)
        at += 1
        results = messages[at : at + len(ids)]
        assert [one.tool_call_id for one in results] == ids
        assert all(one.role == "tool" for one in results)
        at += len(ids)
