"""Entries as the messages that a model is sent (A5, A6), and a conversation as plain text for a
summarizer, so that it is read and not continued (A21, B11).

Commands, notes and summaries become user messages; what is never sent becomes None. Every piece of
the text knows the entry that it came from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from explorer.compaction.profile import Profile
from explorer.compaction.profile.rules import PromptBudget
from explorer.compaction.templates import Templates
from explorer.session.edit_entries import Pruned, Reinserted
from explorer.session.entries import (
    AssistantMessage,
    BranchSummary,
    CompactionSummary,
    Content,
    Entry,
    FilesMessage,
    Message,
    ModelMessage,
    NoteMessage,
    ShellMessage,
    SummaryMessage,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultMessage,
    UserMessage,
    text_content,
    text_of,
)
from explorer.tokens.estimate import js_json, js_keys, utf16_prefix, utf16_units

Reader = Callable[[Sequence[int]], Sequence[Entry]]
"""Gives entries by index, in the order asked for."""
Again = Mapping[int, Reinserted]
"""By entry: what is repeated after a summary."""


def user_text(text: str, *, synthetic: bool = False) -> UserMessage:
    """A user message of one text block; ``synthetic``: made by a program."""
    return UserMessage(text_content(text), synthetic)


def with_note(entry: Entry, text: str) -> Entry:
    """The entry of a pruned tool result as it is sent: the note in place of its content (A13)."""
    if not isinstance(entry.body, ToolResultMessage):
        return entry
    return replace(entry, body=replace(entry.body, content=text_content(text)))


def with_notes(read: Reader, pruned: Pruned, again: Again | None = None) -> Reader:
    """A reader of entries that gives pruned tool results, and what is repeated after a summary,
    as they are sent."""
    if not pruned and not again:
        return read
    repeated: Again = again or {}

    def one(index: int, entry: Entry) -> Entry:
        if index in repeated:
            again = repeated[index]
            if again.why == "recorded":
                return recorded_entry(entry)
            return repeated_entry(entry, again.heading)
        return with_note(entry, pruned[index].text) if index in pruned else entry

    def entries(indices: Sequence[int]) -> list[Entry]:
        return [one(index, entry) for index, entry in zip(indices, read(indices), strict=True)]

    return entries


def repeated_entry(entry: Entry, heading: str) -> Entry:
    """An entry as it is repeated after a summary, where its place is gone: a message of the user
    that starts with the heading, whose content follows word for word.

    Calls and results become text, so that no provider sees one without the other; thinking is left
    out. What holds no message stays empty.
    """
    head = text_content(heading) if heading else ()
    return Entry.of(UserMessage((*head, *_repeated(entry))))


def recorded_entry(entry: Entry) -> Entry:
    """An entry as a compaction's record holds it: a reply's texts, and others as they are."""
    if not isinstance(entry.body, AssistantMessage):
        return entry
    texts = tuple(block for block in entry.content if isinstance(block, TextBlock))
    return replace(entry, body=replace(entry.body, content=texts))


def _repeated(entry: Entry) -> Content:
    body = entry.body
    match body:
        case BranchSummary() | SummaryMessage():
            return text_content(body.summary)
        case AssistantMessage():
            return text_content(_as_text(body))
        case ShellMessage() | FilesMessage():
            return text_content(_words(body))
    return entry.content


def _as_text(reply: AssistantMessage) -> str:
    """A reply's texts and calls as one text."""
    parts: list[str] = []
    for block in reply.content:
        if isinstance(block, TextBlock):
            parts.append(block.text)
        elif isinstance(block, ToolCallBlock):
            parts.append(f"[Called {block.name}: {js_json(block.arguments)}]")
    return "\n\n".join(parts)


def entry_to_llm(entry: Entry, templates: Templates) -> ModelMessage | None:
    """The message for an entry, or None when it is not sent.

    An empty branch summary is not sent (B2).
    """
    body = entry.body
    match body:
        case CompactionSummary():
            return user_text(templates.compaction_message(body.summary))
        case BranchSummary():
            return user_text(templates.branch_message(body.summary)) if body.summary else None
    return message_to_llm(body, templates) if isinstance(body, Message) else None


def message_to_llm(message: Message, templates: Templates) -> ModelMessage | None:
    """The message as it is sent, or None when it is not."""
    match message:
        case UserMessage() | AssistantMessage() | ToolResultMessage():
            return message
        case NoteMessage() | SystemMessage():
            return UserMessage(message.content, synthetic=True)
        case ShellMessage():
            return None if message.excluded else user_text(_words(message))
        case FilesMessage():
            return user_text(_words(message), synthetic=True)
        case SummaryMessage(of="compaction"):
            return user_text(templates.compaction_message(message.summary))
        case SummaryMessage():
            return user_text(templates.branch_message(message.summary))
    return None


def _words(message: ShellMessage | FilesMessage) -> str:
    if isinstance(message, FilesMessage):
        return "\n\n".join(f"File {file.path}:\n```\n{file.content}\n```" for file in message.files)
    if message.language == "bash":
        return f"Ran `{message.command}`\n" + _outcome(message)
    return f"Ran Python:\n```\n{message.command}\n```\n" + _outcome(message)


def _outcome(message: ShellMessage) -> str:
    text = f"```\n{message.output}\n```" if message.output else "(no output)"
    if message.cancelled:
        text += "\n\n(command cancelled)"
    elif message.exit_code:
        text += f"\n\nCommand exited with code {message.exit_code}"
    if message.truncated and message.full_output_path:
        text += f"\n\n[Output truncated. Full output: {message.full_output_path}]"
    return text


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
