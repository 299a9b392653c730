"""A conversation as plain text for a summarizer, so that it is read and not continued (A21, B11).

Every piece of the text knows the entry that it came from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from explorer.compaction.messages import Reader, entry_to_llm
from explorer.compaction.profile import Profile
from explorer.compaction.profile.rules import PromptBudget
from explorer.compaction.templates import Templates
from explorer.session.entries import (
    AssistantMessage,
    Content,
    ModelMessage,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from explorer.tokens.estimate import js_json, js_keys, utf16_prefix, utf16_units

MAX_RESULT_UNITS = 2000
"""UTF-16 units of a tool result that a summarizer sees."""

DIVIDER = "\n\n---\n\n"
"""Between the messages, where the profile divides them."""
_BLANK_LINE = "\n\n"
_UNITS_PER_TOKEN = 4

_RESERVED_TAGS = re.compile(
    r"<(?=\s*/?\s*(?:conversation|previous-summary|additional-context|summary|analysis"
    r"|conversation-summary|(?:read|modified|failed|created|updated|deleted)-files)"
    r"(?:\s[^<>]{0,200})?/?\s*>)",
    re.IGNORECASE,
)


class SourceSpan(NamedTuple):
    """A stretch of a text and the entry that it came from. Offsets are Python characters."""

    start: int
    end: int
    entry: int


class Serialized(NamedTuple):
    """A text and where it came from; entries without text have no span."""

    text: str
    spans: list[SourceSpan]


def escape_tags(text: str) -> str:
    """The text with everything that looks like a tag of our requests made harmless (B11)."""
    return _RESERVED_TAGS.sub("&lt;", text) if "<" in text else text


def cut_result(text: str, profile: Profile) -> str:
    """A tool result as a summarizer sees it, and what is missing of it (B11, A49).

    That is its first 2000 UTF-16 units, or up to a share of the profile's window from both ends.
    """
    units = utf16_units(text)
    whole = profile.long_results == "whole-characters"
    if profile.result_cut == "head-and-tail":
        return _both_ends(text, units, profile, whole)
    if units <= MAX_RESULT_UNITS:
        return text
    head = utf16_prefix(text, MAX_RESULT_UNITS, keep_pairs=whole)
    return f"{head}\n\n[... {units - utf16_units(head)} more characters truncated]"


def _both_ends(text: str, units: int, profile: Profile, whole: bool) -> str:
    budget = profile.prompt_budget or PromptBudget()
    most = int(profile.context_window * budget.result_share) * _UNITS_PER_TOKEN
    if units <= most:
        return text
    head = utf16_prefix(text, int(most * budget.result_head), keep_pairs=whole)
    # What is read from the end is what is written backwards, but for pairs: those are whole here.
    end = utf16_prefix(text[::-1], most - utf16_units(head), keep_pairs=True)[::-1]
    left_out = units - utf16_units(head) - utf16_units(end)
    return f"{head}\n\n[... {left_out} characters left out ...]\n\n{end}"


def serialize_message(message: ModelMessage, profile: Profile) -> str:
    """One message (as it is sent to a model) as text; empty when it says nothing."""
    match message:
        case AssistantMessage():
            parts = _reply(message.content, with_blank=profile.empty_input != "refuse")
        case ToolResultMessage():
            text = cut_result(text_of(message.content, ""), profile)
            parts = [("Tool result", text)] if text else []
        case _:
            text = text_of(message.content, "")
            parts = [(_speaker(message, profile), text)] if text else []
    joined = _labelled(parts) if profile.dialect == "labels" else _headed(parts)
    return escape_tags(joined) if profile.tags_in_text == "escaped" else joined


def _speaker(message: UserMessage, profile: Profile) -> str:
    """The label of a user message. What nobody typed is a note by the corrected rules: a summarizer
    takes a reminder or a file for the person's words otherwise."""
    corrected = profile.dialect == "labels" and profile.tags_in_text == "escaped"
    return "Note" if corrected and message.synthetic else "User"


def _labelled(parts: Sequence[tuple[str, str]]) -> str:
    return _BLANK_LINE.join(f"[{label}]: {text}" for label, text in parts)


def _headed(parts: Sequence[tuple[str, str]]) -> str:
    return _BLANK_LINE.join(f"[{label.upper().replace(' ', '_')}]\n{text}" for label, text in parts)


def _reply(content: Content, *, with_blank: bool) -> list[tuple[str, str]]:
    """A reply's parts; a part without text only by the rules that ask about nothing."""
    thinking = [block.text for block in content if isinstance(block, ThinkingBlock)]
    texts = [block.text for block in content if isinstance(block, TextBlock)]
    calls = [
        f"{block.name}({_arguments(block.named_arguments)})"
        for block in content
        if isinstance(block, ToolCallBlock)
    ]
    parts: list[tuple[str, str]] = []
    if thinking and (with_blank or any(thinking)):
        parts.append(("Assistant thinking", "\n".join(thinking)))
    if texts and (with_blank or any(texts)):
        parts.append(("Assistant", "\n".join(texts)))
    if calls:
        parts.append(("Assistant tool calls", "; ".join(calls)))
    return parts


def _arguments(arguments: dict[str, Any]) -> str:
    return ", ".join(f"{key}={js_json(arguments[key])}" for key in js_keys(arguments))


def serialize(messages: Iterable[tuple[int, ModelMessage]], profile: Profile) -> Serialized:
    """Messages with their entries as one text, divided as the profile divides them."""
    between = _BLANK_LINE if profile.dialect == "labels" else DIVIDER
    parts: list[str] = []
    spans: list[SourceSpan] = []
    at = 0
    for entry, message in messages:
        text = serialize_message(message, profile)
        if not text:
            continue
        if parts:
            at += len(between)
        parts.append(text)
        spans.append(SourceSpan(at, at + len(text), entry))
        at += len(text)
    return Serialized(between.join(parts), spans)


def read_conversation(
    wanted: Sequence[int], entries: Reader, templates: Templates, profile: Profile
) -> Serialized:
    """Entries, read and serialized; what is never sent says nothing."""
    if not wanted:
        return Serialized("", [])
    worded = templates.worded(profile)
    messages = (entry_to_llm(entry, worded) for entry in entries(wanted))
    return serialize(
        ((index, sent) for index, sent in zip(wanted, messages, strict=True) if sent is not None),
        profile,
    )
