"""The blocks that are shown of an entry, from top to bottom; knows no widgets and reads nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Text. ``markdown``: written by a person or a model, so it may be Markdown."""

    text: str
    markdown: bool = True
    title: str = ""
    path: str = ""
    """The file that the text is of; its name tells the language."""


@dataclass(frozen=True, slots=True)
class ThinkingBlock:
    """What the model thought; shown folded."""

    text: str
    redacted: bool = False


@dataclass(frozen=True, slots=True)
class ImageBlock:
    """A picture in base64, or a reference to one outside of the session."""

    mime: str
    data: str


@dataclass(frozen=True, slots=True)
class DiffBlock:
    """A replacement in a file."""

    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class ResultBlock:
    """What a tool answered."""

    tool: str
    text: str
    entry: int = -1
    """The entry that holds it, when it is not the one shown."""
    is_error: bool = False
    images: tuple[ImageBlock, ...] = ()
    path: str = ""


@dataclass(frozen=True, slots=True)
class CallBlock:
    """A tool call with its results (more than one where branches answered it differently)."""

    tool: str
    title: str
    arguments: Json
    call_id: str
    diffs: tuple[DiffBlock, ...] = ()
    written: TextBlock | None = None
    """The text of a file that the call writes."""
    results: tuple[ResultBlock, ...] = ()
    entry: int = -1
    """The entry that holds the call, when it is not the one shown."""


@dataclass(frozen=True, slots=True)
class CommandBlock:
    """A command that the person ran."""

    command: str
    output: str
    exit_code: int | None
    remarks: tuple[str, ...] = ()
    language: str = "bash"


@dataclass(frozen=True, slots=True)
class Fact:
    """A named value; ``entry_id`` where it names an entry."""

    name: str
    value: str
    entry_id: str = ""


@dataclass(frozen=True, slots=True)
class FactsBlock:
    """Facts of an entry in a table."""

    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class JsonBlock:
    """A value shown as JSON."""

    title: str
    value: Any = field(hash=False)


Block = (
    TextBlock | ThinkingBlock | ImageBlock | ResultBlock | CallBlock | CommandBlock | FactsBlock
    | JsonBlock
)  # fmt: skip
