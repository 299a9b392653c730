"""Reads an earlier summary back into statements, so that it is updated and not quoted (A27)."""

from __future__ import annotations

import re

from explorer.models.offline.extractive.atoms import Atom, atoms_of
from explorer.models.offline.extractive.sentences import pieces_of
from explorer.models.offline.extractive.statement import Kind
from explorer.models.offline.extractive.template import Section, meaning

LATEST_LABEL = "Latest request"
ANSWER_TO = "in answer to: "
CHANGED_LABEL = "Files changed"
RAN_LABEL = "Commands (results not shown)"
LISTS = {
    "Files": Kind.FILE,
    CHANGED_LABEL: Kind.FILE,
    "Commands": Kind.COMMAND,
    RAN_LABEL: Kind.COMMAND,
    "Also mentioned": Kind.FACT,
}
ERROR_LABEL = "Error"
OUTPUT_LABEL = "Output"
ASKED_LABEL = "Asked"
FOUND_LABEL = "Found"
_LABELS = {
    ERROR_LABEL: Kind.ERROR,
    OUTPUT_LABEL: Kind.OUTPUT,
    ASKED_LABEL: Kind.REQUEST,
    FOUND_LABEL: Kind.FINDING,
}

_HEADING = re.compile(
    r"^\s{0,3}(?:(#{1,6})\s+(.+?)|\*\*([^*]+?)\*\*:?|(\d{1,2})\.\s+\**([A-Z][^:*\n]{2,60}?)\**:)\s*$"
)
_FILE_TAGS = re.compile(
    r"(?:<|&lt;)(read-files|modified-files)(?:>|&gt;)\n?(.*?)(?:<|&lt;)/\1(?:>|&gt;)", re.DOTALL
)
_EMPTY = re.compile(
    r"^\W*\(?(?:none(?: yet)?|n/?a|nothing(?: yet)?|empty|not applicable|tbd)\)?\W*$", re.IGNORECASE
)
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX~>-]\]\s+)?")
_STATE = re.compile(r"^(Done|In progress|Blocked):\s+", re.IGNORECASE)

_KINDS: dict[Section, Kind] = {
    Section.RECENT: Kind.DONE,
    Section.GOAL: Kind.GOAL,
    Section.CONSTRAINTS: Kind.CONSTRAINT,
    Section.PROGRESS: Kind.DONE,
    Section.DONE: Kind.DONE,
    Section.DOING: Kind.DOING,
    Section.BLOCKED: Kind.BLOCKED,
    Section.DECISIONS: Kind.DECISION,
    Section.NEXT: Kind.NEXT,
    Section.FACTS: Kind.FACT,
    Section.FILES: Kind.FACT,
    Section.NOTES: Kind.FACT,
    Section.TITLE: Kind.DONE,
}
_STATES = {"done": Kind.DONE, "in progress": Kind.DOING, "blocked": Kind.BLOCKED}


def summary_items(text: str) -> list[tuple[Kind, str]]:
    """The items of a summary with their kinds, in order. A latest request keeps its kind."""
    files = [path for tag in _FILE_TAGS.finditer(text) for path in tag.group(2).split("\n")]
    items: list[tuple[Kind, str]] = []
    section = Section.NOTES
    for raw in _FILE_TAGS.sub("", text).split("\n"):
        heading = _HEADING.match(raw)
        if heading:
            words = heading.group(2) or heading.group(3) or heading.group(5)
            section = meaning(words.strip(" :*_"), parent=False)
            continue
        line = _BULLET.sub("", raw).strip()
        if not line or _EMPTY.match(line) or set(line) <= set("-=*_ ") or line.startswith("```"):
            continue
        items.extend(_line_items(section, line))
    items.extend((Kind.FILE, path.strip()) for path in files if path.strip())
    return items


def _line_items(section: Section, line: str) -> list[tuple[Kind, str]]:
    label, colon, rest = line.partition(":")
    label = label.strip("*_ ")
    rest = rest.strip().removeprefix("**").strip()
    if colon and label == LATEST_LABEL:
        return [(Kind.LATEST, rest)]
    if colon and label in LISTS:
        return [(LISTS[label], part) for part in list_parts(rest)]
    if colon and label in _LABELS:
        return [(_LABELS[label], rest)]
    state = _STATE.match(line)
    if state:
        return [(_STATES[state.group(1).lower()], line[state.end() :])]
    return [(_KINDS[section], piece.text) for piece in pieces_of(line)]


def list_parts(line: str) -> list[str]:
    """The parts of a list written by `list_line`."""
    parts: list[str] = []
    for match in re.finditer(r"(`+)(.+?)\1(?:,|$)|([^,`]+)(?:,|$)", line):
        part = (match.group(2) or match.group(3) or "").strip()
        if part:
            parts.append(part)
    return parts


def list_line(label: str, parts: list[str]) -> str:
    """Several exact things on one line; those with blanks or commas stand in backticks."""
    return f"{label}: " + ", ".join(list_part(part) for part in parts)


def list_part(part: str) -> str:
    """One exact thing as it stands in a list."""
    if "`" in part:
        return f"``{part}``"
    return f"`{part}`" if re.search(r"[\s,]", part) else part


def atoms_of_item(kind: Kind, text: str) -> tuple[Atom, ...]:
    """The exact things of an item; an item of a list of commands is one command."""
    if kind is Kind.COMMAND:
        return (Atom("command", text, 0, len(text)),)
    return atoms_of(text)
