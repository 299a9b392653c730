"""The parts that are drawn of an item, from top to bottom, and Markdown cut into them; knows no
widgets and reads nothing."""

from __future__ import annotations

import re
from typing import NamedTuple

from msgspec import Struct

from explorer.session.entries import ImageBlock
from explorer.session.text_difference import DifferenceLine
from ui.audit.known import spoken
from ui.widgets.figures import size


class Role(NamedTuple):
    """The role of a message: its words and its glyph at the left."""

    name: str
    icon: str
    tint: str


YOU = Role("You", "user", "user")
AUTOMATIC = Role("Automatic", "user", "dim")
"""In the user's place, and typed by nobody."""
AGENT = Role("Agent", "assistant", "asst")


class ItemPart(Struct, frozen=True, kw_only=True):
    """One stretch of an item. ``key`` names it within the item and stays while it grows."""

    key: str
    role: Role | None = None
    inset: bool = False
    """It was opened: it belongs to the row above it."""
    entry: int = -1
    """The entry that it is of, where that is not the item's."""

    @property
    def words(self) -> str:
        """What it says, for screen readers."""
        return ""


class Prose(ItemPart, frozen=True, kw_only=True):
    """Markdown."""

    text: str
    by_user: bool = False

    @property
    def words(self) -> str:
        return self.text


class Code(ItemPart, frozen=True, kw_only=True):
    """Lines of code: a whole block, or a piece of a long one."""

    text: str
    language: str = ""
    path: str = ""
    opens: bool = True
    closes: bool = True
    by_user: bool = False
    fenced: bool = True
    """Written as a block of Markdown; else it is plain text, such as a tool's output."""
    coloured: bool = True

    @property
    def words(self) -> str:
        return f"code{f' in {self.language}' if self.language else ''}: {self.text}"


class Diff(ItemPart, frozen=True, kw_only=True):
    """A change of a file."""

    path: str
    lines: tuple[DifferenceLine, ...]

    @property
    def words(self) -> str:
        shown = "\n".join(f"{line.sign} {line.text}" for line in self.lines)
        return f"change of {self.path}: {shown}"


class Row(ItemPart, frozen=True, kw_only=True):
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
    """A line across the conversation: an event rather than a message."""
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


class PicturePart(ItemPart, frozen=True, kw_only=True):
    """An image, decoded when it comes into sight."""

    image: ImageBlock
    by_user: bool = False

    @property
    def words(self) -> str:
        return f"picture, {self.image.mime or 'image'}"


class Note(ItemPart, frozen=True, kw_only=True):
    """Small words below a message: its figures, or why it failed."""

    text: str
    tint: str = "dim"
    icon: str = ""
    tip: str = ""
    """How its figures are known, where they are not simply recorded."""

    @property
    def words(self) -> str:
        return spoken(self.text)


def markdown_of(part: ItemPart) -> str:
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
    if isinstance(part, PicturePart):
        return f"*({part.words})*"
    return f"*{part.text}*" if isinstance(part, Note) else part.words


def _fenced(text: str, language: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


CODE_LINES = 32
"""Lines in one piece of code."""
CODE_UNITS = 6_000
PROSE_UNITS = 2_500
"""Characters after which prose is cut at the next end of a line."""
LONG_LINE = 2_000
"""Characters of an unbroken line that is cut at a space."""

_FENCE = re.compile(r"(\s*(?:[-*+]\s+|\d+[.)]\s+)?)(`{3,}|~{3,})\s*([^`\n]*)$")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")
_TABLE = re.compile(r"\s*\|")


class Segment(Struct, frozen=True):
    """A piece of a text: Markdown, or lines of code without their fences."""

    text: str
    is_code: bool = False
    language: str = ""
    opens: bool = True
    """Of code: the first piece of its block."""
    closes: bool = True


class Splitter:
    """Takes a text piece by piece; ``done`` holds what cannot change any more."""

    def __init__(self) -> None:
        self.done: list[Segment] = []
        self._open = ""
        """The line that has not ended yet."""
        self._prose: list[str] = []
        self._size = 0
        self._blank = False
        self._code: list[str] | None = None
        self._fence, self._indent, self._language, self._opened = "", 0, "", False

    def feed(self, text: str) -> None:
        """Append text."""
        lines = (self._open + text).split("\n")
        self._open = lines.pop()
        for line in lines:
            self._line(line)
        if self._code is None:
            while len(self._open) > LONG_LINE:
                cut = self._open.rfind(" ", LONG_LINE // 2, LONG_LINE)
                cut = cut if cut > 0 else LONG_LINE
                self._line(self._open[:cut])
                self._end_prose()
                self._open = self._open[cut:].lstrip(" ")

    def tail(self) -> list[Segment]:
        """What may still change, as it looks now."""
        if self._code is not None:
            closing = self._closes(self._open)
            lines = [*self._code, *([] if closing or not self._open else [self._open])]
            return [self._piece(lines, closes=True)] if lines or not self._opened else []
        opening = _FENCE.match(self._open)
        before = [*self._prose, *([] if opening or not self._open else [self._open])]
        found = [Segment("\n".join(before).strip("\n"))] if any(map(str.strip, before)) else []
        begun = self._blank and self._open.strip() and self._prose and not opening
        if begun and self._breaks(self._open):
            # A new paragraph has begun; its whole line will say so too.
            found = [Segment("\n".join(self._prose).strip("\n")), Segment(self._open)]
        if opening:
            found.append(Segment("", True, opening[3].strip().split(" ")[0]))
        return found

    def end(self) -> list[Segment]:
        """Everything, once no more comes."""
        return self.done + self.tail()

    def _line(self, line: str) -> None:
        if self._code is not None:
            self._code_line(line)
            return
        fence = _FENCE.match(line)
        if fence:
            self._end_prose()
            self._code, self._opened = [], False
            self._fence, self._indent = fence[2], len(fence[1])
            self._language = fence[3].strip().split(" ")[0]
            return
        if not line.strip():
            self._blank = bool(self._prose)
            if self._prose:
                self._prose.append(line)
            return
        in_table = _TABLE.match(line) and self._size < CODE_UNITS
        if (self._blank and self._breaks(line)) or (self._size > PROSE_UNITS and not in_table):
            self._end_prose()
        self._blank = False
        while len(line) > LONG_LINE:
            cut = line.rfind(" ", LONG_LINE // 2, LONG_LINE)
            cut = cut if cut > 0 else LONG_LINE
            self._prose.append(line[:cut])
            self._end_prose()
            line = line[cut:].lstrip(" ")
        self._prose.append(line)
        self._size += len(line) + 1

    def _breaks(self, line: str) -> bool:
        """Whether a line after an empty one begins a new piece."""
        in_list = bool(_ITEM.match(self._prose[0]))
        goes_on = line[:2] in ("  ", " \t") or line[:1] == "\t" or bool(_ITEM.match(line))
        return not (in_list and goes_on) or self._size > PROSE_UNITS

    def _end_prose(self) -> None:
        text = "\n".join(self._prose).strip("\n")
        if text.strip():
            self.done.append(Segment(text))
        self._prose, self._size, self._blank = [], 0, False

    def _closes(self, line: str) -> bool:
        bare = line.strip()
        return bare.startswith(self._fence) and not bare.strip(self._fence[0])

    def _code_line(self, line: str) -> None:
        assert self._code is not None
        if self._closes(line):
            self.done.append(self._piece(self._code, closes=True))
            self._code, self._size = None, 0
            return
        full = len(self._code) >= CODE_LINES or self._size > CODE_UNITS
        if full:
            self.done.append(self._piece(self._code, closes=False))
            self._code, self._opened, self._size = [], True, 0
        self._code.append(line)
        self._size += len(line) + 1

    def _piece(self, lines: list[str], *, closes: bool) -> Segment:
        cut = self._indent
        body = [line[cut:] if not line[:cut].strip() else line for line in lines]
        return Segment("\n".join(body), True, self._language, not self._opened, closes)


def segments(text: str) -> list[Segment]:
    """All pieces of a whole text."""
    splitter = Splitter()
    splitter.feed(text)
    return splitter.end()


def code_segments(text: str, language: str = "") -> list[Segment]:
    """A text that is code as a whole, in pieces."""
    lines = text.split("\n")
    found: list[Segment] = []
    start, size = 0, 0
    for at, line in enumerate(lines):
        size += len(line)
        if at + 1 == len(lines) or at + 1 - start >= CODE_LINES or size > CODE_UNITS:
            piece = "\n".join(lines[start : at + 1])
            found.append(Segment(piece, True, language, start == 0, at + 1 == len(lines)))
            start, size = at + 1, 0
    return found


MOST_SHOWN = 200_000
"""Characters of one text that are shown; the rest is read in the inspector."""


def piece_part(
    key: str, piece: Segment, role: Role | None = None, *, inset: bool = False, user: bool = False
) -> ItemPart:
    """A piece of Markdown."""
    if not piece.is_code:
        return Prose(key=key, role=role, text=piece.text, inset=inset, by_user=user)
    return Code(
        key=key, role=role, text=piece.text, language=piece.language, inset=inset, by_user=user,
        opens=piece.opens, closes=piece.closes,
    )  # fmt: skip


def text_parts(
    key: str, text: str, role: Role | None = None, *, inset: bool = False, user: bool = False
) -> list[ItemPart]:
    """Text of a person or a model, in pieces; the role stands at the first."""
    shown = text.strip("\n")
    found = [
        piece_part(f"{key}.{at}", piece, None if at else role, inset=inset, user=user)
        for at, piece in enumerate(segments(shown[:MOST_SHOWN]))
    ]
    return found + rest_parts(f"{key}.more", shown, goes_to=0, inset=inset)


def plain_parts(key: str, text: str, *, path: str = "", language: str = "") -> list[ItemPart]:
    """A file or an output in the fixed font, in pieces, below the row that opened it."""
    return [
        Code(
            key=f"{key}.{at}", text=piece.text, language=language, path=path, inset=True,
            opens=piece.opens, closes=piece.closes, fenced=False, coloured=bool(path or language),
        )
        for at, piece in enumerate(code_segments(text[:MOST_SHOWN], language))
    ]  # fmt: skip


def rest_parts(key: str, text: str, goes_to: int, *, inset: bool = True) -> list[ItemPart]:
    """A row for what is not shown of a text; ``goes_to``: the entry to show, 0 for the item's."""
    rest = len(text) - MOST_SHOWN
    words = f"{size(rest)} more: shown whole in the inspector"
    row = Row(key=key, text=words, tint="accent", goes_to=goes_to, inset=inset)
    return [row] if rest > 0 else []
