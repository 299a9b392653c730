"""The texts of an entry: who says what, in which block, and how it is to be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, NamedTuple

from explorer.session.file_tools import file_ops
from explorer.session.text import blocks_of


class Voice(Enum):
    """Whose words a text is."""

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
    """Read by the model, but not to be kept: thinking, what a call writes, what extensions add.
    What stands there is not invented when a summary says it."""


class Text(NamedTuple):
    """One text of an entry."""

    voice: Voice
    text: str
    block: int = 0
    argument: str = ""


_COMMANDS = ("command", "cmd", "script", "commands")
_SUMMARIES = ("compaction", "branch_summary")


def texts_of(entry: Mapping[str, Any]) -> Iterator[Text]:
    """The texts of an entry's JSON, in order; nothing of an entry that a model never sees."""
    kind = entry.get("type")
    if kind in _SUMMARIES:
        summary = entry.get("summary")
        if isinstance(summary, str):
            yield Text(Voice.SUMMARY, summary)
    elif kind == "custom_message":
        yield from _plain(entry.get("content"), Voice.ASIDE)
    elif kind == "message" or "role" in entry:
        message = entry.get("message", entry)
        if isinstance(message, Mapping):
            yield from _message(message)


def _message(message: Mapping[str, Any]) -> Iterator[Text]:
    role, content = message.get("role"), message.get("content")
    if role == "user":
        yield from _plain(content, Voice.USER)
    elif role == "assistant":
        yield from _reply(content)
    elif role in ("toolResult", "tool"):
        failed = bool(message.get("isError"))
        yield from _plain(content, Voice.ERROR if failed else Voice.RESULT)
    elif role in ("bashExecution", "pythonExecution"):
        yield from _execution(message)
    elif role in ("compactionSummary", "branchSummary"):
        summary = message.get("summary", content)
        yield from _plain(summary, Voice.SUMMARY)
    elif role in ("custom", "hookMessage", "fileMention"):
        yield from _plain(content, Voice.ASIDE)


def _plain(content: object, voice: Voice) -> Iterator[Text]:
    for number, block in enumerate(blocks_of(content)):
        text = block.get("text")
        if isinstance(text, str) and text:
            yield Text(voice, text, number)


def _execution(message: Mapping[str, Any]) -> Iterator[Text]:
    for name in ("command", "code"):
        command = message.get(name)
        if isinstance(command, str) and command:
            yield Text(Voice.COMMAND, command, 0, name)
    output = message.get("output")
    if isinstance(output, str) and output:
        code = message.get("exitCode")
        failed = isinstance(code, int) and code != 0
        yield Text(Voice.ERROR if failed else Voice.RESULT, output)


def _reply(content: object) -> Iterator[Text]:
    for number, block in enumerate(blocks_of(content)):
        kind = block.get("type")
        if kind == "toolCall":
            yield from _call(block, number)
            continue
        voice = Voice.ASSISTANT if kind == "text" else Voice.ASIDE
        text = block.get("text") if kind == "text" else block.get("thinking")
        if isinstance(text, str) and text:
            yield Text(voice, text, number)


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
                yield Text(Voice.PATH if inner in paths else Voice.ASIDE, inner, number, str(key))
        elif key in _COMMANDS and value not in _EDITOR_COMMANDS:
            yield Text(Voice.COMMAND, value, number, str(key))
        elif value:
            is_path = value in paths or key in ("path", "file_path", "filePath")
            if is_path or key == "url":
                yield Text(Voice.PATH, value, number, str(key))
            else:
                yield Text(Voice.ASIDE, value, number, str(key))


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
