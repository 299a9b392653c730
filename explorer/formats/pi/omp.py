"""oh-my-pi's session files: pi's version 3 with a title slot, more entry types and other words.

The first line may be a ``title`` slot, padded to a fixed length so that it can be overwritten in
place. A model change holds ``provider/id`` in one field, a summary made by an extension says
``fromExtension``, and images may be ``blob:`` references into a store beside the sessions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

VERSION = 3
TITLE_TYPE = "title"
EXTENSION_KEY = "fromExtension"
ENTRY_TYPES = frozenset(
    {
        "archive",
        "credential_pin",
        "mcp_tool_selection",
        "mode_change",
        "model_usage",
        "reset_boundary",
        "service_tier_change",
        "session_init",
        "title_change",
        "ttsr_injection",
    }
)
"""Types that pi does not write."""
_HEADER_KEYS = frozenset(
    {
        "title",
        "titleSource",
        "additionalDirectories",
        "previousSessionFiles",
        "providerPromptCacheKey",
    }
)
_ROLES = frozenset({"pythonExecution", "fileMention", "developer"})
_COMPACTION_KEYS = frozenset(
    {EXTENSION_KEY, "shortSummary", "tokensAfter", "method", "preserveData", "warning"}
)


def is_title_slot(value: object) -> bool:
    return isinstance(value, dict) and value.get("type") == TITLE_TYPE and "pad" in value


def is_sign(value: Mapping[str, Any]) -> bool:
    """Whether a line is as only oh-my-pi writes it."""
    kind = value.get("type")
    if kind == "session":
        return not _HEADER_KEYS.isdisjoint(value)
    if kind == "message":
        message = value.get("message")
        role = message.get("role") if isinstance(message, dict) else None
        return isinstance(role, str) and role in _ROLES
    if kind == "model_change":
        return "modelId" not in value and isinstance(value.get("model"), str)
    if kind == "compaction":
        return not _COMPACTION_KEYS.isdisjoint(value)
    if kind == "branch_summary":
        return EXTENSION_KEY in value
    return is_title_slot(value) or (isinstance(kind, str) and kind in ENTRY_TYPES)


def model_change(provider: str, model_id: str) -> dict[str, Any]:
    """The fields of a model change as oh-my-pi writes them."""
    return {"model": f"{provider}/{model_id}" if provider else model_id}


def split_model(model: str) -> tuple[str, str]:
    """Provider and id of ``provider/id``; ids may hold slashes, providers do not."""
    provider, slash, model_id = model.partition("/")
    return (provider, model_id) if slash else ("", model)
