"""A summary mended by rules: what it lost is put under its heading, a wrong value is put right."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from explorer.models.offline.extractive.sections import SectionSubject, meaning
from explorer.models.request import ModelRequest
from explorer.tokens.estimate import estimate_text

_SUMMARY = re.compile(r"<summary>\n?(.*?)\n?</summary>\s*(?=.*<findings>)", re.DOTALL)
_FINDINGS = re.compile(r"<findings>\n?(.*?)\n?</findings>", re.DOTALL)
_FINDING = re.compile(r"^\d+\. \[([\w -]+)\] (lost|changed|overruled|without a source): (.*)$")
_PLAIN = re.compile(r"^[\s|>*-]+(?=\S)|[\s|]+$")
_CUT = "…"
_STATED = "   summary: "
_RECORD = re.compile(r"^   record #\d+: (.*)$")
_MARKED = re.compile(r"^ {0,3}(?:#{1,6}[ \t]+(.+)|\*\*([^*]+)\*\*:?[ \t]*$)")
_NUMBERED = re.compile(r"^ {0,3}\**\d{1,2}[.)][ \t]+\**([A-Z][^\n:*]{2,60})\**:")
_NONE = re.compile(r"^\s*(?:[-*]\s*)?\W*\(?none\)?\W*$", re.IGNORECASE)

_ITS_PLACES: dict[str, tuple[SectionSubject, ...]] = {
    "constraint": (SectionSubject.CONSTRAINTS, SectionSubject.GOAL),
    "decision": (SectionSubject.DECISIONS,),
    "request": (SectionSubject.GOAL, SectionSubject.NEXT),
    "question": (SectionSubject.BLOCKED, SectionSubject.NEXT),
    "todo": (SectionSubject.NEXT, SectionSubject.DOING),
    "error": (SectionSubject.BLOCKED, SectionSubject.FACTS),
    "command": (SectionSubject.FACTS, SectionSubject.RECENT, SectionSubject.DONE),
    "path": (SectionSubject.FILES, SectionSubject.FACTS, SectionSubject.DONE),
}
_OTHERWISE = (
    SectionSubject.FACTS,
    SectionSubject.NOTES,
    SectionSubject.PROGRESS,
    SectionSubject.DONE,
    SectionSubject.GOAL,
)


class _Found(Struct):
    kind: str
    lacking: str
    text: str
    stated: str = ""
    line: str = ""


def is_mending(request: ModelRequest) -> bool:
    """Whether a request asks for a finished summary to be mended."""
    text = request.messages[-1].text if request.messages else ""
    return "<findings>" in text and _SUMMARY.search(text) is not None


def mend(request: ModelRequest) -> str:
    """The summary with what was found put right, as far as there is room; the gravest come first
    in the list."""
    text = next((m.text for m in request.messages if "<findings>" in m.text), "")
    summary, listed = _SUMMARY.search(text), _FINDINGS.search(text)
    if summary is None or listed is None:
        return ""
    budget = request.max_output_tokens
    body = summary.group(1)
    for found in _read(listed.group(1)):
        changed = _put_right(body, found)
        if budget is None or estimate_text(changed) <= budget:
            body = changed
    return body


def _read(listed: str) -> list[_Found]:
    found: list[_Found] = []
    for line in listed.split("\n"):
        if match := _FINDING.match(line):
            found.append(_Found(match.group(1), match.group(2), match.group(3)))
        elif found and line.startswith(_STATED):
            found[-1].stated = line[len(_STATED) :]
        elif found and (match := _RECORD.match(line)):
            found[-1].line = match.group(1)
    return found


def _put_right(body: str, found: _Found) -> str:
    if found.text.endswith(_CUT):
        return body  # what is cut off cannot be copied
    if found.lacking == "lost":
        return body if found.text in body else _added(body, found)
    known = found.lacking in ("changed", "overruled") and found.stated and found.text
    # Of a text that occurs twice it is not known which one is wrong.
    if known and body.count(found.stated) == 1:
        return body.replace(found.stated, found.text)
    return body


def _added(body: str, found: _Found) -> str:
    """The body with a line for what was lost, at the end of the section that it belongs to."""
    lines = body.split("\n")
    at = _place(lines, found.kind)
    # Half a line would name things that are not there.
    whole = found.text in found.line and not found.line.startswith(_CUT)
    line = found.line if whole and not found.line.endswith(_CUT) else found.text
    new = f"- {_PLAIN.sub('', line)}"
    if at is None:
        return f"{body.rstrip()}\n\n{new}"
    end = _end_of(lines, at)
    last = end - 1
    while last > at and not lines[last].strip():
        last -= 1
    if last > at and _NONE.match(lines[last]):
        lines[last] = new
    else:
        lines.insert(last + 1, new)
    return "\n".join(lines)


def _place(lines: Sequence[str], kind: str) -> int | None:
    """The line of the heading under which a kind belongs."""
    numbered = _is_numbered(lines)
    headings: dict[SectionSubject, int] = {}
    for number, line in enumerate(lines):
        if words := _heading(line, numbered):
            following = next((each for each in lines[number + 1 :] if each.strip()), "")
            parent = line.startswith("## ") and following.startswith("### ")
            headings.setdefault(meaning(words, parent=parent), number)
    for section in (*_ITS_PLACES.get(kind, ()), *_OTHERWISE):
        if section in headings:
            return headings[section]
    return None


def _end_of(lines: Sequence[str], heading: int) -> int:
    """The line after a section, where the next heading or a rule stands."""
    numbered = _is_numbered(lines)
    for number in range(heading + 1, len(lines)):
        if _heading(lines[number], numbered) or lines[number].strip() == "---":
            return number
    return len(lines)


def _is_numbered(lines: Sequence[str]) -> bool:
    """Whether numbers open the sections; where other headings do, they open items of lists."""
    return not any(_MARKED.match(line) for line in lines)


def _heading(line: str, numbered: bool) -> str:
    """The words of a heading; empty for a line that is none."""
    match = (_NUMBERED if numbered else _MARKED).match(line)
    return "" if match is None else next(words for words in match.groups() if words).strip(" *:")
