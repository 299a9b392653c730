"""Pictures in what tools gave, brought into a shape that every provider takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from explorer.models.client import ChatMessage, ContentPart, ImagePart, TextPart

LEFT_OUT = "[A picture, which this model cannot see]"
SHOWN_BELOW = "[A picture, shown below]"


def sendable(messages: Iterable[ChatMessage], *, pictures: bool = True) -> list[ChatMessage]:
    """The messages with the pictures of results in a user message after them.

    Results are text for most providers, and stand one after the other behind their calls, so the
    pictures follow the last of them. ``pictures``: whether the model can see any; where it cannot
    it is told that there was one.
    """
    found: list[ChatMessage] = []
    waiting: list[ContentPart] = []
    for message in messages:
        if message.role != "tool" and waiting:
            found.append(ChatMessage("user", tuple(waiting)))
            waiting = []
        if not _has_pictures(message):
            found.append(message)
        elif not pictures:
            found.append(_without(message, LEFT_OUT))
        elif message.role == "tool":
            waiting += _shown(message)
            found.append(_without(message, SHOWN_BELOW))
        else:
            found.append(message)
    if waiting:
        found.append(ChatMessage("user", tuple(waiting)))
    return found


def _has_pictures(message: ChatMessage) -> bool:
    content = message.content
    return not isinstance(content, str) and any(isinstance(part, ImagePart) for part in content)


def _without(message: ChatMessage, instead: str) -> ChatMessage:
    """The message with words in place of each picture; a result as one text."""
    parts = [
        TextPart(instead) if isinstance(part, ImagePart) else part
        for part in message.content
        if not isinstance(part, str)
    ]
    if message.role == "tool":
        return replace(message, content="\n".join(part.text for part in parts))
    return replace(message, content=tuple(parts))


def _shown(message: ChatMessage) -> list[ContentPart]:
    heading = TextPart(f"What the tool call {message.tool_call_id} gave to look at:")
    images = [part for part in message.content if isinstance(part, ImagePart)]
    return [heading, *images]
