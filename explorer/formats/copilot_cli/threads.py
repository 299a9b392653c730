"""The events of one agent in a session's file, in order, as a tree.

An event's ``parentId`` is the line before it, whoever wrote that: what belongs together is what one
agent wrote. Sub-agents write into the file of the session that started them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import copy
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import orjson
from msgspec import Struct
from msgspec.structs import replace

from explorer.formats.copilot_cli.events import (
    CONTEXT_PART,
    ENTRY_TYPES,
    FILES_PART,
    HOUSEKEEPING,
    PART,
    Event,
    added_context,
    attached_files,
    read_events,
    trigger_of,
)
from explorer.formats.json_fields import list_field, object_field, text_field
from explorer.formats.jsonl import (
    BYTE_ORDER_MARK,
    BadLine,
    groups_from,
    is_blank,
    line_groups,
    parse,
    stamp_of,
)
from explorer.formats.typed_source import ReadEntry
from explorer.session.json_values import token_count
from explorer.session.records import Aside, Problem, remark

Read = ReadEntry | Aside | Problem
_SENT = frozenset(
    {"user.message", "assistant.message", "tool.execution_complete", "system.notification"}
)
"""Types of events that are a message of the conversation."""
_AGENT_MARKS = (b'"agentId"', b'"parentToolCallId"', b'"subagent.')
_STARTED_BY_CALL = ("subagent.started", "subagent.completed", "subagent.failed")


class Line(NamedTuple):
    """A line of the file."""

    number: int
    raw: bytes
    done: int
    """Bytes of the file read so far."""


class Point(NamedTuple):
    """Where the conversation stood before an event."""

    checksum: int
    """Of the event's line."""
    tip: str
    sent: int
    start: int


class Agent(Struct):
    """A sub-agent, as far as its file tells of it."""

    agent_id: str
    call: str = ""
    """The tool call that started it."""
    started: Event | None = None
    raw: str = ""
    """The line that says that it started."""
    line: int = 0
    parent: str = ""
    """The sub-agent that made this call; empty for the session itself."""


def file_lines(path: str | Path) -> Iterator[Line]:
    """The lines of a file, without its byte order mark. Raises OSError, FormatError."""
    number = 0
    with Path(path).open("rb") as file:
        for lines, done in line_groups(file):
            for raw in lines:
                number += 1
                yield Line(number, raw.removeprefix(BYTE_ORDER_MARK) if number == 1 else raw, done)


def event_of(raw: bytes) -> Event | None:
    """The event of a line; None where it is none."""
    try:
        value = parse(raw)
    except BadLine:
        return None
    return value if isinstance(value, dict) and isinstance(value.get("type"), str) else None


def thread_of(event: Event) -> str:
    """The sub-agent that wrote an event; empty for the session itself. Older versions named only
    the call that started it."""
    agent_id = text_field(event, "agentId")
    if agent_id:
        return agent_id
    data = object_field(event, "data")
    by_call = text_field(data, "toolCallId") if event["type"] in _STARTED_BY_CALL else ""
    return text_field(data, "parentToolCallId") or by_call


def find_agents(path: str | Path) -> Mapping[str, Agent]:
    """The sub-agents of a file, by id, in the order in which they began. Raises OSError."""
    status = Path(path).stat()
    return _agents_of(str(path), status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=4)
def _agents_of(path: str, size: int, mtime_ns: int) -> Mapping[str, Agent]:
    """``find_agents`` of a file as it was then: it is asked once for each of them."""
    agents: dict[str, Agent] = {}
    callers: dict[str, str] = {}
    for line in file_lines(path):
        raw = line.raw
        is_start = b'"tool.execution_start"' in raw
        if not is_start and not any(mark in raw for mark in _AGENT_MARKS):
            continue
        event = event_of(raw)
        if event is None:
            continue
        thread, data = thread_of(event), object_field(event, "data")
        if event["type"] == "tool.execution_start":
            callers.setdefault(text_field(data, "toolCallId"), thread)
        if not thread:
            continue
        agent = agents.setdefault(thread, Agent(thread))
        if event["type"] == "subagent.started" and agent.started is None:
            agent.started, agent.line = event, line.number
            agent.raw = raw.decode()
            agent.call = text_field(data, "toolCallId") or agent.call
        agent.call = agent.call or text_field(data, "parentToolCallId")
    for agent in agents.values():
        parent = callers.get(agent.call, "")
        agent.parent = parent if parent != agent.agent_id else ""
    return agents


class _Reply(Struct):
    """Events of one reply that may go on."""

    lines: list[Line]
    events: list[Event]
    entry_id: str
    parent: str

    @property
    def has_message(self) -> bool:
        return text_field(self.events[-1], "type") == "assistant.message"

    def goes_on(self, event: Event) -> bool:
        """Whether an event belongs to it: a message after its reasoning, or the next of the pieces
        into which one call's response was split."""
        if not self.has_message:
            return True
        if event["type"] != "assistant.message":
            return False
        data, before = object_field(event, "data"), object_field(self.events[-1], "data")
        call, index = text_field(data, "apiCallId"), data.get("chunkIndex")
        return bool(call and index) and call == text_field(before, "apiCallId")


class Thread:
    """Reads what one agent wrote; see ``read``."""

    def __init__(self, path: Path, agent_id: str = "", header_line: int = 0) -> None:
        """``header_line``: the line that is the session's header."""
        self.path = path
        self.offset = 0
        self.began = (0, 0)
        """See ``GrowingReader``."""
        self._number = 0
        self._rest: Line | None = None
        """The last line, where it may not be complete."""
        self._agent_id = agent_id
        self._header_line = header_line
        self._tip = ""
        self._points: dict[str, Point] = {}
        self._sent: list[str] = []
        """Ids of the entries that are messages, in order."""
        self._start = 0
        """Of these, where the present context begins."""
        self._reply: _Reply | None = None
        self._starts: dict[str, tuple[Line, Event]] = {}
        self._tools: dict[str, str] = {}
        self._compaction: tuple[Event, int] | None = None
        self._unknown: dict[str, tuple[int, int]] = {}

    def more(self) -> Iterator[Read]:
        """Everything of the file that is this agent's. The session itself also puts aside what is
        nobody's, and the lines of its sub-agents. See ``GrowingReader``."""
        self.began = stamp_of(self.path)
        if not (self._number or self._header_line or self._agent_id):
            yield remark(
                1, "the session's start is not in the file: what came before its first line is not"
                " known"
            )  # fmt: skip
        # A name of plain letters is written in one way: a line without it need not be parsed.
        name = self._agent_id.encode() if re.fullmatch(r"[\w-]+", self._agent_id, re.A) else b""
        for lines, done, is_whole in groups_from(self.path, self.offset):
            for number, raw in enumerate(lines, self._number + 1):
                done += len(raw) + is_whole
                text = raw.removeprefix(BYTE_ORDER_MARK) if number == 1 else raw
                line = Line(number, text, done)
                if not is_whole:
                    self._rest = line
                    return
                self._number, self.offset = number, done
                if name in text:
                    yield from self._line(line)

    def copy(self) -> Thread:
        """See ``GrowingReader``."""
        other = copy(self)
        other._points, other._sent = self._points.copy(), self._sent.copy()
        other._starts, other._tools = self._starts.copy(), self._tools.copy()
        other._unknown = self._unknown.copy()
        if (reply := self._reply) is not None:
            other._reply = replace(reply, lines=list(reply.lines), events=list(reply.events))
        other._rest = None
        return other

    def end(self) -> Iterator[Read]:
        """See ``GrowingReader``."""
        if self._rest is not None:
            yield from self._line(self._rest)
        yield from self._end()

    def known_ids(self) -> list[str]:
        """See ``GrowingReader``: ``end`` gives only what waits."""
        return []

    def _line(self, line: Line) -> Iterator[Read]:
        if line.number == self._header_line:
            return
        if is_blank(line.raw):
            if not self._agent_id:
                yield Aside(line.number, line.raw, "a blank line")
            return
        try:
            value = parse(line.raw)
        except BadLine as error:
            yield from self._not_an_event(line, str(error))
            return
        if not isinstance(value, dict) or not isinstance(value.get("type"), str):
            yield from self._not_an_event(line, "not an event: it has no type")
            return
        thread = thread_of(value)
        if thread == self._agent_id:
            yield from self._take(line, value)
        elif not self._agent_id:
            yield Aside(line.number, line.raw, f"of the sub-agent {thread[:80]}")

    def _not_an_event(self, line: Line, reason: str) -> Iterator[Read]:
        if not self._agent_id:
            yield Aside(line.number, line.raw, reason)
            yield Problem(line.number, f"{reason}; the line was kept aside")

    def _take(self, line: Line, event: Event) -> Iterator[Read]:
        checksum = crc32(line.raw)
        event_id = text_field(event, "id") or f"line-{line.number}"
        seen = self._points.get(event_id)
        if seen is not None:
            if seen.checksum == checksum:
                yield Aside(line.number, line.raw, "the same event once more")
                return
            event_id = f"{event_id}~{line.number}"
        self._points[event_id] = Point(checksum, self._tip, len(self._sent), self._start)
        kind, data = event["type"], object_field(event, "data")
        if kind in ("assistant.message", "assistant.reasoning"):
            yield from self._take_reply(line, event, event_id)
        elif kind == "tool.execution_start" and text_field(data, "toolCallId"):
            yield from self._take_start(line, event)
        elif kind in HOUSEKEEPING:
            if kind == "session.compaction_start":
                self._compaction = (event, len(self._sent))
            yield Aside(line.number, line.raw, f"{kind}: not part of the conversation")
        else:
            yield from self._flush()
            yield from self._take_entry(line, event, event_id)

    def _take_entry(self, line: Line, event: Event, event_id: str) -> Iterator[Read]:
        kind, data = event["type"], object_field(event, "data")
        if kind == "session.compaction_complete":
            yield from self._take_compaction(line, event, event_id)
        elif kind == "session.truncation":
            yield from self._take_truncation(line, event, event_id)
        elif kind == "tool.execution_complete":
            yield self._result(line, event, event_id)
        else:
            if kind not in ENTRY_TYPES:
                first, count = self._unknown.get(kind, (line.number, 0))
                self._unknown[kind] = (first, count + 1)
            if kind == "session.snapshot_rewind":
                self._rewind(text_field(data, "upToEventId"))
            yield self._entry(line, [event], line.raw.decode(), event_id, kind in _SENT)
            if kind == "user.message":
                yield from self._parts(line, event, event_id)
            if kind == "session.context_cleared":
                self._start = len(self._sent)

    def _entry(
        self,
        line: Line,
        events: list[Event],
        record: str,
        entry_id: str,
        is_sent: bool = False,
        noted: dict[str, Any] | None = None,
    ) -> ReadEntry:
        """An entry below the last one. ``noted``: what other events tell of it."""
        entry = replace(read_events(events), id=entry_id, parent_id=self._tip or None)
        known = {name: value for name, value in (noted or {}).items() if value}
        if known:
            entry = replace(entry, body=replace(entry.body, **known))
        self._tip = entry_id
        if is_sent:
            self._sent.append(entry_id)
        return ReadEntry(entry, record, line.number, line.done, tuple(known))

    def _parts(self, line: Line, event: Event, event_id: str) -> Iterator[Read]:
        """What was sent with a person's words, as entries of its own: the record of each is what
        it was taken from."""
        data = event["data"] if isinstance(event.get("data"), dict) else {}
        parts = []
        if attached_files(data):
            parts.append((FILES_PART, ("attachments", "transformedContent")))
        if added_context(data):
            parts.append((CONTEXT_PART, ("content", "transformedContent")))
        for part, names in parts:
            piece = {
                PART: part,
                "id": f"{event_id}/{part}",
                "timestamp": event.get("timestamp"),
                "data": {name: data[name] for name in names if name in data},
            }
            record = orjson.dumps(piece).decode()
            yield self._entry(line, [piece], record, f"{event_id}/{part}")

    # replies and results --------------------------------------------------------------------------

    def _take_reply(self, line: Line, event: Event, event_id: str) -> Iterator[Read]:
        for request in list_field(event.get("data"), "toolRequests"):
            if call := text_field(request, "toolCallId"):
                self._tools[call] = text_field(request, "name")
        if self._reply is not None and self._reply.goes_on(event):
            self._reply.lines.append(line)
            self._reply.events.append(event)
            return
        yield from self._flush()
        self._reply = _Reply([line], [event], event_id, self._tip)
        self._tip = event_id
        self._sent.append(event_id)

    def _flush(self) -> Iterator[ReadEntry]:
        """The reply that waited whether it goes on."""
        reply, self._reply = self._reply, None
        if reply is None:
            return
        entry = replace(
            read_events(reply.events), id=reply.entry_id, parent_id=reply.parent or None
        )
        record = "\n".join(line.raw.decode() for line in reply.lines)
        yield ReadEntry(entry, record, reply.lines[0].number, reply.lines[-1].done)

    def _take_start(self, line: Line, event: Event) -> Iterator[Aside]:
        call = text_field(event["data"], "toolCallId")
        if call in self._starts:
            yield Aside(line.number, line.raw, "a tool's start that was recorded twice")
        else:
            self._starts[call] = (line, event)

    def _result(self, line: Line, event: Event, event_id: str) -> ReadEntry:
        call = text_field(event.get("data"), "toolCallId")
        record, events = line.raw.decode(), [event]
        start = self._starts.pop(call, None)
        if start is not None:
            record = f"{start[0].raw.decode()}\n{record}"
            events = [start[1], event]
        name = "" if start and text_field(start[1]["data"], "toolName") else self._tools.get(call)
        is_result = isinstance(event.get("data"), dict) and not event["data"].get("isUserRequested")
        return self._entry(
            line, events, record, event_id, True, {"tool": name} if is_result else None
        )

    # what changes the context ---------------------------------------------------------------------

    def _rewind(self, event_id: str) -> None:
        """Go back to before an event: it and all after it were removed. Where the file was written
        anew without them there is nothing to do."""
        point = self._points.get(event_id)
        if point is not None:
            self._tip, self._start = point.tip, point.start
            del self._sent[point.sent :]

    def _take_compaction(self, line: Line, event: Event, event_id: str) -> Iterator[Read]:
        """A compaction runs while the agent goes on: what it summarises is what had been sent when
        it started, and what came since follows its summary."""
        data = object_field(event, "data")
        begun, self._compaction = self._compaction, None
        summary = text_field(data, "summaryContent")
        if data.get("success") is False or not (summary or data.get("success") is True):
            reason = text_field(data, "error") or "no reason is recorded"
            yield Aside(line.number, line.raw, f"a compaction that failed: {reason[:200]}")
            return
        noted: dict[str, Any] = {}
        at = len(self._sent)
        if begun is not None and begun[1] <= at:
            at = begun[1]
            before = object_field(begun[0], "data")
            if not token_count(data.get("preCompactionTokens")):
                noted["tokens_before"] = _tokens(before)
            if not trigger_of(data):
                noted["trigger"] = trigger_of(before)
        noted["first_kept_id"] = self._sent[at] if at < len(self._sent) else ""
        yield self._entry(line, [event], line.raw.decode(), event_id, False, noted)
        self._start = at
        if summary:
            yield remark(
                line.number,
                "what this compaction kept is not recorded: it is taken to be what came after its"
                " start",
            )
        else:
            yield remark(line.number, "what this compaction's summary says is not recorded")

    def _take_truncation(self, line: Line, event: Event, event_id: str) -> Iterator[Read]:
        data = object_field(event, "data")
        removed = token_count(data.get("messagesRemovedDuringTruncation"))
        if not removed:
            yield Aside(line.number, line.raw, "a truncation that removed nothing")
            return
        self._start = min(self._start + removed, len(self._sent))
        first = self._sent[self._start] if self._start < len(self._sent) else ""
        yield self._entry(
            line, [event], line.raw.decode(), event_id, False, {"first_kept_id": first}
        )
        yield remark(
            line.number,
            f"which {removed:,} messages this truncation removed is not recorded: they are taken"
            " to be the oldest",
        )

    def _end(self) -> Iterator[Read]:
        yield from self._flush()
        for line, _ in self._starts.values():
            yield Aside(line.number, line.raw, "a tool's start without its end")
        for kind, (number, count) in self._unknown.items():
            records = "1 record" if count == 1 else f"{count:,} records"
            are = "is not known; it is kept" if count == 1 else "are not known; they are kept"
            yield remark(number, f"{records} of the type {kind[:80]!r} {are}")


def _tokens(data: Any) -> int:
    """Tokens of the whole context when a compaction began."""
    names = ("conversationTokens", "systemTokens", "toolDefinitionsTokens")
    return token_count(data.get("currentTokens")) or sum(token_count(data.get(n)) for n in names)
