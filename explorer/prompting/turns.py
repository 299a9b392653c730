"""The messages that a rendered prompt consists of, each with the entries that it came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from msgspec import Struct, field

from explorer.session.entries import (
    AssistantMessage,
    Content,
    ModelMessage,
    TextBlock,
    ThinkingBlock,
    ToolResultMessage,
    images_of,
)
from explorer.session.text import well_formed
from explorer.tokens.estimate import js_json

Role = Literal["system", "user", "assistant", "tool"]


class ToolUse(Struct, frozen=True):
    """A call that an assistant message makes."""

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Name and arguments, as they are counted."""
        return f"{self.name}{js_json(dict(self.arguments))}"


class PromptImage(Struct, frozen=True):
    """An image in a message, base64."""

    mime: str
    data: str


class Thinking(Struct, frozen=True):
    """A reply's thinking, with the provider's signature of it where there is one."""

    text: str
    signature: str = ""


class PromptMessage(Struct, frozen=True):
    """One message of a prompt."""

    role: Role
    text: str
    calls: tuple[ToolUse, ...] = ()
    call_id: str | None = None
    """The call that a ``tool`` message answers."""
    pictures: tuple[PromptImage, ...] = ()
    thinking: Thinking | None = None
    sources: tuple[int, ...] = ()
    """The entries that it came from, ascending; empty for words that no entry holds."""
    tokens: int = 0


class SourceMessage(NamedTuple):
    """One entry of a context as it is sent: its message, what it weighs, where it came from."""

    entry: int
    message: ModelMessage
    tokens: int
    is_summary: bool = False
    """It is a compaction's summary."""


class Spoken(Struct, frozen=True):
    """A message of a person, a note, or a summary."""

    entry: int
    text: str
    tokens: int
    pictures: tuple[PromptImage, ...] = ()


class CallResult(Struct, frozen=True):
    """What a tool gave."""

    entry: int
    call_id: str
    text: str
    tokens: int


class Round(Struct):
    """A reply with the results of its calls."""

    entry: int
    text: str
    tokens: int
    calls: tuple[ToolUse, ...] = ()
    thinking: Thinking | None = None
    results: list[CallResult] = field(default_factory=list)

    @property
    def last_entry(self) -> int:
        """The last entry of the round on its path."""
        return max([self.entry, *(result.entry for result in self.results)])


class Turn(Struct):
    """The user's messages, and the rounds that they led to. Kept entries after a summary may begin
    in the middle of a turn, which then has no user message."""

    messages: list[Spoken] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)


class ConversationTurns(Struct, frozen=True):
    """A context: the newest summary, and the turns after what it tells (A53)."""

    summary: Spoken | None
    turns: tuple[Turn, ...]
    """The last one is the current turn."""

    @property
    def tokens(self) -> int:
        """What all of it takes: the earlier summary, messages, replies and tool results."""
        total = self.summary.tokens if self.summary is not None else 0
        for turn in self.turns:
            total += sum(spoken.tokens for spoken in turn.messages)
            for one in turn.rounds:
                total += one.tokens + sum(result.tokens for result in one.results)
        return total

    @property
    def is_warm(self) -> bool:
        """Whether a round with tools was completed in the current turn: a prompt cache then holds
        most of the prompt (A48)."""
        if not self.turns:
            return False
        return any(found.calls and found.results for found in self.turns[-1].rounds)


def conversation(source_messages: Iterable[SourceMessage]) -> ConversationTurns:
    """Turns and rounds of a context's messages, in order.

    Only what comes after the newest summary counts. Replies that failed or were stopped, calls
    without a result and results without a call are left out: providers refuse them.
    """
    messages = list(source_messages)
    newest = max((at for at, one in enumerate(messages) if one.is_summary), default=-1)
    summary = None
    if newest >= 0:
        summary, messages = _spoken(messages[newest]), messages[newest + 1 :]
    turns: list[Turn] = []
    for one in messages:
        message = one.message
        if isinstance(message, ToolResultMessage):
            if turns and turns[-1].rounds:
                turns[-1].rounds[-1].results.append(_result(one, message))
        elif isinstance(message, AssistantMessage):
            if message.failed:
                continue
            if not turns:
                turns.append(Turn())
            turns[-1].rounds.append(_round(one, message))
        else:
            if not turns or turns[-1].rounds:
                turns.append(Turn())
            turns[-1].messages.append(_spoken(one))
    for turn in turns:
        turn.rounds = [whole for one in turn.rounds if (whole := _paired(one)) is not None]
    return ConversationTurns(summary, tuple(turns))


def _paired(one: Round) -> Round | None:
    """A round with only the calls that have a result, and the results that have a call."""
    called = {call.id for call in one.calls}
    results = {result.call_id: result for result in one.results if result.call_id in called}
    calls = tuple(call for call in one.calls if call.id in results)
    if not calls and not one.text:
        return None
    return Round(one.entry, one.text, one.tokens, calls, one.thinking, list(results.values()))


def _round(message: SourceMessage, reply: AssistantMessage) -> Round:
    calls = tuple(ToolUse(call.id, call.name, call.named_arguments) for call in reply.calls)
    return Round(
        message.entry, _texts(reply.content), message.tokens, calls, _thinking(reply.content)
    )


def _thinking(content: Content) -> Thinking | None:
    """The last thinking block of a reply."""
    for block in reversed(content):
        if isinstance(block, ThinkingBlock) and block.text:
            return Thinking(well_formed(block.text), block.signature)
    return None


def _result(message: SourceMessage, result: ToolResultMessage) -> CallResult:
    text = _texts(result.content)
    if not text and images_of(result.content):
        text = "[image]"
    return CallResult(message.entry, result.call_id, text, message.tokens)


def _spoken(message: SourceMessage) -> Spoken:
    content = message.message.content
    pictures = tuple(PromptImage(image.mime, image.data) for image in images_of(content))
    return Spoken(message.entry, _texts(content), message.tokens, pictures)


def _texts(content: Content) -> str:
    return "\n".join(
        well_formed(block.text) for block in content if isinstance(block, TextBlock) and block.text
    )
