"""The files around a session file of Claude Code: its sub-agents, the session that started it, and
the one that it was forked from."""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from explorer.formats.claude_code.fields import message_of
from explorer.formats.json_fields import object_field, text_field
from explorer.formats.jsonl import BadLine, parse
from explorer.session.json_values import read_json

AGENT_PREFIX = "agent-"
COMPACTOR_PREFIX = "acompact"
"""Begins the ids of agents that write the summary of a compaction."""
SUBAGENTS = "subagents"
HEAD_BYTES = 32 << 10
_SEARCHED_BYTES = 512 << 20
"""How much of other sessions is searched for what one was forked from."""
_META_BYTES = 1 << 20
_UUID = re.compile(rb'"uuid"\s*:\s*"([^"\\]{1,100})"')
_TIME = re.compile(rb'"timestamp"\s*:\s*"([^"\\]{1,40})"')


class Origin(NamedTuple):
    """The session that a file was forked from."""

    session_id: str
    uuids: frozenset[str]
    """Ids of all its records."""


class FirstNode(NamedTuple):
    """What tells the first node of a file: ids alone may be alike by chance."""

    identity: str
    stamp: str
    """Its time, as written."""
    is_boundary: bool

    def is_in(self, lines: bytes) -> bool:
        """Whether some lines hold the node."""
        found = _field("uuid", self.identity).search(lines)
        if found is None:
            return False
        end = lines.find(b"\n", found.end())
        start = lines.rfind(b"\n", 0, found.start()) + 1
        line = lines[start : len(lines) if end < 0 else end]
        return _quoted(self.stamp) in line


def _quoted(text: str) -> bytes:
    return f'"{text}"'.encode("utf-8", "surrogatepass")


def _field(name: str, text: str) -> re.Pattern[bytes]:
    """A field of this text, as JSON has it."""
    return re.compile(rb'"%s"\s*:\s*%s' % (name.encode(), re.escape(_quoted(text))))


def is_agent_file(path: Path) -> bool:
    """Whether a file holds the session of an agent that another session started."""
    return path.name.startswith(AGENT_PREFIX) and path.suffix == ".jsonl"


def parent_file(path: Path, session_id: str) -> Path:
    """Where the session is that started an agent; it may not be there."""
    if path.parent.name == SUBAGENTS:
        return path.parent.parent.with_suffix(".jsonl")
    return path.with_name(f"{session_id or '?'}.jsonl")


def agent_files(path: Path, session_id: str) -> list[Path]:
    """The files of the agents that a session started. Raises OSError."""
    found: list[Path] = []
    folder = path.with_suffix("") / SUBAGENTS
    if folder.is_dir():
        found += (one for one in folder.iterdir() if is_agent_file(one))
    wanted = _field("sessionId", session_id)
    for one in path.parent.iterdir():
        if is_agent_file(one) and one != path and wanted.search(head_of(one, 1 << 14)):
            found.append(one)
    return sorted(found)


def head_of(path: Path, size: int = HEAD_BYTES) -> bytes:
    """What a file begins with; nothing where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError:
        return b""


def agent_facts(path: Path) -> Mapping[str, Any]:
    """What lies beside an agent's file about it: its type, description, and the call."""
    place = path.with_suffix(".meta.json")
    try:
        if not place.is_file() or place.stat().st_size > _META_BYTES:
            return {}
        value = read_json(place.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, Mapping) else {}


def starting_call(path: Path, agent_id: str) -> str:
    """The id of the call that started an agent, from the file of the session that made it; empty
    where that does not say."""
    for line in _lines_with(path, _quoted(agent_id)):
        try:
            value = parse(line)
        except BadLine:
            continue
        if not isinstance(value, dict):
            continue
        if object_field(value, "toolUseResult").get("agentId") == agent_id:
            content = message_of(value).get("content")
            for block in content if isinstance(content, list) else ():
                if isinstance(block, Mapping) and (call := text_field(block, "tool_use_id")):
                    return call
        call = text_field(value, "parentToolUseID")
        if call and object_field(value, "data").get("agentId") == agent_id:
            return call
    return ""


def holds(path: Path, wanted: Sequence[bytes]) -> bool:
    """Whether a file holds one of some byte strings."""
    return any(next(_lines_with(path, one), None) is not None for one in wanted)


def first_text(path: Path, name: str) -> str:
    """The first text of a field in a file's first lines; empty for none."""
    return next((found for one in read_first(path) if (found := text_field(one, name))), "")


def _lines_with(path: Path, wanted: bytes) -> Iterator[bytes]:
    """The lines of a file that hold some bytes; none where it cannot be read."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            at = data.find(wanted)
            while at >= 0:
                start = data.rfind(b"\n", 0, at) + 1
                end = data.find(b"\n", at)
                end = len(data) if end < 0 else end
                yield data[start:end]
                at = data.find(wanted, end)
    except (OSError, ValueError):
        # An empty file cannot be mapped.
        return


def fork_origin(path: Path, first: FirstNode) -> Origin | None:
    """The session in the same folder that a file repeats the beginning of; None where there is
    none, or where it cannot be told which of the two is the copy.

    A copy begins where its origin does, or with the origin's last compaction: only then whole
    files are searched.
    """
    searched = 0
    own_ids: frozenset[str] = frozenset()
    for other, size in _siblings(path):
        if first.is_in(head_of(other)):
            pass
        elif first.is_boundary and searched < _SEARCHED_BYTES:
            searched += size
            if not any(first.is_in(line) for line in _lines_with(other, _quoted(first.identity))):
                continue
        else:
            continue
        ids, own_ids = _uuids(other), own_ids or frozenset(_uuids(path))
        if _is_origin(other, path, first.identity, ids, own_ids):
            return Origin(other.stem, frozenset(ids))
    return None


def _siblings(path: Path) -> list[tuple[Path, int]]:
    """The other session files of a folder with their sizes, the newest first."""
    found: list[tuple[float, Path, int]] = []
    try:
        with os.scandir(path.parent) as entries:
            for entry in entries:
                name = entry.name
                if not name.endswith(".jsonl") or name in (path.name,) or not entry.is_file():
                    continue
                if not name.startswith(AGENT_PREFIX):
                    status = entry.stat()
                    found.append((status.st_mtime, Path(entry.path), status.st_size))
    except OSError:
        return []
    return [(one, size) for _, one, size in sorted(found, reverse=True)]


def _uuids(path: Path) -> list[str]:
    """The ids of a file's records, in order."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return [one.decode("utf-8", "replace") for one in _UUID.findall(data)]
    except (OSError, ValueError):
        return []


def _is_origin(
    other: Path, path: Path, first_id: str, ids: list[str], own_ids: frozenset[str]
) -> bool:
    """Whether the other file was there first."""
    if ids[:1] != [first_id]:
        return ids[0] not in own_ids if ids else False
    theirs = [one for one in ids if one not in own_ids]
    if not theirs:
        # It holds nothing else; where the two are the same, neither is a copy of a session.
        return len(set(ids)) < len(own_ids)
    ours = own_ids - set(ids)
    return bool(ours) and _first_time(other, set(theirs)) < _first_time(path, set(ours))


def _first_time(path: Path, ids: set[str]) -> str:
    """The time of the first record with one of these ids; a text that sorts last for none."""
    try:
        with path.open("rb") as file:
            for line in file:
                found = _UUID.findall(line)
                if found and found[-1].decode("utf-8", "replace") in ids:
                    time = _TIME.findall(line)
                    return time[-1].decode("ascii", "replace") if time else "~"
    except OSError:
        return "~"
    return "~"


def read_first(path: Path, lines: int = 40) -> Iterator[dict[str, Any]]:
    """The objects that a file's first lines hold; none where it cannot be read."""
    head = head_of(path)
    for line in head.split(b"\n")[:lines]:
        try:
            value = parse(line)
        except BadLine:
            continue
        if isinstance(value, dict):
            yield value
