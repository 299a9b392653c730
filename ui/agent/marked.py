"""The little Markdown that the conversation shows: code, bold, headings, list points.

Only characters are styled. Nothing of a text is ever taken for HTML, a link or an image.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+")
_POINT = re.compile(r"(\s*)[-*+]\s+(?=\S)")
_INLINE = re.compile(r"(?P<tick>`+)(?P<code>[^`].*?)(?P=tick)(?!`)|\*\*(?P<bold>\S(?:.*?\S)?)\*\*")


class Style(IntEnum):
    """How a run of characters looks."""

    PLAIN = 0
    BOLD = 1
    CODE = 2
    BLOCK = 3
    """A line of a code block."""


@dataclass(frozen=True, slots=True)
class Run:
    """Characters of one style; line breaks are among them."""

    text: str
    style: Style = Style.PLAIN


def runs(text: str) -> list[Run]:
    """A text in runs. A code block that is not closed goes on to the end."""
    found: list[Run] = []
    fence = ""
    # Not splitlines: it takes more for an end of line than Markdown does.
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
            else:
                found += [Run(line, Style.BLOCK), Run("\n")]
        elif mark:
            fence = mark[1]
        else:
            found += [*_line(line), Run("\n")]
    while found and found[-1].text == "\n":
        found.pop()
    return [run for run in found if run.text]


def _line(line: str) -> list[Run]:
    if heading := _HEADING.match(line):
        return [Run(line[heading.end() :].rstrip("# "), Style.BOLD)]
    found: list[Run] = []
    at = 0
    if point := _POINT.match(line):
        found.append(Run(f"{point[1]}• "))
        at = point.end()
    for part in _INLINE.finditer(line, at):
        found.append(Run(line[at : part.start()]))
        code = part["code"]
        found.append(Run(code.strip(), Style.CODE) if code else Run(part["bold"], Style.BOLD))
        at = part.end()
    found.append(Run(line[at:]))
    return found
