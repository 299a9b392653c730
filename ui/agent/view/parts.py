"""What is drawn of an item, from top to bottom; knows no widgets and reads nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ui.audit.known import spoken
from ui.inspector.blocks import ImageBlock
from ui.inspector.diff_view import DiffLine


class Role(NamedTuple):
    """Who says it: the words and the sign at the left."""

    name: str
    icon: str
    tint: str


YOU = Role("You", "user", "user")
AGENT = Role("Agent", "assistant", "asst")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One stretch of an item. ``key`` names it within the item and stays while it grows."""

    key: str
    role: Role | None = None
    inset: bool = False
    """It was opened: it belongs to the row above it."""
    entry: int = -1
    """The entry that it tells of, where that is not the item's own."""

    @property
    def words(self) -> str:
        """What it says, for screen readers."""
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prose(Part):
    """Markdown."""

    text: str
    said_by_user: bool = False

    @property
    def words(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Code(Part):
    """Lines of code: a whole block, or a piece of a long one."""

    text: str
    language: str = ""
    path: str = ""
    opens: bool = True
    closes: bool = True
    said_by_user: bool = False
    fenced: bool = True
    """Written as a block of Markdown; else it is text of its own, such as a tool's output."""
    coloured: bool = True

    @property
    def words(self) -> str:
        return f"code{f' in {self.language}' if self.language else ''}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff(Part):
    """A change of a file."""

    path: str
    lines: tuple[DiffLine, ...] = field(repr=False)

    @property
    def words(self) -> str:
        shown = "\n".join(f"{line.sign} {line.text}" for line in self.lines)
        return f"change of {self.path}: {shown}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Part):
    """One line: a call, thinking, a mark. ``opens`` names what a click shows or hides."""

    text: str
    mono: bool = False
    tail: str = ""
    """Words at the right: what came of it."""
    tail_tint: str = "dim"
    tint: str = "ink"
    opens: str = ""
    is_open: bool = False
    since: float = 0.0
    """Seconds of the monotonic clock since which it runs; 0 when it does not."""
    is_mark: bool = False
    """A line across the conversation: what happened to it rather than what was said."""
    goes_to: int = -1
    """The entry that a click shows instead of opening anything."""
    address: str = ""
    """The file that a click shows the address of."""
    tip: str = ""

    @property
    def words(self) -> str:
        name = f"{self.role.name} " if self.role else ""
        state = "" if not self.opens else ", opened" if self.is_open else ", folded"
        text = spoken(self.text) if self.is_mark else self.text
        return f"{name}{text}{f', {spoken(self.tail)}' if self.tail else ''}{state}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture(Part):
    """An image, decoded when it comes into sight."""

    image: ImageBlock
    said_by_user: bool = False

    @property
    def words(self) -> str:
        return f"picture, {self.image.mime}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(Part):
    """Small words below a message: its figures, or why it failed."""

    text: str
    tint: str = "dim"
    icon: str = ""
    tip: str = ""
    """How its figures are known, where they are not simply recorded."""

    @property
    def words(self) -> str:
        return spoken(self.text)


def markdown_of(part: Part) -> str:
    """A part as Markdown, for the clipboard."""
    if isinstance(part, Code):
        if not part.fenced:
            return _fenced(part.text, "")
        opening = f"```{part.language}\n" if part.opens else ""
        return f"{opening}{part.text}{chr(10) + '```' if part.closes else ''}"
    if isinstance(part, Diff):
        return _fenced("\n".join(f"{line.sign}{line.text}" for line in part.lines), "diff")
    if isinstance(part, Row):
        words = f"`{part.text}`" if part.mono and part.text else part.text
        name = f"**{part.role.name}** " if part.role else ""
        return f"{name}{words}{f' — {part.tail}' if part.tail else ''}"
    if isinstance(part, Picture):
        return f"*({part.words})*"
    return f"*{part.text}*" if isinstance(part, Note) else part.words


def _fenced(text: str, language: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"
