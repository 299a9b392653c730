"""Markdown cut into pieces that are laid out one by one: paragraphs, lists, pieces of code.

A long text is never laid out as a whole, and of one that is still arriving only the last piece is
laid out anew. Code is cut too; its first piece opens the box and its last one closes it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Segment:
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
        """More of the text."""
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
        """Whether a line after an empty one begins a piece of its own."""
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
        inside = [line[cut:] if not line[:cut].strip() else line for line in lines]
        return Segment("\n".join(inside), True, self._language, not self._opened, closes)


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
