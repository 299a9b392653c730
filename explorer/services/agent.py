"""What the agent of an opened session is sent: messages and system prompt; and whether it is done.

See A6 for the shape of the messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

from explorer.agent.context_port import Outgoing
from explorer.agent.tools.port import ToolBox
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
from explorer.session.describe import blocks_of
from explorer.session.kinds import Flag, Kind
from explorer.session.text import well_formed
from explorer.templates import load_prompt

_LONGEST_ID = 64
_ODD = re.compile(r"[^A-Za-z0-9_-]")
_SIGNED = ("session-explorer", "anthropic-messages")
"""Where signatures are the provider's own; others keep things of another kind in their place."""
_SPOKEN = frozenset((Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT))
"""Messages of a turn; labels, changes of model and compactions between them do not count."""


class Agent:
    """The agent's view of one session."""

    def __init__(self, session: OpenedSession) -> None:
        self._session = session

    def messages(
        self, profile: Profile | None = None, at: int | None = None, model: str = ""
    ) -> list[ChatMessage]:
        """The context at an entry, by default the leaf, as messages that providers accept; a
        summary in the words of ``profile`` (A6).

        ``model``: who is asked; thinking is sent to the model that signed it, to no other. Empty:
        to any.
        """
        session = self._session
        context = session.context(at)
        templates = session.templates.worded(profile) if profile else session.templates
        entries = with_notes(session.payloads.entries, context.pruned, context.again)
        messages = (entry_to_llm(entry, templates) for entry in entries(context.messages))
        return chat_of((message for message in messages if message is not None), model)

    def open_calls(self, at: int | None = None) -> list[ToolCall]:
        """Calls of the last reply before an entry, by default the leaf, that have no result."""
        reply, answered = self._last_reply(self._session.leaf if at is None else at)
        message = self._message(reply)
        if message.get("stopReason") in ("error", "aborted"):
            return []
        return [
            ToolCall(str(block["id"]), str(block.get("name", "")))
            for block in blocks_of(message.get("content"))
            if block.get("type") == "toolCall" and block.get("id") not in (None, *answered)
        ]

    def was_cut_short(self) -> bool:
        """Whether the last reply before the leaf ended at its length limit."""
        reply, _ = self._last_reply(self._session.leaf)
        return self._message(reply).get("stopReason") == "length"

    def unfinished(self, at: int | None = None) -> str:
        """Why the agent is not done at an entry, by default the leaf, as a sentence for the user;
        empty where it is, or where nothing was asked."""
        entry = self._last_spoken(self._session.leaf if at is None else at)
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
        if self._message(entry).get("stopReason") == "length":
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
                answered.add(str(self._message(at).get("toolCallId", "")))
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

    def _message(self, at: int) -> Mapping[str, Any]:
        message = self._session.entry(at).get("message") if at >= 0 else None
        return message if isinstance(message, Mapping) else {}


@dataclass(slots=True)
class _Sent:
    """One message, and with a reply the results of its calls."""

    message: ChatMessage
    results: dict[str, ChatMessage] = field(default_factory=dict)
    foreign: bool = False
    """Another model's: its ids may be valid for its provider alone."""


def chat_of(messages: Iterable[Mapping[str, Any]], model: str = "") -> list[ChatMessage]:
    """Messages as pi writes them, as they are sent to ``model``.

    Replies that failed or were stopped are left out. Of calls and results only pairs are sent,
    results right after their reply and under ids of their own, since providers refuse anything
    else.
    """
    sent: list[_Sent] = []
    called: dict[str, _Sent] = {}
    for message in messages:
        if message.get("stopReason") in ("error", "aborted"):
            continue
        role = message.get("role")
        own = _chat_message(message)
        if role == "toolResult":
            caller = called.get(own.tool_call_id or "")
            if caller is not None:
                caller.results.setdefault(own.tool_call_id or "", own)
            continue
        foreign = role == "assistant" and not _is_of(message, model)
        if foreign or message.get("api", _SIGNED[0]) not in _SIGNED:
            own = replace(own, thinking=None, more_thinking=())
        one = _Sent(own, foreign=foreign)
        sent.append(one)
        called |= {call.id: one for call in own.tool_calls}
    taken: set[str] = set()
    return [message for one in sent for message in _paired(one, taken)]


def _is_of(message: Mapping[str, Any], model: str) -> bool:
    if not model:
        return True
    provider, _, name = model.partition("/")
    return message.get("provider") == provider and message.get("model") == (name or provider)


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
    return [message, *results] if message.content or calls else []


def _unique_id(call_id: str, foreign: bool, taken: set[str]) -> str:
    """An id that no other call of the request has."""
    wanted = _ODD.sub("_", call_id)[:_LONGEST_ID] if foreign else call_id
    wanted = wanted or "call"
    own, number = wanted, 1
    while own in taken:
        number += 1
        own = f"{wanted}_{number}"
    taken.add(own)
    return own


def _chat_message(message: Mapping[str, Any]) -> ChatMessage:
    role, content = message.get("role"), blocks_of(message.get("content"))
    if role == "assistant":
        calls = tuple(_call(block) for block in content if block.get("type") == "toolCall")
        thinking = _thinking(content)
        first = thinking[0] if thinking else None
        return ChatMessage(
            "assistant", _joined(content), calls, thinking=first, more_thinking=thinking[1:]
        )
    parts = _parts(content)
    if role == "toolResult":
        call_id = str(message.get("toolCallId", ""))
        pictures = any(isinstance(part, ImagePart) for part in parts)
        return ChatMessage("tool", parts if pictures else _joined(content), tool_call_id=call_id)
    return ChatMessage("user", parts)


def _parts(content: Sequence[Mapping[str, Any]]) -> tuple[ContentPart, ...]:
    parts: list[ContentPart] = []
    for block in content:
        if block.get("type") == "image":
            parts.append(ImagePart(str(block.get("mimeType", "")), str(block.get("data", ""))))
        elif text := _text(block):
            parts.append(TextPart(text))
    return tuple(parts)


def _thinking(content: Sequence[Mapping[str, Any]]) -> tuple[ThinkingPart, ...]:
    """Signed thinking; providers do not accept unsigned thinking."""
    found: list[ThinkingPart] = []
    for block in content:
        signature = block.get("thinkingSignature") or block.get("signature")
        if block.get("type") != "thinking" or not isinstance(signature, str):
            continue
        redacted, text = block.get("redacted") is True, block.get("thinking")
        shown = text if isinstance(text, str) and not redacted else ""
        # Exactly as it was signed: only what no request can carry is replaced.
        found.append(ThinkingPart(well_formed(shown), signature, redacted))
    return tuple(found)


def _call(block: Mapping[str, Any]) -> ToolCall:
    arguments = block.get("arguments")
    known = dict(arguments) if isinstance(arguments, dict) else {}
    return ToolCall(str(block.get("id", "")), str(block.get("name", "")), known)


def _text(block: Mapping[str, Any]) -> str:
    text = block.get("text") if block.get("type") == "text" else None
    return well_formed(text) if isinstance(text, str) else ""


def _joined(content: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(text for block in content if (text := _text(block)))


# the system prompt --------------------------------------------------------------------------------


@runtime_checkable
class InFolder(Protocol):
    """Tools that have a workspace."""

    @property
    def folder(self) -> str:
        """The workspace, as it stands in the system prompt."""


def system_prompt(template: str, tools: ToolBox | None, date: str = "") -> str:
    """``template`` with the variables ``workspace`` and ``date`` filled in.

    ``date`` is today's as people write it; empty leaves it out.
    """
    today = fill(load_prompt("agent-date"), {"date": date}) if date else ""
    return fill(template, {"workspace": _workspace_text(tools), "date": today}).strip()


def outgoing_of(template: str, model: str, tools: ToolBox | None, date: str = "") -> Outgoing:
    """What a request of the agent is made of beside the conversation; see ``system_prompt``."""
    specs = tools.specs() if tools is not None else ()
    return Outgoing(model, system_prompt(template, tools, date), specs)


def _workspace_text(tools: ToolBox | None) -> str:
    if tools is None:
        return load_prompt("agent-no-workspace")
    folder = tools.folder if isinstance(tools, InFolder) else ""
    changes = any(tools.is_exclusive(ToolCall("", spec.name)) for spec in tools.specs())
    words = load_prompt("agent-changes" if changes else "agent-looks")
    return fill(words, {"folder": folder or "the folder that the developer chose"})
