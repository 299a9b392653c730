"""One reply of the model: its request, what has arrived of it, and the message that is stored."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable
from contextlib import aclosing
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from explorer.agent.turn_interface import ContextPort, Outgoing, TurnEvent
from explorer.models.catalogue import usage_record
from explorer.models.client import (
    Cancelled,
    CancelToken,
    ChatMessage,
    ContentPart,
    Event,
    Finished,
    ImagePart,
    ModelError,
    ModelInfo,
    ModelRequest,
    Silence,
    Streams,
    TextDelta,
    TextPart,
    ThinkingDelta,
    ThinkingSigned,
    ToolCall,
    ToolCallReady,
    Usage,
    UsageReport,
)
from explorer.models.retry import RetryPolicy, with_retry
from explorer.session.entries import AssistantMessage, TextBlock, ThinkingBlock, ToolCallBlock
from explorer.tokens.estimate import estimate_text

REDACTED = "[Thinking that the provider does not show]"


class _Block(Struct):
    """One stretch of text or of thinking."""

    kind: Literal["text", "thinking"]
    pieces: list[str] = field(default_factory=list)
    signature: str = ""
    redacted: bool = False

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def stored(self) -> TextBlock | ThinkingBlock:
        """The block of the message that is stored."""
        if self.kind == "text":
            return TextBlock(self.text)
        return ThinkingBlock(
            REDACTED if self.redacted else self.text, self.signature, self.redacted
        )


class PartialReply:
    """What has arrived so far, in the order in which it came."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        """``taken``: ids of calls that the conversation has already; a call gets a new one."""
        self._ids = set(taken)
        self._blocks: list[_Block] = []
        self.calls: list[ToolCall] = []
        self.usage: Usage | None = None
        self.stop_reason = ""

    def take(self, event: Event) -> Event:
        """Add one event of the stream; returns it as it counts, a call with a unique id."""
        match event:
            case TextDelta(text):
                self._block("text").pieces.append(text)
            case ThinkingDelta(text):
                self._block("thinking").pieces.append(text)
            case ThinkingSigned():
                self._sign(event)
            case ToolCallReady(call):
                unique = self._named(call)
                self.calls.append(unique)
                return ToolCallReady(unique)
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
        unique, number = wanted, 1
        while unique in self._ids:
            number += 1
            unique = f"{wanted}_{number}"
        self._ids.add(unique)
        return call if unique == call.id else replace(call, id=unique)

    @property
    def text(self) -> str:
        """The text of the reply, without the thinking."""
        return "".join(block.text for block in self._blocks if block.kind == "text")

    @property
    def empty(self) -> bool:
        """Whether nothing in it can be shown or run: neither text, thinking nor calls."""
        return not (self._blocks or self.calls) or (self.says_nothing and not self._thought)

    @property
    def _thought(self) -> bool:
        return any(block.kind == "thinking" for block in self._blocks)

    @property
    def says_nothing(self) -> bool:
        """Neither text nor call; thinking alone does not count."""
        return not (self.text.strip() or self.calls)

    @property
    def read_tokens(self) -> int:
        """Prompt tokens as the provider reported them, cached or not; 0 without a report."""
        if self.usage is None or self.usage.source != "provider":
            return 0
        return self.usage.input + self.usage.cache_read

    @property
    def written_tokens(self) -> int:
        """Tokens of what arrived, by the estimate."""
        text_tokens = sum(estimate_text(block.text) for block in self._blocks)
        return text_tokens + sum(
            estimate_text(call.name) + estimate_text(call.raw or str(call.arguments))
            for call in self.calls
        )

    def message(
        self, model: str, stop_reason: str, info: ModelInfo | None = None
    ) -> AssistantMessage:
        """The message as it is stored. ``model`` is ``provider/name``; its prices, where ``info``
        has them, make the cost."""
        content = [block.stored() for block in self._blocks if block.pieces or block.signature]
        provider, _, name = model.partition("/")
        return AssistantMessage(
            (*content, *map(_stored_call, self.calls)),
            provider,
            name or provider,
            usage_record(self.usage, info),
            stop_reason,
            api="session-explorer",
        )


def _stored_call(call: ToolCall) -> ToolCallBlock:
    # What cannot be used is stored beside it, for diagnosis.
    return ToolCallBlock(call.id, call.name, call.arguments, call.raw if call.problem else "")


LEFT_OUT = "[A picture, which this model cannot see]"
SHOWN_BELOW = "[A picture, shown below]"


def sendable(messages: Iterable[ChatMessage], *, pictures: bool = True) -> list[ChatMessage]:
    """The messages with the pictures of results in a user message after them.

    Results are text for most providers, and stand one after the other behind their calls, so the
    pictures follow the last of them. ``pictures``: whether the model can see any; where it cannot
    the existence of one is reported.
    """
    found: list[ChatMessage] = []
    waiting: list[ContentPart] = []
    source = -1
    for message in messages:
        if message.role != "tool" and waiting:
            found.append(ChatMessage("user", tuple(waiting), source=source))
            waiting = []
        if not _has_pictures(message):
            found.append(message)
        elif not pictures:
            found.append(_without(message, LEFT_OUT))
        elif message.role == "tool":
            waiting, source = [*waiting, *_picture_parts(message)], message.source
            found.append(_without(message, SHOWN_BELOW))
        else:
            found.append(message)
    if waiting:
        found.append(ChatMessage("user", tuple(waiting), source=source))
    return found


def _has_pictures(message: ChatMessage) -> bool:
    content = message.content
    return not isinstance(content, str) and any(isinstance(part, ImagePart) for part in content)


def _without(message: ChatMessage, instead: str) -> ChatMessage:
    """The message with words in place of each picture; a result as one text."""
    parts = [
        TextPart(instead) if isinstance(part, ImagePart) else part
        for part in message.content
        if not isinstance(part, str)
    ]
    if message.role == "tool":
        return replace(message, content="\n".join(part.text for part in parts))
    return replace(message, content=tuple(parts))


def _picture_parts(message: ChatMessage) -> list[ContentPart]:
    heading = TextPart(f"What the tool call {message.tool_call_id} gave to look at:")
    images = [part for part in message.content if isinstance(part, ImagePart)]
    return [heading, *images]


class ReplyResult(Struct, frozen=True):
    """What came of asking: the reply as far as it came, and why it is not whole."""

    reply: PartialReply
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


class _PartialReply(Exception):
    """A call failed after something of it had arrived: trying again would say it twice."""

    def __init__(self, error: ModelError) -> None:
        super().__init__(error.message)
        self.error = error


class ReplyClient:
    """Asks one model."""

    def __init__(self, client: Streams, context_port: ContextPort, retry: RetryPolicy) -> None:
        self._client = client
        self._context_port = context_port
        self._retry = retry

    async def ask(
        self,
        outgoing: Outgoing,
        thinking: str | None,
        context: Callable[[], Iterable[ChatMessage]],
        cancel: CancelToken,
        on_event: Callable[[TurnEvent], None],
    ) -> ReplyResult:
        """One reply. ``context`` gives what is sent where no context port renders it; it is called
        in a thread, since reading and converting a long conversation takes too long for a
        window's."""
        try:
            rendered = await self._context_port.messages(outgoing, cancel)
        except Cancelled:
            return ReplyResult(PartialReply(), stopped=True)
        except ModelError as error:
            return ReplyResult(PartialReply(), error)

        def messages() -> tuple[ChatMessage, ...]:
            whole = (
                (ChatMessage("system", outgoing.system), *context())
                if rendered is None
                else rendered
            )
            return tuple(sendable(whole, pictures=outgoing.pictures))

        sent = await asyncio.to_thread(messages)
        request = ModelRequest(
            outgoing.model, sent, thinking=thinking, tools=outgoing.tools,
            of=f"The conversation with {len(sent):,} messages",
        )  # fmt: skip
        reply = PartialReply(call.id for message in sent for call in message.tool_calls)
        result = ReplyResult(reply, sent=sent)
        try:
            await self._stream(request, reply, cancel, on_event)
        except Cancelled:
            return replace(result, stopped=True)
        except _PartialReply as broken:
            return replace(result, error=broken.error)
        except ModelError as error:
            return replace(result, error=error)
        if cancel.cancelled:
            return replace(result, stopped=True)
        if not reply.stop_reason:
            sentence = "The answer ended before the model said that it was complete."
            return replace(result, error=ModelError("network", sentence))
        return result

    async def _stream(
        self,
        request: ModelRequest,
        reply: PartialReply,
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
                    raise _PartialReply(error) from error
                raise

        await with_retry(attempt, self._retry, asyncio.sleep, random.random, on_event, cancel)
