"""Claude Code as a format: which files are its own, and where it keeps them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.formats.adapter import FoundSession, IsCancelled, Progress, ReadOnlyAdapter, Related
from explorer.formats.claude_code import neighbours
from explorer.formats.claude_code.fields import HOUSEKEEPING, NODE_TYPES
from explorer.formats.claude_code.records import read_record, read_usage_of
from explorer.formats.claude_code.source import (
    FORMAT,
    agent_threads,
    open_session,
    own_session_id,
)
from explorer.formats.claude_code.survey import Surveyor
from explorer.formats.json_fields import text_field
from explorer.formats.jsonl import BYTE_ORDER_MARK, BadLine, is_blank, parse
from explorer.formats.typed_source import TypedSource
from explorer.session.entries import Entry, TokenUsage
from explorer.session.json_values import time_ms
from explorer.session.records import FormatName, SessionHeader

_LONGEST_LOOK = 50
"""Lines."""
_CUT_NODE = re.compile(
    rb'\s*\{\s*"(?:parentUuid|logicalParentUuid)"\s*:|"isSidechain"\s*:\s*(?:true|false)'
)
"""In the part of a line that is longer than what is looked at."""
_CUT_RECORD = re.compile(rb'\s*\{\s*"type"\s*:\s*"([a-z-]+)"')
_FOREIGN = frozenset({"payload", "projectHash", "parentId", "data"})
"""Fields of other agents' first lines."""


def recognises(head: bytes) -> bool:
    """Whether a file that begins with these bytes is of Claude Code: its first line with a value
    that it or another agent writes decides."""
    lines = head.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    for number, line in enumerate(lines[:_LONGEST_LOOK]):
        if is_blank(line):
            continue
        try:
            value = parse(line)
        except BadLine:
            if number == len(lines) - 1 and _is_cut_line(line):
                return True
            continue
        # What is no object is damage, as a line that is no JSON.
        if isinstance(value, dict) and (verdict := _verdict(value)) is not None:
            return verdict
    return False


def _is_cut_line(line: bytes) -> bool:
    """Whether a line that is longer than what is looked at is Claude Code's, such as a long prompt
    that waits in the queue."""
    if _CUT_NODE.search(line):
        return True
    named = _CUT_RECORD.match(line)
    field = HOUSEKEEPING.get(named[1].decode(), "") if named else ""
    return bool(field) and f'"{field}"'.encode() in line


def _verdict(value: Mapping[str, Any]) -> bool | None:
    """Whether a record is Claude Code's; None where it does not say."""
    kind = text_field(value, "type")
    if kind in HOUSEKEEPING and HOUSEKEEPING[kind] in value:
        return True
    if kind in NODE_TYPES and isinstance(value.get("sessionId"), str):
        return True
    if isinstance(value.get("uuid"), str) and ("parentUuid" in value or "sessionId" in value):
        return True
    if kind == "session" or "role" in value or _FOREIGN & value.keys():
        return False
    return None


def find_sessions(home: Path, environment: Mapping[str, str]) -> Iterator[FoundSession]:
    """The sessions in Claude Code's folder, newest first. Those of the agents that they started
    come with them: see ``ClaudeCodeAdapter.related``."""
    found: list[tuple[float, int, Path]] = []
    for root in _roots(home, environment):
        for folder in _scan(root / "projects"):
            found += _sessions_in(folder.path)
    for modified, size, path in sorted(found, reverse=True):
        header = _header(path)
        cwd = header.cwd if header is not None else ""
        yield FoundSession(path, FORMAT, cwd, size, modified, header)


def _roots(home: Path, environment: Mapping[str, str]) -> list[Path]:
    """The folders that Claude Code keeps its things in."""
    if place := environment.get("CLAUDE_CONFIG_DIR", ""):
        return [Path(place)]
    settings = environment.get("XDG_CONFIG_HOME", "")
    return [home / ".claude", (Path(settings) if settings else home / ".config") / "claude"]


def _sessions_in(folder: str) -> Iterator[tuple[float, int, Path]]:
    """Time in milliseconds, size and path of the session files of a project."""
    for entry in _scan(folder):
        if not entry.name.endswith(".jsonl") or neighbours.is_agent_file(Path(entry.name)):
            continue
        try:
            if entry.is_file():
                status = entry.stat()
                yield status.st_mtime * 1000, status.st_size, Path(entry.path)
        except OSError:
            continue


def _scan(folder: str | os.PathLike[str]) -> list[os.DirEntry[str]]:
    """What is in a folder; nothing where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _header(path: Path) -> SessionHeader | None:
    """What the first lines say; None where they hold no node."""
    title = ""
    for value in neighbours.read_first(path):
        title = text_field(value, "customTitle") or text_field(value, "aiTitle") or title
        if isinstance(value.get("uuid"), str):
            return SessionHeader(
                own_session_id(path, text_field(value, "sessionId"), ""), FORMAT, 1,
                text_field(value, "cwd"), time_ms(value.get("timestamp")), "", "", title,
                agent_version=text_field(value, "version"),
            )  # fmt: skip
    return None


_SIDECHAIN = (b'"isSidechain":true', b'"isSidechain": true')


@dataclass(frozen=True, slots=True)
class ClaudeCodeAdapter(ReadOnlyAdapter):
    """An ``Adapter``."""

    name: FormatName = FORMAT
    title: str = "Claude Code"
    unknown: tuple[str, ...] = (
        "the system prompt",
        "the descriptions of the tools",
        "the wording of reminders",
    )

    def recognises(self, path: Path, head: bytes) -> bool:
        """See ``Adapter``."""
        return recognises(head)

    def open(
        self,
        path: str | os.PathLike[str],
        progress: Progress | None = None,
        cancelled: IsCancelled | None = None,
        session_id: str = "",
    ) -> TypedSource:
        """See ``Adapter``. ``session_id`` names an agent whose records stand among the session's,
        by its id or that of its first record. Raises ReadCancelled too."""
        return open_session(Path(path), progress, cancelled, session_id)

    def related(self, path: Path, session_id: str = "") -> Sequence[Related]:
        """See ``Adapter``."""
        if neighbours.is_agent_file(path):
            return ()
        own_id = own_session_id(path, neighbours.first_text(path, "sessionId"), "")
        found = [
            Related(one, own_session_id(one, "", neighbours.first_text(one, "agentId")))
            for one in neighbours.agent_files(path, own_id)
        ]
        if neighbours.holds(path, _SIDECHAIN):
            found += (Related(path, one) for one in agent_threads(Surveyor().read(path)))
        return [one for one in found if not session_id or one.session_id != session_id]

    def resume(self, header: SessionHeader) -> Sequence[str]:
        """See ``Adapter``. An agent that another session started is not gone on with by itself."""
        if header.relation in ("subagent", "compactor"):
            return ()
        return ("claude", "--resume", header.session_id)

    def read(self, record: str | bytes) -> Entry:
        """See ``Adapter``."""
        return read_record(record)

    def usage(self, record: str, context: int) -> TokenUsage | None:
        """See ``Adapter``."""
        return read_usage_of(record)

    def find(self, home: Path, environment: Mapping[str, str]) -> Iterator[FoundSession]:
        """See ``Adapter``."""
        return find_sessions(home, environment)


CLAUDE_CODE = ClaudeCodeAdapter()
