"""What Claude Code puts into a conversation beside it: files, hooks, reminders, and prompts that
were typed while a turn went on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from explorer.formats.anthropic_content import read_content
from explorer.formats.claude_code.fields import is_inserted, texts_of
from explorer.formats.json_fields import object_field, text_field
from explorer.session.entries import (
    Body,
    CustomData,
    FileMention,
    FilesMessage,
    ImageBlock,
    NoteMessage,
    UserMessage,
    text_content,
)

_NOT_SENT = frozenset({
    "hook_system_message", "hook_non_blocking_error", "hook_cancelled", "command_permissions",
    "hook_error_during_execution", "hook_permission_decision", "dynamic_skill",
})  # fmt: skip
"""Shown to the person, or for the program alone."""
_WORDS = (
    "content", "text", "snippet", "banner", "blockingError", "addedLines", "addedBlocks",
    "planContent", "skills", "newDate", "message", "deltaSummary",
)  # fmt: skip
"""Fields that hold what the model is sent, the first that has any text counts."""


def read_attachment(value: Mapping[str, Any]) -> Body:
    """The body of an attachment record."""
    attachment = object_field(value, "attachment")
    kind = text_field(attachment, "type")
    match kind:
        case "queued_command":
            return _queued(value, attachment)
        case "file" | "already_read_file" | "pdf_reference":
            return _file(kind, attachment)
        case "nested_memory" | "edited_text_file" | "selected_lines_in_ide":
            path = text_field(attachment, "path") or text_field(attachment, "filename")
            text = "\n".join(_texts(attachment.get("content", attachment.get("snippet"))))
            return FilesMessage((FileMention(path, text),))
    name = kind or "attachment"
    if kind not in _NOT_SENT:
        for field in _WORDS:
            if text := "\n".join(_texts(attachment.get(field))):
                return NoteMessage(text_content(text), name, display=False, details=attachment)
    return CustomData(name, attachment)


def _queued(value: Mapping[str, Any], attachment: Mapping[str, Any]) -> UserMessage:
    prompt = attachment.get("prompt")
    texts = texts_of(prompt)
    origin = object_field(attachment, "origin").get("kind")
    synthetic = (
        True in (value.get("isMeta"), attachment.get("isMeta"))
        or "task-notification" in (origin, attachment.get("commandMode"))
        or (bool(texts) and all(map(is_inserted, texts)))
    )
    return UserMessage(read_content(prompt), synthetic)


def _file(kind: str, attachment: Mapping[str, Any]) -> Body:
    content = object_field(attachment, "content")
    file = object_field(content, "file")
    path = (
        text_field(attachment, "filename")
        or text_field(file, "filePath")
        or text_field(attachment, "displayPath")
    )
    if data := text_field(file, "base64"):
        image = ImageBlock(text_field(file, "type"), data)
        return NoteMessage((*text_content(path), image), kind, display=False, details=attachment)
    return FilesMessage((FileMention(path, text_field(file, "content")),))


def _texts(value: Any) -> Iterator[str]:
    """The texts of a field: itself, those of a list, or the content of an object."""
    if isinstance(value, str):
        if value.strip():
            yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, Mapping):
        for name in ("content", "text", "blockingError", "subject"):
            if name in value:
                yield from _texts(value[name])
                return
