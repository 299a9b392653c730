"""A summary in its sections: Markdown's headings, bold lines, numbered ones, lists of files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

BEFORE = "Before the first heading"
"""What the text is called that stands before any heading."""

_MARKDOWN = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$")
_BOLD = re.compile(r"^ {0,3}\*\*([^*\n]{2,80}?):?\*\*[ \t]*:?[ \t]*$")
_NUMBERED = re.compile(
    r"^ {0,3}(?:\*\*)?\d{1,2}[.)][ \t]*(?:\*\*)?([A-Z][^:*\n]{2,60}?)(?::\*\*|\*\*:?|:)[ \t]*$"
)
_OPEN = re.compile(r"^ {0,3}<([a-z][a-z-]*files)>[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(```|~~~)")
_RULE = re.compile(r"^ {0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*$")
_NUMBER = re.compile(r"^\d{1,2}[.)][ \t]*")
_LETTERS = re.compile(r"[^\w]+", re.UNICODE)
_BOLD_LEVEL = 7


class SummarySection(Struct, frozen=True):
    """A stretch of a summary below one heading. Offsets are characters of the summary."""

    title: str
    """The heading without its marks, behind those that it stands under; ``BEFORE`` of what stands
    before any."""
    path: str
    """The headings that it stands under and its own, evened out: equal where two summaries mean
    the same section."""
    level: int
    """1 to 6 as Markdown counts, 7 for a bold line (1 below a rule), 0 before any heading."""
    start: int
    """Where its heading begins."""
    body: int
    """Where its text begins."""
    end: int
    text: str
    """The text below the heading, without blank lines and rules around it."""

    @property
    def key(self) -> str:
        """The heading alone, evened out."""
        return self.path.rpartition("/")[2]


def title_key(title: str) -> str:
    """A heading without case, numbers, marks and the word "and"."""
    words = _LETTERS.sub(" ", _NUMBER.sub("", title.replace("&amp;", " "))).lower().split()
    return " ".join(word for word in words if word != "and")


def sections_of(text: str) -> tuple[SummarySection, ...]:
    """The sections of a summary in order; one without a heading where it has none.

    A heading over other headings and without text is no section.
    """
    found: list[SummarySection] = []
    above: list[tuple[int, str, str]] = []
    title, path, level, start, body = BEFORE, "", 0, 0, 0
    for at, after, heading_level, heading_title in (
        *_headings(text),
        (len(text), len(text), -1, ""),
    ):
        section = SummarySection(title, path, level, start, body, at, _bare(text[body:at]))
        if section.text or (level and heading_level <= level):
            found.append(section)
        if heading_level < 0:
            break
        while above and above[-1][0] >= heading_level:
            above.pop()
        above.append((heading_level, title_key(heading_title), heading_title))
        title = " › ".join(words for _, _, words in above)
        path = "/".join(name for _, name, _ in above)
        level, start, body = heading_level, at, after
    return tuple(found)


def _headings(text: str) -> Iterator[tuple[int, int, int, str]]:
    """Where a heading begins and ends, its level and its words."""
    numbered = re.search(r"^ {0,3}#{1,6}[ \t]", text, re.MULTILINE) is None
    fence, at, below_rule = "", 0, False
    for line in text.splitlines(keepends=True):
        start, at = at, at + len(line)
        bare = line.rstrip("\r\n")
        if mark := _FENCE.match(bare):
            fence = "" if fence == mark.group(1) else fence or mark.group(1)
            continue
        if fence:
            continue
        if match := _MARKDOWN.match(bare):
            yield start, at, len(match.group(1)), _words(match.group(2))
        elif numbered and (match := _NUMBERED.match(bare)):
            yield start, at, 1, _words(match.group(1))
        elif match := _BOLD.match(bare):
            # Below a rule begins another part with separate headings: the split turn.
            yield start, at, 1 if below_rule else _BOLD_LEVEL, _words(match.group(1))
        elif match := _OPEN.match(bare):
            yield start, at, 1, match.group(1).replace("-", " ").capitalize()
        if bare.strip():
            below_rule = _RULE.match(bare) is not None


def _words(heading: str) -> str:
    return heading.strip().strip("*_ ").removesuffix(":").strip()


def _bare(text: str) -> str:
    lines = [
        line for line in text.splitlines() if not re.match(r"^ {0,3}</[a-z-]*files>[ \t]*$", line)
    ]
    while lines and (not lines[-1].strip() or _RULE.match(lines[-1])):
        lines.pop()
    while lines and (not lines[0].strip() or _RULE.match(lines[0])):
        lines.pop(0)
    return "\n".join(lines)
