"""Gemini CLI's sessions: recognising, opening and finding them."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from explorer.formats.adapter import (
    FormatError,
    FoundSession,
    IsCancelled,
    Progress,
    ReadOnlyAdapter,
    Related,
)
from explorer.formats.gemini.messages import read_record
from explorer.formats.gemini.replay import Entries, Place, Replay
from explorer.formats.json_fields import compact, read_document, text_at
from explorer.formats.jsonl import BYTE_ORDER_MARK, BadLine, is_blank, line_groups, parse
from explorer.formats.typed_source import Leaf, ReadEntry, TypedSource
from explorer.session.entries import Entry
from explorer.session.json_values import read_json, time_ms
from explorer.session.records import Aside, Problem, SessionHeader, remark

_HEADER = (re.compile(rb'"sessionId"\s*:'), re.compile(rb'"projectHash"\s*:'))
_RECORD = re.compile(rb'\{\s*"(?:\$set|\$rewindTo)"\s*:|"type"\s*:\s*"gemini"')
_HEADER_LINES = 200
"""Lines among which a header is looked for."""
_HEAD_BYTES = 64 << 10
"""What is read of a file to list it."""


class GeminiAdapter(ReadOnlyAdapter):
    """An ``Adapter``."""

    name, title = "gemini", "Gemini CLI"
    unknown = ("the system prompt", "the descriptions of the tools")

    def recognises(self, path: Path, head: bytes) -> bool:
        """See ``Adapter``. A file without its header is known by its checkpoints or replies."""
        if not head.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"{"):
            return False
        if all(one.search(head) for one in _HEADER):
            return True
        in_place = path.name.startswith("session-") or path.parent.name == "chats"
        return in_place and bool(_RECORD.search(head))

    def open(
        self,
        path: str | os.PathLike[str],
        progress: Progress | None = None,
        cancelled: IsCancelled | None = None,
        session_id: str = "",
    ) -> TypedSource:
        """See ``Adapter``. A file holds one session."""
        place = Path(path).absolute()
        line, raw = _find_header(place)
        if not line and _is_one_value(raw):
            value = read_document(place)
            if not isinstance(value, dict) or "messages" not in value:
                raise FormatError(str(place), 1, "not a Gemini CLI session: no messages")
            own = compact(_without_messages(value))
            header = _header(place, value, own, _cwd(_project_of(place, value), value))
            return TypedSource(place, header, _of_document(value), progress, cancelled)
        value = parse(raw.removeprefix(BYTE_ORDER_MARK)) if line else {}
        folder = _cwd(_project_of(place, value), value)
        header = _header(place, value, raw.decode() if line else "", folder)
        if header.relation:
            call = _call_of(place, header.parent_session, header.session_id)
            header = replace(header, parent_call=call)
        return TypedSource(place, header, _of_lines(place, line), progress, cancelled)

    def related(self, path: Path, session_id: str = "") -> Sequence[Related]:
        """See ``Adapter``. The folder of a session's agents has its id as its name."""
        path = path.absolute()
        own = self.open(path).header
        name = re.sub(r"[^A-Za-z0-9_-]", "_", own.session_id)
        chats = path.parent.parent if own.relation == "subagent" else path.parent
        files = sorted((chats / name).glob("*.jsonl")) if name else []
        return [Related(one, "") for one in files if one != path]

    def resume(self, header: SessionHeader) -> Sequence[str]:
        """See ``Adapter``. What an agent was started for is not gone on with."""
        return () if header.relation else ("gemini", "--resume", header.session_id)

    def read(self, record: str | bytes) -> Entry:
        """See ``Adapter``."""
        return read_record(record)

    def find(self, home: Path, environment: Mapping[str, str]) -> Iterator[FoundSession]:
        """See ``Adapter``. ``GEMINI_CLI_HOME`` stands for the home folder."""
        moved = environment.get("GEMINI_CLI_HOME")
        files: list[tuple[Path, os.stat_result]] = []
        for chats in (Path(moved) if moved else home).glob(".gemini/tmp/*/chats"):
            files += _files_in(chats, 1)
        files.sort(key=lambda one: one[1].st_mtime, reverse=True)
        folders: dict[tuple[Path, str], str] = {}
        for path, stat in files:
            header = _listed_header(path, folders)
            yield FoundSession.at(path, self.name, stat, header)


GEMINI = GeminiAdapter()


def _is_one_value(start: bytes) -> bool:
    """Whether a file is one JSON value over several lines, by its first line."""
    return start.strip().removeprefix(BYTE_ORDER_MARK) in (b"{", b"")


def _find_header(path: Path) -> tuple[int, bytes]:
    """The line of the header and what it says; without one 0 and the first line that is not
    blank. Raises FormatError for a file without any, OSError."""
    first: bytes | None = None
    number = 0
    with path.open("rb") as file:
        for lines, _ in line_groups(file):
            for line in lines:
                number += 1
                if is_blank(line):
                    continue
                first = line if first is None else first
                if _is_header(_value_of(line)):
                    return number, line
            if number >= _HEADER_LINES:
                break
    if first is None:
        raise FormatError(str(path), 1, "the file is empty")
    return 0, first


def _value_of(line: bytes) -> Any:
    try:
        return parse(line.removeprefix(BYTE_ORDER_MARK))
    except BadLine:
        return None


def _is_header(value: Any) -> bool:
    has_id = isinstance(value, dict) and isinstance(value.get("sessionId"), str)
    return has_id and not any(name in value for name in ("id", "$set", "$rewindTo"))


def _without_messages(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in value.items() if name != "messages"}


def _project_of(path: Path, value: Mapping[str, Any]) -> Path:
    """The folder of a project, above that of its chats."""
    chats = path.absolute().parent
    return chats.parent.parent if _is_agent(path, value) else chats.parent


def _is_agent(path: Path, value: Mapping[str, Any]) -> bool:
    """Whether a session is an agent's: it says so, or lies in the folder of another session."""
    return value.get("kind") == "subagent" or path.absolute().parent.parent.name == "chats"


def _header(path: Path, value: Mapping[str, Any], raw: str, cwd: str) -> SessionHeader:
    parent = path.absolute().parent.name if _is_agent(path, value) else ""
    return SessionHeader(
        text_at(value, "sessionId") or path.stem,
        GEMINI.name,
        0,
        cwd,
        time_ms(value.get("startTime")),
        parent,
        raw,
        text_at(value, "summary"),
        "subagent" if parent else "",
    )


def _cwd(project: Path, header: Mapping[str, Any]) -> str:
    """The folder that a project's temporary folder is for: a file there says so, else the list of
    all projects by its name or by the hash of the folder's path."""
    try:
        root = (project / ".project_root").read_text("utf-8", "replace").strip()
        if root:
            return root
    except OSError:
        # Older versions wrote none.
        pass
    try:
        listed = read_json((project.parent.parent / "projects.json").read_bytes())
    except (OSError, ValueError):
        return ""
    projects = listed.get("projects") if isinstance(listed, dict) else None
    hashes = {project.name, text_at(header, "projectHash")}
    for folder, slug in projects.items() if isinstance(projects, dict) else ():
        digest = hashlib.sha256(folder.encode("utf-8", "surrogatepass")).hexdigest()
        if slug == project.name or digest in hashes:
            return str(folder)
    return ""


def _call_of(path: Path, parent: str, session_id: str) -> str:
    """The call that started an agent, from its parent's file; empty where it does not say."""
    wanted = session_id.encode("utf-8", "surrogatepass")
    for file in path.parent.parent.glob(f"session-*-{parent[:8]}.jsonl"):
        try:
            with file.open("rb") as lines:
                for line in lines:
                    calls = (_value_of(line) or {}) if wanted in line else {}
                    found = calls.get("toolCalls") if isinstance(calls, dict) else None
                    for call in found if isinstance(found, list) else ():
                        if text_at(call, "agentId") == session_id:
                            return text_at(call, "id")
        except OSError:
            # The agent's own file is readable all the same.
            continue
    return ""


def _of_lines(path: Path, header_line: int) -> Iterator[ReadEntry | Aside | Problem | Leaf]:
    """Two passes: one for the tree, one for the entries, whose lines are read again then, so that
    the file need not fit in memory."""
    if not header_line:
        yield remark(1, "no header was found: what came before the first line is not known")
    with path.open("rb") as file, path.open("rb") as passing:

        def line_at(place: Place) -> bytes:
            file.seek(place.start)
            return file.read(place.end - place.start)

        replay = Replay(line_at, header_line)
        number = start = 0
        for lines, _ in line_groups(passing):
            for line in lines:
                number += 1
                end = start + len(line)
                if not is_blank(line):
                    _take(replay, line, Place(number, start, end))
                start = end + 1
        replay.finish()
        yield from Entries(replay, line_at)


def _take(replay: Replay, line: bytes, place: Place) -> None:
    try:
        value = parse(line.removeprefix(BYTE_ORDER_MARK))
    except BadLine as error:
        replay.refuse(str(error), place)
    else:
        replay.take(value, place)


def _of_document(value: Mapping[str, Any]) -> Iterator[ReadEntry | Aside | Problem | Leaf]:
    messages = value["messages"]
    items = messages if isinstance(messages, list) else [messages]

    def line_at(place: Place) -> bytes:
        return compact(items[place.line - 1]).encode()

    replay = Replay(line_at)
    for number, item in enumerate(items, 1):
        replay.take(item, Place(number, 0, 0))
    replay.finish()
    yield from Entries(replay, line_at)


def _files_in(folder: Path, depth: int) -> Iterator[tuple[Path, os.stat_result]]:
    """Session files in a folder of chats and, to a depth, in the folders of their agents."""
    try:
        with os.scandir(folder) as found:
            for one in found:
                if one.is_dir() and depth:
                    yield from _files_in(Path(one.path), depth - 1)
                elif one.name.endswith((".json", ".jsonl")) and one.is_file():
                    yield Path(one.path), one.stat()
    except OSError:
        # A folder that cannot be read has no sessions to show.
        return


def _listed_header(path: Path, folders: dict[tuple[Path, str], str]) -> SessionHeader | None:
    """The header as the first bytes have it. ``folders``: those known so far, by project."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return None
    line = head.split(b"\n", 1)[0]
    value = _value_of(line)
    if not _is_header(value):
        # Of one value over several lines: what stands before its messages.
        cut = head.removeprefix(BYTE_ORDER_MARK).split(b'"messages"')[0].rstrip().rstrip(b",")
        value = _value_of(cut + b"}")
    if not _is_header(value):
        return None
    raw = line.decode("utf-8", "replace") if not _is_one_value(line) else ""
    project = _project_of(path, value)
    key = (project, text_at(value, "projectHash"))
    if key not in folders:
        folders[key] = _cwd(project, value)
    return _header(path, value, raw, folders[key])
