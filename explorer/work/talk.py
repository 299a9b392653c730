"""A turn of the agent in an opened session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from explorer.agent.loop import AgentTurn, TurnEvent, TurnResult
from explorer.agent.workspace import Workspace
from explorer.compaction.convert import entry_to_llm
from explorer.models.door import (
    CancelToken,
    ChatMessage,
    ContentPart,
    ImagePart,
    TextPart,
    ToolCall,
)
from explorer.session.describe import blocks_of
from explorer.work.document import Document


class DocumentPort:
    """What a turn needs of a document."""

    def __init__(self, document: Document) -> None:
        self._document = document

    async def append_message(self, message: Mapping[str, Any]) -> int:
        document = self._document
        return await document.writer.append("message", document.leaf, message=dict(message))

    def chat_messages(self) -> Sequence[ChatMessage]:
        return chat_messages(self._document)

    def now_ms(self) -> int:
        return self._document.writer.now_ms()


async def start_turn(
    document: Document,
    model: str,
    workspace: Workspace | None,
    text: str,
    cancel: CancelToken,
    on_event: Callable[[TurnEvent], None],
) -> TurnResult:
    """Send ``text`` at the leaf and work until the agent is done. Raises StoreError."""
    system = document.agent_prompt
    turn = AgentTurn(DocumentPort(document), document.door, model, system, workspace)
    return await turn.run(text, cancel, on_event)


def chat_messages(document: Document) -> list[ChatMessage]:
    """The context at the leaf as messages to a model (A6).

    Replies that failed or were stopped are left out, and with them calls that got no result;
    providers refuse a call without its result.
    """
    context = document.context()
    found: list[ChatMessage] = []
    for entry in document.payloads.entries(context.messages):
        message = entry_to_llm(entry, document.templates)
        if message is not None and message.get("stopReason") not in ("error", "aborted"):
            found.append(_chat_message(message))
    return _with_results(found)


def _chat_message(message: Mapping[str, Any]) -> ChatMessage:
    role = message.get("role")
    if role == "assistant":
        calls = tuple(
            ToolCall(str(b.get("id", "")), str(b.get("name", "")), dict(b.get("arguments") or {}))
            for b in blocks_of(message.get("content"))
            if b.get("type") == "toolCall"
        )
        texts = [
            str(b.get("text", ""))
            for b in blocks_of(message.get("content"))
            if b.get("type") == "text"
        ]
        return ChatMessage("assistant", "\n".join(texts), calls)
    parts: list[ContentPart] = []
    for block in blocks_of(message.get("content")):
        if block.get("type") == "image":
            parts.append(ImagePart(str(block.get("mimeType", "")), str(block.get("data", ""))))
        elif block.get("type") == "text":
            parts.append(TextPart(str(block.get("text", ""))))
    if role == "toolResult":
        texts = [part.text for part in parts if isinstance(part, TextPart)]
        return ChatMessage(
            "tool", "\n".join(texts), tool_call_id=str(message.get("toolCallId", ""))
        )
    return ChatMessage("user", tuple(parts))


def _with_results(messages: list[ChatMessage]) -> list[ChatMessage]:
    """Only calls that have a result and results that have a call."""
    answered = {m.tool_call_id for m in messages if m.role == "tool"}
    called = {call.id for m in messages for call in m.tool_calls}
    kept: list[ChatMessage] = []
    for message in messages:
        if message.role == "tool" and message.tool_call_id not in called:
            continue
        if any(call.id not in answered for call in message.tool_calls):
            calls = tuple(call for call in message.tool_calls if call.id in answered)
            message = ChatMessage(message.role, message.content, calls)
        if message.role != "assistant" or message.text or message.tool_calls:
            kept.append(message)
    return kept
