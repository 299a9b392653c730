"""A first pass over a session file of Claude Code: which of its lines make up which entry.

Of the content only what the columns hold is kept, so that memory follows the number of records and
not their size. That an entry is described here saves the second pass from parsing its lines.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from sys import intern
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from explorer.formats.adapter import IsCancelled, ReadCancelled
from explorer.formats.claude_code.fields import (
    HOUSEKEEPING,
    NODE_TYPES,
    SHELL_INPUT,
    SHELL_OUTPUT,
    is_inserted,
    message_of,
    results_in,
    texts_of,
)
from explorer.formats.claude_code.records import (
    body_of,
    digest_prompt,
    digest_reply,
    digest_result,
    is_known,
    placed_entry,
)
from explorer.formats.json_fields import object_field, text_field, texts_in
from explorer.formats.jsonl import BYTE_ORDER_MARK, BadLine, groups_from, is_blank, parse
from explorer.session.describe import Facts, describe
from explorer.session.entries import CompactionSummary, CustomData
from explorer.session.json_values import time_ms
from explorer.session.records import Problem, remark
from explorer.tokens.estimate import estimate_entry

BLANK, PROGRESS, HOUSEKEEPING_LINE, REPEATED, BAD, FOREIGN = -1, -2, -3, -4, -5, -6
"""What a line is that belongs to no unit."""
REASONS = {
    PROGRESS: "progress of a tool or hook",
    HOUSEKEEPING_LINE: "a note of the program, no part of the conversation",
    REPEATED: "the id exists already; the first one counts",
    BAD: "cannot be read",
    FOREIGN: "of a type that is not known",
}
_PLAIN_TYPES = NODE_TYPES - {"system"}
_TASK_NOTE = '{"task_id"'
"""Begins what the program itself puts into the queue."""
ROOT, LATER = -1, -2
"""A parent: there is none; or its record has not come yet."""
REPLY, PROMPT, RESULT, COMPACTION, SHELL, NOTE = range(6)
"""What a unit is. PROMPT: a user's message that is not marked as the program's."""


class Boundary(Struct):
    """What a compaction keeps, as far as it is recorded."""

    line: int
    preserved: tuple[str, ...]
    """Ids of records, the head of the kept range first."""
    has_summary: bool = False
    first_kept: int = -1
    """The unit; -1 for none."""
    is_missing: bool = False
    """It kept messages, and none of them is in the file."""


class Survey(Struct):
    """What the first pass found. A unit is the records of one entry."""

    lines: array[int] = field(default_factory=lambda: array("i"))
    """Of each line, from the first: its unit, or what it is instead."""
    ids: list[str] = field(default_factory=list)
    parents: array[int] = field(default_factory=lambda: array("i"))
    """Of each unit: the unit above it, or ROOT."""
    kinds: bytearray = field(default_factory=bytearray)
    first_lines: array[int] = field(default_factory=lambda: array("i"))
    last_lines: array[int] = field(default_factory=lambda: array("i"))
    threads: list[str] = field(default_factory=list)
    """Of each unit: the agent whose conversation it belongs to; empty for the session's own."""
    parts: dict[int, int] = field(default_factory=dict)
    """Of units with more than one tool result: how many."""
    unit_of: dict[str, int] = field(default_factory=dict)
    """By id of a record; that of a progress record is the unit above it."""
    boundaries: dict[int, Boundary] = field(default_factory=dict)
    tools: dict[str, str] = field(default_factory=dict)
    """Names of tools by the id of the call."""
    result_units: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    """By the id of the call: the unit of its result, its number there, about how many tokens."""
    problems: list[Problem] = field(default_factory=list)
    inferred: list[int] = field(default_factory=list)
    """Lines whose parent is not in the file or not recorded."""
    cut_line: int = 0
    """The line of a progress record before all entries whose parent is not in the file."""
    queued: list[int] = field(default_factory=list)
    """Units of messages that only the records of the queue hold."""
    leaf_mark: tuple[int, str] = (0, "")
    """Line and id of the last mark of where the agent stands."""
    titles: dict[str, str] = field(default_factory=dict)
    """The last title of each type of record."""
    session_id: str = ""
    """The last that a record names."""
    agent_id: str = ""
    cwd: str = ""
    version: str = ""
    time_ms: float = 0.0
    first_stamp: str = ""
    """The time of the first node, as written."""
    forked_from: str = ""
    """The session that the records themselves name as the one they were copied from."""
    incomplete: set[int] = field(default_factory=set)
    """Replies whose usage was recorded while they came in."""

    starts: array[int] = field(default_factory=lambda: array("Q"))
    """Where every line begins in the file, in bytes."""
    lengths: array[int] = field(default_factory=lambda: array("I"))
    """Bytes of every line, without its line feed."""
    prunes: set[int] = field(default_factory=set)
    """Units that say which results left the context."""
    cleared_notes: dict[int, list[str]] = field(default_factory=dict)
    """By such a unit: ids of the records of attachments that left it too."""
    has_main: bool = True
    """Whether any record is the session's own, and not that of an agent among them."""
    described: dict[int, tuple[Facts, int]] = field(default_factory=dict)
    """By unit: facts and estimate of the entries that need no record of another to be understood,
    but for a result's tool."""
    copies: set[int] = field(default_factory=set)
    """Units of which the first record names the session that it was copied from."""

    def copy(self) -> Survey:
        """One that goes on from here by itself, without what was described."""
        other = copy(self)
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, dict | list | set | array):
                setattr(other, name, copy(value))
        other.boundaries = {unit: replace(one) for unit, one in self.boundaries.items()}
        other.described = {}
        return other

    def last_id(self, unit: int) -> str:
        """The id of the last entry of a unit."""
        if unit not in self.parts:
            return self.ids[unit]
        return f"{self.ids[unit]}#{self.parts[unit]}"


class Surveyor:
    """Goes through the records of a file once, in order."""

    def __init__(self, thread: str | None = None) -> None:
        """``thread``: the conversation whose entries are described; None for none."""
        self.survey = Survey()
        self._thread_described = thread
        self._open: dict[str, tuple[int, list[dict[str, Any]]]] = {}
        """Of each conversation the last reply, to which further records may belong."""
        self._replies: dict[tuple[str, str], int] = {}
        self._summaries: dict[str, str] = {}
        self._sides: dict[str, str] = {}
        self._last: dict[str, int] = {}
        self._later: list[tuple[int, str, int]] = []
        self._tails: dict[str, int] = {}
        self._unknown: dict[str, list[int]] = defaultdict(list)
        self._repeated: list[int] = []
        self._queued: list[tuple[int, dict[str, Any]]] = []
        """Messages that wait in the queue, with their lines."""
        self._taken: list[tuple[int, dict[str, Any], int]] = []
        """Those that were taken out during a turn, with the line that says so."""
        self._main_nodes = 0
        self.offset = 0
        """Bytes of the file that were read: whole lines."""
        self._rest: tuple[bytes, int] | None = None
        """The last line and where it begins, where it may not be complete."""

    def read(self, path: Path, cancelled: IsCancelled | None = None) -> Survey:
        """The survey of a file. Raises OSError, FormatError, ReadCancelled."""
        self.read_on(path, cancelled)
        return self.conclude()

    def read_on(self, path: Path, cancelled: IsCancelled | None = None) -> None:
        """Go through the whole lines that were not there before. Raises as ``read``."""
        for lines, start, is_whole in groups_from(path, self.offset):
            if cancelled is not None and cancelled():
                raise ReadCancelled(f"{path}: reading stopped after {self.offset:,} bytes")
            if not start and lines[0].startswith(BYTE_ORDER_MARK):
                start = len(BYTE_ORDER_MARK)
                lines[0] = lines[0][start:]
            if not is_whole:
                self._rest = lines[0], start
                return
            for line in lines:
                self._take(line, start)
                start += len(line) + 1
            self.offset = start

    def copy(self) -> Surveyor:
        """One that goes on from here by itself."""
        other = copy(self)
        other.survey, other._rest = self.survey.copy(), None
        other._replies, other._summaries = self._replies.copy(), self._summaries.copy()
        other._sides, other._last = self._sides.copy(), self._last.copy()
        other._later, other._tails = self._later.copy(), self._tails.copy()
        other._repeated = self._repeated.copy()
        other._queued, other._taken = self._queued.copy(), self._taken.copy()
        other._open = {name: (unit, list(one)) for name, (unit, one) in self._open.items()}
        other._unknown = defaultdict(list)
        other._unknown.update((name, list(lines)) for name, lines in self._unknown.items())
        return other

    def _take(self, line: bytes, start: int) -> None:
        survey = self.survey
        survey.lines.append(self._line(len(survey.lines) + 1, line))
        survey.starts.append(start)
        survey.lengths.append(len(line))

    def _line(self, number: int, line: bytes) -> int:
        try:
            value = parse(line)
        except BadLine as error:
            if is_blank(line):
                return BLANK
            self.survey.problems.append(Problem(number, f"{error}; the line was put aside"))
            return BAD
        if not isinstance(value, dict):
            reason = "the line is not a JSON object; it was put aside"
            self.survey.problems.append(Problem(number, reason))
            return BAD
        identity, kind = value.get("uuid"), value.get("type")
        if not isinstance(kind, str):
            kind = ""
        if not isinstance(identity, str) or not identity:
            if kind not in ("user", "assistant"):
                return self._note(number, value, kind)
            # A message that lost its id is a message nevertheless.
            identity = f"line-{number}"
        return self._node(number, identity, kind, value)

    def _note(self, number: int, value: dict[str, Any], kind: str) -> int:
        """A record that is no node."""
        survey = self.survey
        if kind == "last-prompt" and isinstance(value.get("leafUuid"), str):
            survey.leaf_mark = (number, value["leafUuid"])
        for name in ("customTitle", "aiTitle"):
            if isinstance(value.get(name), str) and value[name].strip():
                survey.titles[name] = value[name]
        if kind == "summary":
            self._summaries[text_field(value, "leafUuid")] = text_field(value, "summary")
        if kind == "queue-operation":
            self._queue(number, value)
        if kind in HOUSEKEEPING:
            return HOUSEKEEPING_LINE
        self._unknown[kind].append(number)
        return FOREIGN

    def _queue(self, number: int, value: dict[str, Any]) -> None:
        """Follow the queue of messages that are typed while the agent works. Up to 2.1.49 one that
        was taken into the running turn has no record but these."""
        match text_field(value, "operation"):
            case "enqueue":
                text = text_field(value, "content")
                if text.strip() and not is_inserted(text) and not text.startswith(_TASK_NOTE):
                    self._queued.append((number, value))
            case "remove" if self._queued:
                self._taken.append((*self._queued.pop(0), number))
            case "popAll":
                self._queued.clear()

    def _forget_queued(self, content: Any) -> None:
        """A message of the queue has a record of its own."""
        said = "\n".join(texts_of(content)).strip()
        self._queued = [one for one in self._queued if text_field(one[1], "content") != said]
        self._taken = [one for one in self._taken if text_field(one[1], "content") != said]

    def _place_queued(self, parent: int) -> int:
        """Put the messages that were taken into the turn before the reply that saw them; returns
        the unit that this reply hangs on."""
        survey = self.survey
        for line, value, taken in self._taken:
            unit = len(survey.ids)
            survey.ids.append(f"line-{line}")
            survey.unit_of[survey.ids[unit]] = unit
            survey.parents.append(parent)
            survey.kinds.append(PROMPT)
            survey.first_lines.append(line)
            survey.last_lines.append(taken)
            survey.threads.append("")
            survey.lines[line - 1] = survey.lines[taken - 1] = unit
            survey.queued.append(unit)
            self._describe_new(unit, "", value)
            parent = unit
        self._taken.clear()
        return parent

    def _node(self, number: int, identity: str, kind: str, value: dict[str, Any]) -> int:
        survey = self.survey
        if identity in survey.unit_of:
            self._repeated.append(number)
            return REPEATED
        self._header(value)
        thread = self._thread(identity, value) if value.get("isSidechain") is True else ""
        if kind == "progress":
            self._main_nodes += not thread
            survey.unit_of[identity] = self._parent(number, thread, value)
            return PROGRESS
        if kind not in _PLAIN_TYPES and not is_known(value):
            subtype = text_field(value, "subtype")
            name = f"{kind}/{subtype}" if kind == "system" else kind
            self._unknown[name].append(number)
        self._main_nodes += not thread
        if self._queued or self._taken:
            if kind == "user":
                self._forget_queued(message_of(value).get("content"))
            elif kind == "attachment":
                self._forget_queued(object_field(value, "attachment").get("prompt"))
        unit = self._joined(thread, value)
        if unit is None:
            unit = self._begin(number, identity, thread, value)
            if thread == self._thread_described or not self._main_nodes:
                self._describe_new(unit, thread, value)
        else:
            survey.last_lines[unit] = number
            self._describe_more(unit, thread, value)
        survey.unit_of[identity] = unit
        self._last[thread] = unit
        if kind == "assistant":
            self._reply(unit, value)
        return unit

    def _describe_new(self, unit: int, thread: str, value: dict[str, Any]) -> None:
        """Describe a unit that has only this record, or keep it until its reply is complete."""
        if self._thread_described is None:
            return
        kind = self.survey.kinds[unit]
        if kind == REPLY:
            before = self._open.get(thread)
            self._open[thread] = unit, [value]
            if before is not None:
                self._describe(*before)
        elif kind in (RESULT, PROMPT, NOTE) and unit not in self.survey.parts:
            self._describe(unit, [value])

    def _describe_more(self, unit: int, thread: str, value: dict[str, Any]) -> None:
        opened = self._open.get(thread)
        if opened is not None and opened[0] == unit:
            opened[1].append(value)
        else:
            # It seemed complete, as another reply had begun: the second pass reads all of it.
            self.survey.described.pop(unit, None)

    def _describe(self, unit: int, values: Sequence[dict[str, Any]]) -> None:
        survey, found = self.survey, None
        try:
            if survey.kinds[unit] == REPLY:
                found = digest_reply(values)
            elif survey.kinds[unit] == RESULT:
                found = digest_result(values[0], survey.tools)
            elif survey.kinds[unit] == PROMPT:
                found = digest_prompt(values[0])
        except (KeyError, TypeError, AttributeError, ValueError):
            found = None  # It has another shape than most.
        if found is not None:
            survey.described[unit] = found
            return
        body = body_of(values, tools=self.survey.tools)
        if isinstance(body, CompactionSummary | CustomData):
            return  # Other records say more of them.
        entry = placed_entry(values, body, "", None)
        survey.described[unit] = describe(entry), estimate_entry(entry)

    def _header(self, value: Mapping[str, Any]) -> None:
        survey = self.survey
        # Nearly every record repeats these.
        if value.get("sessionId") != survey.session_id:
            survey.session_id = text_field(value, "sessionId") or survey.session_id
        if value.get("version") != survey.version:
            survey.version = text_field(value, "version") or survey.version
        if not survey.cwd:
            survey.cwd = text_field(value, "cwd")
        if not survey.agent_id and "agentId" in value:
            survey.agent_id = text_field(value, "agentId")
        if not survey.unit_of:
            survey.first_stamp = text_field(value, "timestamp")
        if not survey.time_ms:
            survey.time_ms = time_ms(value.get("timestamp"))
        if "forkedFrom" in value:
            origin = text_field(object_field(value, "forkedFrom"), "sessionId")
            survey.forked_from = survey.forked_from or origin

    def _thread(self, identity: str, value: Mapping[str, Any]) -> str:
        """The agent among the session's records that wrote this one."""
        above = self._sides.get(text_field(value, "parentUuid"), "")
        thread = text_field(value, "agentId") or above or identity
        self._sides[identity] = thread
        return thread

    def _joined(self, thread: str, value: Mapping[str, Any]) -> int | None:
        """The unit that a record goes on with."""
        survey, kind = self.survey, value.get("type")
        if kind == "assistant":
            name = message_of(value).get("id")
            return self._replies.get((thread, name)) if isinstance(name, str) else None
        if kind != "user":
            return None
        above = survey.unit_of.get(text_field(value, "parentUuid"), ROOT)
        if above < 0 or survey.threads[above] != thread:
            return None
        if value.get("isCompactSummary") is True:
            boundary = survey.boundaries.get(above)
            if boundary is not None and not boundary.has_summary:
                boundary.has_summary = True
                return above
        elif survey.kinds[above] == SHELL and survey.first_lines[above] == survey.last_lines[above]:
            texts = texts_of(message_of(value).get("content"))
            if texts and texts[0].lstrip().startswith(SHELL_OUTPUT):
                return above
        return None

    def _begin(self, number: int, identity: str, thread: str, value: dict[str, Any]) -> int:
        survey = self.survey
        parent = self._parent(number, thread, value)
        if self._taken and parent >= 0 and not thread and value.get("type") == "assistant":
            parent = self._place_queued(parent)
        unit = len(survey.ids)
        survey.ids.append(identity)
        survey.parents.append(parent)
        survey.kinds.append(self._kind(unit, value))
        survey.first_lines.append(number)
        survey.last_lines.append(number)
        survey.threads.append(thread)
        if "forkedFrom" in value:
            survey.copies.add(unit)
        if parent == LATER:
            self._later.append(
                (unit, text_field(value, "parentUuid"), self._last.get(thread, ROOT))
            )
        if value.get("subtype") == "compact_boundary" and survey.kinds[unit] == COMPACTION:
            self._boundary(unit, number, value)
        if value.get("subtype") == "microcompact_boundary":
            survey.prunes.add(unit)
            facts = object_field(value, "microcompactMetadata")
            if cleared := list(texts_in(facts.get("clearedAttachmentUUIDs"))):
                survey.cleared_notes[unit] = cleared
        return unit

    def _kind(self, unit: int, value: Mapping[str, Any]) -> int:
        survey = self.survey
        match value.get("type"):
            case "assistant":
                return REPLY
            case "system" if value.get("subtype") == "compact_boundary":
                return COMPACTION
            case "user":
                pass
            case _:
                return NOTE
        if value.get("isCompactSummary") is True:
            return COMPACTION
        content = message_of(value).get("content")
        if results := results_in(content):
            if len(results) > 1:
                survey.parts[unit] = len(results)
            for part, one in enumerate(results):
                call = text_field(one, "tool_use_id")
                survey.result_units[call] = (unit, part, _tokens(one))
            return RESULT
        texts = texts_of(content)
        if texts and texts[0].lstrip().startswith(SHELL_INPUT):
            return SHELL
        return NOTE if value.get("isMeta") is True else PROMPT

    def _parent(self, number: int, thread: str, value: Mapping[str, Any]) -> int:
        """The unit that a new record hangs on."""
        survey = self.survey
        above = value.get("parentUuid", 0)
        is_boundary = value.get("subtype") == "compact_boundary"
        if is_boundary:
            above = text_field(value, "logicalParentUuid") or above or 0
        if above is None and value.get("isCompactSummary") is not True:
            return ROOT
        # Before it wrote boundaries, Claude Code began anew with the summary of what stands above.
        if isinstance(above, str):
            unit = self._tails.get(above)
            if unit is None:
                unit = survey.unit_of.get(above)
            if unit is not None and (unit < 0 or survey.threads[unit] == thread):
                return unit
            if not (is_boundary or above in survey.unit_of or value.get("type") == "progress"):
                return LATER
            is_boundary = False  # What it followed may come after it, as a copy that it keeps.
        last = self._last.get(thread, ROOT)
        if last != ROOT and not is_boundary:
            survey.inferred.append(number)
        if not survey.ids and not survey.cut_line and value.get("type") == "progress":
            survey.cut_line = number
        return last

    def _boundary(self, unit: int, number: int, value: Mapping[str, Any]) -> None:
        facts = object_field(value, "compactMetadata")
        segment = object_field(facts, "preservedSegment")
        messages = object_field(facts, "preservedMessages")
        listed = [*texts_in(messages.get("uuids")), *texts_in(messages.get("allUuids"))]
        head, tail = text_field(segment, "headUuid"), text_field(segment, "tailUuid")
        preserved = tuple(one for one in (head, *listed, tail) if one)
        self.survey.boundaries[unit] = Boundary(number, preserved)
        tail = tail or next(reversed(texts_in(messages.get("uuids"))), "")
        if tail in self.survey.unit_of:
            self._tails[tail] = unit

    def _reply(self, unit: int, value: Mapping[str, Any]) -> None:
        survey, message = self.survey, message_of(value)
        identity, stop = message.get("id"), message.get("stop_reason")
        if identity and isinstance(identity, str):
            self._replies[(survey.threads[unit], identity)] = unit
        if stop and isinstance(stop, str):
            survey.incomplete.discard(unit)
        elif "usage" in message and survey.first_lines[unit] == survey.last_lines[unit]:
            survey.incomplete.add(unit)
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "tool_use":
                survey.tools[text_field(block, "id")] = intern(text_field(block, "name"))

    def conclude(self) -> Survey:
        """What follows if the file ends here; nothing more can be read then."""
        if self._rest is not None:
            self._take(*self._rest)
        survey = self.survey
        survey.has_main = bool(self._main_nodes)
        for unit, values in self._open.values():
            self._describe(unit, values)
        if not self._main_nodes:
            survey.threads = [""] * len(survey.threads)
        first_below: dict[tuple[str, str], int] = {}
        for unit, above, last in self._later:
            found = survey.unit_of.get(above, ROOT)
            if found in (ROOT, unit) or survey.threads[found] != survey.threads[unit]:
                survey.inferred.append(survey.first_lines[unit])
                other = first_below.setdefault((survey.threads[unit], above), unit)
                found = survey.parents[other] if self._is_rewind(other, unit) else last
            survey.parents[unit] = found
        for unit, boundary in survey.boundaries.items():
            self._keep(unit, boundary)
        mark = survey.leaf_mark[1]
        if mark in self._tails:
            survey.leaf_mark = (survey.leaf_mark[0], survey.ids[self._tails[mark]])
        for leaf, title in self._summaries.items():
            if leaf in survey.unit_of:
                survey.titles["summary"] = title
        self._name_problems()
        return survey

    def _is_rewind(self, before: int, unit: int) -> bool:
        """Whether two units below one record that is not in the file are two ways to go on."""
        kinds = {self.survey.kinds[before], self.survey.kinds[unit]}
        return before != unit and PROMPT in kinds and kinds <= {PROMPT, REPLY}

    def _keep(self, unit: int, boundary: Boundary) -> None:
        """Find the head of what a compaction kept."""
        survey = self.survey
        found = [one for name in boundary.preserved if (one := survey.unit_of.get(name, ROOT)) >= 0]
        boundary.is_missing = bool(boundary.preserved) and not found
        # A fork's file has the kept messages below the boundary: they need no naming.
        before = [one for one in found if survey.first_lines[one] < boundary.line and one != unit]
        boundary.first_kept = before[0] if before else ROOT

    def _name_problems(self) -> None:
        problems = self.survey.problems
        for kind, lines in self._unknown.items():
            count = len(lines)
            noun = "record" if count == 1 else "records"
            verb, pronoun = ("is", "it is") if count == 1 else ("are", "they are")
            reason = f"{count:,} {noun} of the type {kind[:80]!r} {verb} not known; {pronoun} kept"
            problems.append(remark(lines[0], reason))
        if self._repeated:
            count, noun = len(self._repeated), "record" if len(self._repeated) == 1 else "records"
            reason = f"{count:,} {noun} with an id that exists already; the first one counts"
            problems.append(Problem(self._repeated[0], reason))


def _tokens(result: Mapping[str, Any]) -> int:
    """About what a tool result takes: a token for four characters."""
    content = result.get("content")
    length = len(content) if isinstance(content, str) else sum(map(len, texts_of(content)))
    return (length + 3) // 4
