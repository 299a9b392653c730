"""The arguments of a call, as a model gave them: of the right kind, or a sentence that says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Arguments = Mapping[str, Any]


class ToolError(Exception):
    """A call that came to nothing; its words are for the model."""


def text_of(arguments: Arguments, key: str, default: str | None = None) -> str:
    """A text; not an empty one where there is no default. Raises ToolError."""
    value = arguments.get(key)
    if value is None:
        value = default
    if not isinstance(value, str) or (default is None and not value):
        raise ToolError(f"the argument {key!r} must be a text")
    return value


def path_of(arguments: Arguments) -> str:
    """The path of a call; models write an ``@`` before it, as people do in a message."""
    name = text_of(arguments, "path")
    return name[1:] if name.startswith("@") and len(name) > 1 else name


def content_of(arguments: Arguments, key: str) -> str:
    """A text that may be empty and must be there. Raises ToolError."""
    value = arguments.get(key)
    if not isinstance(value, str):
        raise ToolError(f"the argument {key!r} must be a text")
    return value


def number_of(arguments: Arguments, key: str, default: int, least: int = 1) -> int:
    """A whole number; models also send it as a text. Raises ToolError."""
    value = arguments.get(key)
    if value is None:
        return default
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            value = None
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= least:
        raise ToolError(f"the argument {key!r} must be a number of at least {least}")
    return int(min(value, 10**9))


def yes_or_no(arguments: Arguments, key: str) -> bool:
    """Whether something is asked for; not, where nothing is said. Raises ToolError."""
    value = arguments.get(key)
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if value is not None and not isinstance(value, bool):
        raise ToolError(f"the argument {key!r} must be true or false")
    return bool(value)
