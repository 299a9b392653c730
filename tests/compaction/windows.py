"""A conversation in all its windows."""

from __future__ import annotations

from explorer.compaction.messages import Serialized
from explorer.compaction.requests import take_window


def windows_of(conversation: Serialized, limit: int) -> list[Serialized]:
    """All windows of a conversation, in order."""
    windows: list[Serialized] = []
    at = 0
    while at < len(conversation.text):
        window, at = take_window(conversation, at, limit)
        windows.append(window)
    return windows
