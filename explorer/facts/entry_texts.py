"""The texts of an entry: who wrote each, and in which content block it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, NamedTuple

from explorer.session.file_tools import file_ops
from explorer.session.text import blocks_of


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
    ASIDE = "aside"
    """Seen by the model but holding no facts: thinking, what a call writes, extension messages.
    Things named there count as known when a summary mentions them."""


class Text(NamedTuple):
    """One text of an entry."""

    speaker: Speaker
    text: str
    block: int = 0
    argument: str = ""


_COMMANDS = ("command", "cmd", "script", "commands")
_SUMMARIES = ("compaction", "branch_summary")


def texts_of(entry: Mapping[str, Any]) -> Iterator[Text]:
    """The texts of an entry's JSON, in order; none for an entry that is never sent to a model."""
    kind = entry.get("type")
    if kind in _SUMMARIES:
        summary = entry.get("summary")
        if isinstance(summary, str):
            yield Text(Speaker.SUMMARY, summary)
    elif kind == "custom_message":
        yield from _plain(entry.get("content"), Speaker.ASIDE)
    elif kind == "message" or "role" in entry:
        message = entry.get("message", entry)
        if isinstance(message, Mapping):
            yield from _message(message)


def _message(message: Mapping[str, Any]) -> Iterator[Text]:
    role, content = message.get("role"), message.get("content")
    if role == "user":
        yield from _plain(content, Speaker.USER)
    elif role == "assistant":
        yield from _reply(content)
    elif role in ("toolResult", "tool"):
        failed = bool(message.get("isError"))
        yield from _plain(content, Speaker.ERROR if failed else Speaker.RESULT)
    elif role in ("bashExecution", "pythonExecution"):
        yield from _execution(message)
    elif role in ("compactionSummary", "branchSummary"):
        summary = message.get("summary", content)
        yield from _plain(summary, Speaker.SUMMARY)
    elif role in ("custom", "hookMessage", "fileMention"):
        yield from _plain(content, Speaker.ASIDE)


def _plain(content: object, speaker: Speaker) -> Iterator[Text]:
    for number, block in enumerate(blocks_of(content)):
        text = block.get("text")
        if isinstance(text, str) and text:
            yield Text(speaker, text, number)


def _execution(message: Mapping[str, Any]) -> Iterator[Text]:
    for name in ("command", "code"):
        command = message.get(name)
        if isinstance(command, str) and command:
            yield Text(Speaker.COMMAND, command, 0, name)
    output = message.get("output")
    if isinstance(output, str) and output:
        code = message.get("exitCode")
        failed = isinstance(code, int) and code != 0
        yield Text(Speaker.ERROR if failed else Speaker.RESULT, output)


def _reply(content: object) -> Iterator[Text]:
    for number, block in enumerate(blocks_of(content)):
        kind = block.get("type")
        if kind == "toolCall":
            yield from _call(block, number)
            continue
        speaker = Speaker.ASSISTANT if kind == "text" else Speaker.ASIDE
        text = block.get("text") if kind == "text" else block.get("thinking")
        if isinstance(text, str) and text:
            yield Text(speaker, text, number)


def _call(block: Mapping[str, Any], number: int) -> Iterator[Text]:
    arguments = block.get("arguments")
    if not isinstance(arguments, dict):
        return
    name = block.get("name")
    paths = {op.path for op in file_ops(name, arguments, "")} if isinstance(name, str) else set()
    for key, value in arguments.items():
        if isinstance(value, list) and key in _COMMANDS:
            value = " ".join(part for part in value if isinstance(part, str))
        if not isinstance(value, str):
            for inner in _strings(value):
                yield Text(
                    Speaker.PATH if inner in paths else Speaker.ASIDE, inner, number, str(key)
                )
        elif key in _COMMANDS and value not in _EDITOR_COMMANDS:
            yield Text(Speaker.COMMAND, value, number, str(key))
        elif value:
            is_path = value in paths or key in ("path", "file_path", "filePath")
            if is_path or key == "url":
                yield Text(Speaker.PATH, value, number, str(key))
            else:
                yield Text(Speaker.ASIDE, value, number, str(key))


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
