"""Short sessions with a summary, in which everything that the audit should find is marked.

A text is a session: ``[user]``, ``[assistant]``, ``[call NAME]``, ``[result]``, ``[error]`` and a
last ``[summary]`` of all before it. Marks: ``«lost|a standing instruction that it lacks»``,
``«not|what only looks like one: reworded, superseded, done»``, ``«open|open work that it does not
name»``, and in the summary ``«wrong|what it states otherwise than the record»``. What is not marked
must not be reported.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from explorer.audit.fidelity import fidelity
from explorer.audit.findings import Finding, Group
from explorer.facts import scan
from explorer.session.entries import AssistantMessage, Entry, ToolCallBlock
from tests.audit.texts import assistant, result, user

_HERE = Path(__file__).parent
_HEAD = re.compile(r"^\[(user|assistant|result|error|summary|call \w+)\]\n", re.MULTILINE)
_MARK = re.compile(r"«(\w+)\|(.*?)»", re.DOTALL)
_ARGUMENT = re.compile(r"^(\w+): (.*)$", re.MULTILINE)
_CHANGES = frozenset({"write", "edit"})
_KINDS = {Group.INSTRUCTION: "lost", Group.STATE: "open", Group.WRONG: "wrong"}


@dataclass(frozen=True)
class Mark:
    """Something marked. ``start``, ``end``: characters of the summary, where it stands there."""

    kind: str
    text: str
    entry: int
    start: int
    end: int


@dataclass(frozen=True)
class Planted:
    """A session with what is marked in it."""

    name: str
    entries: tuple[Entry, ...]
    summary: str
    marks: tuple[Mark, ...]
    changed: dict[str, list[int]]

    def findings(self) -> Sequence[Finding]:
        """What the audit reports of it."""
        at = range(len(self.entries))
        table = scan(at, lambda wanted: [self.entries[index] for index in wanted])
        return fidelity(self.summary, at, (), table, changed=self.changed).findings

    def mark_of(self, finding: Finding) -> Mark | None:
        """The mark that a finding is about; None where nothing of its kind is marked there."""
        kind = _KINDS[finding.group]
        for mark in self.marks:
            if mark.kind == kind and _is_at(finding, mark):
                return mark
        return None


def _is_at(finding: Finding, mark: Mark) -> bool:
    if mark.kind == "wrong":
        return any(
            place.start < mark.end and mark.start < place.end and _wrong_words(finding) in mark.text
            for place in finding.places
        )
    text = finding.fact.text
    same = mark.text in text or text in mark.text
    return mark.entry in finding.fact.sources and same


def _wrong_words(finding: Finding) -> str:
    """What the reason quotes from the summary."""
    quoted = re.findall(r"“(.*?)”", finding.reason)
    return quoted[-1] if len(quoted) > 1 else ""


def read_set(name: str) -> list[Planted]:
    """The sessions of ``tuning`` or ``apart``."""
    return [_read(path) for path in sorted((_HERE / name).glob("*.txt"))]


def _read(path: Path) -> Planted:
    parts = _HEAD.split(path.read_text("utf-8"))[1:]
    entries: list[Entry] = []
    marks: list[Mark] = []
    changed: dict[str, list[int]] = {}
    summary = ""
    for head, raw in zip(parts[::2], parts[1::2], strict=True):
        is_call = head.startswith("call ")
        starts = not is_call or not isinstance(entries[-1].body, AssistantMessage)
        text, found = _unmarked(raw.strip("\n"), len(entries) - (not starts))
        marks += found
        if head == "summary":
            summary = text
        elif is_call:
            call = ToolCallBlock(f"c{len(entries)}", head[5:], dict(_ARGUMENT.findall(text)))
            content = () if starts else entries.pop().content
            entries.append(Entry.of(AssistantMessage((*content, call))))
            if call.name in _CHANGES:
                changed.setdefault(call.arguments["path"], []).append(len(entries) - 1)
        elif head in ("result", "error"):
            entries.append(result(text, error=head == "error"))
        else:
            entries.append(user(text) if head == "user" else assistant(text))
    return Planted(path.stem, tuple(entries), summary, tuple(marks), changed)


def _unmarked(raw: str, entry: int) -> tuple[str, list[Mark]]:
    """A text without marks, and they."""
    text, marks, at = "", [], 0
    for found in _MARK.finditer(raw):
        text += raw[at : found.start()]
        marks.append(Mark(found[1], found[2], entry, len(text), len(text) + len(found[2])))
        text, at = text + found[2], found.end()
    return text + raw[at:], marks
