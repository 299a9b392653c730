"""Finding session files where the agents keep them, by looking at their first lines only."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from explorer.formats import omp, pi
from explorer.formats.jsonl import BYTE_ORDER_MARK, BadLine, is_blank, parse
from explorer.session.records import FormatName, SessionHeader

HOMES: tuple[tuple[FormatName, str], ...] = (
    ("pi", ".pi/agent/sessions"),
    ("omp", ".omp/agent/sessions"),
)
"""Below the person's home, one directory per working directory. pi names it ``--cwd--``;
oh-my-pi has had that, a name relative to the home (``-project``) or to the directory for
temporary files (``-tmp-project``), and hashed ones, and keeps the sessions of subagents deeper
below. So every ``.jsonl`` below is looked at, and the working directory is read from the file."""

_HEAD_BYTES = 16 << 10
_HEAD_LINES = 4


class FoundSession(NamedTuple):
    """A session file as far as its first lines tell."""

    path: Path
    format: FormatName
    cwd: str
    """Working directory; empty when the header does not say or is damaged."""
    size: int
    """Bytes."""
    modified_ms: float
    """Milliseconds since 1970."""
    header: SessionHeader | None
    """None when the first lines hold no header; the file may open nevertheless."""


def discover(home: Path) -> Iterator[FoundSession]:
    """The session files of pi and oh-my-pi below a person's home, newest first within each.

    What cannot be read (permissions, a file that vanished meanwhile) is passed over: the person
    did not ask for it by name.
    """
    for format_name, place in HOMES:
        found = [look_at(path, format_name) for path in _session_files(home / place)]
        yield from sorted(
            (one for one in found if one is not None), key=lambda one: -one.modified_ms
        )


def look_at(path: Path, format_name: FormatName) -> FoundSession | None:
    """What the first lines of a file say; None when it cannot be read, is empty or is no file:
    opening a pipe would wait for who writes to it."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            head = file.read(_HEAD_BYTES)
    except OSError:
        return None
    if not head:
        return None
    header = _header_of(head, format_name)
    return FoundSession(
        path,
        format_name,
        header.cwd if header is not None else "",
        status.st_size,
        status.st_mtime_ns / 1e6,
        header,
    )


def _session_files(root: Path) -> Iterator[Path]:
    for directory, subdirectories, names in os.walk(root):
        subdirectories.sort()
        for name in sorted(names):
            if name.endswith(".jsonl"):
                yield Path(directory, name)


def _header_of(head: bytes, format_name: FormatName) -> SessionHeader | None:
    title = ""
    for line in head.removeprefix(BYTE_ORDER_MARK).split(b"\n")[:_HEAD_LINES]:
        if is_blank(line):
            continue
        try:
            value = parse(line)
        except BadLine:
            continue
        if omp.is_title_slot(value):
            title = value["title"] if isinstance(value.get("title"), str) else ""
        elif pi.is_header(value):
            version = value.get("version")
            known = version if isinstance(version, int) and not isinstance(version, bool) else 1
            header = pi.read_header(value, line.decode(), format_name, known)
            return replace(header, title=title) if title else header
    return None
