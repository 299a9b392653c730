"""A conversation as plain text for a summarizer, so that it is read and not continued (A21, B11).

Every piece of the text knows the entry that it came from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from explorer.compaction.profile import Profile
from explorer.session.describe import blocks_of, text_of
from explorer.tokens.javascript import js_json, js_keys, utf16_prefix, utf16_units

MAX_RESULT_UNITS = 2000
"""UTF-16 units of a tool result that a summarizer sees."""

_OWN_TAGS = re.compile(
    r"<(?=\s*/?\s*(?:conversation|previous-summary|additional-context|summary|analysis"
    r"|conversation-summary|(?:read|modified|failed|created|updated|deleted)-files)"
    r"(?:\s[^<>]{0,200})?/?\s*>)",
    re.IGNORECASE,
)


class Span(NamedTuple):
    """A stretch of a text and the entry that it came from. Offsets are Python characters."""

    start: int
    end: int
    entry: int


class Serialized(NamedTuple):
    """A text and where it came from; entries without text have no span."""

    text: str
    spans: list[Span]


def escape_tags(text: str) -> str:
    """The text with everything that looks like a tag of our requests made harmless (B11)."""
    return _OWN_TAGS.sub("&lt;", text) if "<" in text else text


def cut_result(text: str, profile: Profile) -> str:
    """A tool result as a summarizer sees it: its first 2000 UTF-16 units and what is missing."""
    units = utf16_units(text)
    if units <= MAX_RESULT_UNITS:
        return text
    head = utf16_prefix(
        text, MAX_RESULT_UNITS, keep_pairs=profile.long_results == "whole-characters"
    )
    return f"{head}\n\n[... {units - utf16_units(head)} more characters truncated]"


def serialize_message(message: Mapping[str, Any], profile: Profile) -> str:
    """One message (as it is sent to a model) as text; empty when it says nothing."""
    role = message.get("role")
    content = message.get("content")
    if role == "assistant":
        parts = _reply(content, with_blank=profile.empty_input == "prepare")
    else:
        text = text_of(content, "")
        if role == "toolResult":
            text = cut_result(text, profile)
        label = "Tool result" if role == "toolResult" else "User"
        parts = [f"[{label}]: {text}"] if text else []
    joined = "\n\n".join(parts)
    return escape_tags(joined) if profile.tags_in_text == "escaped" else joined


def _reply(content: object, *, with_blank: bool) -> list[str]:
    """A reply's parts; a part without text is only told by the rules that ask about nothing."""
    thinking: list[str] = []
    texts: list[str] = []
    calls: list[str] = []
    for block in blocks_of(content):
        block_type = block.get("type")
        if block_type == "text" and isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif block_type == "thinking" and isinstance(block.get("thinking"), str):
            thinking.append(block["thinking"])
        elif block_type == "toolCall":
            calls.append(f"{block.get('name') or ''}({_arguments(block.get('arguments'))})")
    parts = []
    if thinking and (with_blank or any(thinking)):
        parts.append("[Assistant thinking]: " + "\n".join(thinking))
    if texts and (with_blank or any(texts)):
        parts.append("[Assistant]: " + "\n".join(texts))
    if calls:
        parts.append("[Assistant tool calls]: " + "; ".join(calls))
    return parts


def _arguments(arguments: object) -> str:
    if not isinstance(arguments, dict):
        return ""
    return ", ".join(f"{key}={js_json(arguments[key])}" for key in js_keys(arguments))


def serialize(messages: Iterable[tuple[int, Mapping[str, Any]]], profile: Profile) -> Serialized:
    """Messages with their entries as one text, divided by blank lines."""
    parts: list[str] = []
    spans: list[Span] = []
    at = 0
    for entry, message in messages:
        text = serialize_message(message, profile)
        if not text:
            continue
        if parts:
            at += 2
        parts.append(text)
        spans.append(Span(at, at + len(text), entry))
        at += len(text)
    return Serialized("\n\n".join(parts), spans)
