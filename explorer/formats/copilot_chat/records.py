"""A part of a request, as it is stored, as a typed entry.

Every entry's record is a JSON object that names in ``part`` what it was taken from, with the values
as the session's state has them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from explorer.formats.copilot_chat.blocks import (
    attached_files,
    attached_pictures,
    rendered_blocks,
    result_content,
    shown_blocks,
    shown_output,
    thinking_text,
)
from explorer.formats.json_fields import list_field, object_field, text_blocks, text_field
from explorer.formats.jsonl import BadLine, parse
from explorer.session.entries import (
    AssistantMessage,
    Block,
    Body,
    CompactionSummary,
    Content,
    CustomData,
    Entry,
    FilesMessage,
    NoteMessage,
    TextBlock,
    ThinkingBlock,
    TokenUsage,
    ToolCallBlock,
    ToolResultMessage,
    Unknown,
    UnknownBlock,
    UserMessage,
)
from explorer.session.json_values import read_json, recorded_count, time_ms, token_count

PART = "part"
SHOWN = "what the chat showed"
"""Names the entry of what the model is never sent: a response as the window shows it."""
UNCALLED = "a result without a call"
UNUSED = "a summary that is not used"
_CANCELLED, _FAILED = 2, 3

Record = Mapping[str, Any]


def read_record(record: str | bytes) -> Entry:
    """The entry of a record."""
    text = record.encode("utf-8", "surrogatepass") if isinstance(record, str) else record
    try:
        value = parse(text)
    except BadLine:
        return Entry.NONE
    return read_part(value) if isinstance(value, dict) else Entry.NONE


def read_part(record: Record) -> Entry:
    """``read_record`` for a record that is parsed already."""
    part = text_field(record, PART)
    read = _BODIES.get(part)
    body = read(record) if read is not None else Unknown(part)
    entry = Entry.of(body, text_field(record, "id"), None, time_ms(record.get("time")))
    return replace(entry, recorded=record)


def ending(request: Mapping[str, Any]) -> tuple[str, str]:
    """How a request ended that did not come to its end, ``error`` or ``aborted``, and the error's
    message."""
    details = object_field(object_field(request, "result"), "errorDetails")
    state = object_field(request, "modelState").get("value")
    message = text_field(details, "message")
    if (
        request.get("isCanceled") is True
        or state == _CANCELLED
        or details.get("code") == "canceled"
    ):
        return "aborted", message
    return ("error", message) if details or state == _FAILED else ("", "")


def model_of(model_id: object) -> tuple[str, str]:
    """Provider and name of ``provider/name``."""
    if not isinstance(model_id, str):
        return "", ""
    provider, slash, name = model_id.partition("/")
    return (provider, name) if slash else ("", model_id)


def added_context(record: Record) -> Content:
    """What the program put around the words of a person, as it was sent before and after them."""
    typed = text_field(record, "text").strip()
    blocks = rendered_blocks(record.get("renderedUserMessage"))
    found: list[Block] = []
    is_open = bool(typed)
    for block in blocks:
        text = block.text if isinstance(block, TextBlock) else ""
        if not text or not is_open or typed not in text:
            found.append(block)
            continue
        is_open = False
        before, _, after = text.partition(typed)
        found += [TextBlock(one) for one in (before.rstrip(), after.lstrip()) if one]
    return tuple(found)


def _request(record: Record) -> Body:
    request = object_field(record, "request")
    message = request.get("message")
    text = message if isinstance(message, str) else text_field(message, "text")
    if not text:
        text = "".join(text_field(one, "text") for one in list_field(message, "parts"))
    pictures = attached_pictures(list_field(object_field(request, "variableData"), "variables"))
    return UserMessage((*text_blocks(text), *pictures))


def _context(record: Record) -> Body:
    return NoteMessage(added_context(record), "context", display=False)


def _global_context(record: Record) -> Body:
    content = rendered_blocks(record.get("renderedGlobalContext"))
    return NoteMessage(content, "environment", display=False)


def _files(record: Record) -> Body:
    return FilesMessage(attached_files(list_field(record, "variables")))


def _round(record: Record) -> Body:
    round_ = object_field(record, "round")
    provider, model = model_of(record.get("modelId"))
    blocks: list[Block] = []
    thinking = object_field(round_, "thinking")
    thought, sealed = thinking_text(thinking.get("text")), text_field(thinking, "encrypted")
    if thought or sealed:
        blocks.append(ThinkingBlock(thought, sealed, redacted=not thought))
    blocks += text_blocks(round_.get("response"))
    calls = [_call(one) for one in list_field(round_, "toolCalls")]
    stop = "tool_calls" if calls else "stop"
    return AssistantMessage((*blocks, *calls), provider, model, _usage(record), stop)


def _call(call: object) -> Block:
    if not isinstance(call, dict):
        return UnknownBlock("toolCall", call)
    call_id, name, arguments = (
        text_field(call, "id"),
        text_field(call, "name"),
        call.get("arguments"),
    )
    if not isinstance(arguments, str):
        return ToolCallBlock(call_id, name, arguments)
    try:
        return ToolCallBlock(call_id, name, read_json(arguments) if arguments.strip() else {})
    except ValueError:
        return ToolCallBlock(call_id, name, None, arguments)


def _usage(record: Record) -> TokenUsage | None:
    """Tokens of the last call of a request, which is all that is recorded."""
    usage = object_field(record, "usage")
    prompt, output = (recorded_count(usage.get(name)) for name in ("promptTokens", "outputTokens"))
    if prompt is None and output is None:
        return None
    total = (prompt or 0) + (output or 0) if prompt is not None else -1
    return TokenUsage(prompt or 0, output or 0, context=total)


def _result(record: Record) -> Body:
    result = record.get("result")
    failed = isinstance(result, dict) and bool(
        result.get("hasError") is True or result.get("toolResultError")
    )
    call_id, tool = text_field(record, "toolCallId"), text_field(record, "name")
    return ToolResultMessage(call_id, tool, result_content(result), failed)


def _shown_result(record: Record) -> Body:
    part = object_field(record, "invocation")
    failed = object_field(part, "resultDetails").get("isError") is True
    call_id = text_field(part, "toolCallId")
    name = text_field(part, "toolId") or text_field(part, "toolName")
    return ToolResultMessage(call_id, name, shown_output(part), failed)


def _reply(record: Record) -> Body:
    provider, model = model_of(record.get("modelId"))
    blocks = shown_blocks(list_field(record, "response"))
    stop, error = ending(record)
    if not stop:
        has_calls = any(isinstance(one, ToolCallBlock) for one in blocks)
        stop = "tool_calls" if blocks and has_calls and _ends_in_call(blocks) else "stop"
    return AssistantMessage(tuple(blocks), provider, model, _usage(record), stop, error)


def _ends_in_call(blocks: list[Block]) -> bool:
    return isinstance(blocks[-1], ToolCallBlock)


def _summary(record: Record) -> Body:
    """What an agent wrote in place of the rounds up to one; which entry is the
    first to be repeated follows from the other records."""
    summary = object_field(record, "summary")
    usage = object_field(summary, "usage")
    prompt, output = (
        token_count(usage.get(name)) for name in ("prompt_tokens", "completion_tokens")
    )
    cached = token_count(object_field(usage, "prompt_tokens_details").get("cached_tokens"))
    cached = min(cached, prompt)
    details = {
        name: summary[name]
        for name in ("toolCallRoundId", "source", "model", "summarizationMode", "numRounds")
        if summary.get(name) is not None
    }
    return CompactionSummary(
        text_field(summary, "text"),
        tokens_before=token_count(summary.get("contextLengthBefore")),
        usage=TokenUsage(prompt - cached, output, cached, 0, prompt + output) if usage else None,
        details=details or None,
    )


def _compaction(record: Record) -> Body:
    """The provider's own: what it wrote is encrypted."""
    return CompactionSummary("", certainty="unreadable", trigger="auto")


def _shown(record: Record) -> Body:
    data = {name: record[name] for name in ("response", "result") if name in record}
    return CustomData(SHOWN, data)


def _uncalled(record: Record) -> Body:
    return CustomData(UNCALLED, {name: record.get(name) for name in ("toolCallId", "result")})


def _unused_summary(record: Record) -> Body:
    return CustomData(UNUSED, record.get("summary"))


_BODIES: dict[str, Callable[[Record], Body]] = {
    "request": _request,
    "context": _context,
    "globalContext": _global_context,
    "files": _files,
    "round": _round,
    "result": _result,
    "shownResult": _shown_result,
    "reply": _reply,
    "summary": _summary,
    "compaction": _compaction,
    "shown": _shown,
    "uncalled": _uncalled,
    "unusedSummary": _unused_summary,
}
