"""Words and fields of Claude Code's records that reading, placing and finding share."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from explorer.formats.json_fields import text_field
from explorer.session.text import first_line, prompt_line

INSERTED = (
    "<command-name>", "<command-message>", "<command-args>", "<local-command-", "<bash-",
    "<task-notification", "<system-reminder>", "[Request interrupted", "Caveat:",
    "<user-memory-input>", "<ide_opened_file>", "<ide_selection>",
)  # fmt: skip
"""What texts begin with that nobody typed as a prompt."""
_TAG = re.compile(r"<([\w-]+)>(.*?)(?:</\1>|\Z)", re.DOTALL)
_OPENED = re.compile(r"opened the file (.+?) in the IDE")
_SELECTED = re.compile(r"selected the lines (\d+) to (\d+) from (.+?):?\s*\n")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
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


def inserted_row(texts: Sequence[str]) -> str:
    """What the row of a message says that begins with an inserted text: what was typed after it, or
    what the program noted. Empty for a message that begins with what somebody typed."""
    if not texts or not is_inserted(texts[0]):
        return ""
    if typed := next((text for text in texts if text.strip() and not is_inserted(text)), ""):
        return prompt_line(typed)
    text = texts[0].lstrip()
    parts = {name: _COLOURS.sub("", inner).strip() for name, inner in _TAG.findall(text)}
    if command := parts.get("command-name") or parts.get("command-message"):
        return f"command {command} {parts.get('command-args', '')}".strip()
    for name in ("local-command-stdout", "local-command-stderr"):
        if name in parts:
            return f"output of a command: {first_line(parts[name]) or 'nothing'}"
    if "local-command-caveat" in parts or text.startswith("Caveat:"):
        return "note: the user ran local commands"
    if found := _OPENED.search(parts.get("ide_opened_file", "")):
        return f"opened {found[1]} in the editor"
    if found := _SELECTED.search(parts.get("ide_selection", "")):
        return f"selected lines {found[1]} to {found[2]} of {found[3]} in the editor"
    if (task := parts.get("task-notification")) is not None:
        summary = dict(_TAG.findall(task)).get("summary", "")
        return first_line(summary) or "a background task reported"
    if reminder := parts.get("system-reminder"):
        return f"reminder: {first_line(reminder)}"
    return ""
