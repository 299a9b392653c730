"""The context of a session as messages to a model, in a shape that providers take (A6)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from explorer.compaction.messages import entry_to_llm, with_notes
from explorer.compaction.profile import Profile
from explorer.models.door import (
    ChatMessage,
    ContentPart,
    ImagePart,
    TextPart,
    ThinkingPart,
    ToolCall,
)
from explorer.session.describe import blocks_of
from explorer.session.text import well_formed
from explorer.work.document import Document

_LONGEST_ID = 64
_ODD = re.compile(r"[^A-Za-z0-9_-]")
_SIGNED = ("session-explorer", "anthropic-messages")
"""Where signatures are the provider's own; others keep things of another kind in their place."""


def chat_messages(
    document: Document, profile: Profile | None = None, at: int | None = None, model: str = ""
) -> list[ChatMessage]:
    """The context at an entry, by default at the leaf; a summary in the words of a profile (A6).

    ``model`` is who is asked: thinking goes back to the model that signed it, to no other. Empty:
    to any.
    """
    context = document.context(at)
    templates = document.templates.worded(profile) if profile else document.templates
    entries = with_notes(document.payloads.entries, context.pruned, context.again)
    messages = (entry_to_llm(entry, templates) for entry in entries(context.messages))
    return chat_of((message for message in messages if message is not None), model)


@dataclass(slots=True)
class _Said:
    """One message, and with a reply the results of its calls."""

    message: ChatMessage
    results: dict[str, ChatMessage] = field(default_factory=dict)
    foreign: bool = False
    """Another model's: its ids may be what only its provider takes."""


def chat_of(messages: Iterable[Mapping[str, Any]], model: str = "") -> list[ChatMessage]:
    """Messages as pi writes them as they are sent to ``model``.

    Replies that failed or were stopped are left out. Of calls and results only pairs are sent,
    results right after their reply and under ids of their own, since providers refuse anything
    else.
    """
    said: list[_Said] = []
    called: dict[str, _Said] = {}
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
        one = _Said(own, foreign=foreign)
        said.append(one)
        called |= {call.id: one for call in own.tool_calls}
    taken: set[str] = set()
    return [message for one in said for message in _paired(one, taken)]


def _is_of(message: Mapping[str, Any], model: str) -> bool:
    if not model:
        return True
    provider, _, name = model.partition("/")
    return message.get("provider") == provider and message.get("model") == (name or provider)


def _paired(said: _Said, taken: set[str]) -> list[ChatMessage]:
    """A message with the results that follow it; nothing where it says nothing (nobody takes a
    message of nothing)."""
    calls: list[ToolCall] = []
    results: list[ChatMessage] = []
    seen: set[str] = set()
    for call in said.message.tool_calls:
        result = said.results.get(call.id)
        if result is None or call.id in seen:
            continue
        seen.add(call.id)
        own = _own_id(call.id, said.foreign, taken)
        calls.append(replace(call, id=own))
        results.append(replace(result, tool_call_id=own))
    message = replace(said.message, tool_calls=tuple(calls))
    return [message, *results] if message.content or calls else []


def _own_id(call_id: str, foreign: bool, taken: set[str]) -> str:
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
    """What was thought and signed; unsigned thinking is taken back by nobody."""
    found: list[ThinkingPart] = []
    for block in content:
        signature = block.get("thinkingSignature") or block.get("signature")
        if block.get("type") != "thinking" or not isinstance(signature, str):
            continue
        redacted, text = block.get("redacted") is True, block.get("thinking")
        shown = text if isinstance(text, str) and not redacted else ""
        # As it was signed, to the letter: only what no request can carry is made good.
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
