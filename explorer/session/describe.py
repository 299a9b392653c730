"""From the JSON of an entry to the facts that the columns keep.

Every spelling that the formats use is read here (A3), so that nothing above needs to know which
agent wrote a file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from zlib import crc32

from explorer.session.edit_entries import (
    KEPT_USER_TOKENS,
    PRUNE_TYPE,
    SHAPE_TYPES,
    PruneFacts,
    ShapeFacts,
    prune_facts,
    shape_facts,
)
from explorer.session.file_tools import FileOp, OpKind, file_ops
from explorer.session.json_values import (
    MAX_COUNT,
    prompt_tokens,
    time_ms,
    token_count,
    usage_tokens,
)
from explorer.session.kinds import ROLE_KINDS, TYPE_KINDS, Flag, Kind
from explorer.session.text import (
    PREVIEW_UNITS,
    Json,
    blocks_of,
    call_title,
    first_line,
    first_text,
    summary_line,
    text_of,
)

__all__ = [
    "MAX_COUNT",
    "PREVIEW_UNITS",
    "STOP_FLAGS",
    "BranchFacts",
    "CompactionFacts",
    "Facts",
    "FileOp",
    "Json",
    "OpKind",
    "PruneFacts",
    "blocks_of",
    "call_title",
    "describe",
    "first_kept_id",
    "first_line",
    "from_extension",
    "kind_of",
    "prompt_tokens",
    "summary_line",
    "text_of",
    "time_ms",
    "token_count",
    "usage_tokens",
]


# Looking up a member of an enum, and joining flags, costs as much as parsing a line's first
# field: what every entry needs is looked up once.
_ASSISTANT = Kind.ASSISTANT
_TOOL_RESULT = Kind.TOOL_RESULT
_ERROR = int(Flag.ERROR)
_HAS_TEXT = int(Flag.HAS_TEXT)
_HAS_THINKING = int(Flag.HAS_THINKING)
_HAS_TOOL_CALL = int(Flag.HAS_TOOL_CALL)
_HAS_IMAGE = int(Flag.HAS_IMAGE)
_PRUNING = int(Flag.PRUNING)
STOP_FLAGS = {"error": _ERROR, "aborted": int(Flag.ABORTED), "length": int(Flag.LENGTH_STOP)}


class CompactionFacts(NamedTuple):
    """What decisions need of a compaction entry (A1)."""

    first_kept_id: str
    tokens_before: int
    read_files: tuple[str, ...]
    modified_files: tuple[str, ...]
    """All that were changed, also those that follow."""
    from_extension: bool
    created_files: tuple[str, ...] = ()
    deleted_files: tuple[str, ...] = ()
    user_tokens: int = 0
    """Up to how many tokens of the user's messages its profile kept word for word."""


class BranchFacts(NamedTuple):
    """What decisions need of a branch summary entry (A2)."""

    from_id: str
    read_files: tuple[str, ...]
    modified_files: tuple[str, ...]
    """All that were changed, also those that follow."""
    from_extension: bool
    created_files: tuple[str, ...] = ()
    deleted_files: tuple[str, ...] = ()


class Facts(NamedTuple):
    """Everything that the columns keep of one entry."""

    kind: Kind
    flags: int
    time_ms: float
    usage: int
    """Context tokens that the provider reported with a reply, -1 when none were (A7, B9)."""
    model: str
    """``provider/model`` of a reply or model change, else empty."""
    preview: str
    user_images: int
    ops: tuple[FileOp, ...] = ()
    call_id: str = ""
    """The call that a tool result answers."""
    tool: str = ""
    """The tool that made a tool result."""
    compaction: CompactionFacts | None = None
    branch: BranchFacts | None = None
    thinking_level: str = ""
    label: tuple[str, str] | None = None
    """(target id, label); an empty label clears it."""
    name: str | None = None
    error: int = 0
    """Of a tool result that is an error: a mark of what it says, never 0; see ``error_mark``."""
    prune: PruneFacts | None = None
    shape: ShapeFacts | None = None
    """What a pin, an omission, or a rule of kept messages says."""


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(item for item in value if isinstance(item, str))


def _string(entry: Json, key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""


def _text(entry: Mapping[str, Any], *keys: str) -> str:
    for key in keys:
        value = entry.get(key)
        if isinstance(value, str):
            return value
    return ""


def from_extension(entry: Mapping[str, Any]) -> bool:
    """Whether an extension made this summary, in either spelling (A3)."""
    return entry.get("fromExtension") is True or entry.get("fromHook") is True


def first_kept_id(entry: Mapping[str, Any]) -> str:
    """The id of the first kept entry, in any spelling (A3)."""
    return _text(entry, "firstKeptEntryId", "first_kept_entry_id", "retained_from_id")


class _Files(NamedTuple):
    read: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    created: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()


def _files(entry: Mapping[str, Any]) -> _Files:
    details = entry.get("details")
    if not isinstance(details, dict):
        return _Files()
    return _Files(
        *(
            _texts(details.get(f"{what}Files", details.get(f"{what}_files")))
            for what in _Files._fields
        )
    )


def kind_of(entry: Mapping[str, Any]) -> Kind:
    """The kind of an entry; a type or role that is not known is kept as such."""
    entry_type = entry.get("type")
    if entry_type == "message":
        message = entry.get("message")
        role = message.get("role") if isinstance(message, dict) else None
        return ROLE_KINDS.get(role, Kind.OTHER_ROLE) if isinstance(role, str) else Kind.OTHER_ROLE
    return TYPE_KINDS.get(entry_type, Kind.UNKNOWN) if isinstance(entry_type, str) else Kind.UNKNOWN


def describe(entry: Mapping[str, Any]) -> Facts:
    """The facts of an entry, whatever is missing or malformed in it."""
    moment = time_ms(entry.get("timestamp"))
    if entry.get("type") != "message":
        return _other(kind_of(entry), moment, entry)
    message = entry.get("message")
    if not isinstance(message, dict):
        message = {}
    role = message.get("role")
    if not moment:
        moment = time_ms(message.get("timestamp"))
    if role == "assistant":
        return _assistant(moment, message)
    if role == "toolResult":
        return _tool_result(moment, message)
    return _message(kind_of(entry), moment, message)


def _images(content: object) -> int:
    if not isinstance(content, list):
        return 0
    return sum(1 for block in content if isinstance(block, dict) and block.get("type") == "image")


def _tool_result(moment: float, message: Json) -> Facts:
    content = message.get("content")
    text, flags, error = text_of(content), _HAS_TEXT, 0
    if _images(content):
        flags |= _HAS_IMAGE
    if message.get("isError") is True:
        flags |= _ERROR
        error = error_mark(text)
    else:
        flags |= result_flags(text, has_image=bool(flags & _HAS_IMAGE))
    if message.get("prunedAt") is not None:
        flags |= _PRUNING
    call_id, tool = message.get("toolCallId"), message.get("toolName")
    return Facts(
        _TOOL_RESULT,
        flags,
        moment,
        -1,
        "",
        first_text(content),
        0,
        (),
        call_id if isinstance(call_id, str) else "",
        tool if isinstance(tool, str) else "",
        error=error,
    )


def _message(kind: Kind, moment: float, message: Json) -> Facts:
    content = message.get("content")
    flags = _HAS_TEXT
    images = _images(content)
    if images:
        flags |= _HAS_IMAGE
    if kind in (Kind.BASH_EXECUTION, Kind.PYTHON_EXECUTION):
        return _execution(kind, flags, moment, message)
    if kind in (Kind.COMPACTION_SUMMARY_ROLE, Kind.BRANCH_SUMMARY_ROLE):
        return Facts(kind, flags, moment, -1, "", first_line(_text(message, "summary")), 0)
    if kind is Kind.CUSTOM_ROLE and message.get("display") is False:
        flags |= Flag.HIDDEN
    text = first_text(content) or ("image" if images else "")
    return Facts(kind, flags, moment, -1, "", text, images if kind is Kind.USER else 0)


def _execution(kind: Kind, flags: int, moment: float, message: Json) -> Facts:
    if message.get("excludeFromContext") is True:
        flags |= Flag.EXCLUDED
    if message.get("cancelled") is True:
        flags |= Flag.ABORTED
    code = message.get("exitCode")
    if isinstance(code, int) and code:
        flags |= Flag.ERROR
    text = first_line(_text(message, "command", "code"))
    return Facts(kind, int(flags), moment, -1, "", text, 0)


def _assistant(moment: float, message: Json) -> Facts:
    stop, content = message.get("stopReason"), message.get("content")
    flags = STOP_FLAGS.get(stop, 0) if isinstance(stop, str) else 0
    ops: list[FileOp] = []
    text = thinking = calls = ""
    for block in content if isinstance(content, list) else blocks_of(content):
        if not isinstance(block, dict):
            continue
        block_type = block.get("type")
        if block_type == "toolCall":
            flags |= _HAS_TOOL_CALL
            name, arguments = _string(block, "name"), block.get("arguments")
            if not text and len(calls) < PREVIEW_UNITS:
                calls += (" · " if calls else "") + call_title(name, arguments)
            ops += file_ops(name, arguments, _string(block, "id"))
        elif block_type == "text":
            text = text or first_line(_string(block, "text"))
        elif block_type == "thinking":
            flags |= _HAS_THINKING
            thinking = thinking or _string(block, "thinking").lstrip()
        elif block_type == "image":
            flags |= _HAS_IMAGE
    if text:
        flags |= _HAS_TEXT
    preview = text or calls[:PREVIEW_UNITS] or first_line(thinking)
    if not preview:
        preview = first_line(_string(message, "errorMessage") or _string(message, "stopReason"))
    model = message.get("model")
    return Facts(
        _ASSISTANT,
        flags,
        moment,
        usage_tokens(message.get("usage")),
        f"{_string(message, 'provider')}/{model}" if model and isinstance(model, str) else "",
        preview,
        0,
        tuple(ops),
    )


def _other(kind: Kind, moment: float, entry: Mapping[str, Any]) -> Facts:
    flags = Flag.FROM_EXTENSION if from_extension(entry) else Flag.NONE
    files = _files(entry)
    if kind is Kind.COMPACTION:
        facts = CompactionFacts(
            first_kept_id(entry),
            token_count(entry.get("tokensBefore", entry.get("tokens_before"))),
            files.read, files.modified, bool(flags), files.created, files.deleted,
            _user_tokens(entry),
        )  # fmt: skip
        text = first_line(_text(entry, "shortSummary")) or summary_line(_text(entry, "summary"))
        return Facts(kind, flags, moment, -1, "", text, 0, compaction=facts)
    if kind is Kind.BRANCH_SUMMARY:
        if not entry.get("summary"):
            flags |= Flag.EMPTY_SUMMARY
        branch = BranchFacts(
            _text(entry, "fromId", "from_id"),
            files.read, files.modified, bool(flags & Flag.FROM_EXTENSION),
            files.created, files.deleted,
        )  # fmt: skip
        return Facts(
            kind, flags, moment, -1, "", summary_line(_text(entry, "summary")), 0, branch=branch
        )
    if kind is Kind.CUSTOM_MESSAGE:
        content = entry.get("content")
        images = sum(1 for block in blocks_of(content) if block.get("type") == "image")
        flags |= Flag.HIDDEN if entry.get("display") is False else Flag.NONE
        flags |= Flag.HAS_IMAGE if images else Flag.NONE
        return Facts(kind, flags | Flag.HAS_TEXT, moment, -1, "", first_line(text_of(content)), 0)
    return _metadata(kind, flags, moment, entry)


def _user_tokens(entry: Mapping[str, Any]) -> int:
    details = entry.get("details")
    return token_count(details.get(KEPT_USER_TOKENS)) if isinstance(details, dict) else 0


def _metadata(kind: Kind, flags: Flag, moment: float, entry: Mapping[str, Any]) -> Facts:
    model = level = ""
    label: tuple[str, str] | None = None
    name: str | None = None
    prune: PruneFacts | None = None
    shape: ShapeFacts | None = None
    if kind is Kind.MODEL_CHANGE:
        model = _model_of_change(entry)
        text = f"model {first_line(model)}"
    elif kind is Kind.THINKING_LEVEL_CHANGE:
        level = _text(entry, "thinkingLevel", "level")
        text = f"thinking {first_line(level)}"
    elif kind is Kind.LABEL:
        label = (_text(entry, "targetId", "target_id"), _text(entry, "label"))
        text = f"label “{first_line(label[1])}”" if label[1] else "label removed"
    elif kind is Kind.SESSION_INFO:
        name = _text(entry, "name", "title")
        text = f"name “{first_line(name)}”"
    elif kind is Kind.CUSTOM and entry.get("customType") == PRUNE_TYPE:
        prune = prune_facts(entry.get("data"))
        flags |= Flag.PRUNING if prune else Flag.NONE
        text = first_line(prune.title) if prune else "a prune entry that cannot be read"
    elif kind is Kind.CUSTOM and _text(entry, "customType") in SHAPE_TYPES:
        custom_type = _text(entry, "customType")
        shape = shape_facts(custom_type, entry.get("data"))
        flags |= Flag.PINNING if shape and shape.kind == "pin" else Flag.NONE
        name_of = SHAPE_TYPES[custom_type].replace("-", " ")
        text = first_line(shape.title) if shape else f"an entry to {name_of} that cannot be read"
    else:
        title = _text(entry, "customType") or _text(entry, "type")
        text = first_line(title) or "entry without a type"
    return Facts(
        kind, flags, moment, -1, model, text, 0,
        thinking_level=level, label=label, name=name, prune=prune, shape=shape,
    )  # fmt: skip


def _model_of_change(entry: Mapping[str, Any]) -> str:
    """``provider/model``: pi writes two fields, oh-my-pi one that holds both."""
    model = _text(entry, "modelId") or _text(entry, "model")
    provider = _text(entry, "provider")
    return f"{provider}/{model}" if provider and model else model


_SHORT = 200
"""Characters up to which a result can say no more than that there is nothing."""
_MARKED = 4_000
"""Characters of an error that are compared."""

_FOUND_NOTHING = re.compile(
    r"\W*(?:"
    r"no (?:output|results?|match(?:es)?|files?(?: or director(?:y|ies))?|entries|content|hits)"
    r"(?: (?:was|were))?(?: (?:found|matched|returned|available))?"
    r"|(?:found )?0 (?:results?|match(?:es)?|files?|hits)(?: found)?"
    r"|nothing (?:found|matched)|empty(?: (?:file|directory|result|output))?|none"
    r")\b(?: (?:for|in|matching|matched|with|under)\b[^\n]*)?\W*",
    re.IGNORECASE,
)
_CREATED = re.compile(
    r"\s*(?:(?:new |the )?file (?:[^\n]{1,400}? )?(?:has been |was )?(?:successfully )?created\b"
    r"|(?:successfully )?created (?:a )?(?:new )?(?:empty )?file\b"
    r"|successfully created (?:and wrote to )?(?:a )?(?:new )?file\b)",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"\d+")

_NOTHING, _NEW = int(Flag.FOUND_NOTHING), int(Flag.CREATED)


def result_flags(text: str, *, has_image: bool = False) -> int:
    """The flags of what a result that is no error says: ``FOUND_NOTHING``, ``CREATED``."""
    flags = 0
    if len(text) <= _SHORT and not has_image:
        words = text.strip()
        if not words or _FOUND_NOTHING.fullmatch(words):
            flags |= _NOTHING
    if "reated" in text[:_SHORT] and _CREATED.match(text[: _SHORT * 2]):
        flags |= _NEW
    return flags


def error_mark(text: str) -> int:
    """A number that two errors have in common when they say the same, but for numbers such as
    times and addresses. Never 0."""
    words = " ".join(_NUMBERS.sub("#", text[:_MARKED]).split())
    return crc32(words.encode("utf-8", "replace")) or 1
