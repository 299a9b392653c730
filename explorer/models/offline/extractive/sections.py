"""The sections that a prompt asks for, and those of an earlier summary (A23, A24, A26, A27)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from explorer.facts.errors import is_failure
from explorer.facts.summary_notes import NOT_FOLLOWED
from explorer.models.offline.extractive.items import ItemKind

_HEADING = re.compile(r"^[ \t]{0,3}(#{1,4})[ \t]+([^\n#].*?)[ \t]*#*[ \t]*$", re.MULTILINE)
_NUMBERED = re.compile(r"^[ \t]*(\d{1,2})\.[ \t]+\**([A-Z][^\n:*]{2,60}?)\**[ \t]*:", re.MULTILINE)
_SHORT = re.compile(
    r"\b(?:\d|one|two|three|a\s+few|couple)(?:\s*(?:-|–|to|or)\s*(?:\d|two|three|four))?\s+"
    r"(?:short\s+|brief\s+|first-person\s+|plain\s+)*sentences?\b",
    re.IGNORECASE,
)


class SectionSubject(Enum):
    """What a heading asks for, whatever its words."""

    GOAL = "goal"
    CONSTRAINTS = "constraints"
    PROGRESS = "progress"
    DONE = "done"
    DOING = "doing"
    BLOCKED = "blocked"
    DECISIONS = "decisions"
    NEXT = "next"
    FACTS = "facts"
    FILES = "files"
    NOTES = "notes"
    TITLE = "title"
    RECENT = "recent operations"


# The first pattern that fits decides; special words stand before general ones.
_MEANINGS: tuple[tuple[re.Pattern[str], SectionSubject], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), section)
    for pattern, section in (
        (
            r"next|remaining|to-?do|pending|continuation|follow|open (?:task|work)",
            SectionSubject.NEXT,
        ),
        (r"in[- ]progress|ongoing|current (?:work|state|task)|active work", SectionSubject.DOING),
        (r"recent (?:operations?|actions?|commands?)|last operations?", SectionSubject.RECENT),
        (r"code ?base|state of the code", SectionSubject.FILES),
        (r"early progress|progress so far|errors? and fix", SectionSubject.PROGRESS),
        (r"block|problem|issue|error|obstacle|failure|open question", SectionSubject.BLOCKED),
        (
            r"suffix|context for|critical|essential|key (?:context|fact|detail)",
            SectionSubject.FACTS,
        ),
        (r"decision|choice|rationale|approach|why", SectionSubject.DECISIONS),
        (
            r"constraint|preference|requirement|rule|guideline|instruction",
            SectionSubject.CONSTRAINTS,
        ),
        (r"\bdone\b|complet|accomplish|finished|achiev|work performed", SectionSubject.DONE),
        (r"progress|status|history", SectionSubject.PROGRESS),
        (
            r"goal|objective|intent|request|task|purpose|overview|asked|aim|prompt",
            SectionSubject.GOAL,
        ),
        (r"file|code|artifact|artefact", SectionSubject.FILES),
        (r"note|additional|misc|other|remark", SectionSubject.NOTES),
        (
            r"context|fact|detail|information|technical|knowledge|reference|learn",
            SectionSubject.FACTS,
        ),
    )
)
_DEFAULT = """
## Goal
## Constraints & Preferences
## Progress
### Done
### In Progress
### Blocked
## Key Decisions
## Next Steps
## Critical Context
"""


class SectionHeading(Struct, frozen=True):
    """A heading to write: its words, its level, what belongs under it.

    `number` is set for a numbered section; 0 is a Markdown heading.
    """

    words: str
    level: int
    section: SectionSubject
    number: int = 0

    @property
    def line(self) -> str:
        """The heading as it is written."""
        if self.number:
            return f"{self.number}. {self.words}:"
        return f"{'#' * self.level} {self.words}"


class Template(Struct, frozen=True):
    """The shape of the answer. `short` asks for a few sentences and no sections, `wrapped` for tags
    around the summary, `analysed` for a part before it that is thrown away."""

    headings: tuple[SectionHeading, ...]
    short: bool = False
    wrapped: bool = False
    analysed: bool = False
    is_default: bool = False
    """The instructions name no sections: these are the usual ones."""


def read_template(instructions: str) -> Template:
    """The sections that the instructions name, in their order, each once (E20)."""
    found = [(len(m.group(1)), m.group(2)) for m in _HEADING.finditer(instructions)]
    headings: list[SectionHeading] = []
    seen: set[str] = set()
    for index, (level, words) in enumerate(found):
        clean = words.strip(" :*_`")
        if clean.lower() in seen or len(clean) > 80:
            continue
        seen.add(clean.lower())
        parent = index + 1 < len(found) and found[index + 1][0] > level
        headings.append(SectionHeading(clean, level, meaning(clean, parent=parent)))
    wrapped = "<summary>" in instructions
    if not headings:
        numbered = _numbered(instructions)
        if len(numbered) >= 3:
            return Template(numbered, wrapped=wrapped, analysed="<analysis>" in instructions)
        if _SHORT.search(instructions):
            return Template((), short=True)
    if len(headings) < 2:
        return replace(read_template(_DEFAULT), wrapped=wrapped, is_default=True)
    return Template(tuple(headings), wrapped=wrapped)


def _numbered(instructions: str) -> tuple[SectionHeading, ...]:
    headings: dict[str, SectionHeading] = {}
    for match in _NUMBERED.finditer(instructions):
        words = match.group(2).strip(" :*_[]")
        number = len(headings) + 1
        if words.lower() not in headings and int(match.group(1)) == number:
            headings[words.lower()] = SectionHeading(words, 2, meaning(words, parent=False), number)
    return tuple(headings.values())


def instructions_not_followed(summary: str) -> tuple[str, ...]:
    """What of the instructions a summary says that it does not follow."""
    marked = f"- {NOT_FOLLOWED}: “"
    lines = [line for line in summary.splitlines() if line.startswith(marked)]
    quoted = [line.removeprefix(marked).removesuffix("”").split(QUOTED_NEXT) for line in lines]
    return tuple(dict.fromkeys(part for parts in quoted for part in parts))


def meaning(words: str, *, parent: bool) -> SectionSubject:
    """What a heading asks for; one with headings beneath it is only a title."""
    return SectionSubject.TITLE if parent else (named_subject(words) or SectionSubject.NOTES)


def named_subject(words: str) -> SectionSubject | None:
    """What the words of a heading name; None for words that name no section."""
    return next((section for form, section in _MEANINGS if form.search(words)), None)


QUOTED_NEXT = "”, “"
"""Between two parts of an instruction that are quoted."""
ANSWER_TO = "in answer to: "
RAN = "Commands (results not shown)"
LISTED = (ItemKind.FILE, ItemKind.CHANGE, ItemKind.COMMAND)
"""Kinds of which several stand on one line."""
LABELS: Mapping[ItemKind, str] = {
    ItemKind.LATEST: "Latest request",
    ItemKind.REQUEST: "Asked",
    ItemKind.ERROR: "Error",
    ItemKind.DOING: "In progress",
    ItemKind.BLOCKED: "Blocked",
    ItemKind.FACT: "Fact",
    ItemKind.FILE: "Files",
    ItemKind.CHANGE: "Files changed",
    ItemKind.COMMAND: "Commands",
}
"""What stands before an item whose kind its section does not name."""
KINDS_OF_LABELS: Mapping[str, ItemKind] = {
    **{label: kind for kind, label in LABELS.items()},
    RAN: ItemKind.COMMAND,
    "Done": ItemKind.DONE,
}


def list_parts(line: str) -> list[str]:
    """The parts of a list written by `list_line`."""
    parts: list[str] = []
    for match in re.finditer(r"(`+)(.+?)\1(?:,|$)|([^,`]+)(?:,|$)", line):
        part = (match.group(2) or match.group(3) or "").strip()
        if part:
            parts.append(part)
    return parts


_TERMINAL = re.compile(r"\x1b?\[\d{1,3}(?:;\d{1,3})*m(?!\])|^- ")
"""A terminal's colours, and the mark of an item that is one already."""


def item_line(kind: ItemKind, text: str, label: str | None = None) -> str:
    """An item as a single line; `label` is None for the usual one of its kind."""
    if label is None:
        label = "" if kind is ItemKind.ERROR and is_failure(text) else LABELS.get(kind, "")
    text = _TERMINAL.sub("", text)
    return f"- {label}: {text}" if label else f"- {text}"


def list_line(label: str, parts: list[str]) -> str:
    """Several exact things on one line; those with blanks or commas stand in backticks."""
    return f"- {label}: " + ", ".join(list_part(part) for part in parts)


def list_part(part: str) -> str:
    """One exact thing as it stands in a list."""
    if "`" in part:
        return f"``{part}``"
    return f"`{part}`" if re.search(r"[\s,]", part) else part
