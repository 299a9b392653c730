"""A turn of the agent in an opened session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from explorer.agent.loop import AgentTurn, TurnEvent, TurnResult
from explorer.agent.workspace import Workspace
from explorer.compaction.convert import entry_to_llm, with_notes
from explorer.compaction.profile import Profile
from explorer.models.door import (
    CancelToken,
    ChatMessage,
    ContentPart,
    ImagePart,
    TextPart,
    ToolCall,
)
from explorer.models.retry import RetryPolicy
from explorer.session.describe import blocks_of
from explorer.session.text import well_formed
from explorer.templates import load_prompt
from explorer.work.automatic import AutomaticCompaction
from explorer.work.document import Document
from explorer.work.transcript import transcripts_of


class DocumentPort:
    """What a turn needs of a document."""

    def __init__(self, document: Document, automatic: AutomaticCompaction | None = None) -> None:
        self._document = document
        self._automatic = automatic

    async def append_message(self, message: Mapping[str, Any]) -> int:
        document = self._document
        return await document.writer.append("message", document.leaf, message=dict(message))

    def chat_messages(self) -> Sequence[ChatMessage]:
        rules = self._automatic.rules if self._automatic is not None else None
        return chat_messages(self._document, rules.profile if rules else None)

    def now_ms(self) -> int:
        return self._document.writer.now_ms()


async def start_turn(
    document: Document,
    model: str,
    workspace: Workspace | None,
    text: str,
    cancel: CancelToken,
    on_event: Callable[[TurnEvent], None],
    automatic: AutomaticCompaction | None = None,
    retry: RetryPolicy | None = None,
) -> TurnResult:
    """Send ``text`` at the leaf and work until the agent is done. Raises StoreError.

    ``automatic`` makes room in the context before, during and after the turn; without it nothing
    is compacted by itself. ``retry``: how often a call that fails for the moment is made again.
    """

    if workspace is not None:
        # What a summary points to can be read, wherever the database is (A51).
        workspace = workspace.with_reading(transcripts_of(document).is_own)

    def turn() -> AgentTurn:
        port = DocumentPort(document, automatic)
        return AgentTurn(
            port, document.door, model, document.agent_prompt, workspace, automatic, retry
        )

    if automatic is None:
        return await turn().run(text, cancel, on_event)
    automatic.person_spoke()
    await automatic.before_message(model, cancel)
    result = await turn().run(text, cancel, on_event)
    entries = result.entries
    while await automatic.after_turn(model, _ended(result), result.finished, cancel):
        said = load_prompt("continue")
        result = await turn().run(said, cancel, on_event, synthetic=True)
        entries += result.entries
    return replace(result, entries=entries)


def _ended(result: TurnResult) -> Literal["went-well", "failed", "stopped"]:
    if result.end in ("failed", "stopped"):
        return result.end
    return "went-well"


def chat_messages(document: Document, profile: Profile | None = None) -> list[ChatMessage]:
    """The context at the leaf as messages to a model, a summary in the words of a profile (A6).

    Replies that failed or were stopped are left out, and with them calls that got no result;
    providers refuse a call without its result.
    """
    context = document.context()
    templates = document.templates.worded(profile) if profile else document.templates
    found: list[ChatMessage] = []
    entries = with_notes(document.payloads.entries, context.pruned)
    for entry in entries(context.messages):
        message = entry_to_llm(entry, templates)
        if message is not None and message.get("stopReason") not in ("error", "aborted"):
            found.append(_chat_message(message))
    return _with_results(found)


def _chat_message(message: Mapping[str, Any]) -> ChatMessage:
    role, content = message.get("role"), blocks_of(message.get("content"))
    if role == "assistant":
        calls = tuple(_call(block) for block in content if block.get("type") == "toolCall")
        return ChatMessage("assistant", _joined(content), calls)
    if role == "toolResult":
        # Results are text for most providers; of a picture only that there was one is told.
        text = _joined(content)
        if not text and any(block.get("type") == "image" for block in content):
            text = "[image]"
        return ChatMessage("tool", text, tool_call_id=str(message.get("toolCallId", "")))
    parts: list[ContentPart] = []
    for block in content:
        if block.get("type") == "image":
            parts.append(ImagePart(str(block.get("mimeType", "")), str(block.get("data", ""))))
        elif text := _text(block):
            parts.append(TextPart(text))
    return ChatMessage("user", tuple(parts))


def _call(block: Mapping[str, Any]) -> ToolCall:
    arguments = block.get("arguments")
    known = dict(arguments) if isinstance(arguments, dict) else {}
    return ToolCall(str(block.get("id", "")), str(block.get("name", "")), known)


def _text(block: Mapping[str, Any]) -> str:
    text = block.get("text") if block.get("type") == "text" else None
    return well_formed(text) if isinstance(text, str) else ""


def _joined(content: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(text for block in content if (text := _text(block)))


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
        # Nobody takes a message of nothing.
        if message.content or message.tool_calls or message.role == "tool":
            kept.append(message)
    return kept
