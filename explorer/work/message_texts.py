"""All texts of a request that is a conversation, taken out in order and put back changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from explorer.models.client import ChatMessage, ModelRequest, TextPart, ToolCall

Change = Callable[[str], str]


def texts_of(request: ModelRequest) -> list[str]:
    """Every text that goes out: contents, arguments of calls as JSON, thinking."""
    found: list[str] = []

    def keep(text: str) -> str:
        found.append(text)
        return text

    _changed(request, keep)
    return found


def with_texts(request: ModelRequest, texts: Sequence[str]) -> ModelRequest:
    """The request with other texts, as many as ``texts_of`` gave. Raises ValueError otherwise.

    Thinking that changed is left out, since its signature would be wrong.
    """
    given: Iterator[str] = iter(texts)
    if len(texts_of(request)) != len(texts):
        raise ValueError("another number of texts than the request has")
    return _changed(request, lambda _text: next(given))


def _changed(request: ModelRequest, change: Change) -> ModelRequest:
    messages = tuple(_message(message, change) for message in request.messages)
    return request if messages == request.messages else replace(request, messages=messages)


def _message(message: ChatMessage, change: Change) -> ChatMessage:
    thinking = message.thinking
    if thinking is not None and change(thinking.text) != thinking.text:
        thinking = None
    content = message.content
    if isinstance(content, str):
        content = change(content)
    else:
        content = tuple(
            TextPart(change(part.text)) if isinstance(part, TextPart) else part for part in content
        )
    calls = tuple(_call(call, change) for call in message.tool_calls)
    return replace(message, thinking=thinking, content=content, tool_calls=calls)


def _call(call: ToolCall, change: Change) -> ToolCall:
    text = json.dumps(call.arguments, ensure_ascii=False)
    now = change(text)
    return call if now == text else replace(call, arguments=_arguments(now))


def _arguments(text: str) -> dict[str, Any]:
    """Arguments that were changed as text; text that is JSON no more is kept under one name."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"arguments": text}
