"""One line of a rollout: what part it has in a session, and the texts by which an event and the
item that says the same are found to be one.

Codex writes ``{timestamp, type, payload}``, since paginated history with an ``ordinal``. What is
sent to the model are response items; events repeat most of them for its own window.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from explorer.formats.json_fields import first_text, object_field, text_field

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
