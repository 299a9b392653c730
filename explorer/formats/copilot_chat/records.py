"""A part of a request, as it is stored, as a typed entry with its blocks: replies as they were
shown, the results of tools, and what was attached to a message.

Every entry's record is a JSON object that names in ``part`` what it was taken from, with the values
as the session's state has them.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

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
    FileMention,
    FilesMessage,
    ImageBlock,
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

TOOL_PARTS = ("toolInvocation", "toolInvocationSerialized")
_TEXTS = frozenset({"", "markdownContent", "markdownVuln", "inlineReference"})
_EDITS = frozenset({"textEdit", "textEditGroup", "notebookEdit", "notebookEditGroup"})
_SHOWN_ONLY = frozenset(
    {
        "prepareToolInvocation", "progressMessage", "progressTask", "progressTaskSerialized",
        "reference", "references", "codeblockUri", "codeCitation", "undoStop", "command",
        "treeData", "confirmation", "elicitation", "elicitation2", "elicitationSerialized",
        "warning", "move", "mcpServersStarting", "mcpServersStartingSerialized", "extensions",
        "pullRequest", "changesSummary", "multiDiffData", "questionCarousel",
        "clearToPreviousToolInvocation", "externalToolInvocation", "hook", "agentDetection",
        "agent", "followup", "usage", "workspaceEdit", "disabledClaudeHooks", "planReview", "info",
    }
)  # fmt: skip
"""Kinds of response parts that only the window needs."""


def part_kind(part: object) -> str:
    """The kind of a response part; empty for a text, which has none."""
    kind = part.get("kind") if isinstance(part, Mapping) else None
    return "" if kind is None else kind if isinstance(kind, str) else f"{kind!s:.80}"


def known_part(part: object) -> bool:
    """Whether a response part is of a kind that is known."""
    kind = part_kind(part)
    if kind in TOOL_PARTS or kind == "thinking":
        return True
    return kind in _TEXTS or kind in _EDITS or kind in _SHOWN_ONLY


def shown_text(part: object) -> str:
    """The text that a response part shows in the reply; empty where it shows none."""
    if not isinstance(part, Mapping):
        return part if isinstance(part, str) else ""
    match part_kind(part):
        case "":
            return text_field(part, "value")
        case "markdownContent" | "markdownVuln":
            return text_field(part, "content") or text_field(object_field(part, "content"), "value")
        case "inlineReference":
            target = object_field(part, "inlineReference")
            path = file_path(target)
            return text_field(part, "name") or text_field(target, "name") or path.split("/")[-1]
    return ""


def shown_blocks(parts: Sequence[object]) -> list[Block]:
    """A reply as it was shown: its texts joined as they follow each other, thinking, calls, and
    edits; what is not known is carried."""
    blocks: list[Block] = []
    texts: list[str] = []

    def end_text() -> None:
        if "".join(texts).strip():
            blocks.append(TextBlock("".join(texts)))
        texts.clear()

    for part in parts:
        if text := shown_text(part):
            texts.append(text)
            continue
        block = _shown_block(part)
        if block is not None:
            end_text()
            blocks.append(block)
    end_text()
    return blocks


def _shown_block(part: object) -> Block | None:
    kind = part_kind(part)
    if not isinstance(part, Mapping):
        return None if part in ("", None) else UnknownBlock("", part)
    if kind in _TEXTS or kind in _SHOWN_ONLY:
        return None
    if kind in TOOL_PARTS:
        return shown_call(part)
    if kind == "thinking":
        text = thinking_text(part.get("value"))
        return ThinkingBlock(text) if text else None
    return UnknownBlock(kind, dict(part))


def shown_call(part: Mapping[str, Any]) -> ToolCallBlock:
    """A tool's invocation as the window shows it."""
    arguments = object_field(part, "toolSpecificData").get("rawInput")
    given = object_field(part, "resultDetails").get("input")
    if arguments is None and isinstance(given, str):
        try:
            arguments = read_json(given)
        except ValueError:
            arguments = None
    name = text_field(part, "toolId") or text_field(part, "toolName")
    return ToolCallBlock(text_field(part, "toolCallId"), name, arguments)


def shown_output(part: Mapping[str, Any]) -> Content:
    """What a tool's invocation shows of its result; nothing where that is not recorded."""
    details = object_field(part, "resultDetails")
    found: list[Block] = []
    for one in list_field(details, "output"):
        text, mime = text_field(one, "value"), text_field(one, "mimeType")
        if mime.startswith("image/"):
            found.append(ImageBlock(mime, text))
        elif text:
            found.append(TextBlock(text))
    return tuple(found)


def thinking_text(value: object) -> str:
    """Thinking is a text or the pieces of one."""
    if isinstance(value, list):
        return "".join(one for one in value if isinstance(one, str))
    return value if isinstance(value, str) else ""


# results of tools ---------------------------------------------------------------------------------


def result_content(result: object) -> Content:
    """What a tool returned to the model: texts, pictures, and prompts as trees."""
    if not isinstance(result, Mapping):
        return text_blocks(result)
    parts = result.get("content")
    if not isinstance(parts, list):
        return text_blocks(parts)
    return tuple(block for part in parts for block in _result_part(part))


def _result_part(part: object) -> Iterator[Block]:
    if not isinstance(part, Mapping):
        yield from text_blocks(part)
        return
    value, mime = part.get("value"), text_field(part, "mimeType")
    if isinstance(value, str):
        yield from text_blocks(value)
    elif mime.startswith("image/"):
        yield ImageBlock(mime, base64_data(part.get("data")))
    elif isinstance(value, Mapping) and isinstance(value.get("node"), Mapping):
        yield from _prompt_blocks(value["node"])
    else:
        yield UnknownBlock("toolResultPart", dict(part))


def _prompt_blocks(node: Mapping[str, Any]) -> Iterator[Block]:
    """The texts of a prompt's tree as they are sent: joined, each on a line of its own where it
    says so; pictures apart."""
    texts: list[str] = []
    stack: list[Any] = [node]
    while stack:
        one = stack.pop()
        if not isinstance(one, Mapping):
            continue
        if isinstance(one.get("text"), str):
            if one.get("lineBreakBefore") and texts:
                texts.append("\n")
            texts.append(one["text"])
        source = text_field(object_field(one, "props"), "src")
        if source:
            if texts:
                yield TextBlock("".join(texts))
                texts.clear()
            yield _picture(source)
        stack += reversed(list_field(one, "children"))
    if texts:
        yield TextBlock("".join(texts))


def _picture(source: str) -> ImageBlock:
    """A picture by its address, which holds it where it begins with ``data:``."""
    if not source.startswith("data:"):
        is_address = source.startswith(("http:", "https:", "file:"))
        return ImageBlock("image/png", "" if is_address else source)
    mime, _, data = source.removeprefix("data:").partition(";base64,")
    return ImageBlock(mime, data)


# what is sent with a message ----------------------------------------------------------------------


def rendered_blocks(parts: object) -> Content:
    """A message as it was sent; marks for the provider's cache are left out."""
    if isinstance(parts, str):
        return text_blocks(parts)
    found: list[Block] = []
    for part in parts if isinstance(parts, list) else ():
        text = part if isinstance(part, str) else text_field(part, "text")
        address = text_field(object_field(part, "imageUrl"), "url")
        if text:
            found.append(TextBlock(text))
        elif address:
            found.append(_picture(address))
    return tuple(found)


def attached_files(variables: Sequence[object]) -> tuple[FileMention, ...]:
    """Files, folders, symbols and texts that a person attached."""
    found: list[FileMention] = []
    for one in variables:
        if not isinstance(one, Mapping) or one.get("kind") in ("image", "tool", "toolset"):
            continue
        if one.get("enabled") is False:
            continue  # suggested by the window and not taken
        value = one.get("value")
        text = text_field(one, "code") or (value if isinstance(value, str) else "")
        path = file_path(value) or file_path(one) or text_field(one, "name")
        if path and (text or file_path(value) or file_path(one)):
            found.append(FileMention(path, text))
    return tuple(found)


def attached_pictures(variables: Sequence[object]) -> Content:
    """Pictures that a person attached."""
    return tuple(
        ImageBlock(text_field(one, "mimeType") or "image/png", base64_data(one.get("value")))
        for one in variables
        if isinstance(one, Mapping) and one.get("kind") == "image"
    )


def file_path(value: object) -> str:
    """The path of an address, or of a place in a file; empty where there is none."""
    for place in (value, object_field(value, "uri"), object_field(value, "location")):
        path = text_field(place, "fsPath") or text_field(place, "path")
        if path:
            return path
    location = object_field(object_field(value, "location"), "uri")
    return text_field(location, "fsPath") or text_field(location, "path")


def base64_data(value: object) -> str:
    """Bytes as base64: a text is that already, a buffer may be a list or an object of numbers."""
    if isinstance(value, Mapping):
        if text := text_field(value, "$base64") or text_field(value, "base64"):
            return text
        nested = value.get("data")
        value = nested if isinstance(nested, list) else list(value.values())
    if isinstance(value, list):
        if all(type(one) is int and 0 <= one < 256 for one in value):
            return base64.b64encode(bytes(value)).decode()
        return ""
    return value if isinstance(value, str) else ""


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
