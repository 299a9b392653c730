"""Entries as the messages that a model is sent (A5, A6).

Commands, notes and summaries become user messages; what is never sent becomes None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from explorer.compaction.templates import Templates
from explorer.session.describe import blocks_of
from explorer.session.edit_entries import Pruned, Reinserted
from explorer.session.kinds import Kind
from explorer.tokens.estimate import js_json

Message = dict[str, Any]
Reader = Callable[[Sequence[int]], Sequence[Mapping[str, Any]]]
"""Gives the JSON of entries by index, in the order asked for."""
Again = Mapping[int, Reinserted]
"""By entry: what is told again after a summary."""

LLM_ROLES: dict[Kind, str] = {
    Kind.USER: "user",
    Kind.ASSISTANT: "assistant",
    Kind.TOOL_RESULT: "toolResult",
    Kind.BASH_EXECUTION: "user",
    Kind.PYTHON_EXECUTION: "user",
    Kind.FILE_MENTION: "user",
    Kind.CUSTOM_ROLE: "user",
    Kind.CUSTOM_MESSAGE: "user",
    Kind.SYSTEM: "user",
    Kind.COMPACTION: "user",
    Kind.BRANCH_SUMMARY: "user",
    Kind.COMPACTION_SUMMARY_ROLE: "user",
    Kind.BRANCH_SUMMARY_ROLE: "user",
}
"""The role with which an entry of a kind is sent."""


def user_text(text: str) -> Message:
    """A user message of one text block."""
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def with_note(entry: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The entry of a pruned tool result as it is told: the note in place of its content (A13)."""
    message = entry.get("message")
    said = dict(message) if isinstance(message, dict) else {}
    return {**entry, "message": said | {"content": [{"type": "text", "text": text}]}}


def with_notes(read: Reader, pruned: Pruned, again: Again | None = None) -> Reader:
    """A reader of entries that gives pruned tool results, and what is told again after a summary,
    as they are told."""
    if not pruned and not again:
        return read
    repeated: Again = again or {}

    def one(index: int, entry: Mapping[str, Any]) -> Mapping[str, Any]:
        if index in repeated:
            return told_again(entry, repeated[index].heading)
        return with_note(entry, pruned[index].text) if index in pruned else entry

    def told(indices: Sequence[int]) -> list[Mapping[str, Any]]:
        entries = read(indices)
        return [one(index, entry) for index, entry in zip(indices, entries, strict=True)]

    return told


def told_again(entry: Mapping[str, Any], heading: str) -> dict[str, Any]:
    """An entry as it is told again after a summary, where its place is gone: a message of the user
    that starts with the heading, whose content follows word for word.

    Calls and results become text, so that no provider sees one without the other; thinking is left
    out. What holds no message stays empty.
    """
    message = _told(entry)
    content = _as_text(message) if message.get("role") == "assistant" else message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    shown = [block for block in blocks or [] if isinstance(block, dict)]
    head = [{"type": "text", "text": heading}] if heading else []
    return {"type": "message", "message": {"role": "user", "content": [*head, *shown]}}


def _told(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    if entry.get("type") == "branch_summary":
        return user_text(_text(entry, "summary"))
    if entry.get("type") == "custom_message":
        return _user(entry.get("content"))
    message = entry.get("message")
    if not isinstance(message, dict):
        return {}
    if message.get("role") in ("compactionSummary", "branchSummary"):
        return user_text(_text(message, "summary"))
    if message.get("role") in ("bashExecution", "pythonExecution", "fileMention"):
        role = message["role"]
        tell = {"bashExecution": _bash, "pythonExecution": _python}
        if role == "fileMention":
            return user_text(_mentions(message.get("files")))
        return user_text(tell[role](message))
    return message


def _as_text(reply: Mapping[str, Any]) -> str:
    """A reply's texts and calls as one text."""
    parts: list[str] = []
    for block in blocks_of(reply.get("content")):
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            parts.append(block["text"])
        elif block.get("type") == "toolCall":
            parts.append(f"[Called {block.get('name') or ''}: {js_json(block.get('arguments'))}]")
    return "\n\n".join(parts)


def entry_to_llm(entry: Mapping[str, Any], templates: Templates) -> Message | None:
    """The message for an entry, or None when it is not sent.

    An empty branch summary is not sent (B2).
    """
    entry_type = entry.get("type")
    if entry_type == "message":
        message = entry.get("message")
        return message_to_llm(message, templates) if isinstance(message, dict) else None
    if entry_type == "custom_message":
        return _user(entry.get("content"))
    if entry_type == "compaction":
        return user_text(templates.compaction_message(_text(entry, "summary")))
    if entry_type == "branch_summary":
        summary = _text(entry, "summary")
        return user_text(templates.branch_message(summary)) if summary else None
    return None


def message_to_llm(message: Mapping[str, Any], templates: Templates) -> Message | None:
    """The message as it is sent, or None when it is not."""
    role = message.get("role")
    if role in ("user", "assistant", "toolResult"):
        return dict(message)
    if role in ("custom", "hookMessage", "system", "developer"):
        return _user(message.get("content"))
    if role == "bashExecution":
        return None if message.get("excludeFromContext") is True else user_text(_bash(message))
    if role == "pythonExecution":
        return None if message.get("excludeFromContext") is True else user_text(_python(message))
    if role == "fileMention":
        return user_text(_mentions(message.get("files")))
    if role == "compactionSummary":
        return user_text(templates.compaction_message(_text(message, "summary")))
    if role == "branchSummary":
        return user_text(templates.branch_message(_text(message, "summary")))
    return None


def _text(source: Mapping[str, Any], key: str) -> str:
    value = source.get(key)
    return value if isinstance(value, str) else ""


def _user(content: object) -> Message:
    if isinstance(content, str):
        return user_text(content)
    return {"role": "user", "content": content if isinstance(content, list) else []}


def _bash(message: Mapping[str, Any]) -> str:
    return f"Ran `{_text(message, 'command')}`\n" + _outcome(message)


def _python(message: Mapping[str, Any]) -> str:
    return f"Ran Python:\n```\n{_text(message, 'code')}\n```\n" + _outcome(message)


def _outcome(message: Mapping[str, Any]) -> str:
    output = _text(message, "output")
    said = f"```\n{output}\n```" if output else "(no output)"
    code = message.get("exitCode")
    if message.get("cancelled") is True:
        said += "\n\n(command cancelled)"
    elif isinstance(code, int | float) and code:
        said += f"\n\nCommand exited with code {code}"
    full = _text(message, "fullOutputPath")
    if message.get("truncated") is True and full:
        said += f"\n\n[Output truncated. Full output: {full}]"
    return said


def _mentions(files: object) -> str:
    named = [file for file in files if isinstance(file, dict)] if isinstance(files, list) else []
    return "\n\n".join(
        f"File {_text(file, 'path')}:\n```\n{_text(file, 'content')}\n```" for file in named
    )
