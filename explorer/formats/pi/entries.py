"""Entries in the dialect of pi and oh-my-pi (A3), read from JSON to typed entries.

Both agents' spellings are read wherever they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from explorer.formats.pi.header import positional_id
from explorer.session.edit_entries import REPEATED_ENTRIES, REPEATED_USER_TOKENS, named_entries
from explorer.session.entries import (
    AssistantMessage,
    Block,
    Body,
    BranchSummary,
    CompactionSummary,
    Content,
    CustomData,
    Entry,
    FileLists,
    FileMention,
    FilesMessage,
    ImageBlock,
    Label,
    Message,
    ModelChange,
    NoteMessage,
    RepeatedEntry,
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
from explorer.session.json_values import MAX_COUNT, recorded_count, time_ms, token_count
from explorer.session.kinds import Kind

Json = Mapping[str, Any]

TOKENS = ("input", "output", "cacheRead", "cacheWrite")

ROLE_KINDS: dict[str, Kind] = {
    "user": Kind.USER,
    "assistant": Kind.ASSISTANT,
    "toolResult": Kind.TOOL_RESULT,
    "bashExecution": Kind.BASH_EXECUTION,
    "custom": Kind.CUSTOM_ROLE,
    "hookMessage": Kind.CUSTOM_ROLE,
    "system": Kind.SYSTEM,
    "developer": Kind.SYSTEM,
    "pythonExecution": Kind.PYTHON_EXECUTION,
    "fileMention": Kind.FILE_MENTION,
    "compactionSummary": Kind.COMPACTION_SUMMARY_ROLE,
    "branchSummary": Kind.BRANCH_SUMMARY_ROLE,
}

TYPE_KINDS: dict[str, Kind] = {
    "compaction": Kind.COMPACTION,
    "branch_summary": Kind.BRANCH_SUMMARY,
    "custom_message": Kind.CUSTOM_MESSAGE,
    "custom": Kind.CUSTOM,
    "label": Kind.LABEL,
    "session_info": Kind.SESSION_INFO,
    "title_change": Kind.SESSION_INFO,
    "model_change": Kind.MODEL_CHANGE,
    "thinking_level_change": Kind.THINKING_LEVEL_CHANGE,
    "reset_boundary": Kind.RESET_BOUNDARY,
    "context_edit": Kind.CONTEXT_EDIT,
}


def kind_of(entry: Json) -> Kind:
    """The kind of an entry; a type or role that is not known is carried as such."""
    entry_type = entry.get("type")
    if entry_type == "message":
        message = entry.get("message")
        role = message.get("role") if isinstance(message, dict) else None
        return ROLE_KINDS.get(role, Kind.OTHER_ROLE) if isinstance(role, str) else Kind.OTHER_ROLE
    return TYPE_KINDS.get(entry_type, Kind.UNKNOWN) if isinstance(entry_type, str) else Kind.UNKNOWN


def read_entry(entry: Json) -> Entry:
    """An entry's JSON object as a typed entry, whatever is missing or malformed in it."""
    kind = kind_of(entry)
    moment = time_ms(entry.get("timestamp"))
    parent = entry.get("parentId")
    body: Body
    if entry.get("type") == "message":
        message = entry.get("message")
        if not isinstance(message, dict):
            message = {}
        if not moment:
            moment = time_ms(message.get("timestamp"))
        body = read_message(message)
    else:
        body = _BODIES.get(kind, _unknown)(entry)
    return Entry(
        kind, body, _text(entry, "id"), parent if isinstance(parent, str) else None, moment, entry
    )


def read_message(message: Json) -> Message:
    """A message's JSON object as a typed message."""
    role = message.get("role")
    read = _MESSAGES.get(role) if isinstance(role, str) else None
    if read is None:
        content = read_content(message.get("content"))
        return UnknownMessage(role if isinstance(role, str) else "", content)
    return read(message)


def read_content(content: object) -> Content:
    """The blocks of a message's content; a plain string is one text block. What is no JSON object
    is left out."""
    if isinstance(content, str):
        return (TextBlock(content),)
    if isinstance(content, list):
        return tuple([_block(block) for block in content if isinstance(block, dict)])
    return ()


def _block(block: dict[str, Any]) -> Block:
    kind = block.get("type")
    if kind == "text" and isinstance(text := block.get("text"), str):
        return TextBlock(text)
    if kind == "thinking" and isinstance(text := block.get("thinking"), str):
        signature = block.get("thinkingSignature") or block.get("signature")
        return ThinkingBlock(
            text, signature if isinstance(signature, str) else "", block.get("redacted") is True
        )
    if kind == "toolCall":
        name, call_id = block.get("name"), block.get("id")
        return ToolCallBlock(
            call_id if isinstance(call_id, str) else "",
            name if isinstance(name, str) else "",
            block.get("arguments"),
            _text(block, "malformedArguments"),
        )
    if kind == "image":
        return ImageBlock(_text(block, "mimeType", "mediaType"), _text(block, "data"))
    return UnknownBlock(kind if isinstance(kind, str) else "", block)


def read_usage(usage: object) -> TokenUsage | None:
    """A usage record; None where there is none. Figures that cannot be counts of tokens are 0,
    and a sum of which a part cannot be one is not known (A7, B9)."""
    if not isinstance(usage, dict):
        return None
    parts = [usage.get(key) for key in TOKENS]
    context = recorded_count(usage.get("totalTokens")) or 0
    if not context:
        counts = [recorded_count(part) for part in parts if part is not None]
        known = [count for count in counts if count is not None]
        whole = known and len(known) == len(counts) and sum(known) <= MAX_COUNT
        context = sum(known) if whole else -1
    cost, costs = _cost(usage.get("cost"))
    given, written, cached, stored = map(token_count, parts)
    return TokenUsage(given, written, cached, stored, context, cost, costs)


def _cost(cost: object) -> tuple[float, tuple[float, float, float, float] | None]:
    """Dollars in all, and of each part where they are recorded."""
    parts = None
    total = cost
    if isinstance(cost, dict):
        found = [cost.get(key) for key in TOKENS]
        numbers = [one if isinstance(one, int | float) else 0 for one in found]
        parts = (numbers[0], numbers[1], numbers[2], numbers[3])
        total = cost.get("total")
        if not isinstance(total, int | float) or not total:
            total = sum(parts)
    # A cost of less than nothing, or without bound, is damage.
    if isinstance(total, int | float) and 0 < total < 1e6:
        return float(total), parts
    return 0.0, parts if total == 0 else None


def _text(source: Json, *keys: str) -> str:
    for key in keys:
        value = source.get(key)
        if isinstance(value, str):
            return value
    return ""


def _reply(message: Json) -> AssistantMessage:
    stop = _text(message, "stopReason")
    return AssistantMessage(
        read_content(message.get("content")),
        _text(message, "provider"),
        _text(message, "model"),
        read_usage(message.get("usage")),
        READ_STOPS.get(stop, stop),
        _text(message, "errorMessage"),
        _text(message, "errorKind"),
        _text(message, "api"),
    )


_FAILED = frozenset({"error", "aborted", "failed", "cancelled"})
READ_STOPS = {"toolUse": "tool_calls"}


def _result(message: Json) -> ToolResultMessage:
    return ToolResultMessage(
        _text(message, "toolCallId"),
        _text(message, "toolName"),
        read_content(message.get("content")),
        message.get("isError") is True,
        message.get("prunedAt") is not None,
        message.get("details"),
    )


def _shell(message: Json) -> ShellMessage:
    language: Literal["bash", "python"] = (
        "python" if message.get("role") == "pythonExecution" else "bash"
    )
    code = message.get("exitCode")
    return ShellMessage(
        _text(message, *(("code", "command") if language == "python" else ("command", "code"))),
        _text(message, "output"),
        language,
        code if isinstance(code, int | float) else None,
        message.get("cancelled") is True,
        message.get("truncated") is True,
        _text(message, "fullOutputPath"),
        message.get("excludeFromContext") is True,
    )


def _files_message(message: Json) -> FilesMessage:
    files = message.get("files")
    named = [file for file in files if isinstance(file, dict)] if isinstance(files, list) else []
    return FilesMessage(
        tuple(FileMention(_text(file, "path"), _text(file, "content")) for file in named)
    )


def _note(source: Json) -> NoteMessage:
    """A ``custom`` message, or a ``custom_message`` entry: their fields are the same."""
    return NoteMessage(
        read_content(source.get("content")),
        _text(source, "customType"),
        source.get("display") is not False,
        source.get("details"),
    )


_MESSAGES: dict[str, Callable[[Json], Message]] = {
    "user": lambda it: UserMessage(read_content(it.get("content")), it.get("synthetic") is True),
    "assistant": _reply,
    "toolResult": _result,
    "bashExecution": _shell,
    "pythonExecution": _shell,
    "fileMention": _files_message,
    "custom": _note,
    "hookMessage": _note,
    "system": lambda it: SystemMessage(read_content(it.get("content"))),
    "developer": lambda it: SystemMessage(read_content(it.get("content"))),
    "compactionSummary": lambda it: SummaryMessage(_text(it, "summary"), "compaction"),
    "branchSummary": lambda it: SummaryMessage(_text(it, "summary"), "branch"),
}


def _from_extension(entry: Json) -> bool:
    return entry.get("fromExtension") is True or entry.get("fromHook") is True


def _file_lists(details: object) -> FileLists:
    if not isinstance(details, dict):
        return FileLists()

    def listed(what: str) -> tuple[str, ...]:
        value = details.get(f"{what}Files", details.get(f"{what}_files"))
        names = value if isinstance(value, list) else []
        return tuple(item for item in names if isinstance(item, str))

    return FileLists(*map(listed, ("read", "modified", "created", "deleted", "failed")))


def _compaction(entry: Json) -> CompactionSummary:
    details = entry.get("details")
    after = entry.get("tokensAfter", entry.get("tokens_after"))
    place = entry.get("firstKeptEntryIndex")
    kept = _text(entry, "firstKeptEntryId", "first_kept_entry_id", "retained_from_id")
    if not kept and type(place) is int and place > 0:
        kept = positional_id(place)
    return CompactionSummary(
        _text(entry, "summary"),
        kept,
        token_count(entry.get("tokensBefore", entry.get("tokens_before"))),
        recorded_count(after),
        _file_lists(details),
        _from_extension(entry),
        _text(entry, "shortSummary"),
        token_count(details.get(REPEATED_USER_TOKENS)) if isinstance(details, dict) else 0,
        failure=_failure(entry),
        usage=read_usage(entry.get("usage")),
        details=details if _from_extension(entry) else None,
        repeated_entries=_repeated_entries(details),
    )


def _repeated_entries(details: object) -> tuple[RepeatedEntry, ...]:
    listed = details.get(REPEATED_ENTRIES) if isinstance(details, dict) else None
    return tuple(RepeatedEntry(*one) for one in named_entries(listed))


def _failure(entry: Json) -> str:
    """What a compaction records of its own failure, in its words."""
    for key in ("error", "errorMessage", "warning"):
        value = _text(entry, key).strip()
        if value:
            return f"{key}: {value[:120]}"
    for key in ("status", "stopReason"):
        if (value := _text(entry, key)) in _FAILED:
            return f"{key}: {value}"
    return ""


def _branch_summary(entry: Json) -> BranchSummary:
    details = entry.get("details")
    return BranchSummary(
        _text(entry, "summary"),
        _text(entry, "fromId", "from_id"),
        _file_lists(details),
        _from_extension(entry),
        read_usage(entry.get("usage")),
        details if _from_extension(entry) else None,
    )


def _model_change(entry: Json) -> ModelChange:
    """pi writes provider and model in two fields, oh-my-pi in one."""
    model = _text(entry, "modelId") or _text(entry, "model")
    provider = _text(entry, "provider")
    return ModelChange(f"{provider}/{model}" if provider and model else model, _text(entry, "role"))


def _unknown(entry: Json) -> Unknown:
    return Unknown(_text(entry, "type"))


_BODIES: dict[Kind, Callable[[Json], Body]] = {
    Kind.COMPACTION: _compaction,
    Kind.BRANCH_SUMMARY: _branch_summary,
    Kind.CUSTOM_MESSAGE: _note,
    Kind.CUSTOM: lambda it: CustomData(_text(it, "customType"), it.get("data")),
    Kind.LABEL: lambda it: Label(_text(it, "targetId", "target_id"), _text(it, "label")),
    Kind.SESSION_INFO: lambda it: SessionName(_text(it, "name", "title")),
    Kind.MODEL_CHANGE: _model_change,
    Kind.THINKING_LEVEL_CHANGE: lambda it: ThinkingLevelChange(_text(it, "thinkingLevel", "level")),
}


def agent_message(entry: Json) -> dict[str, Any]:
    """The message of an entry's JSON object as an agent holds it: a role and what belongs to it."""
    kind = entry.get("type")
    if kind == "message":
        message = entry.get("message")
        return dict(message) if isinstance(message, Mapping) else {}
    roles = {
        "custom_message": "custom",
        "compaction": "compactionSummary",
        "branch_summary": "branchSummary",
    }
    fields = {
        name: value for name, value in entry.items() if name not in ("type", "id", "parentId")
    }
    return {"role": roles.get(str(kind), str(kind)), **fields}
