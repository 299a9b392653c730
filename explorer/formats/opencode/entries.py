"""Records of opencode as typed entries: messages with their parts, single parts, and the two
messages of a compaction."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import unquote_to_bytes

from explorer.formats.json_fields import object_field, text_field
from explorer.formats.jsonl import BadLine, parse
from explorer.formats.opencode.stored import Json, is_called
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
    UnknownMessage,
    UserMessage,
    text_content,
)
from explorer.session.json_values import time_ms, token_count

WITHOUT_CONTENT = frozenset({"step-start", "step-finish", "snapshot", "patch", "agent", "retry"})
"""Parts that are not sent to the model."""
KNOWN_PARTS = WITHOUT_CONTENT | {"text", "reasoning", "tool", "file", "subtask", "compaction"}
PRUNED = "[Old tool result content cleared]"
"""What the model is sent in place of a result that was pruned."""
_STOPS = {"tool-calls": "tool_calls"}
_SIGNATURES = (
    "signature", "redactedData", "reasoningEncryptedContent", "reasoningOpaque", "thoughtSignature",
)  # fmt: skip
"""Names of a provider's signature in the metadata of a reasoning part."""


def read_record(record: str | bytes) -> Entry:
    """A record as an entry; of an unknown kind where it cannot be read."""
    raw = record.encode("utf-8", "surrogatepass") if isinstance(record, str) else record
    values: list[Any] = []
    for line in raw.split(b"\n"):
        try:
            values.append(parse(line))
        except BadLine:
            values.append(line.decode("utf-8", "replace"))
    return entry_of(*values)


def entry_of(*values: Any) -> Entry:
    """The entry of a record's lines."""
    match values:
        case ({"info": dict(), "parts": list()} as asked, {"info": dict()} as answer):
            summary = compaction_body(asked["parts"], answer["info"], parts_of(answer))
            return _entry(summary, asked["info"], {"lines": list(values)})
        case ({"info": dict()} as message,):
            body = message_body(message["info"], parts_of(message))
            return _entry(body, message["info"], message)
        case (dict() as part,):
            return _entry(_part_body(part), part, part)
    return Entry(Entry.NONE.kind, Unknown("damaged record"), recorded={"lines": list(values)})


def _entry(body: Body, info: Json, recorded: Json) -> Entry:
    created = object_field(info, "time").get("created")
    if isinstance(body, ToolResultMessage):
        created = object_field(object_field(info, "state"), "time").get("end")
    entry = Entry.of(body, text_field(info, "id"), None, time_ms(created))
    return Entry(entry.kind, body, entry.id, None, entry.time_ms, recorded)


def parts_of(message: Json) -> list[Any]:
    """The parts of a message."""
    parts = message.get("parts")
    return parts if isinstance(parts, list) else []


def message_body(info: Json, parts: Sequence[Any]) -> Body:
    """What a message says."""
    match info.get("role"):
        case "user":
            return _user_body(parts)
        case "assistant" if is_summary(info):
            return _compaction(info, parts)
        case "assistant":
            return _reply(info, parts)
        case str() as role:
            return UnknownMessage(role, tuple(_blocks(parts)))
    return Unknown("message")


def is_summary(info: Json) -> bool:
    """Whether a message is the summary of a compaction that succeeded: only then is it in force."""
    is_done = bool(info.get("finish") or object_field(info, "time").get("completed"))
    return info.get("summary") is True and is_done and not info.get("error")


# what the user sends ------------------------------------------------------------------------------


def sent_texts(parts: Sequence[Any]) -> list[Json]:
    """The text parts that are sent to the model."""
    return [part for part in parts if is_called(part, "text") and part.get("ignored") is not True]


def typed_texts(parts: Sequence[Any]) -> list[str]:
    """The texts that a person typed."""
    return [
        text_field(part, "text")
        for part in sent_texts(parts)
        if part.get("synthetic") is not True
    ]  # fmt: skip


def separate_parts(parts: Sequence[Any]) -> list[Json]:
    """The parts of a user's message that are entries behind it: what the program added to a typed
    text, and text files whose content it did not add."""
    typed = typed_texts(parts)
    added = [part for part in sent_texts(parts) if part.get("synthetic") is True]
    if added:
        return added if typed else []
    return [part for part in parts if _is_text_file(part)]


def _user_body(parts: Sequence[Any]) -> Body:
    texts, typed = sent_texts(parts), typed_texts(parts)
    is_program = any(is_called(part, "compaction") for part in parts)
    if not texts and parts and all(is_called(part, "text") for part in parts):
        return CustomData("ignored", "\n".join(text_field(part, "text") for part in parts))
    apart = [id(part) for part in separate_parts(parts)]
    content: list[Block] = []
    for part in parts:
        if id(part) in apart or _is_text_file(part):
            continue
        if is_called(part, "subtask") and text_field(part, "prompt"):
            content.append(TextBlock(text_field(part, "prompt")))
        elif not (is_called(part, "text") and part.get("ignored") is True):
            content += _blocks([part])
    return UserMessage(tuple(content), synthetic=is_program or (bool(texts) and not typed))


def _is_text_file(part: Any) -> bool:
    mime = text_field(part, "mime") if is_called(part, "file") else ""
    return mime.startswith("text/") or mime == "application/x-directory"


def _file_block(part: Json) -> Block:
    mime, url = text_field(part, "mime"), text_field(part, "url")
    if not mime.startswith("image/"):
        return UnknownBlock("file", part)
    start, _, data = url.partition(",")
    is_here = start.startswith("data:") and start.endswith(";base64")
    return ImageBlock(mime, data if is_here else "")


def _file_text(url: str) -> str:
    """The text of a data URL; empty for another address, or no text."""
    start, _, data = url.partition(",")
    if not start.startswith("data:"):
        return ""
    raw = unquote_to_bytes(data)
    if start.endswith(";base64"):
        try:
            raw = base64.b64decode(raw)
        except (binascii.Error, ValueError):
            return ""
    return raw.decode("utf-8", "replace")


# what the model answers ---------------------------------------------------------------------------


def _reply(info: Json, parts: Sequence[Any]) -> AssistantMessage:
    stop, error = _ending(info)
    model = object_field(info, "model")
    return AssistantMessage(
        tuple(_blocks(parts)),
        text_field(info, "providerID") or text_field(model, "providerID"),
        text_field(info, "modelID") or text_field(model, "modelID"),
        read_usage(info),
        stop,
        error,
    )


def _ending(info: Json) -> tuple[str, str]:
    """Why a reply ended, and its error."""
    finish = text_field(info, "finish")
    stop = _STOPS.get(finish, finish)
    error = info.get("error")
    if not error:
        return stop, ""
    if not isinstance(error, dict):
        return "error", str(error)
    name = text_field(error, "name")
    message = text_field(object_field(error, "data"), "message") or text_field(error, "message")
    match name:
        case "MessageAbortedError":
            return "aborted", message
        case "MessageOutputLengthError":
            return "length", message
    return "error", ": ".join(filter(None, (name, message))) or "error"


def read_usage(info: Json) -> TokenUsage | None:
    """What a reply used; None where nothing is recorded yet. Reasoning is part of the context
    alone: opencode counts it beside the output."""
    tokens, cost = object_field(info, "tokens"), info.get("cost")
    dollars = 0.0
    if isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < 1e9:
        dollars = float(cost)
    context = context_tokens(info)
    if not context and not dollars:
        return None
    cache = object_field(tokens, "cache")
    return TokenUsage(
        token_count(tokens.get("input")),
        token_count(tokens.get("output")),
        token_count(cache.get("read")),
        token_count(cache.get("write")),
        context or -1,
        dollars,
    )


def context_tokens(info: Json) -> int:
    """All tokens of a reply's call, the answer among them; 0 where none are recorded."""
    tokens = object_field(info, "tokens")
    cache = object_field(tokens, "cache")
    found = (*(tokens.get(name) for name in ("input", "output", "reasoning")), *cache.values())
    return token_count(tokens.get("total")) or sum(map(token_count, found))


def _blocks(parts: Sequence[Any]) -> Iterator[Block]:
    """The content of parts, in order; what is not understood is carried."""
    for part in parts:
        if not isinstance(part, dict):
            yield UnknownBlock("", part)
            continue
        kind = part.get("type")
        match kind:
            case "text" if isinstance(part.get("text"), str):
                if part["text"]:
                    yield TextBlock(part["text"])
            case "reasoning":
                yield from _thinking(part)
            case "tool":
                yield _call(part)
            case "file":
                yield _file_block(part)
            case str() if kind in WITHOUT_CONTENT:
                continue
            case _:
                yield UnknownBlock(kind if isinstance(kind, str) else "", part)


def _thinking(part: Json) -> Iterator[ThinkingBlock]:
    signature = ""
    for one in object_field(part, "metadata").values():
        if isinstance(one, dict):
            found = (text_field(one, name) for name in _SIGNATURES)
            signature = signature or next(filter(None, found), "")
    text = text_field(part, "text")
    if text or signature:
        yield ThinkingBlock(text, signature, redacted=not text)


def _call(part: Json) -> ToolCallBlock:
    state = object_field(part, "state")
    malformed = text_field(state, "raw") if not state.get("input") else ""
    return ToolCallBlock(_call_id(part), text_field(part, "tool"), state.get("input"), malformed)


def _call_id(part: Json) -> str:
    return text_field(part, "callID") or text_field(part, "id")


# single parts -------------------------------------------------------------------------------------


def has_result(part: Any) -> bool:
    """Whether a part is a tool call that came to an end."""
    if not is_called(part, "tool"):
        return False
    state = object_field(part, "state")
    match state.get("status"):
        case "completed" | "error":
            return True
        case "pending" | "running":
            return False
    return isinstance(state.get("output"), str) or isinstance(state.get("error"), str)


def _part_body(part: Json) -> Body:
    """What a part says that is an entry of its message."""
    match part.get("type"):
        case "tool" if has_result(part):
            return _result(part)
        case "text" if isinstance(part.get("text"), str):
            return NoteMessage(text_content(part["text"]), "synthetic", display=False)
        case "file":
            path = text_field(object_field(part, "source"), "path") or text_field(part, "filename")
            url = text_field(part, "url")
            return FilesMessage((FileMention(path or url[:200], _file_text(url)),))
        case str() as kind:
            return Unknown(kind)
    return Unknown("part")


def _result(part: Json) -> ToolResultMessage:
    state = object_field(part, "state")
    metadata = state.get("metadata")
    is_error = state.get("status") == "error"
    text = text_field(state, "error" if is_error else "output")
    if is_error and isinstance(metadata, dict) and metadata.get("interrupted") is True:
        # A tool that was stopped counts as failed; the model is sent what it had put out.
        text = text_field(metadata, "output") or text
    if path := text_field(object_field(state, "metadata"), "outputPath"):
        # The text is cut; all of it is in a file of its own.
        metadata = {"persistedOutputPath": path, **object_field(state, "metadata")}
    is_pruned = bool(object_field(state, "time").get("compacted"))
    content: Content = text_content(PRUNED) if is_pruned else (TextBlock(text), *_attached(state))
    return ToolResultMessage(
        _call_id(part), text_field(part, "tool"), content, is_error, is_pruned, metadata,
        is_recorded=is_pruned and bool(text),
    )  # fmt: skip


def _attached(state: Json) -> Iterator[Block]:
    attachments = state.get("attachments")
    for one in attachments if isinstance(attachments, list) else ():
        yield _file_block(one) if isinstance(one, dict) else UnknownBlock("file", one)


# compactions --------------------------------------------------------------------------------------


def compaction_part(parts: Sequence[Any]) -> Json:
    """The part that asks for a compaction; empty for none."""
    return next((part for part in parts if is_called(part, "compaction")), {})


def compaction_body(asked: Sequence[Any], answer: Json, parts: Sequence[Any]) -> CompactionSummary:
    """A compaction from the parts of the message that asked for it, and the summary."""
    part = compaction_part(asked)
    auto = part.get("auto")
    trigger = ("auto" if auto else "manual") if isinstance(auto, bool) else ""
    return _compaction(answer, parts, text_field(part, "tail_start_id"), trigger)


def _compaction(
    info: Json, parts: Sequence[Any], first_kept: str = "", trigger: str = ""
) -> CompactionSummary:
    text = "\n".join(text_field(part, "text") for part in sent_texts(parts))
    usage = read_usage(info)
    return CompactionSummary(text, first_kept, trigger=trigger, usage=usage)
