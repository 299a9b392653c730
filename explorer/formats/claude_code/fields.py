"""Words and fields of Claude Code's records that reading, placing and finding share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.formats.json_fields import text_field

INSERTED = (
    "<command-name>", "<command-message>", "<command-args>", "<local-command-", "<bash-",
    "<task-notification", "<system-reminder>", "[Request interrupted", "Caveat:",
    "<user-memory-input>",
)  # fmt: skip
"""What texts begin with that nobody typed as a prompt."""
SHELL_INPUT = "<bash-input>"
SHELL_OUTPUT = ("<bash-stdout>", "<bash-stderr>")
PLACEHOLDER_MODEL = "<synthetic>"
"""Names no model: the program wrote the reply itself."""
PART = '{"toolResult":'
"""Begins a line of ours that says which result of a record with several an entry is."""

HOUSEKEEPING: Mapping[str, str] = {
    "summary": "leafUuid",
    "last-prompt": "lastPrompt",
    "queue-operation": "operation",
    "file-history-snapshot": "snapshot",
    "file-history-delta": "messageId",
    "ai-title": "aiTitle",
    "custom-title": "customTitle",
    "agent-name": "agentName",
    "mode": "mode",
    "permission-mode": "permissionMode",
    "pr-link": "prUrl",
    "bridge-session": "bridgeSessionId",
    "frame-link": "frameUrl",
    "worktree-state": "worktreeSession",
    "relocated": "relocatedCwd",
}
"""Types of records that are no nodes of the tree, each with a field that only it has."""
NODE_TYPES = frozenset({"user", "assistant", "system", "attachment", "progress"})
SUBTYPES = frozenset({
    "compact_boundary", "microcompact_boundary", "turn_duration", "stop_hook_summary", "api_error",
    "local_command", "away_summary", "informational", "bridge_status", "model_refusal_fallback",
})  # fmt: skip
"""Of system records."""


def message_of(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message of a record; empty where it is no object."""
    message = value.get("message")
    return message if isinstance(message, dict) else {}


def texts_of(content: Any) -> list[str]:
    """The texts of a message's content, in order."""
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list):
        return []
    return [
        one["text"]
        for one in content
        if isinstance(one, dict) and one.get("type") == "text" and isinstance(one.get("text"), str)
    ]


def is_inserted(text: str) -> bool:
    """Whether a text begins as those do that nobody typed."""
    return text.lstrip().startswith(INSERTED)


def results_in(content: Any) -> list[Mapping[str, Any]]:
    """The tool results of a message's content."""
    if not isinstance(content, list):
        return []
    return [one for one in content if isinstance(one, dict) and one.get("type") == "tool_result"]


def is_model_reply(value: Mapping[str, Any]) -> bool:
    """Whether a model wrote a reply, and not the program in its place."""
    is_placeholder = text_field(message_of(value), "model") == PLACEHOLDER_MODEL
    return not is_placeholder and value.get("isApiErrorMessage") is not True
