"""What a file is, from its first lines: pi or oh-my-pi, which version, where its header is; and
finding session files where the agents keep them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from explorer.formats.adapter import FormatError, FoundSession, read_head
from explorer.formats.jsonl import BYTE_ORDER_MARK, BadLine, is_blank, line_groups, parse
from explorer.formats.pi import omp
from explorer.formats.pi.header import ENTRY_TYPES, HEADER_TYPE, VERSION, is_header, read_header
from explorer.session.records import FormatName, Problem, SessionHeader

WINDOW_LINES = 2_000
"""Lines looked at; they are read in groups of about 1 MB, and one group is always looked at."""
HEADED_LINES = 200
"""Lines that are enough below a header: oh-my-pi says in its first ones which model it asks."""
_HIGHEST_VERSION = 10**6
"""A number above it is no version: the file is read as one that says none."""


class _Seen(Struct):
    """What the first lines say."""

    header_line: int = 0
    header: dict[str, Any] | None = None
    header_raw: bytes = b""
    title: str = ""
    first_entry: bytes = b""
    first_time: object = None
    entries: int = 0
    with_ids: int = 0
    omp_signs: int = 0
    first_bad: tuple[int, str] = (0, "")


class Sniffed(Struct, frozen=True):
    """How a file is to be read."""

    header: SessionHeader
    header_line: int
    """Line of the header, 0 when there is none."""
    linear: bool
    """Version 1: entries without ids, each below the one before."""
    problems: tuple[Problem, ...]


def sniff(path: Path, file: BinaryIO) -> Sniffed:
    """Look at the first lines of a file that stands at its start.

    Raises FormatError when nothing there is a session, OSError when it cannot be read.
    """
    seen = _Seen()
    number = 0
    for lines, _ in line_groups(file):
        for line in lines:
            number += 1
            _look(seen, number, line)
            if number >= HEADED_LINES and seen.header is not None:
                return _conclude(path, seen)
        if number >= WINDOW_LINES or seen.header is not None or seen.entries:
            break
    if number == 0:
        raise FormatError(str(path), 1, "the file is empty")
    if seen.header is None and not seen.entries:
        line_number, reason = seen.first_bad
        if not line_number:
            raise FormatError(str(path), 1, "the file holds only blank lines")
        raise FormatError(str(path), line_number, f"not a pi or oh-my-pi session: {reason}")
    return _conclude(path, seen)


def _look(seen: _Seen, number: int, line: bytes) -> None:
    if number == 1 and line.startswith(BYTE_ORDER_MARK):
        line = line[len(BYTE_ORDER_MARK) :]
    if is_blank(line):
        return
    try:
        value = parse(line)
    except BadLine as error:
        seen.first_bad = seen.first_bad if seen.first_bad[0] else (number, str(error))
        return
    reason = _look_at_value(seen, number, line, value)
    if reason and not seen.first_bad[0]:
        seen.first_bad = (number, reason)


def _look_at_value(seen: _Seen, number: int, line: bytes, value: object) -> str:
    """Takes note of a JSON value; returns why it is none of a session's, or an empty text."""
    if not isinstance(value, dict):
        return "the line is not a JSON object"
    kind = value.get("type")
    if not isinstance(kind, str):
        return "the object has no type"
    seen.omp_signs += omp.is_sign(value)
    if omp.is_title_slot(value):
        title = value.get("title")
        seen.title = title if isinstance(title, str) else ""
    elif kind == HEADER_TYPE:
        if seen.header is None:
            seen.header, seen.header_line, seen.header_raw = value, number, line
    elif _is_entry(value, kind):
        if not seen.entries:
            seen.first_entry, seen.first_time = line, value.get("timestamp")
        seen.entries += 1
        seen.with_ids += isinstance(value.get("id"), str)
    else:
        return f"the object's type is {kind[:40]!r}, and it has no id"
    return ""


def _is_entry(value: dict[str, Any], kind: str) -> bool:
    if isinstance(value.get("id"), str) and "parentId" in value:
        return True
    if kind == "message":
        message = value.get("message")
        return isinstance(message, dict) and isinstance(message.get("role"), str)
    return kind in ENTRY_TYPES or kind in omp.ENTRY_TYPES


def _conclude(path: Path, seen: _Seen) -> Sniffed:
    problems: list[Problem] = []
    format_name = _format_of(path, seen)
    version = _version(seen, problems)
    known = seen.header if seen.header is not None else {"timestamp": seen.first_time}
    header = read_header(known, seen.header_raw.decode(), format_name, version)
    if seen.header is None:
        problems.append(Problem(1, "the file has no header; its entries were read without one"))
    if not header.session_id:
        made = hashlib.sha256(seen.header_raw or seen.first_entry).hexdigest()[:32]
        header = replace(header, session_id=made)
        if seen.header is not None:
            problems.append(Problem(seen.header_line, "the header has no id; one was made"))
    if seen.title:
        header = replace(header, title=seen.title)
    return Sniffed(header, seen.header_line, version == 1, tuple(problems))


def _format_of(path: Path, seen: _Seen) -> FormatName:
    return "omp" if seen.omp_signs or ".omp" in path.absolute().parts else "pi"


def _version(seen: _Seen, problems: list[Problem]) -> int:
    stated = seen.header.get("version") if seen.header is not None else None
    if type(stated) is int and 1 < stated <= _HIGHEST_VERSION:
        if stated > omp.VERSION + 1:
            problems.append(
                Problem(seen.header_line, f"version {stated} is newer than the ones known here")
            )
        return stated
    # A file is of version 1 when it says so or says nothing; one that has ids nevertheless lost
    # its header or its version, and reading it as one chain would lose its branches.
    if seen.with_ids:
        if seen.header is not None:
            reason = "the header says version 1 or none, but the entries have ids"
            problems.append(Problem(seen.header_line, reason))
        return VERSION
    return 1


HOMES: dict[FormatName, str] = {"pi": ".pi/agent/sessions", "omp": ".omp/agent/sessions"}
"""Below the person's home, one directory per working directory. pi names it ``--cwd--``;
oh-my-pi has had that, a name relative to the home (``-project``) or to the directory for
temporary files (``-tmp-project``), and hashed ones, and keeps the sessions of subagents deeper
below. So every ``.jsonl`` below is looked at, and the working directory is read from the file."""

_HEAD_BYTES = 16 << 10
_HEAD_LINES = 4


def find_sessions(home: Path, format_name: FormatName) -> Iterator[FoundSession]:
    """The session files of one of the two agents below a person's home, newest first.

    What cannot be read (permissions, a file that vanished meanwhile) is passed over: the person
    did not ask for it by name.
    """
    sessions = [look_at(path, format_name) for path in _session_files(home / HOMES[format_name])]
    yield from sorted(
        (one for one in sessions if one is not None), key=lambda one: -one.modified_ms
    )


def head_format(path: Path, head: bytes) -> FormatName | None:
    """The format of a file that begins with these bytes; None where nothing there is a session,
    which may still come later in the file."""
    seen = _Seen()
    for number, line in enumerate(head.split(b"\n")[:-1] or [head], 1):
        _look(seen, number, line)
    if seen.header is None and not seen.entries:
        return None
    return _format_of(path, seen)


def look_at(path: Path, format_name: FormatName) -> FoundSession | None:
    """What the first lines of a file say; None where ``read_head`` gives nothing."""
    read = read_head(path, _HEAD_BYTES)
    if read is None:
        return None
    head, status = read
    return FoundSession.at(path, format_name, status, _header_of(head, format_name))


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
        elif is_header(value):
            version = value.get("version")
            known = version if isinstance(version, int) and not isinstance(version, bool) else 1
            header = read_header(value, line.decode(), format_name, known)
            return replace(header, title=title) if title else header
    return None
