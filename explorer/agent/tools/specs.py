"""What is offered to a model: each tool's name, description and arguments."""

from __future__ import annotations

from typing import Any

from explorer.models.request import ToolSpec
from explorer.settings.prompt_templates import load_prompt

READ_ONLY = ("read", "ls", "find", "grep")
CHANGES_FILES = ("write", "edit", "bash")

_TEXT: dict[str, Any] = {"type": "string"}
_NUMBER: dict[str, Any] = {"type": "number"}
_YES_NO: dict[str, Any] = {"type": "boolean"}
_PAIRS: dict[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "oldText": {"type": "string", "description": "What stands there now"},
            "newText": {"type": "string", "description": "What is to stand there"},
        },
        "required": ["oldText", "newText"],
    },
}
_FILE = (_TEXT, "File, relative to the workspace")
_ARGUMENTS: dict[str, dict[str, tuple[dict[str, Any], str]]] = {
    "read": {
        "path": _FILE,
        "offset": (_NUMBER, "First line, counted from 1"),
        "limit": (_NUMBER, "Number of lines"),
    },
    "ls": {
        "path": (_TEXT, "Folder; the workspace itself when left out"),
        "limit": (_NUMBER, "Number of names; 500 when left out"),
    },
    "find": {
        "pattern": (_TEXT, "Glob such as *.py or src/**/test_*.py"),
        "path": (_TEXT, "Folder to search; the workspace when left out"),
        "limit": (_NUMBER, "Number of files; 1,000 when left out"),
    },
    "grep": {
        "pattern": (_TEXT, "Regular expression"),
        "path": (_TEXT, "File or folder to search; the workspace when left out"),
        "glob": (_TEXT, "Only files that this glob meets, such as *.py"),
        "ignoreCase": (_YES_NO, "Upper and lower case are the same"),
        "literal": (_YES_NO, "The pattern is a plain text"),
        "context": (_NUMBER, "Lines before and after each hit"),
        "limit": (_NUMBER, "Number of hits; 100 when left out"),
    },
    "write": {"path": _FILE, "content": (_TEXT, "All of the file")},
    "edit": {"path": _FILE, "edits": (_PAIRS, "The passages to replace")},
    "bash": {
        "command": (_TEXT, "Command line"),
        "timeout": (_NUMBER, "Seconds it may take"),
    },
}
_REQUIRED = {
    "read": ["path"], "ls": [], "find": ["pattern"], "grep": ["pattern"],
    "write": ["path", "content"], "edit": ["path", "edits"], "bash": ["command"],
}  # fmt: skip


def specs_of(names: tuple[str, ...]) -> tuple[ToolSpec, ...]:
    """The tools of those names, in that order."""
    return tuple(
        ToolSpec(
            name,
            load_prompt(f"tools/{name}"),
            {
                "type": "object",
                "properties": {
                    key: {**kind, "description": description}
                    for key, (kind, description) in _ARGUMENTS[name].items()
                },
                "required": _REQUIRED[name],
            },
        )
        for name in names
    )
