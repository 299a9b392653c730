"""Entries as the messages that a model is sent (A5, A6).

Commands, notes and summaries become user messages; what is never sent becomes None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

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
    ToolCallBlock,
    ToolResultMessage,
    UserMessage,
    text_content,
)
from explorer.tokens.estimate import js_json

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
