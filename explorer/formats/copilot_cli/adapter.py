"""GitHub Copilot CLI: ``$COPILOT_HOME/session-state/<id>/events.jsonl``, one event a line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from explorer.formats.adapter import (
    FormatError,
    FoundSession,
    IsCancelled,
    Progress,
    ReadOnlyAdapter,
    Related,
    read_head,
)
from explorer.formats.copilot_cli.events import ENTRY_TYPES, HOUSEKEEPING, Event, read_record
from explorer.formats.copilot_cli.threads import (
    Agent,
    Thread,
    event_of,
    file_lines,
    find_agents,
    thread_of,
)
from explorer.formats.json_fields import object_field, text_field
from explorer.formats.jsonl import BYTE_ORDER_MARK
from explorer.formats.typed_source import TypedSource
from explorer.session.entries import Entry
from explorer.session.json_values import time_ms
from explorer.session.records import FormatName, SessionHeader

HEAD_BYTES = 16 << 10
_BEGIN = re.compile(rb'\s*\{\s*"type"\s*:\s*"([\w.]+)"\s*,\s*"data"\s*:\s*\{')
"""The first line, which may be longer than what is looked at."""
_LOOKED_AT = 50
"""Lines of which one has to be an event."""


@dataclass(frozen=True, slots=True)
class CopilotCliAdapter(ReadOnlyAdapter):
    """An ``Adapter``."""

    name: FormatName = "copilot-cli"
    title: str = "GitHub Copilot CLI"
    unknown: tuple[str, ...] = ("the system prompt", "the descriptions of the tools")

    def recognises(self, path: Path, head: bytes) -> bool:
        """See ``Adapter``."""
        begin = _BEGIN.match(head.removeprefix(BYTE_ORDER_MARK))
        if begin is not None and _is_known(begin[1].decode()):
            return True
        lines = head.removeprefix(BYTE_ORDER_MARK).split(b"\n")[:_LOOKED_AT]
        return any(_is_event(event_of(line)) for line in lines)

    def open(
        self,
        path: str | os.PathLike[str],
        progress: Progress | None = None,
        cancelled: IsCancelled | None = None,
        session_id: str = "",
    ) -> TypedSource:
        """See ``Adapter``. ``session_id``: the session's or a sub-agent's id."""
        place = str(path)
        line, event, raw = _first_event(place)
        header = self._header(Path(path), event, raw)
        if session_id in ("", header.session_id):
            thread = Thread(Path(path), "", line if event["type"] == "session.start" else 0)
            return TypedSource(place, header, thread, progress, cancelled)
        agent = find_agents(place).get(session_id)
        if agent is None:
            raise FormatError(place, 1, f"the file holds no session {session_id[:80]!r}")
        thread = Thread(Path(path), agent.agent_id, agent.line)
        sub_header = self._agent_header(header, agent)
        return TypedSource(place, sub_header, thread, progress, cancelled)

    def related(self, path: Path, session_id: str = "") -> Sequence[Related]:
        """See ``Adapter``."""
        agents = find_agents(path)
        below = session_id if session_id in agents else None
        return tuple(
            Related(path, agent.agent_id)
            for agent in agents.values()
            if below is None or agent.parent == below
        )

    def resume(self, header: SessionHeader) -> Sequence[str]:
        """See ``Adapter``. A sub-agent is not gone on with by itself."""
        return () if header.parent_call else ("copilot", "--resume", header.session_id)

    def read(self, record: str | bytes) -> Entry:
        """See ``Adapter``."""
        return read_record(record)

    def find(self, home: Path, environment: Mapping[str, str]) -> Iterator[FoundSession]:
        """See ``Adapter``. Early versions wrote ``session-state/<id>.jsonl``."""
        root = Path(environment.get("COPILOT_HOME") or home / ".copilot") / "session-state"
        found = [one for path in _session_files(root) if (one := self._look_at(path)) is not None]
        yield from sorted(found, key=lambda one: -one.modified_ms)

    def _look_at(self, path: Path) -> FoundSession | None:
        read = read_head(path, HEAD_BYTES)
        if read is None:
            return None
        head, status = read
        raw = head.removeprefix(BYTE_ORDER_MARK).split(b"\n", 1)[0]
        event = event_of(raw)
        header = None
        if event is not None and event["type"] == "session.start":
            header = self._header(path, event, raw)
        return FoundSession.at(path, self.name, status, header)

    def _header(self, path: Path, event: Event, raw: bytes) -> SessionHeader:
        is_start = event["type"] == "session.start"
        data = object_field(event, "data") if is_start else {}
        named_for = path.parent.name if path.name == "events.jsonl" else path.stem
        origin = text_field(data, "detachedFromSpawningParentSessionId")
        moment = time_ms(data.get("startTime")) or time_ms(event.get("timestamp"))
        return SessionHeader(
            text_field(data, "sessionId") or named_for or path.stem,
            self.name,
            1,
            text_field(object_field(data, "context"), "cwd"),
            moment,
            origin,
            raw.decode() if is_start else "",
            relation="fork" if origin else "",
            agent_version=text_field(data, "copilotVersion"),
        )

    def _agent_header(self, header: SessionHeader, agent: Agent) -> SessionHeader:
        started = object_field(agent.started, "data")
        title = text_field(started, "agentDisplayName") or text_field(started, "agentName")
        return SessionHeader(
            agent.agent_id,
            self.name,
            1,
            header.cwd,
            time_ms(agent.started.get("timestamp")) if agent.started else header.time_ms,
            agent.parent or header.session_id,
            agent.raw,
            title,
            "subagent",
            agent.call or agent.agent_id,
            header.agent_version,
        )


def _is_event(event: Event | None) -> bool:
    if event is None or not isinstance(event.get("data"), dict):
        return False
    return _is_known(event["type"])


def _is_known(kind: str) -> bool:
    return kind in HOUSEKEEPING or kind in ENTRY_TYPES


def _first_event(place: str) -> tuple[int, Event, bytes]:
    """The session's start, or the first event of a file that has none among its first lines.

    Raises FormatError when there is no event at all, OSError.
    """
    first: tuple[int, Event, bytes] | None = None
    for line in file_lines(place):
        event = event_of(line.raw)
        if event is None:
            continue
        if event["type"] == "session.start" and not thread_of(event):
            return line.number, event, line.raw
        first = first or (line.number, event, line.raw)
        if line.number >= _LOOKED_AT:
            break
    if first is None:
        raise FormatError(place, 1, "it holds no event of GitHub Copilot CLI")
    return first


def _session_files(root: Path) -> Iterator[Path]:
    try:
        with os.scandir(root) as places:
            listed = list(places)
    except OSError:
        return
    for one in listed:
        if one.name.endswith(".jsonl"):
            yield Path(one.path)
        else:
            yield Path(one.path, "events.jsonl")


COPILOT_CLI = CopilotCliAdapter()
