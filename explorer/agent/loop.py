"""One turn of the agent: the reply, the tools it asks for, and the replies after them.

Every message is appended as soon as it is complete, so that a crash leaves a session that can be
gone on with. A reply that was stopped or failed is kept with what had arrived, and says so. A call
that fails before its first word may be tried again; a context that is too large is compacted by
the turn's keeper and the reply made again.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from explorer.agent.keeping import ContextKeeper, NoKeeper, Outgoing, TooLarge
from explorer.agent.reply import STOP_NAMES, Reply
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
    ToolCall,
)
from explorer.models.retry import Retry, RetryPolicy, with_retry

MOST_ROUNDS = 24
"""Replies in one turn, after which the turn ends by itself."""

TurnEnd = Literal["done", "stopped", "failed", "cut_short", "too_many_rounds"]


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


TurnEvent = Event | ToolStarted | ToolEnded | Retry


@dataclass(frozen=True, slots=True)
class TurnResult:
    """How a turn ended; ``error`` is the sentence for the person when it failed."""

    end: TurnEnd
    error: str = ""
    entries: tuple[int, ...] = ()

    @property
    def finished(self) -> bool:
        """The model came to an end of its own: nothing was left open (E17)."""
        return self.end == "done"


class _BrokenOff(Exception):
    """A call failed after something of it had arrived: trying again would say it twice."""

    def __init__(self, error: ModelError) -> None:
        super().__init__(error.message)
        self.error = error


class AgentTurn:
    """Runs turns for one session with one model and the tools that only look."""

    def __init__(
        self,
        port: SessionPort,
        door: ModelDoor,
        model: str,
        system: str,
        workspace: Workspace | None,
        keeper: ContextKeeper | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        self._port = port
        self._door = door
        self._model = model
        self._system = system
        self._workspace = workspace
        self._keeper: ContextKeeper = keeper or NoKeeper()
        self._retry = retry or RetryPolicy()
        self._entries: list[int] = []

    async def run(
        self,
        text: str,
        cancel: CancelToken,
        on_event: Callable[[TurnEvent], None],
        *,
        synthetic: bool = False,
    ) -> TurnResult:
        """Append the person's message and work until the model has nothing more to call.

        ``synthetic``: nobody typed the message, and it is marked so.
        """
        message: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": text}]}
        await self._append(message | {"synthetic": True} if synthetic else message)
        for _ in range(MOST_ROUNDS):
            result = await self._round(cancel, on_event)
            if result is not None:
                return result
        return self._result(
            "too_many_rounds", f"The turn ended after {MOST_ROUNDS} replies with tool calls."
        )

    async def _round(
        self, cancel: CancelToken, on_event: Callable[[TurnEvent], None]
    ) -> TurnResult | None:
        """One reply and its tools; the result when the turn ends with it."""
        reply = Reply()
        error = await self._stream(reply, cancel, on_event)
        if error is not None or cancel.cancelled:
            return await self._broken_off(reply, error, cancel)
        if reply.says_nothing:
            return await self._said_nothing(reply)
        entry = await self._append(reply.message(self._model, STOP_NAMES[reply.stop_reason]))
        if reply.read_tokens:
            blind = TooLarge(entry, "answered", reply.read_tokens)
            if (await self._keeper.make_room(self._model, blind, cancel)).made:
                return None
        if not reply.calls:
            if reply.stop_reason == "length":
                return self._result("cut_short", "The answer was cut short at its length limit.")
            return self._result("done")
        if not await self._run_tools(reply.calls, cancel, on_event):
            return self._result("stopped")
        return None

    def _result(self, end: TurnEnd, error: str = "") -> TurnResult:
        return TurnResult(end, error, tuple(self._entries))

    async def _append(self, message: dict[str, Any]) -> int:
        message["timestamp"] = self._port.now_ms()
        entry = await self._port.append_message(message)
        self._entries.append(entry)
        return entry

    async def _stream(
        self, reply: Reply, cancel: CancelToken, on_event: Callable[[TurnEvent], None]
    ) -> ModelError | None:
        """Fill the reply; returns why it failed, or None."""
        tools = read_only_tools() if self._workspace else ()
        try:
            kept = await self._keeper.messages(Outgoing(self._model, self._system, tools), cancel)
        except Cancelled:
            return None
        except ModelError as error:
            return error
        messages = (
            (ChatMessage("system", self._system), *self._port.chat_messages())
            if kept is None
            else tuple(kept)
        )
        request = ModelRequest(self._model, messages, tools=tools)

        async def attempt(_number: int) -> None:
            arrived = False
            try:
                async for event in self._door.stream(request, cancel):
                    arrived = True
                    reply.take(event)
                    on_event(event)
            except ModelError as error:
                if arrived:
                    raise _BrokenOff(error) from error
                raise

        try:
            await with_retry(attempt, self._retry, asyncio.sleep, random.random, on_event, cancel)
        except Cancelled:
            return None
        except _BrokenOff as broken:
            return broken.error
        except ModelError as error:
            return error
        if not reply.stop_reason and not cancel.cancelled:
            return ModelError(
                "network", "The answer ended before the model said that it was complete."
            )
        return None

    async def _broken_off(
        self, reply: Reply, error: ModelError | None, cancel: CancelToken
    ) -> TurnResult | None:
        """Keep what had arrived; None when the turn goes on all the same, with more room."""
        if error is None and reply.empty:
            return self._result("stopped")
        reply.calls.clear()
        message = reply.message(self._model, "error" if error else "aborted")
        message["errorMessage"] = error.told if error else "Stopped by the person"
        if error is not None:
            message["errorKind"] = error.kind
        entry = await self._append(message)
        if error is None:
            return self._result("stopped")
        told = error.told
        if error.kind == "overflow":
            room = await self._keeper.make_room(self._model, TooLarge(entry, "overflow"), cancel)
            if room.made:
                return None
            told = room.told or told
        return self._result("failed", told)

    async def _said_nothing(self, reply: Reply) -> TurnResult:
        """An answer of nothing is no answer: it is kept and marked, and not sent again."""
        told = "The model's answer is empty."
        message = reply.message(self._model, "error")
        await self._append(message | {"errorMessage": told})
        return self._result("failed", told)

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
