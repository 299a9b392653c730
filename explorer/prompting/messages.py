"""The messages that a rendered prompt consists of, each with the entries that it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from explorer.tokens.javascript import js_json

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call that an assistant message makes."""

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Name and arguments, as they are counted."""
        return f"{self.name}{js_json(dict(self.arguments))}"


@dataclass(frozen=True, slots=True)
class Picture:
    """An image inside a message, base64."""

    mime: str
    data: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """A reply's thinking, with the provider's signature of it where there is one."""

    text: str
    signature: str = ""


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message of a prompt."""

    role: Role
    text: str
    calls: tuple[ToolUse, ...] = ()
    call_id: str | None = None
    """The call that a ``tool`` message answers."""
    pictures: tuple[Picture, ...] = ()
    thinking: Thinking | None = None
    sources: tuple[int, ...] = ()
    """The entries that it came from, ascending; empty for words that no entry holds."""
    tokens: int = 0
