"""What the agent of an opened session is sent: messages and system prompt; and whether it is done.

See A6 for the shape of the messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from msgspec import Struct, field
from msgspec.structs import replace

from explorer.agent.tools.port import ToolSet
from explorer.agent.turn_interface import Outgoing
from explorer.compaction.messages import entry_to_llm, with_notes
from explorer.compaction.profile import Profile
from explorer.compaction.templates import fill
from explorer.models.client import (
    ChatMessage,
    ContentPart,
    ImagePart,
    TextPart,
    ThinkingPart,
    ToolCall,
)
from explorer.services.open_session import OpenedSession
from explorer.session.entries import (
    AssistantMessage,
    Content,
    ImageBlock,
    ModelMessage,
    TextBlock,
    ThinkingBlock,
    ToolResultMessage,
    images_of,
)
from explorer.session.kinds import Flag, Kind
from explorer.session.text import well_formed
from explorer.settings.prompt_templates import load_prompt

_LONGEST_ID = 64
_ODD = re.compile(r"[^A-Za-z0-9_-]")
_SIGNED = ("session-explorer", "anthropic-messages")
"""APIs whose signatures are the provider's; others use the field for something else."""
_SPOKEN = frozenset((Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT))
"""Messages of a turn; labels, changes of model and compactions between them do not count."""


class Agent:
    """The agent's view of one session."""

    def __init__(self, session: OpenedSession) -> None:
        self._session = session

    def messages(
        self, profile: Profile | None = None, at: int | None = None, model: str = ""
    ) -> list[ChatMessage]:
        """The context at an entry, by default the leaf, as messages that providers accept, each
        with the entry that it came from; a summary in the words of ``profile`` (A6).

        ``model``: who is asked; thinking is sent to the model that signed it, to no other. Empty:
        to any.
        """
        return chat_of(self.read(profile, at), model)

    def read(
        self, profile: Profile | None = None, at: int | None = None
    ) -> list[tuple[int, ModelMessage]]:
        """The entries of a context with their messages, before the rules of providers count; what
        holds no message is left out."""
        session = self._session
        context = session.context(at)
        templates = (
            session.shared.templates.worded(profile) if profile else session.shared.templates
        )
        entries = with_notes(session.payloads.sent_to_agent.entries, context.pruned, context.again)
        read = zip(context.messages, entries(context.messages), strict=True)
        messages = ((source, entry_to_llm(entry, templates)) for source, entry in read)
        return [(source, message) for source, message in messages if message is not None]

    def open_calls(self, at: int | None = None) -> list[ToolCall]:
        """Calls of the last reply before an entry, by default the leaf, that have no result."""
        reply, answered = self._last_reply(self._session.leaf if at is None else at)
        message = self._reply(reply)
        if message is None or message.failed:
            return []
        return [
            ToolCall(call.id, call.name)
            for call in message.calls
            if call.id and call.id not in answered
        ]

    def was_cut_short(self) -> bool:
        """Whether the last reply before the leaf ended at its length limit."""
        reply, _ = self._last_reply(self._session.leaf)
        message = self._reply(reply)
        return message is not None and message.stop_reason == "length"

    def unfinished(self) -> str:
        """Why the agent is not done at the leaf, as a sentence for the user; empty where it is, or
        where nothing was asked."""
        entry = self._last_spoken(self._session.leaf)
        if entry < 0:
            return ""
        columns = self._session.tree.columns
        kind, flags = Kind(columns.kind[entry]), columns.flags[entry]
        if kind is Kind.USER:
            return "The last message has no answer yet."
        if kind is Kind.TOOL_RESULT:
            return "The agent has not gone on since its tools came to an end."
        if flags & Flag.ABORTED:
            return "The last answer was stopped."
        if flags & Flag.ERROR:
            return "The last answer failed."
        if self.open_calls(entry):
            return "The agent was interrupted before its tools ran."
        reply = self._reply(entry)
        if reply is not None and reply.stop_reason == "length":
            return "The last answer was cut short at its length limit."
        return ""

    def _last_reply(self, at: int) -> tuple[int, set[str]]:
        """The reply that an entry follows, -1 for none, and the calls that have results there."""
        columns = self._session.tree.columns
        answered: set[str] = set()
        while at >= 0:
            kind = columns.kind[at]
            if kind == Kind.ASSISTANT:
                return at, answered
            if kind == Kind.TOOL_RESULT:
                result = self._session.payloads.stored.entry(at).body
                if isinstance(result, ToolResultMessage):
                    answered.add(result.call_id)
            elif kind in (Kind.USER, Kind.COMPACTION, Kind.BRANCH_SUMMARY):
                break
            at = columns.parent[at]
        return -1, answered

    def _last_spoken(self, at: int) -> int:
        """The message that an entry follows; -1 for none, or where a branch summary is between."""
        columns = self._session.tree.columns
        while at >= 0 and columns.kind[at] not in _SPOKEN:
            if columns.kind[at] == Kind.BRANCH_SUMMARY:
                return -1
            at = columns.parent[at]
        return at

    def _reply(self, at: int) -> AssistantMessage | None:
        body = self._session.payloads.stored.entry(at).body if at >= 0 else None
        return body if isinstance(body, AssistantMessage) else None


class _Sent(Struct):
    """One message, and with a reply the results of its calls."""

    message: ChatMessage
    results: dict[str, ChatMessage] = field(default_factory=dict)
    foreign: bool = False
    """Another model's: its ids may be valid for its provider alone."""


def chat_of(messages: Iterable[tuple[int, ModelMessage]], model: str = "") -> list[ChatMessage]:
    """Messages of a context, each with its entry, as they are sent to ``model``.

    Replies that failed or were stopped are left out. Of calls and results only pairs are sent,
    results right after their reply and under unique ids, since providers refuse anything
    else.
    """
    sent: list[_Sent] = []
    called: dict[str, _Sent] = {}
    for source, message in messages:
        chat = replace(_chat_message(message), source=source)
        if isinstance(message, ToolResultMessage):
            caller = called.get(message.call_id)
            if caller is not None:
                caller.results.setdefault(message.call_id, chat)
            continue
        foreign = False
        if isinstance(message, AssistantMessage):
            if message.failed:
                continue
            foreign = not _is_of(message, model)
            if foreign or (message.api or _SIGNED[0]) not in _SIGNED:
                chat = replace(chat, thinking=None, more_thinking=())
        one = _Sent(chat, foreign=foreign)
        sent.append(one)
        called |= {call.id: one for call in chat.tool_calls}
    taken: set[str] = set()
    return [message for one in sent for message in _paired(one, taken)]


def _is_of(reply: AssistantMessage, model: str) -> bool:
    if not model:
        return True
    provider, _, name = model.partition("/")
    return reply.provider == provider and reply.model == (name or provider)


def _paired(sent: _Sent, taken: set[str]) -> list[ChatMessage]:
    """A message with the results that follow it; nothing where it is empty, which no provider
    accepts."""
    calls: list[ToolCall] = []
    results: list[ChatMessage] = []
    seen: set[str] = set()
    for call in sent.message.tool_calls:
        result = sent.results.get(call.id)
        if result is None or call.id in seen:
            continue
        seen.add(call.id)
        unique = _unique_id(call.id, sent.foreign, taken)
        calls.append(replace(call, id=unique))
        results.append(replace(result, tool_call_id=unique))
    message = replace(sent.message, tool_calls=tuple(calls))
    return [message, *results] if _says_something(message) or calls else []


def _says_something(message: ChatMessage) -> bool:
    return bool(message.text.strip()) or (
        not isinstance(message.content, str)
        and any(isinstance(part, ImagePart) for part in message.content)
    )


def _unique_id(call_id: str, foreign: bool, taken: set[str]) -> str:
    """An id that no other call of the request has."""
    wanted = _ODD.sub("_", call_id)[:_LONGEST_ID] if foreign else call_id
    wanted = wanted or "call"
    unique, number = wanted, 1
    while unique in taken:
        number += 1
        unique = f"{wanted}_{number}"
    taken.add(unique)
    return unique


def _chat_message(message: ModelMessage) -> ChatMessage:
    content = message.content
    match message:
        case AssistantMessage():
            calls = tuple(
                ToolCall(call.id, call.name, dict(call.named_arguments)) for call in message.calls
            )
            thinking = _thinking(content)
            first = thinking[0] if thinking else None
            return ChatMessage(
                "assistant", _joined(content), calls, thinking=first, more_thinking=thinking[1:]
            )
        case ToolResultMessage():
            sent = _parts(content) if images_of(content) else _joined(content)
            return ChatMessage("tool", sent, tool_call_id=message.call_id)
    return ChatMessage("user", _parts(content))


def _parts(content: Content) -> tuple[ContentPart, ...]:
    parts: list[ContentPart] = []
    for block in content:
        if isinstance(block, ImageBlock):
            parts.append(ImagePart(block.mime, block.data))
        elif isinstance(block, TextBlock) and block.text:
            parts.append(TextPart(well_formed(block.text)))
    return tuple(parts)


def _thinking(content: Content) -> tuple[ThinkingPart, ...]:
    """Signed thinking; providers do not accept unsigned thinking."""
    # Exactly as it was signed: only what no request can carry is replaced.
    return tuple(
        ThinkingPart(
            "" if block.redacted else well_formed(block.text), block.signature, block.redacted
        )
        for block in content
        if isinstance(block, ThinkingBlock) and block.signature
    )


def _joined(content: Content) -> str:
    return "\n".join(
        well_formed(block.text) for block in content if isinstance(block, TextBlock) and block.text
    )


# the system prompt --------------------------------------------------------------------------------


@runtime_checkable
class InFolder(Protocol):
    """Tools that have a workspace."""

    @property
    def folder(self) -> str:
        """The workspace, as it stands in the system prompt."""


def system_prompt(template: str, tools: ToolSet | None, date: str = "") -> str:
    """``template`` with the variables ``workspace`` and ``date`` filled in.

    ``date`` is today's as people write it; empty leaves it out.
    """
    today = fill(load_prompt("agent-date"), {"date": date}) if date else ""
    return fill(template, {"workspace": _workspace_text(tools), "date": today}).strip()


def outgoing_of(template: str, model: str, tools: ToolSet | None, date: str = "") -> Outgoing:
    """What a request of the agent is made of beside the conversation; see ``system_prompt``."""
    specs = tools.specs() if tools is not None else ()
    return Outgoing(model, system_prompt(template, tools, date), specs)


def _workspace_text(tools: ToolSet | None) -> str:
    if tools is None:
        return load_prompt("agent-no-workspace")
    folder = tools.folder if isinstance(tools, InFolder) else ""
    changes = any(tools.is_exclusive(ToolCall("", spec.name)) for spec in tools.specs())
    words = load_prompt("agent-changes" if changes else "agent-looks")
    return fill(words, {"folder": folder or "the folder that the developer chose"})
