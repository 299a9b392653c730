"""Lines of a rollout as one typed entry, from these lines alone.

What only other lines say is noted beside the record by the reader: the model of a reply, the tool
of a result, the tokens around a compaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from explorer.formats.codex.lines import (
    Part,
    compared_text,
    exit_code,
    has_failed,
    item_blocks,
    part_of,
    payload_of,
    prompt_blocks,
    reply_blocks,
    result_content,
    usage_of,
)
from explorer.formats.json_fields import first_text, object_field, text_field
from explorer.session.entries import (
    AssistantMessage,
    Body,
    Certainty,
    CompactionSummary,
    Content,
    CustomData,
    Entry,
    ImageBlock,
    ModelChange,
    NoteMessage,
    SessionName,
    SystemMessage,
    TextBlock,
    ThinkingLevelChange,
    TokenUsage,
    ToolCallBlock,
    ToolResultMessage,
    Unknown,
    UnknownBlock,
    UserMessage,
    kind_of,
)
from explorer.session.json_values import read_json, time_ms, without_depths
from explorer.tokens.estimate import estimate_text

SUMMARY_START = "Another language model started to solve this problem"
"""The words that Codex puts before a summary in plain text."""
USER_BUDGET = 20_000
"""Tokens of the user's messages that Codex repeats after a summary in plain text, where the record
does not list them."""
_HEAD = 60
"""Characters at its beginning by which a long message is known where the rest was changed."""
_WINDOW = ("window_id", "window_number", "previous_window_id", "first_window_id")
_COMPOSED = frozenset({"compacted", "model", "model event", "result", "prompt"})
"""Parts of which an entry may have several lines."""
Values = Sequence[Mapping[str, Any]]


def read_record(record: str | bytes) -> Entry:
    """A record as an entry; what cannot be read is an entry of an unknown kind."""
    text = record if isinstance(record, str) else record.decode("utf-8", "replace")
    values: list[dict[str, Any]] = []
    for line in text.removeprefix("\ufeff").split("\n"):
        try:
            value = without_depths(line, read_json(line))
        except ValueError:
            continue
        if isinstance(value, dict):
            values.append(value)
    return entry_of(values, [part_of(one, payload_of(one)) for one in values])


def entry_of(values: Values, parts: Sequence[Part]) -> Entry:
    """The lines of one record, each with its part in a session, as an entry without ids."""
    return placed_entry(values, body_of(values, parts), "", None) if values else Entry.NONE


def placed_entry(values: Values, body: Body, entry_id: str, parent_id: str | None) -> Entry:
    """The entry of some lines that says ``body``."""
    recorded = values[0] if len(values) == 1 else {"lines": list(values)}
    return Entry(kind_of(body), body, entry_id, parent_id, _time(values), recorded)


def _time(values: Values) -> float:
    for one in values:
        time = time_ms(one.get("timestamp"))
        if time:
            return time
    return 0.0


def body_of(values: Values, roles: Sequence[Part], tool: str = "") -> Body:
    """What the lines of one record say; see ``entry_of``. ``tool``: that made a result."""
    if len(values) == 1 and roles[0] not in _COMPOSED:
        return _single(roles[0], values[0], payload_of(values[0]))
    parts: dict[Part, list[Mapping[str, Any]]] = {}
    for value, role in zip(values, roles, strict=True):
        parts.setdefault(role, []).append(value)
    if "compacted" in parts:
        return _compaction(payload_of(parts["compacted"][0]), parts.get("meter", ()))
    if "model" in parts or "model event" in parts:
        return _reply(values, parts.get("meter", ()))
    if "result" in parts:
        return _result(payload_of(parts["result"][0]), parts.get("tool event", ()), tool)
    if "prompt" in parts:
        return _prompt(parts["prompt"], parts.get("user", ()))
    return _single(next(iter(parts)), values[0], payload_of(values[0]))


def _single(part: Part, value: Mapping[str, Any], payload: Mapping[str, Any]) -> Body:
    match part:
        case "user":
            return NoteMessage(item_blocks(payload), "context", display=False)
        case "note":
            return NoteMessage(item_blocks(payload), text_field(payload, "type"), display=False)
        case "instructions":
            return SystemMessage(item_blocks(payload))
        case "turn context":
            return _setting(payload)
        case "name":
            return SessionName(text_field(payload, "thread_name"))
        case "rollback":
            return CustomData("thread_rolled_back", {"num_turns": payload.get("num_turns")})
        case "aborted":
            reason = text_field(payload, "reason") or "interrupted"
            return AssistantMessage((), stop_reason="aborted", error=reason)
        case "error" | "turn end":
            return AssistantMessage((), stop_reason="error", error=error_of(payload))
    return Unknown(text_field(payload, "type") or text_field(value, "type"))


def _setting(payload: Mapping[str, Any]) -> Body:
    model, provider = text_field(payload, "model"), text_field(payload, "model_provider")
    if model:
        return ModelChange(f"{provider}/{model}" if provider else model)
    return ThinkingLevelChange(effort_of(payload))


def effort_of(payload: Mapping[str, Any]) -> str:
    """How long the model may think, of a turn's context; empty where nothing says so."""
    settings = object_field(object_field(payload, "collaboration_mode"), "settings")
    return first_text(payload, "effort", "reasoning_effort") or text_field(
        settings, "reasoning_effort"
    )


def error_of(payload: Mapping[str, Any]) -> str:
    """What a turn's end or an error says of the error."""
    error = payload.get("error")
    if isinstance(error, str) and error:
        return error
    return (
        text_field(object_field(payload, "error"), "message")
        or text_field(payload, "message")
        or "The turn ended without an answer; its error is not recorded"
    )


def _reply(values: Values, meters: Values) -> AssistantMessage:
    content = reply_blocks(values)
    calls = any(isinstance(one, ToolCallBlock) and not one.hosted for one in content)
    stop = "tool_calls" if calls else "stop"
    return AssistantMessage(content, usage=_usage(meters), stop_reason=stop)


def _usage(meters: Values) -> TokenUsage | None:
    return usage_of(meters[0]) if meters else None


def _result(payload: Mapping[str, Any], events: Values, tool: str) -> ToolResultMessage:
    payloads = [payload_of(one) for one in events]
    code = exit_code(payload, payloads)
    return ToolResultMessage(
        first_text(payload, "call_id", "id"),
        tool,
        result_content(payload),
        has_failed(payload, payloads, code),
        details=None if code is None else {"exit_code": code},
    )


def _prompt(events: Values, items: Values) -> UserMessage:
    """The item is what is sent; the event stands in for it where there is none."""
    content = item_blocks(payload_of(items[0])) if items else ()
    return UserMessage(content or prompt_blocks(payload_of(events[0])))


# compactions --------------------------------------------------------------------------------------


def replacement(payload: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The items of the context that a compaction begins."""
    found = payload.get("replacement_history")
    items = found if isinstance(found, list) else []
    return [one for one in items if isinstance(one, dict)]


class Repeated(NamedTuple):
    """An item of the context that a compaction begins."""

    key: bytes
    """Equal for items of the same role, letters and pictures; empty for one that is no message."""
    head: str
    """What a long message begins with, by which a shortened one is found; empty for a short one."""
    tokens: int
    """By the estimate."""
    part: Part


def repeated_items(payload: Mapping[str, Any]) -> list[Repeated]:
    """The items of the context that a compaction begins; its summary is not among them."""
    summary = compared_text((TextBlock(summary_of(payload)),))
    found = [_repeated(one) for one in replacement(payload) if not _is_summary(one, summary)]
    return [one for one in found if one.part != "compaction output"]


def _is_summary(item: Mapping[str, Any], summary: str) -> bool:
    return item.get("role") == "user" and compared_text(item_blocks(item)) == summary


def _repeated(item: Mapping[str, Any]) -> Repeated:
    content, part = item_blocks(item), part_of({"type": "response_item"}, item)
    text = _plain(content) or first_text(item, "arguments", "input", "output")
    key, head = message_key(part, content), head_of(part, content)
    return Repeated(key, head, estimate_text(text), part)


def message_key(part: Part, content: Content) -> bytes:
    """By which a message is found again letter for letter; empty for what says nothing."""
    parts = [one.text for one in content if isinstance(one, TextBlock)]
    parts += [f"{one.mime},{one.data}" for one in content if isinstance(one, ImageBlock)]
    parts += [repr(one.value) for one in content if isinstance(one, UnknownBlock)]
    if not any(parts):
        return b""
    words = "\0".join([part, *parts]).encode("utf-8", "surrogatepass")
    return blake2b(words, digest_size=16).digest()


def head_of(part: Part, content: Content) -> str:
    """What a long message begins with; empty for a short one."""
    text = _plain(content)
    return f"{part} {text[:_HEAD]}" if len(text) > _HEAD else ""


def summary_of(payload: Mapping[str, Any]) -> str:
    """The text that the model is given; empty where it is encrypted or left out."""
    message = text_field(payload, "message")
    if message.strip():
        return message
    for item in reversed(replacement(payload)):
        if item.get("role") == "user":
            text = _plain(item_blocks(item))
            if text.startswith(SUMMARY_START):
                return text
    return ""


def _plain(content: Content) -> str:
    return "\n".join(one.text for one in content if isinstance(one, TextBlock))


def is_encrypted(payload: Mapping[str, Any]) -> bool:
    """Whether part of the new context is an encrypted summary."""
    return any("compaction" in text_field(one, "type") for one in replacement(payload))


def _compaction(payload: Mapping[str, Any], meters: Values) -> CompactionSummary:
    summary = summary_of(payload)
    items = replacement(payload)
    certainty: Certainty = "exact" if summary and items else "inferred" if summary else "unreadable"
    kinds = Counter("/".join(filter(None, _names(one))) for one in items)
    details = {name: payload[name] for name in _WINDOW if payload.get(name) is not None}
    if kinds:
        details["replacement"] = dict(kinds)
    return CompactionSummary(
        summary, certainty=certainty, usage=_usage(meters), details=details or None
    )


def _names(item: Mapping[str, Any]) -> tuple[str, str]:
    return text_field(item, "type"), text_field(item, "role")
