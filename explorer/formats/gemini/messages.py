"""Gemini CLI's records as typed entries: messages, tool calls, checkpoints and rewinds.

A message that the file repeats under its id is one record of several lines, of which a later one
replaces what it has and leaves what it lacks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from explorer.formats.json_fields import compact, objects_of, recorded, text_at
from explorer.session.entries import (
    AssistantMessage,
    Block,
    Body,
    CompactionSummary,
    Content,
    CustomData,
    Entry,
    ImageBlock,
    NoteMessage,
    SessionName,
    TextBlock,
    ThinkingBlock,
    TokenUsage,
    ToolCallBlock,
    ToolResultMessage,
    Unknown,
    UnknownBlock,
    UserMessage,
    text_of,
)
from explorer.session.json_values import recorded_count, time_ms, token_count

NOTICES = ("info", "error", "warning")
"""Types of messages that the person sees and the model is not sent."""
MESSAGE_TYPES = frozenset({"user", "gemini", *NOTICES})
SNAPSHOT = "<state_snapshot>"
_INSERTED = re.compile(r"\s*<(session_context|hook_context|state_snapshot|scratchpad)>")
"""How texts begin that the program sends in the person's place."""
_FINISHED = ("success", "error", "cancelled")
"""A tool call of another status goes on, or went on when the program died."""

Object = Mapping[str, Any]


def read_record(record: str | bytes) -> Entry:
    """The entry that a record says; of an unknown kind when it says none."""
    values = objects_of(record)
    return entry_of(values, merged(values))


def entry_of(values: list[dict[str, Any]], message: Object) -> Entry:
    """The entry of the objects of a record, and of what they are as one message."""
    first: Object = values[0] if values else {}
    settings = first.get("$set")
    body: Body
    if isinstance(settings, dict):
        body, message = _settings_body(settings), settings
    elif isinstance(first.get("$rewindTo"), str):
        body = CustomData("rewind", {"to": first["$rewindTo"]})
    elif isinstance(first.get("functionResponse"), dict):
        body = response_result(first["functionResponse"])
    elif _is_call(first):
        body = call_result(first)
    else:
        body = message_body(message)
    time = time_ms(message.get("timestamp", message.get("lastUpdated")))
    made = Entry.of(body, text_at(first, "id"), None, time)
    return Entry(made.kind, body, made.id, None, made.time_ms, recorded(values))


def _is_call(value: Object) -> bool:
    """Whether an object is a tool call, which stands in a message and is a record of its own."""
    is_message = "content" in value or text_at(value, "type") in MESSAGE_TYPES
    return not is_message and any(name in value for name in ("args", "result", "status"))


def _settings_body(settings: Object) -> Body:
    """Of a ``$set`` line that is an entry: a compaction, or a name of the session."""
    if isinstance(settings.get("summary"), str):
        return SessionName(settings["summary"])
    messages = settings.get("messages")
    for one in messages if isinstance(messages, list) else ():
        if isinstance(one, dict) and is_snapshot(one):
            return CompactionSummary(message_text(one), certainty="inferred")
    return Unknown("$set")


def is_snapshot(message: Object) -> bool:
    """Whether a message is one that a compaction puts in the place of the conversation."""
    return message.get("type") == "user" and SNAPSHOT in message_text(message)


def message_text(message: Object) -> str:
    """The texts of a message, thoughts left out."""
    return text_of(read_parts(message.get("content")), "")


def merged(values: Sequence[Object]) -> Object:
    """One message of all that is recorded of it. Copies in a checkpoint lack tokens, the model and
    tool calls, and a line may be older than a copy: nothing that one of them has is lost."""
    if len(values) == 1:
        return values[0]
    whole: dict[str, Any] = {}
    for value in values:
        for name, found in value.items():
            if name == "toolCalls":
                whole[name] = _merged_calls(whole.get(name), found)
            elif name == "tokens" and whole.get(name):
                whole[name] = max(whole, value, key=output_tokens)[name]
            elif name not in whole or found not in (None, "", [], {}):
                whole[name] = found
    return whole


def _merged_calls(before: Any, after: Any) -> Any:
    if not isinstance(before, list) or not isinstance(after, list):
        return after if isinstance(after, list) or not before else before
    calls: dict[Any, Any] = {}
    for number, call in enumerate((*before, *after)):
        name = text_at(call, "id") or number
        known = calls.get(name)
        if known is not None:
            call = {**known, **{key: one for key, one in call.items() if one is not None}}
        calls[name] = call
    return list(calls.values())


def output_tokens(message: Object) -> int:
    """Tokens that a message says its reply has."""
    tokens = message.get("tokens")
    return token_count(tokens.get("output")) if isinstance(tokens, dict) else 0


def tool_calls(message: Object) -> list[Object]:
    """The calls of a reply that are recorded with what became of them."""
    calls = message.get("toolCalls")
    return [one for one in calls if isinstance(one, dict)] if isinstance(calls, list) else []


def is_finished(call: Object) -> bool:
    """Whether a recorded call has an end."""
    return call.get("result") is not None or call.get("status") in _FINISHED


def responses(message: Object) -> list[Object]:
    """The results of tools that a message of the user sends back."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    return [
        one["functionResponse"]
        for one in parts
        if isinstance(one, dict) and isinstance(one.get("functionResponse"), dict)
    ]


def message_body(message: Object) -> Body:
    """What a merged message says."""
    match message.get("type"):
        case "user":
            content = tuple(
                block
                for block in read_parts(message.get("content"))
                if not (isinstance(block, UnknownBlock) and block.type == "functionResponse")
            )
            name = inserted_name(text_of(content))
            return NoteMessage(content, name, display=False) if name else UserMessage(content)
        case "gemini":
            return _reply(message)
        case "info" | "error" | "warning" as kind:
            text = text_of(read_parts(message.get("content")))
            return CustomData(kind, {"text": text} if text else None)
        case kind:
            return Unknown(kind if isinstance(kind, str) else "")


def inserted_name(text: str) -> str:
    """The name of what the program wrote in the user's place; empty for the person's words."""
    found = _INSERTED.match(text)
    return found.group(1) if found else ""


def _reply(message: Object) -> AssistantMessage:
    calls = tool_calls(message)
    ids = {text_at(call, "id") for call in calls}
    blocks: list[Block] = list(_thoughts(message.get("thoughts")))
    has_thoughts = bool(blocks)
    for block in read_parts(message.get("content")):
        if isinstance(block, ThinkingBlock) and has_thoughts:
            continue
        if isinstance(block, ToolCallBlock) and block.id in ids:
            continue
        blocks.append(block)
    blocks += [
        ToolCallBlock(text_at(call, "id"), text_at(call, "name"), call.get("args"))
        for call in calls
    ]
    has_calls = any(isinstance(block, ToolCallBlock) for block in blocks)
    return AssistantMessage(
        tuple(blocks),
        "google" if text_at(message, "model") else "",
        text_at(message, "model"),
        _usage(message.get("tokens")),
        "tool_calls" if has_calls else "stop",
    )


def _thoughts(value: Any) -> Iterable[ThinkingBlock]:
    for one in value if isinstance(value, list) else ():
        parts = [text_at(one, "subject"), text_at(one, "description")]
        if text := "\n".join(part for part in parts if part):
            yield ThinkingBlock(text)


def _usage(tokens: Any) -> TokenUsage | None:
    """The tokens of a reply. Gemini counts cached tokens among those of the prompt, and thoughts
    beside the output."""
    if not isinstance(tokens, dict):
        return None
    prompt, output, cached, thoughts, tool = (
        token_count(tokens.get(name)) for name in ("input", "output", "cached", "thoughts", "tool")
    )
    total = recorded_count(tokens.get("total"))
    if not (total or prompt or output):
        return None
    context = prompt + output + thoughts + tool if total is None else total
    return TokenUsage(max(0, prompt - cached) + tool, output, min(cached, prompt), 0, context)


def call_result(call: Object) -> ToolResultMessage:
    """The result that is recorded with a call."""
    status, result = call.get("status"), call.get("result")
    content = read_parts(result)
    display = call.get("resultDisplay")
    if not content and isinstance(display, str) and display:
        content = (TextBlock(display),)
    flat: list[Block] = []
    for block in content:
        if isinstance(block, UnknownBlock) and block.type == "functionResponse":
            flat += _response_content(block.value["functionResponse"])
        else:
            flat.append(block)
    is_error = status in ("error", "cancelled")
    return ToolResultMessage(
        text_at(call, "id"), text_at(call, "name"), tuple(flat), is_error, details=display or None
    )


def response_result(response: Object) -> ToolResultMessage:
    """The result that a message sends back for a call."""
    value = response.get("response")
    is_error = isinstance(value, dict) and "error" in value and "output" not in value
    content = tuple(_response_content(response))
    return ToolResultMessage(text_at(response, "id"), text_at(response, "name"), content, is_error)


def _response_content(response: Any) -> Content:
    """Text and pictures of a ``functionResponse``."""
    value = response.get("response") if isinstance(response, dict) else response
    parts = read_parts(response.get("parts")) if isinstance(response, dict) else ()
    if isinstance(value, dict):
        texts = [text_at(value, name) for name in ("output", "error")]
        text = "\n".join(one for one in texts if one)
        is_plain = bool(text) or all(value.get(name) == "" for name in value)
        return (TextBlock(text if is_plain else compact(value)), *parts)
    if value is None:
        return parts
    return (TextBlock(value if isinstance(value, str) else compact(value)), *parts)


def read_parts(value: Any) -> Content:
    """The blocks of a content: a text, a part, or a list of them."""
    if value is None or value == "":
        return ()
    return tuple(map(_read_part, value if isinstance(value, list) else [value]))


def _read_part(part: Any) -> Block:
    if isinstance(part, str):
        return TextBlock(part)
    if not isinstance(part, dict):
        return UnknownBlock("", part)
    if isinstance(part.get("text"), str):
        if part.get("thought"):
            return ThinkingBlock(part["text"], text_at(part, "thoughtSignature"))
        return TextBlock(part["text"])
    if isinstance(call := part.get("functionCall"), dict):
        return ToolCallBlock(text_at(call, "id"), text_at(call, "name"), call.get("args"))
    for name in ("inlineData", "fileData"):
        mime = text_at(part, name, "mimeType")
        if mime.startswith("image/"):
            return ImageBlock(mime, text_at(part, name, "data"))
    # A part has one field that says what it is, and perhaps a signature.
    name = next((name for name in part if isinstance(part[name], dict)), "")
    return UnknownBlock(name, dict(part))
