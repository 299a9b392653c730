"""Reads a marked text into entries and the facts planted in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from explorer.facts import FactKind
from explorer.session.entries import AssistantMessage, Entry, ToolCallBlock
from tests.audit.texts import assistant, result, user

_HERE = Path(__file__).parent
_HEAD = re.compile(r"^\[(user|assistant|result|error|call [\w-]+)\]\n", re.MULTILINE)
_MARK = re.compile(r"«([a-z]+)(~?)\||»")
_ARGUMENT = re.compile(r"^(\w+): ", re.MULTILINE)


@dataclass(frozen=True)
class Planted:
    """One marked fact; offsets in characters of its block or argument."""

    kind: FactKind
    text: str
    entry: int
    block: int
    argument: str
    start: int
    end: int
    stale: bool


@dataclass(frozen=True)
class MarkedSession:
    """A text as entries, with what is planted in them."""

    name: str
    entries: tuple[Entry, ...]
    planted: tuple[Planted, ...]


def read_set(name: str) -> list[MarkedSession]:
    """The sessions of ``tuning``, ``held_out`` or ``unseen``."""
    return [read(path) for path in sorted((_HERE / name).glob("*.txt"))]


def read(path: Path) -> MarkedSession:
    """One marked text."""
    parts = _HEAD.split(path.read_text("utf-8"))[1:]
    entries: list[Entry] = []
    planted: list[Planted] = []
    for head, raw in zip(parts[::2], parts[1::2], strict=True):
        if head.startswith("call "):
            _add_call(head[5:], raw.strip("\n"), entries, planted)
            continue
        text, found = _unmarked(raw.strip("\n"), len(entries), 0, "")
        planted += found
        if head in ("result", "error"):
            entries.append(result(text, error=head == "error"))
        else:
            entries.append(user(text) if head == "user" else assistant(text))
    return MarkedSession(path.stem, tuple(entries), tuple(planted))


def _add_call(name: str, raw: str, entries: list[Entry], planted: list[Planted]) -> None:
    """A call is a block of the reply before it, or a reply of its own."""
    if not entries or not isinstance(entries[-1].body, AssistantMessage):
        entries.append(Entry.of(AssistantMessage(())))
    content = entries[-1].content
    arguments: dict[str, str] = {}
    pieces = _ARGUMENT.split(raw)[1:]
    for key, value in zip(pieces[::2], pieces[1::2], strict=True):
        text, found = _unmarked(value.strip("\n"), len(entries) - 1, len(content), key)
        arguments[key] = text
        planted += found
    made = ToolCallBlock(f"c{len(entries)}", name, arguments)
    entries[-1] = Entry.of(AssistantMessage((*content, made)))


def _unmarked(raw: str, entry: int, block: int, argument: str) -> tuple[str, list[Planted]]:
    out: list[str] = []
    length = 0
    at = 0
    opened: list[tuple[FactKind, bool, int]] = []
    found: list[tuple[FactKind, bool, int, int]] = []
    for mark in _MARK.finditer(raw):
        out.append(raw[at : mark.start()])
        length += mark.start() - at
        at = mark.end()
        if mark.group(1):
            opened.append((FactKind(mark.group(1)), bool(mark.group(2)), length))
        else:
            found.append((*opened.pop(), length))
    text = "".join(out) + raw[at:]
    if opened:
        raise ValueError(f"a mark is not closed: {raw[:80]!r}")
    return text, [
        Planted(kind, text[start:end], entry, block, argument, start, end, stale)
        for kind, stale, start, end in found
    ]
