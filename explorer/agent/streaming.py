"""Asks the model for a reply and takes it in while it comes; retries before its first word."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass, replace

from explorer.agent.events import TurnEvent
from explorer.agent.keeping import ContextKeeper, Outgoing
from explorer.agent.pictures import sendable
from explorer.agent.reply import Reply
from explorer.models.client import (
    Cancelled,
    CancelToken,
    ChatMessage,
    ModelError,
    ModelRequest,
    Silence,
    Streams,
)
from explorer.models.retry import RetryPolicy, with_retry
from explorer.tokens.estimate import estimate_text


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking: the reply as far as it came, and why it is not whole."""

    reply: Reply
    error: ModelError | None = None
    stopped: bool = False
    sent: tuple[ChatMessage, ...] = ()
    """What the model was sent."""

    @property
    def whole(self) -> bool:
        return self.error is None and not self.stopped

    @property
    def used_tokens(self) -> int:
        """Tokens read and written, as the provider counts them or by the estimate, which takes
        a moment for a long request."""
        usage = self.reply.usage
        if usage is not None and usage.source == "provider":
            parts = usage.input + usage.output + usage.cache_read + usage.cache_write
            return max(usage.total, parts)
        if self.reply.empty and not self.whole:
            return 0
        read = sum(estimate_text(message.text) for message in self.sent)
        return read + self.reply.written_tokens


class _BrokenOff(Exception):
    """A call failed after something of it had arrived: trying again would say it twice."""

    def __init__(self, error: ModelError) -> None:
        super().__init__(error.message)
        self.error = error


class Asking:
    """Asks one model."""

    def __init__(self, client: Streams, keeper: ContextKeeper, retry: RetryPolicy) -> None:
        self._client = client
        self._keeper = keeper
        self._retry = retry

    async def ask(
        self,
        outgoing: Outgoing,
        thinking: str | None,
        context: Callable[[], Iterable[ChatMessage]],
        cancel: CancelToken,
        on_event: Callable[[TurnEvent], None],
    ) -> Asked:
        """One reply. ``context`` gives what is sent where no keeper renders it; it is called in a
        thread, since reading and converting a long conversation takes too long for a window's."""
        try:
            kept = await self._keeper.messages(outgoing, cancel)
        except Cancelled:
            return Asked(Reply(), stopped=True)
        except ModelError as error:
            return Asked(Reply(), error)

        def messages() -> tuple[ChatMessage, ...]:
            whole = (ChatMessage("system", outgoing.system), *context()) if kept is None else kept
            return tuple(sendable(whole, pictures=outgoing.pictures))

        sent = await asyncio.to_thread(messages)
        request = ModelRequest(outgoing.model, sent, thinking=thinking, tools=outgoing.tools)
        reply = Reply(call.id for message in sent for call in message.tool_calls)
        asked = Asked(reply, sent=sent)
        try:
            await self._stream(request, reply, cancel, on_event)
        except Cancelled:
            return replace(asked, stopped=True)
        except _BrokenOff as broken:
            return replace(asked, error=broken.error)
        except ModelError as error:
            return replace(asked, error=error)
        if cancel.cancelled:
            return replace(asked, stopped=True)
        if not reply.stop_reason:
            told = "The answer ended before the model said that it was complete."
            return replace(asked, error=ModelError("network", told))
        return asked

    async def _stream(
        self,
        request: ModelRequest,
        reply: Reply,
        cancel: CancelToken,
        on_event: Callable[[TurnEvent], None],
    ) -> None:
        async def attempt(_number: int) -> None:
            arrived = False
            events = self._client.stream(request, cancel)
            try:
                async with aclosing(events) as open_events:  # type: ignore[type-var]
                    async for event in open_events:
                        arrived |= not isinstance(event, Silence)
                        on_event(reply.take(event))
            except ModelError as error:
                if arrived:
                    raise _BrokenOff(error) from error
                raise

        await with_retry(attempt, self._retry, asyncio.sleep, random.random, on_event, cancel)
