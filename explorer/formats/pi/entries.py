"""Entries in the dialect of pi and oh-my-pi (A3): JSON read to typed entries, and written.

Both agents' spellings are read wherever they stand; what is written is the file's own.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from datetime import datetime, timedelta
from random import Random
from typing import Any, Literal

from explorer.formats.pi import omp
from explorer.formats.pi.header import EXTENSION_KEY, model_change, positional_id
from explorer.session.edit_entries import REPEATED_USER_TOKENS
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
from explorer.session.records import FormatName

Json = Mapping[str, Any]

_EPOCH = datetime(1970, 1, 1)
_ID_DIGITS = 8
_DETAILS = {"read_files": "readFiles", "modified_files": "modifiedFiles"}
_TOKENS = ("input", "output", "cacheRead", "cacheWrite")

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

# reading ------------------------------------------------------------------------------------------


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
    parts = [usage.get(key) for key in _TOKENS]
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
        found = [cost.get(key) for key in _TOKENS]
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
        _READ_STOPS.get(stop, stop),
        _text(message, "errorMessage"),
        _text(message, "errorKind"),
        _text(message, "api"),
    )


_FAILED = frozenset({"error", "aborted", "failed", "cancelled"})
_READ_STOPS = {"toolUse": "tool_calls"}


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
    )


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


# writing ------------------------------------------------------------------------------------------


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
            return {
                "role": "custom",
                "customType": message.name,
                "content": _written_content(message.content),
                "display": message.display,
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


_WRITTEN_STOPS = {name: stop for stop, name in _READ_STOPS.items()}


def _written_usage(usage: TokenUsage) -> dict[str, Any]:
    counts = (usage.input, usage.output, usage.cache_read, usage.cache_write)
    costs = usage.costs or (0.0, 0.0, 0.0, 0.0)
    return {
        **dict(zip(_TOKENS, counts, strict=True)),
        "totalTokens": max(usage.context, 0),
        "cost": {**dict(zip(_TOKENS, costs, strict=True)), "total": usage.cost},
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
