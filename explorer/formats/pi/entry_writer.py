"""Entries written in the dialect of pi and oh-my-pi, each in its own spelling (A3)."""

from __future__ import annotations

from collections.abc import Container
from datetime import datetime, timedelta
from random import Random
from typing import Any

from explorer.formats.pi import omp
from explorer.formats.pi.entries import READ_STOPS, TOKENS
from explorer.formats.pi.header import EXTENSION_KEY, model_change
from explorer.session.edit_entries import REPEATED_ENTRIES, REPEATED_USER_TOKENS
from explorer.session.entries import (
    AssistantMessage,
    Block,
    BranchSummary,
    CompactionSummary,
    Content,
    CustomData,
    Entry,
    FilesMessage,
    ImageBlock,
    Label,
    Message,
    ModelChange,
    NoteMessage,
    SessionName,
    ShellMessage,
    SummaryMessage,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ThinkingLevelChange,
    TokenUsage,
    ToolCallBlock,
    ToolResultMessage,
    Unknown,
    UnknownBlock,
    UnknownMessage,
    UserMessage,
)
from explorer.session.kinds import Kind
from explorer.session.records import FormatName

_EPOCH = datetime(1970, 1, 1)
_ID_DIGITS = 8
_DETAILS = {"read_files": "readFiles", "modified_files": "modifiedFiles"}


def iso_time(time_ms: float) -> str:
    """A time as JavaScript's ``toISOString`` writes it: UTC, milliseconds, Z.

    Raises ValueError for a time outside the years 1 to 9999.
    """
    try:
        moment = _EPOCH + timedelta(milliseconds=round(time_ms))
    except OverflowError as error:
        raise ValueError(f"{time_ms} ms is outside the years that can be written") from error
    return moment.isoformat(timespec="milliseconds") + "Z"


def new_id(existing: Container[str], random: Random) -> str:
    """An entry id of 8 hexadecimal digits that ``existing`` does not hold."""
    while True:
        made = f"{random.getrandbits(4 * _ID_DIGITS):0{_ID_DIGITS}x}"
        if made not in existing:
            return made


def write_entry(entry: Entry, format_name: FormatName) -> dict[str, Any]:
    """The JSON object of a new entry, as the file's own agent writes it.

    Raises ValueError for a time that cannot be written.
    """
    kind, fields = _write_body(entry, format_name)
    return {
        "type": kind,
        "id": entry.id,
        "parentId": entry.parent_id or None,
        "timestamp": iso_time(entry.time_ms),
        **{name: value for name, value in fields.items() if value is not None},
    }


def _write_body(entry: Entry, format_name: FormatName) -> tuple[str, dict[str, Any]]:
    body, is_omp = entry.body, format_name == "omp"
    match body:
        case CompactionSummary():
            return "compaction", {
                "summary": body.summary,
                "firstKeptEntryId": body.first_kept_id,
                "tokensBefore": body.tokens_before,
                "shortSummary": body.short_summary or None,
                "details": _written_details(body),
                **_written_origin(body.from_extension, is_omp),
                "preserveData": body.preserved,
            }
        case BranchSummary():
            return "branch_summary", {
                "summary": body.summary,
                "fromId": body.from_id,
                "details": _written_details(body),
                **_written_origin(body.from_extension, is_omp),
            }
        case NoteMessage() if entry.kind is Kind.CUSTOM_MESSAGE:
            return "custom_message", {
                "customType": body.name,
                "content": _written_content(body.content),
                "display": body.display,
                "details": body.details,
            }
        case CustomData():
            return "custom", {"customType": body.name, "data": body.data}
        case Label():
            return "label", {"targetId": body.target_id, "label": body.text or None}
        case SessionName():
            return "session_info", {"name": body.name}
        case ModelChange():
            change = omp.model_change if is_omp else model_change
            return "model_change", change(*omp.split_model(body.model))
        case ThinkingLevelChange():
            return "thinking_level_change", {"thinkingLevel": body.level}
        case Unknown():
            return body.type, {}
    return "message", {"message": write_message(body) | {"timestamp": int(entry.time_ms)}}


def _written_origin(from_extension: bool, is_omp: bool) -> dict[str, Any]:
    key = omp.EXTENSION_KEY if is_omp else EXTENSION_KEY
    return {key: True} if from_extension else {}


def _written_details(body: CompactionSummary | BranchSummary) -> Any:
    """``created`` and ``deleted`` files are among the modified ones too, which is all that others
    look at (A1, A2); an extension's details are its own."""
    if body.from_extension:
        details = body.details
        if not isinstance(details, dict):
            return details
        return {_DETAILS.get(key, key): value for key, value in details.items()}
    files = body.files
    found: dict[str, Any] = {"readFiles": list(files.read), "modifiedFiles": list(files.modified)}
    for name in ("created", "deleted", "failed"):
        if listed := getattr(files, name):
            found[f"{name}Files"] = list(listed)
    if isinstance(body, CompactionSummary) and body.user_tokens:
        found[REPEATED_USER_TOKENS] = body.user_tokens
    if isinstance(body, CompactionSummary) and body.repeated_entries:
        found[REPEATED_ENTRIES] = [{"id": name, "tokens": n} for name, n in body.repeated_entries]
    return found


def write_message(message: Message) -> dict[str, Any]:
    """A message as pi writes it, without its time."""
    match message:
        case UserMessage():
            marks = {"synthetic": True} if message.synthetic else {}
            return {"role": "user", "content": _written_content(message.content), **marks}
        case AssistantMessage():
            return _written_reply(message)
        case ToolResultMessage():
            details = {"details": message.details} if message.details else {}
            return {
                "role": "toolResult",
                "toolCallId": message.call_id,
                "toolName": message.tool,
                "content": _written_content(message.content),
                **details,
                "isError": message.is_error,
            }
        case NoteMessage():
            details = {"details": message.details} if message.details is not None else {}
            return {
                "role": "custom",
                "customType": message.name,
                "content": _written_content(message.content),
                "display": message.display,
                **details,
            }
        case ShellMessage():
            return _written_shell(message)
        case FilesMessage():
            files = [{"path": file.path, "content": file.content} for file in message.files]
            return {"role": "fileMention", "files": files}
        case SystemMessage():
            return {"role": "developer", "content": _written_content(message.content)}
        case SummaryMessage():
            role = "compactionSummary" if message.of == "compaction" else "branchSummary"
            return {"role": role, "summary": message.summary}
        case UnknownMessage():
            return {"role": message.role, "content": _written_content(message.content)}


def _written_shell(message: ShellMessage) -> dict[str, Any]:
    is_python = message.language == "python"
    found: dict[str, Any] = {
        "role": "pythonExecution" if is_python else "bashExecution",
        "code" if is_python else "command": message.command,
        "output": message.output,
        "exitCode": message.exit_code,
        "cancelled": message.cancelled,
        "truncated": message.truncated,
    }
    if message.full_output_path:
        found["fullOutputPath"] = message.full_output_path
    return found | ({"excludeFromContext": True} if message.excluded else {})


def _written_reply(message: AssistantMessage) -> dict[str, Any]:
    found: dict[str, Any] = {
        "role": "assistant",
        "content": _written_content(message.content),
        "api": message.api,
        "provider": message.provider,
        "model": message.model,
        "usage": _written_usage(message.usage or TokenUsage()),
        "stopReason": _WRITTEN_STOPS.get(message.stop_reason, message.stop_reason),
    }
    if message.error:
        found["errorMessage"] = message.error
    if message.error_kind:
        found["errorKind"] = message.error_kind
    return found


_WRITTEN_STOPS = {name: stop for stop, name in READ_STOPS.items()}


def _written_usage(usage: TokenUsage) -> dict[str, Any]:
    counts = (usage.input, usage.output, usage.cache_read, usage.cache_write)
    costs = usage.costs or (0.0, 0.0, 0.0, 0.0)
    return {
        **dict(zip(TOKENS, counts, strict=True)),
        "totalTokens": max(usage.context, 0),
        "cost": {**dict(zip(TOKENS, costs, strict=True)), "total": usage.cost},
    }


def _written_content(content: Content) -> list[Any]:
    return [_written_block(block) for block in content]


def _written_block(block: Block) -> Any:
    match block:
        case TextBlock(text):
            return {"type": "text", "text": text}
        case ThinkingBlock():
            signed = {"thinkingSignature": block.signature} if block.signature else {}
            redacted = {"redacted": True} if block.redacted else {}
            return {"type": "thinking", "thinking": block.text, **signed, **redacted}
        case ToolCallBlock():
            malformed = {"malformedArguments": block.malformed} if block.malformed else {}
            return {
                "type": "toolCall",
                "id": block.id,
                "name": block.name,
                "arguments": block.arguments,
                **malformed,
            }
        case ImageBlock():
            return {"type": "image", "data": block.data, "mimeType": block.mime}
        case UnknownBlock():
            return block.value
