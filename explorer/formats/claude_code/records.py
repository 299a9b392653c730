"""From a record of Claude Code, one or several lines, to a typed entry: what a person and the model
said, and what is put into a conversation beside it: files, hooks, reminders, and prompts that were
typed while a turn went on.

What reading a large file hangs on are the facts of a record in the shapes that nearly all have,
taken straight from its JSON. Whatever looks different in any way is left to ``describe`` and
``estimate_entry``, which say what is right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from sys import intern
from typing import Any

from msgspec.structs import replace

from explorer.formats.anthropic_content import read_block, read_content, read_usage
from explorer.formats.claude_code.fields import (
    INSERTED,
    NODE_TYPES,
    PART,
    PLACEHOLDER_MODEL,
    SHELL_INPUT,
    SUBTYPES,
    inserted_row,
    is_inserted,
    is_model_reply,
    message_of,
    results_in,
    texts_of,
)
from explorer.formats.json_fields import object_field, text_field
from explorer.formats.jsonl import BadLine, parse
from explorer.session.describe import Facts, error_mark, result_flags
from explorer.session.edit_entries import PRUNE_TYPE
from explorer.session.entries import (
    AssistantMessage,
    Block,
    Body,
    CompactionSummary,
    CustomData,
    Entry,
    FileMention,
    FilesMessage,
    ImageBlock,
    NoteMessage,
    PutBack,
    ShellMessage,
    TokenUsage,
    ToolResultMessage,
    Unknown,
    UserMessage,
    kind_of,
    text_content,
    text_of,
)
from explorer.session.file_tools import FileOp, file_ops
from explorer.session.json_values import recorded_count, time_ms, token_count
from explorer.session.kinds import Flag, Kind
from explorer.session.text import PREVIEW_UNITS, call_title, cut_line, first_line, prompt_line
from explorer.tokens.estimate import json_units, utf16_units

_NOT_SENT = frozenset({
    "hook_system_message", "hook_non_blocking_error", "hook_cancelled", "command_permissions",
    "hook_error_during_execution", "hook_permission_decision", "dynamic_skill",
})  # fmt: skip
"""Shown to the person, or for the program alone."""
_WORDS = (
    "content", "text", "snippet", "banner", "blockingError", "addedLines", "addedBlocks",
    "planContent", "skills", "newDate", "message", "deltaSummary",
)  # fmt: skip
"""Fields that hold what the model is sent, the first that has any text counts."""


def read_attachment(value: Mapping[str, Any]) -> Body:
    """The body of an attachment record."""
    attachment = object_field(value, "attachment")
    kind = text_field(attachment, "type")
    match kind:
        case "queued_command":
            return _queued(value, attachment)
        case "file" | "already_read_file" | "pdf_reference":
            return _file(kind, attachment)
        case "nested_memory" | "edited_text_file" | "selected_lines_in_ide":
            path = text_field(attachment, "path") or text_field(attachment, "filename")
            text = "\n".join(_texts(attachment.get("content", attachment.get("snippet"))))
            return FilesMessage((FileMention(path, text),))
    name = kind or "attachment"
    if kind not in _NOT_SENT:
        for field in _WORDS:
            if text := "\n".join(_texts(attachment.get(field))):
                return NoteMessage(text_content(text), name, display=False, details=attachment)
    return CustomData(name, attachment)


def _queued(value: Mapping[str, Any], attachment: Mapping[str, Any]) -> UserMessage:
    prompt = attachment.get("prompt")
    texts = texts_of(prompt)
    origin = object_field(attachment, "origin").get("kind")
    synthetic = (
        True in (value.get("isMeta"), attachment.get("isMeta"))
        or "task-notification" in (origin, attachment.get("commandMode"))
        or (bool(texts) and all(map(is_inserted, texts)))
    )
    return UserMessage(read_content(prompt), synthetic)


def _file(kind: str, attachment: Mapping[str, Any]) -> Body:
    content = object_field(attachment, "content")
    file = object_field(content, "file")
    path = (
        text_field(attachment, "filename")
        or text_field(file, "filePath")
        or text_field(attachment, "displayPath")
    )
    if data := text_field(file, "base64"):
        image = ImageBlock(text_field(file, "type"), data)
        return NoteMessage((*text_content(path), image), kind, display=False, details=attachment)
    return FilesMessage((FileMention(path, text_field(file, "content")),))


def _texts(value: Any) -> Iterator[str]:
    """The texts of a field: itself, those of a list, or the content of an object."""
    if isinstance(value, str):
        if value.strip():
            yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, Mapping):
        for name in ("content", "text", "blockingError", "subject"):
            if name in value:
                yield from _texts(value[name])
                return


_STOP_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}
_PUT_BACK = PutBack(5, 5_000)
"""What the program shows again after a compaction; releases before about 2.1.80 record nothing
of it."""
_PROVIDERS = {"msg_bdrk_": "amazon-bedrock", "msg_vrtx_": "google-vertex"}
"""By what the ids of replies begin with; all others come from the maker."""
_PERSISTED = re.compile(r"<persisted-output>[^\n]*\n[^\n]*saved to: ([^\n]+)")
_SHELL = {
    name: re.compile(rf"<{name}>(.*?)(?:</{name}>|\Z)", re.DOTALL)
    for name in ("bash-input", "bash-stdout", "bash-stderr")
}
_COMMON = frozenset({
    "parentUuid", "logicalParentUuid", "isSidechain", "userType", "cwd", "sessionId", "version",
    "gitBranch", "type", "subtype", "uuid", "timestamp", "entrypoint", "slug", "isMeta", "level",
    "agentId",
})  # fmt: skip
"""Fields of system records that say nothing of their own."""
_NO_TOOLS: Mapping[str, str] = {}


def read_record(record: str | bytes) -> Entry:
    """The typed entry of a record; an entry of an unknown kind where it cannot be read."""
    text = record if isinstance(record, str) else record.decode("utf-8", "surrogatepass")
    lines, part = text, 0
    start = text.rfind("\n") + 1
    if start and text.startswith(PART, start):
        lines = text[: start - 1]
        number = text[start + len(PART) : -1]
        part = int(number) if number.isdecimal() and len(number) < 7 else 0
    values = _values_in(lines)
    return entry_of(values, part) if values else Entry.NONE


def _values_in(lines: str) -> list[dict[str, Any]]:
    values = []
    for line in lines.split("\n"):
        try:
            value = parse(line.encode("utf-8", "surrogatepass"))
        except BadLine:
            continue
        if isinstance(value, dict):
            values.append(value)
    return values


def read_usage_of(record: str) -> TokenUsage | None:
    """What a record says that its reply used; None for what is no reply."""
    values = _values_in(record)
    if not values or text_field(values[0], "type") != "assistant" or not is_model_reply(values[0]):
        return None
    return reply_usage(values)


def entry_of(values: Sequence[dict[str, Any]], part: int = 0) -> Entry:
    """The typed entry of the records of a reply, of a compaction and its summary, of a command and
    its output, or of one record alone. ``part``: which of several results of a record."""
    first = values[0]
    parent = text_field(first, "parentUuid") or None
    return placed_entry(values, body_of(values, part), text_field(first, "uuid"), parent)


def placed_entry(
    values: Sequence[dict[str, Any]], body: Body, identity: str, parent: str | None
) -> Entry:
    """The entry of some records that says ``body``."""
    first = values[0]
    recorded = first if len(values) == 1 else {"lines": list(values)}
    return Entry(kind_of(body), body, identity, parent, time_ms(first.get("timestamp")), recorded)


def body_of(
    values: Sequence[dict[str, Any]], part: int = 0, tools: Mapping[str, str] = _NO_TOOLS
) -> Body:
    """What the records of one entry say; see ``entry_of``. ``tools``: names by call."""
    first = values[0]
    kind = text_field(first, "type")
    match kind:
        case "assistant":
            return _reply(values)
        case "user":
            return _user(first, values, part, tools)
        case "attachment":
            return read_attachment(first)
        case "queue-operation":
            return UserMessage(read_content(first.get("content")))
        case "system":
            return _system(first, values)
    return Unknown(kind)


def _reply(values: Sequence[dict[str, Any]]) -> AssistantMessage:
    first, message = values[0], message_of(values[0])
    blocks: list[Block] = []
    stop_reason = ""
    is_aborted = False
    for value in values:
        part = message_of(value)
        blocks += read_content(part.get("content"))
        stop_reason = text_field(part, "stop_reason") or stop_reason
        is_aborted = is_aborted or value.get("isAbortedMidStream") is True
    if not is_model_reply(first):
        error = text_of(tuple(blocks)) if first.get("isApiErrorMessage") is True else ""
        return AssistantMessage(
            tuple(blocks), stop_reason="error", error=error or text_field(first, "error")
        )
    if is_aborted:
        stop_reason = "aborted"
    return AssistantMessage(
        tuple(blocks),
        provider_of(message),
        text_field(message, "model"),
        reply_usage(values),
        _STOP_REASONS.get(stop_reason, stop_reason),
        api="anthropic-messages",
    )


def provider_of(message: Mapping[str, Any]) -> str:
    """Whose service wrote a reply."""
    return _PROVIDERS.get(text_field(message, "id")[:9], "anthropic")


def reply_usage(values: Sequence[Mapping[str, Any]]) -> TokenUsage | None:
    """What a reply used: the largest that its records say; None where all counts are 0, as in
    copies of a fork.

    Where none of them has a stop reason they were written while the reply came in: the count is
    partial.
    """
    best, before, is_complete = None, None, False
    for value in values:
        message = message_of(value)
        is_complete = is_complete or bool(text_field(message, "stop_reason"))
        counts = message.get("usage")
        # Each record of a reply repeats the usage, but for the first ones of some versions.
        if counts != before:
            before, usage = counts, read_usage(counts)
            if usage is not None and (
                best is None or (usage.output, usage.context) > (best.output, best.context)
            ):
                best = usage
    if best is None or not best.context:
        return None
    return best if is_complete else replace(best, is_partial=True)


def _user(
    first: dict[str, Any], values: Sequence[dict[str, Any]], part: int, tools: Mapping[str, str]
) -> Body:
    content = message_of(first).get("content")
    if first.get("isCompactSummary") is True:
        # Its boundary is not there: that it is a compaction is all that is known.
        summary = "\n".join(texts_of(content))
        return CompactionSummary(summary, certainty="inferred", put_back=_PUT_BACK)
    if results := results_in(content):
        return _result(first, results, part, tools)
    texts = texts_of(content)
    if texts and texts[0].lstrip().startswith(SHELL_INPUT):
        return _shell(
            [text for value in values for text in texts_of(message_of(value).get("content"))]
        )
    blocks = read_content(content)
    only_text = bool(texts) and len(texts) == len(blocks)
    synthetic = (
        first.get("isMeta") is True
        or first.get("isVisibleInTranscriptOnly") is True
        or object_field(first, "origin").get("kind") == "task-notification"
        or (only_text and all(text.lstrip().startswith(INSERTED) for text in texts))
    )
    return UserMessage(blocks, synthetic, inserted_row(texts))


def _shell(texts: Sequence[str]) -> ShellMessage:
    text = "\n".join(texts)
    found = {
        name: "\n".join(one.strip("\n") for one in form.findall(text) if one)
        for name, form in _SHELL.items()
    }
    output = "\n".join(
        one for one in (found["bash-stdout"], found["bash-stderr"]) if one
    )  # fmt: skip
    return ShellMessage(found["bash-input"], output)


def _result(
    first: dict[str, Any], results: list[Mapping[str, Any]], part: int, tools: Mapping[str, str]
) -> ToolResultMessage:
    result = results[min(part, len(results) - 1)]
    blocks = read_content(result.get("content"))
    content = message_of(first).get("content")
    if not part and isinstance(content, list):
        # Some versions put a remark behind the results, in the same message.
        rest = [one for one in content if not any(one is each for each in results)]
        blocks += tuple(map(read_block, rest))
    details = first.get("toolUseResult") if len(results) == 1 else None
    path = _PERSISTED.search(text_of(blocks))
    if path is not None:
        known = details if isinstance(details, Mapping) else {"toolUseResult": details}
        details = {"persistedOutputPath": path[1].strip(), **known}
    call = text_field(result, "tool_use_id")
    return ToolResultMessage(
        call, tools.get(call, ""), blocks, result.get("is_error") is True, details=details
    )


def _system(first: dict[str, Any], values: Sequence[dict[str, Any]]) -> Body:
    subtype = text_field(first, "subtype")
    if subtype == "compact_boundary":
        return _compaction(first, values[1:])
    if subtype == "microcompact_boundary":
        # Which entries they are, the reader of the file adds.
        saved = token_count(object_field(first, "microcompactMetadata").get("tokensSaved"))
        return CustomData(PRUNE_TYPE, {"results": [], "saved": saved, "reason": "microcompaction"})
    if subtype not in SUBTYPES:
        return Unknown(f"system/{subtype}" if subtype else "system")
    return CustomData(subtype, {name: first[name] for name in first if name not in _COMMON})


def _compaction(first: dict[str, Any], rest: Sequence[dict[str, Any]]) -> CompactionSummary:
    facts = object_field(first, "compactMetadata")
    summary = "\n".join(text for one in rest for text in texts_of(message_of(one).get("content")))
    return CompactionSummary(
        summary,
        tokens_before=token_count(facts.get("preTokens")),
        tokens_after=recorded_count(facts.get("postTokens")),
        certainty="exact" if summary else "unreadable",
        trigger=text_field(facts, "trigger"),
        put_back=_PUT_BACK,
    )


def is_known(value: Mapping[str, Any]) -> bool:
    """Whether a node's type is one that is understood."""
    kind = text_field(value, "type")
    return kind in NODE_TYPES and (kind != "system" or text_field(value, "subtype") in SUBTYPES)


_TEXT, _THINKING, _CALL, _ERROR = (
    int(one) for one in (Flag.HAS_TEXT, Flag.HAS_THINKING, Flag.HAS_TOOL_CALL, Flag.ERROR)
)
_STOPS = (None, "end_turn", "tool_use", "stop_sequence")
"""Reasons to stop of which no flag tells."""


def digest_reply(values: Sequence[dict[str, Any]]) -> tuple[Facts, int] | None:
    """The facts and the estimate of a reply's records; None where they are not as most are."""
    first = values[0]
    model = first["message"].get("model")
    if type(model) is not str or model == PLACEHOLDER_MODEL or not model:
        return None
    text = thinking = calls = ""
    ops: list[FileOp] = []
    flags = units = 0
    for value in values:
        message = value["message"]
        reason = message.get("stop_reason")
        if "isApiErrorMessage" in value or "isAbortedMidStream" in value or reason not in _STOPS:
            return None
        for block in message["content"]:
            kind = block["type"]
            if kind == "text":
                part = block["text"]
                units += utf16_units(part)
                text = text or first_line(part)
            elif kind == "thinking":
                part = block["thinking"]
                units += utf16_units(part)
                flags |= _THINKING
                thinking = thinking or part.lstrip()
            elif kind == "tool_use":
                name, given, call = block["name"], block["input"], block["id"]
                if given is None or type(call) is not str:
                    return None
                units += utf16_units(name) + json_units(given)
                flags |= _CALL
                if not text and len(calls) < PREVIEW_UNITS:
                    calls += (" · " if calls else "") + call_title(name, given)
                ops += file_ops(name, given, call)
            else:
                return None
    preview = text or cut_line(calls) or first_line(thinking)
    if not preview:
        return None
    usage = reply_usage(values)
    facts = Facts(
        Kind.ASSISTANT,
        flags | _TEXT if text else flags,
        time_ms(first.get("timestamp")),
        usage.context if usage is not None else -1,
        intern(f"{provider_of(first['message'])}/{model}"),
        preview,
        0,
        tuple(ops),
    )
    return facts, (units + 3) // 4


def digest_result(value: Mapping[str, Any], tools: Mapping[str, str]) -> tuple[Facts, int] | None:
    """The facts and the estimate of a tool result's record; None where it is not as most are.
    ``tools``: names by call."""
    (result,) = value["message"]["content"]
    call, text = result["tool_use_id"], result["content"]
    if type(text) is list:
        (block,) = text
        text = block["text"] if block["type"] == "text" else None
    if type(text) is not str or type(call) is not str:
        return None
    is_error = result.get("is_error") is True
    facts = Facts(
        Kind.TOOL_RESULT,
        _TEXT | (_ERROR if is_error else result_flags(text)),
        time_ms(value.get("timestamp")),
        -1,
        "",
        first_line(text),
        0,
        call_id=call,
        tool=tools.get(call, ""),
        error=error_mark(text) if is_error else 0,
    )
    return facts, (utf16_units(text) + 3) // 4


def digest_prompt(value: Mapping[str, Any]) -> tuple[Facts, int] | None:
    """The facts and the estimate of what somebody typed; None where it is not as most is."""
    text = value["message"]["content"]
    if type(text) is list:
        (block,) = text
        text = block["text"] if block["type"] == "text" else None
    if type(text) is not str or "origin" in value or "isVisibleInTranscriptOnly" in value:
        return None
    preview = prompt_line(text)
    if not preview or is_inserted(text):
        return None
    facts = Facts(Kind.USER, _TEXT, time_ms(value.get("timestamp")), -1, "", preview, 0)
    return facts, (utf16_units(text) + 3) // 4
