"""One line of a rollout: what part it has in a session, the texts by which an event and the item
that says the same are found to be one, and either as blocks: texts, thinking, calls, pictures,
usage.

Codex writes ``{timestamp, type, payload}``, since paginated history with an ``ordinal``. What is
sent to the model are response items; events repeat most of them for its own window.
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from msgspec.structs import replace

from explorer.formats.json_fields import first_text, object_field, text_field, texts_in
from explorer.session.entries import (
    Block,
    Content,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    TokenUsage,
    ToolCallBlock,
    UnknownBlock,
)
from explorer.session.json_values import read_json, recorded_count, token_count

Part = Literal[
    "meta", "turn context", "turn start", "turn end", "aborted", "error", "model", "model event",
    "result", "tool event", "user", "prompt", "instructions", "note", "meter", "compacted",
    "compaction output", "rollback", "name", "housekeeping", "unknown item", "unknown",
]  # fmt: skip

LINE_TYPES = frozenset({
    "session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state",
    "inter_agent_communication_metadata", "token_usage_record",
})  # fmt: skip
_LINES: dict[str, Part] = {
    "session_meta": "meta",
    "turn_context": "turn context",
    "compacted": "compacted",
    "token_usage_record": "meter",
    "world_state": "housekeeping",
    "inter_agent_communication_metadata": "housekeeping",
}
_ITEMS: dict[str, Part] = {
    **dict.fromkeys((
        "reasoning", "function_call", "custom_tool_call", "local_shell_call", "tool_search_call",
        "web_search_call", "image_generation_call",
    ), "model"),
    **dict.fromkeys((
        "compaction", "compaction_summary", "context_compaction", "compaction_trigger",
    ), "compaction output"),
    "agent_message": "note",
    "ghost_snapshot": "housekeeping",
}  # fmt: skip
_ROLES: dict[str, Part] = {
    "assistant": "model",
    "user": "user",
    "developer": "instructions",
    "system": "instructions",
}
_EVENTS: dict[str, Part] = {
    "user_message": "prompt",
    **dict.fromkeys((
        "agent_message", "agent_reasoning", "agent_reasoning_raw_content",
    ), "model event"),
    "token_count": "meter",
    **dict.fromkeys(("task_started", "turn_started"), "turn start"),
    **dict.fromkeys(("task_complete", "turn_complete"), "turn end"),
    "turn_aborted": "aborted",
    "error": "error",
    "thread_rolled_back": "rollback",
    "thread_name_updated": "name",
    **dict.fromkeys((
        "exec_command_begin", "exec_command_end", "patch_apply_begin", "patch_apply_end",
        "mcp_tool_call_begin", "mcp_tool_call_end", "view_image_tool_call",
        "dynamic_tool_call_request", "dynamic_tool_call_response", "web_search_begin",
        "web_search_end", "image_generation_begin", "image_generation_end", "plan_update",
        "collab_agent_spawn_begin", "collab_agent_spawn_end", "collab_waiting_begin",
        "collab_waiting_end", "collab_close_begin", "collab_close_end", "collab_resume_begin",
        "collab_resume_end", "collab_agent_interaction_begin", "collab_agent_interaction_end",
    ), "tool event"),
    **dict.fromkeys((
        "context_compacted", "agent_reasoning_section_break", "agent_message_delta",
        "agent_reasoning_delta", "agent_reasoning_raw_content_delta", "session_configured",
        "thread_settings_applied", "thread_goal_updated", "sub_agent_activity",
        "entered_review_mode", "exited_review_mode", "guardian_assessment", "undo_started",
        "undo_completed", "background_event", "stream_error", "warning", "guardian_warning",
        "deprecation_notice", "model_reroute", "model_verification", "turn_diff",
        "exec_command_output_delta", "terminal_interaction", "exec_approval_request",
        "apply_patch_approval_request", "request_permissions", "request_user_input",
        "elicitation_request", "mcp_startup_update", "mcp_startup_complete", "hook_started",
        "hook_completed", "item_started", "raw_response_item", "plan_delta",
        "agent_message_content_delta", "reasoning_content_delta", "reasoning_raw_content_delta",
        "skills_update_available", "shutdown_complete", "realtime_conversation_started",
        "realtime_conversation_realtime", "realtime_conversation_closed",
    ), "housekeeping"),
}  # fmt: skip
_COMPLETED: dict[str, Part] = {
    "UserMessage": "prompt",
    "AgentMessage": "model event",
    "Reasoning": "model event",
    **dict.fromkeys((
        "CommandExecution", "FileChange", "McpToolCall", "DynamicToolCall", "CollabAgentToolCall",
        "CollabToolCall", "WebSearch", "ImageView", "ImageGeneration", "Extension",
    ), "tool event"),
    **dict.fromkeys((
        "ContextCompaction", "Plan", "HookPrompt", "EnteredReviewMode", "ExitedReviewMode",
        "SubAgentActivity", "Sleep",
    ), "housekeeping"),
}  # fmt: skip
SEARCH_EVENTS = frozenset({
    "web_search_begin", "web_search_end", "WebSearch", "Extension", "image_generation_begin",
    "image_generation_end", "ImageGeneration",
})  # fmt: skip
"""Events of tools that the provider runs: no result item follows."""


class Line(NamedTuple):
    """A line that is a JSON object."""

    number: int
    """In the session, which may be several files; from 1."""
    in_file: int
    """In its file, from 1."""
    raw: bytes
    value: dict[str, Any]
    payload: Mapping[str, Any]
    """What it carries; empty where that is no object."""
    part: Part


def payload_of(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a line carries; empty where that is no object."""
    payload = value.get("payload")
    return payload if type(payload) is dict else {}


def part_of(value: Mapping[str, Any], payload: Mapping[str, Any]) -> Part:
    """What part a line with this payload has."""
    if not payload:
        return "unknown"
    kind = value.get("type")
    if kind == "response_item":
        return _item_part(text_field(payload, "type"), payload)
    if kind == "event_msg":
        inner = text_field(payload, "type")
        if inner == "item_completed":
            return _COMPLETED.get(text_field(object_field(payload, "item"), "type"), "unknown")
        return _EVENTS.get(inner, "unknown")
    return _LINES.get(kind, "unknown") if isinstance(kind, str) else "unknown"


def _item_part(inner: str, payload: Mapping[str, Any]) -> Part:
    if inner != "message":
        return "result" if inner.endswith("_output") else _ITEMS.get(inner, "unknown item")
    return _ROLES.get(text_field(payload, "role"), "unknown item")


def is_compaction_output(value: Mapping[str, Any]) -> bool:
    """Whether an item is the answer to the request for a summary."""
    return object_field(value, "metadata").get("compaction_output") is True


def type_name(value: Mapping[str, Any]) -> str:
    """A line's type for people: "event_msg/item_completed/Plan"."""
    payload = payload_of(value)
    item = object_field(payload, "item") if payload.get("type") == "item_completed" else {}
    names = (text_field(value, "type"), text_field(payload, "type"), text_field(item, "type"))
    return "/".join(filter(None, names)) or "no type"


def call_id_of(payload: Mapping[str, Any]) -> str:
    """The call that an item or event belongs to; empty for none."""
    return first_text(payload, "call_id", "callId") or (
        first_text(payload["item"], "call_id", "id") if "item" in payload else ""
    )


def squeezed(text: str) -> str:
    """A text without white space, to be compared."""
    return "".join(text.split())


_WRAPPER = re.compile(r"\s*</?image\b[^>]*>\s*")
"""What Codex puts around a picture; it is no word of the person's."""
_DATA_URL = re.compile(r"data:([\w.+/-]*)(?:;[\w=-]+)*;base64,", re.I)
_TEXTS = ("input_text", "output_text", "text", "Text", "summary_text", "reasoning_text")


def picture(reference: object) -> ImageBlock:
    """A picture: a data URL, or the path or address of one."""
    text = reference if isinstance(reference, str) else ""
    found = _DATA_URL.match(text)
    if found:
        return ImageBlock(found.group(1).lower(), text[found.end() :])
    return ImageBlock(mimetypes.guess_type(text)[0] or "", "")


def blocks_of(value: object) -> Iterator[Block]:
    """The blocks of a message's or an output's content: a text, one part, or a list of parts."""
    if isinstance(value, str):
        if value:
            yield TextBlock(value)
    elif isinstance(value, dict):
        yield _block(value)
    elif isinstance(value, list):
        for one in value:
            if isinstance(one, str):
                yield TextBlock(one)
            else:
                yield _block(one) if isinstance(one, dict) else UnknownBlock("", one)
    elif value is not None:
        yield UnknownBlock("", value)


def _block(value: Mapping[str, Any]) -> Block:
    kind = text_field(value, "type")
    if kind in _TEXTS and isinstance(value.get("text"), str):
        return TextBlock(value["text"])
    if kind in ("input_image", "image"):
        return picture(value.get("image_url", value.get("url")))
    if kind in ("local_image", "localImage"):
        return picture(value.get("path"))
    return UnknownBlock(kind, dict(value))


# prompts ------------------------------------------------------------------------------------------


def item_blocks(payload: Mapping[str, Any]) -> Content:
    """A user's item without the marks around its pictures."""
    return tuple(
        block
        for block in blocks_of(payload.get("content"))
        if not (isinstance(block, TextBlock) and _WRAPPER.fullmatch(block.text))
    )


def prompt_blocks(payload: Mapping[str, Any]) -> Content:
    """What the person typed, of an event."""
    if payload.get("type") == "item_completed":
        return tuple(blocks_of(object_field(payload, "item").get("content")))
    pictures = [
        picture(one)
        for name in ("images", "local_images")
        if isinstance(payload.get(name), list)
        for one in payload[name]
    ]
    return (*blocks_of(payload.get("message")), *pictures)


def compared_text(content: Content) -> str:
    """The words of a content, to be compared."""
    return squeezed("".join(block.text for block in content if isinstance(block, TextBlock)))


# replies ------------------------------------------------------------------------------------------


def reply_blocks(values: Sequence[Mapping[str, Any]]) -> Content:
    """The blocks of a reply from its items. An event gives a block where no item says the same:
    as soon as there is an item for each, they are taken for pairs, for the texts may differ (a
    plan or a citation is cut out of the event's)."""
    items = [payload_of(one) for one in values if one.get("type") == "response_item"]
    events = [payload_of(one) for one in values if one.get("type") == "event_msg"]
    blocks: list[Block] = []
    for at, item in enumerate(items):
        blocks += _item(item, events, at)
    if not events:
        return tuple(blocks)
    stated = [one for one in map(_spoken_text, events) if one]
    if len(stated) > sum(one.get("type") == "message" for one in items):
        spoken = [squeezed(one.text) for one in blocks if isinstance(one, TextBlock)]
        blocks += [TextBlock(one) for one in stated if not _is_in(one, spoken)]
    thoughts = [one for one in map(_thought_text, events) if one]
    if thoughts:
        known = [squeezed(one.text) for one in blocks if isinstance(one, ThinkingBlock)]
        blocks[:0] = [ThinkingBlock(one) for one in thoughts if not _is_in(one, known)]
    return tuple(blocks)


def _is_in(text: str, others: Sequence[str]) -> bool:
    short = squeezed(text)
    return any(short in other for other in others)


def event_text(payload: Mapping[str, Any]) -> str:
    """What an event repeats of a reply."""
    return _spoken_text(payload) or _thought_text(payload)


def _spoken_text(payload: Mapping[str, Any]) -> str:
    item = object_field(payload, "item")
    if item.get("type") == "AgentMessage":
        return "".join(
            one.text for one in blocks_of(item.get("content")) if isinstance(one, TextBlock)
        )
    return text_field(payload, "message") if payload.get("type") == "agent_message" else ""


def _thought_text(payload: Mapping[str, Any]) -> str:
    item = object_field(payload, "item")
    if item.get("type") == "Reasoning":
        parts = [*texts_in(item.get("summary_text")), *texts_in(item.get("raw_content"))]
        return "\n".join(parts)
    is_thought = text_field(payload, "type").startswith("agent_reasoning")
    return text_field(payload, "text") if is_thought else ""


def _item(item: Mapping[str, Any], events: Sequence[Mapping[str, Any]], at: int) -> Iterator[Block]:
    kind = text_field(item, "type")
    if kind == "message":
        yield from blocks_of(item.get("content"))
    elif kind == "reasoning":
        yield _thinking(item)
    elif kind == "web_search_call":
        # The item often has no id of its own; the event beside it has.
        call = text_field(item, "id") or _search_id(events) or f"web_search_{at}"
        yield ToolCallBlock(call, "web_search", item.get("action"), hosted=True)
    elif kind == "image_generation_call":
        asked = {"prompt": item.get("revised_prompt")}
        call = first_text(item, "id", "call_id")
        yield ToolCallBlock(call, "image_generation", asked, hosted=True)
        if isinstance(item.get("result"), str):
            yield ImageBlock("image/png", item["result"])
    elif kind.endswith("_call"):
        yield _call(kind, item)
    else:
        yield UnknownBlock(kind, dict(item))


def _search_id(events: Sequence[Mapping[str, Any]]) -> str:
    for event in events:
        names = (text_field(event, "type"), text_field(object_field(event, "item"), "type"))
        if not SEARCH_EVENTS.isdisjoint(names):
            return call_id_of(event)
    return ""


def _thinking(item: Mapping[str, Any]) -> ThinkingBlock:
    parts = [*blocks_of(item.get("summary")), *blocks_of(item.get("content"))]
    text = "\n".join(part.text for part in parts if isinstance(part, TextBlock))
    signature = text_field(item, "encrypted_content")
    return ThinkingBlock(text, signature, redacted=bool(signature) and not text)


def _call(kind: str, item: Mapping[str, Any]) -> ToolCallBlock:
    call_id = first_text(item, "call_id", "id")
    if kind == "custom_tool_call":
        return ToolCallBlock(call_id, text_field(item, "name"), {"input": item.get("input")})
    if kind == "local_shell_call":
        return ToolCallBlock(call_id, "local_shell", item.get("action"))
    name = call_name(item)
    arguments = item.get("arguments")
    if not isinstance(arguments, str):
        return ToolCallBlock(call_id, name, arguments)
    try:
        return ToolCallBlock(call_id, name, read_json(arguments) if arguments else {})
    except ValueError:
        return ToolCallBlock(call_id, name, None, arguments)


def call_name(item: Mapping[str, Any]) -> str:
    """The tool that a call names."""
    kind = text_field(item, "type")
    return text_field(item, "name") or kind.removesuffix("_call")


# results ------------------------------------------------------------------------------------------

_EXIT = re.compile(r"^(?:Process exited with code|Exit code:?)\s*(-?\d+)", re.M)
_HEAD = 2_000
"""Characters of an output in which it says how its command ended."""


def result_content(payload: Mapping[str, Any]) -> Content:
    """What a tool returned."""
    output = payload.get("output", payload.get("tools"))
    if isinstance(output, dict) and "type" not in output and "content" in output:
        output = output["content"]
    return tuple(blocks_of(output))


def exit_code(payload: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> int | None:
    """How a command ended, from its events or from the words of its output; None where nothing
    says so."""
    for event in events:
        code = object_field(event, "item").get("exit_code", event.get("exit_code"))
        if type(code) is int:
            return code
    output = payload.get("output")
    if not isinstance(output, str):
        return None
    if output.startswith("{"):
        try:
            value = read_json(output)
        except ValueError:
            value = None
        if isinstance(value, dict):
            code = object_field(value, "metadata").get("exit_code")
            return code if type(code) is int else None
    found = _EXIT.search(output[:_HEAD])
    return int(found.group(1)) if found and len(found.group(1)) < 12 else None


def has_failed(
    payload: Mapping[str, Any], events: Sequence[Mapping[str, Any]], code: int | None
) -> bool:
    """Whether a tool failed. ``code``: how its command ended, where that is known."""
    if code is not None:
        return code != 0
    for event in (payload, object_field(payload, "output"), *events):
        item = object_field(event, "item")
        if item.get("success", event.get("success")) is False:
            return True
        if item.get("status", event.get("status")) in ("failed", "declined"):
            return True
        answer = object_field(item if "result" in item else event, "result")
        if "Err" in answer or object_field(answer, "Ok").get("isError") is True:
            return True
        if answer.get("isError") is True:
            return True
    return False


# usage --------------------------------------------------------------------------------------------


def usage_of(value: Mapping[str, Any]) -> TokenUsage | None:
    """What one request took, in tokens, of a line that counts them; None where it does not say.

    Codex counts what was read from a cache and written to one as input too.
    """
    usage = _usage(last_counts(value))
    if usage is None:
        return None
    window = token_count(object_field(payload_of(value), "info").get("model_context_window"))
    return replace(usage, window=window)


def last_counts(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The counts of the last request, of a line that has them; else empty."""
    payload = payload_of(value)
    if value.get("type") == "token_usage_record":
        return object_field(payload, "usage")
    return object_field(object_field(payload, "info"), "last_token_usage")


def total_counts(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The counts of all requests so far, of a line that has them; else empty."""
    payload = payload_of(value)
    if value.get("type") == "token_usage_record":
        return object_field(payload, "thread_token_usage")
    return object_field(object_field(payload, "info"), "total_token_usage")


def usage_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> TokenUsage | None:
    """What was taken between two totals; None where that is nothing, or the count began anew."""
    counts = {
        name: token_count(after[name]) - token_count(before.get(name))
        for name in after
        if recorded_count(after[name]) is not None
    }
    is_more = any(counts.values()) and min(counts.values()) >= 0
    return _usage(counts) if is_more else None


def sum_of(totals: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, int]:
    """Totals after one more request."""
    return {name: token_count(totals.get(name)) + token_count(more.get(name)) for name in totals}


def _usage(counts: Mapping[str, Any]) -> TokenUsage | None:
    if not counts:
        return None
    read = token_count(counts.get("cached_input_tokens"))
    written = token_count(counts.get("cache_write_input_tokens"))
    given, output = (token_count(counts.get(name)) for name in ("input_tokens", "output_tokens"))
    total = recorded_count(counts.get("total_tokens"))
    fresh = max(0, given - read - written)
    return TokenUsage(fresh, output, read, written, given + output if total is None else total)
