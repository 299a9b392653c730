"""The texts of an entry: who wrote each, and in which content block it stands."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from explorer.session.entries import (
    AssistantMessage,
    BranchSummary,
    CompactionSummary,
    Content,
    Entry,
    FilesMessage,
    NoteMessage,
    ShellMessage,
    SummaryMessage,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultMessage,
    UserMessage,
)
from explorer.session.file_tools import file_ops
from explorer.session.tool_actions import shows_texts


class Speaker(Enum):
    """Who wrote a text; it decides how the text is read."""

    USER = "user"
    ASSISTANT = "assistant"
    SUMMARY = "summary"
    """An earlier summary: of a compaction or of a branch."""
    COMMAND = "command"
    PATH = "path"
    RESULT = "result"
    ERROR = "error"
    """The result of a call that failed."""
    SHOWN = "shown"
    """The result of one that shows texts: what they say of failures did not happen here."""
    ASIDE = "aside"
    """Seen by the model but holding no facts: thinking, what a call writes, extension messages.
    Things named there count as known when a summary mentions them."""


class EntryText(NamedTuple):
    """One text of an entry."""

    speaker: Speaker
    text: str
    block: int = 0
    argument: str = ""


_COMMANDS = ("command", "cmd", "script", "commands")


def texts_of(entry: Entry) -> Iterator[EntryText]:
    """The texts of an entry, in order; none for an entry that is never sent to a model."""
    body = entry.body
    match body:
        case CompactionSummary() | BranchSummary() | SummaryMessage():
            if body.summary:
                yield EntryText(Speaker.SUMMARY, body.summary)
        case UserMessage():
            # What nobody typed is no wish of the user's.
            yield from _plain(body.content, Speaker.ASIDE if body.synthetic else Speaker.USER)
        case AssistantMessage():
            yield from _reply(body.content)
        case ToolResultMessage():
            shown = Speaker.SHOWN if shows_texts(body.tool) else Speaker.RESULT
            yield from _plain(body.content, Speaker.ERROR if body.is_error else shown)
        case ShellMessage():
            if body.command:
                yield EntryText(
                    Speaker.COMMAND, body.command, 0,
                    "command" if body.language == "bash" else "code",
                )  # fmt: skip
            if body.output:
                yield EntryText(Speaker.ERROR if body.exit_code else Speaker.RESULT, body.output)
        case NoteMessage():
            yield from _plain(body.content, Speaker.ASIDE)
        case FilesMessage():
            for number, file in enumerate(body.files):
                yield EntryText(Speaker.ASIDE, f"{file.path}\n{file.content}", number)


def _plain(content: Content, speaker: Speaker) -> Iterator[EntryText]:
    for number, block in enumerate(content):
        if isinstance(block, TextBlock) and block.text:
            yield EntryText(speaker, block.text, number)


def _reply(content: Content) -> Iterator[EntryText]:
    for number, block in enumerate(content):
        if isinstance(block, ToolCallBlock):
            yield from _call(block, number)
        elif isinstance(block, TextBlock | ThinkingBlock) and block.text:
            is_text = isinstance(block, TextBlock)
            yield EntryText(Speaker.ASSISTANT if is_text else Speaker.ASIDE, block.text, number)


def _call(block: ToolCallBlock, number: int) -> Iterator[EntryText]:
    paths = {op.path for op in file_ops(block.name, block.arguments, "")}
    for key, value in block.named_arguments.items():
        if isinstance(value, list) and key in _COMMANDS:
            value = " ".join(part for part in value if isinstance(part, str))
        if not isinstance(value, str):
            for inner in _strings(value):
                yield EntryText(
                    Speaker.PATH if inner in paths else Speaker.ASIDE, inner, number, str(key)
                )
        elif key in _COMMANDS and value not in _EDITOR_COMMANDS:
            yield EntryText(Speaker.COMMAND, value, number, str(key))
        elif value:
            is_path = value in paths or key in ("path", "file_path", "filePath")
            if is_path or key == "url":
                yield EntryText(Speaker.PATH, value, number, str(key))
            else:
                yield EntryText(Speaker.ASIDE, value, number, str(key))


_EDITOR_COMMANDS = frozenset({"view", "create", "str_replace", "insert", "undo_edit", "rename"})


def _strings(value: object, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        if value:
            yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
    elif depth < 8 and isinstance(value, list | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner, depth + 1)
