"""From a record of Claude Code, one or several lines, to a typed entry."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from explorer.formats.anthropic_content import read_block, read_content, read_usage
from explorer.formats.claude_code.attachments import read_attachment
from explorer.formats.claude_code.fields import (
    INSERTED,
    NODE_TYPES,
    PART,
    SHELL_INPUT,
    SUBTYPES,
    inserted_row,
    is_model_reply,
    message_of,
    results_in,
    texts_of,
)
from explorer.formats.json_fields import object_field, text_field
from explorer.formats.jsonl import BadLine, parse
from explorer.session.edit_entries import PRUNE_TYPE
from explorer.session.entries import (
    AssistantMessage,
    Block,
    Body,
    CompactionSummary,
    CustomData,
    Entry,
    PutBack,
    ShellMessage,
    TokenUsage,
    ToolResultMessage,
    Unknown,
    UserMessage,
    kind_of,
    text_of,
)
from explorer.session.json_values import recorded_count, time_ms, token_count

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
