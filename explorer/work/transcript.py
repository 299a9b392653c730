"""The whole conversation as a file that a summary points to (A51).

The file holds the active path up to where it was written, entry by entry, as text with line
numbers that a tool can read parts of. It is written whole or not at all, beside the database.
"""

from __future__ import annotations

import glob
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer import paths, private_files
from explorer.compaction.wording import fill
from explorer.session.text import blocks_of, well_formed
from explorer.session.tree import SessionTree

if TYPE_CHECKING:  # see explorer.work.appending
    from explorer.session.payloads import Payloads
    from explorer.work.document import Document

FOLDER = "transcripts"
READ_TOOL = "read"
_AT_ONCE = 256
_UNSAFE = re.compile(r"[^\w.-]+")
_BETWEEN = "~"
"""Stands in no name, so that no session's files can be taken for another's."""
_OWN_FIELDS = ("summary", "command", "code", "output")


@dataclass(frozen=True, slots=True)
class Transcript:
    """A transcript that was written."""

    path: Path
    lines: int


class Transcripts:
    """The transcripts of one session. Blocks; meant for a worker thread."""

    def __init__(self, database: Path, session_id: str) -> None:
        self.folder = database.resolve().parent / FOLDER
        self._name = _UNSAFE.sub("-", session_id)[:80] or "session"

    def place(self, tree: SessionTree, leaf: int) -> Path:
        """The file of the branch that a leaf is on.

        One file per branch: a longer path of the same branch takes its place, and what an earlier
        summary says of the earlier lines stays true; another branch has a file of its own.
        """
        path = tree.path(leaf)
        start = 0
        for part in reversed(path.ranges):
            forked = [at for at in part if len(tree.children(tree.columns.parent[at])) > 1]
            if forked:
                start = path.position(forked[-1])
                break
        first = tree.columns.ids[path[start]] if len(path) else "empty"
        return self.folder / f"{self._name}{_BETWEEN}{_UNSAFE.sub('-', first)[:40]}.txt"

    def write(self, tree: SessionTree, payloads: Payloads, leaf: int) -> Transcript:
        """Write the path to ``leaf``. Raises OSError, and then the old file is as it was."""
        place = self.place(tree, leaf)
        paths.ensure(self.folder)
        lines = 0
        with private_files.replacement(place) as file:
            for line in _lines(tree, payloads, leaf):
                file.write(f"{line}\n".encode())
                lines += 1
        return Transcript(place, lines)

    def is_own(self, path: Path) -> bool:
        """Whether a resolved path is a transcript of this session: the one thing outside a
        workspace that the agent may read."""
        name = path.name
        return (
            path.parent == self.folder
            and name.startswith(f"{self._name}{_BETWEEN}")
            and name.endswith(".txt")
            and path.is_file()
        )

    def remove(self) -> None:
        """Delete them all. Raises OSError for one that cannot be."""
        for path in self.folder.glob(f"{glob.escape(self._name)}{_BETWEEN}*.txt"):
            path.unlink(missing_ok=True)


def transcripts_of(document: Document) -> Transcripts:
    """The transcripts of an opened session."""
    return Transcripts(document.store.path, document.header.session_id)


def with_breadcrumb(summary: str, transcript: Transcript, words: str) -> str:
    """A summary, and where to read what it leaves out. Said once, when the summary is made, so
    that a cache that holds the summary keeps holding it."""
    path = str(transcript.path)
    example = f"{READ_TOOL}({json.dumps({'path': path, 'offset': 1, 'limit': 200})})"
    told = fill(
        words,
        {"path": path, "lines": f"{transcript.lines}", "tool": READ_TOOL, "example": example},
    )
    return f"{summary}\n\n{told}"


def _lines(tree: SessionTree, payloads: Payloads, leaf: int) -> Iterator[str]:
    entries = tree.path(leaf).indices()
    for start in range(0, len(entries), _AT_ONCE):
        part = entries[start : start + _AT_ONCE]
        for at, entry in zip(part, payloads.entries(part), strict=True):
            for text in _told(at, tree.columns.time[at], entry):
                # One line end only: what counts lines counts these.
                yield from (well_formed(line) for line in text.split("\n"))


def _told(at: int, time_ms: float, entry: Mapping[str, Any]) -> Iterator[str]:
    """An entry in blocks of text, the first of them its heading."""
    message = entry.get("message")
    source: Mapping[str, Any] = message if isinstance(message, dict) else entry
    who = str(source.get("role") or entry.get("type", "entry"))
    name = source.get("toolName")
    title = f"{who} {name}" if isinstance(name, str) else who
    yield f"=== #{at} {title}, {_when(time_ms)}"
    for key in _OWN_FIELDS:
        if isinstance(source.get(key), str) and source[key]:
            yield _plain(f"{key}: {source[key]}")
    for block in blocks_of(source.get("content")):
        if told := _block(block):
            yield _plain(told)


def _block(block: Mapping[str, Any]) -> str:
    kind = block.get("type")
    if kind == "text" or kind == "thinking":
        text = block.get(kind)
        said = text if isinstance(text, str) else ""
        return f"[thinking] {said}" if kind == "thinking" and said else said
    if kind == "toolCall":
        arguments = json.dumps(block.get("arguments"), ensure_ascii=False)
        return f"[calls {block.get('name')}] {arguments}"
    return f"[{kind}]" if kind else ""


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _when(time_ms: float) -> str:
    try:
        return datetime.fromtimestamp(time_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, OSError, ValueError):
        return "at an unknown time"
