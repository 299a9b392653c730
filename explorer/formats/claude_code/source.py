"""A session of Claude Code as a source of entries; and from the parents that it records to a tree
in which only what a person went back to is a branch.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct, field
from msgspec.structs import replace

from explorer.formats.adapter import FormatError, IsCancelled, Progress, ReadCancelled
from explorer.formats.claude_code import neighbours
from explorer.formats.claude_code.fields import PART, message_of, texts_of
from explorer.formats.claude_code.records import body_of, placed_entry
from explorer.formats.claude_code.survey import (
    BAD,
    BLANK,
    COMPACTION,
    NOTE,
    REASONS,
    RESULT,
    ROOT,
    Survey,
    Surveyor,
)
from explorer.formats.json_fields import object_field, text_field
from explorer.formats.jsonl import (
    BYTE_ORDER_MARK,
    CHUNK_BYTES,
    BadLine,
    line_groups,
    parse,
    stamp_of,
)
from explorer.formats.typed_source import DescribedEntry, Leaf, ReadEntry, TypedSource, note_of
from explorer.session.edit_entries import PRUNE_TYPE
from explorer.session.entries import (
    Body,
    CompactionSummary,
    CustomData,
    ToolResultMessage,
)
from explorer.session.records import Aside, FormatName, Problem, Relation, SessionHeader, remark


def straighten(survey: Survey, thread: str) -> list[int]:
    """Put the parents of a conversation's units right, and return the units, parents first."""
    units = [unit for unit, one in enumerate(survey.threads) if one == thread]
    parents = survey.parents
    order = _ordered(units, parents)
    speaks = bytearray(len(parents))
    for unit in reversed(order):
        if survey.kinds[unit] not in (RESULT, NOTE):
            speaks[unit] = 1
        if speaks[unit] and parents[unit] != ROOT:
            speaks[parents[unit]] = 1
    if _join_roots(survey, units, speaks):
        order = _ordered(units, parents)
    children: dict[int, list[int]] = defaultdict(list)
    for unit in units:
        children[parents[unit]].append(unit)
    ends = array("i", range(len(parents)))
    for unit in reversed(order):
        below = children.get(unit)
        if not below:
            continue
        if len(below) > 1:
            _chain(survey, unit, below, speaks, ends)
        if not speaks[unit]:
            ends[unit] = ends[below[-1]]
    return order


def _ordered(units: Sequence[int], parents: array[int]) -> list[int]:
    """Units with parents first; one that hangs below itself is put after the unit before it."""
    if all(parents[unit] < unit for unit in units):
        return list(units)
    children: dict[int, list[int]] = defaultdict(list)
    for unit in units:
        children[parents[unit]].append(unit)
    order: list[int] = []
    seen = bytearray(len(parents))
    before = ROOT
    stack = children[ROOT][::-1]
    for unit in [ROOT, *units]:
        if unit != ROOT and not seen[unit]:
            parents[unit] = before
            stack = [unit]
        while stack:
            one = stack.pop()
            if not seen[one]:
                seen[one] = 1
                order.append(one)
                stack += children[one][::-1]
        before = unit
    return order


def _join_roots(survey: Survey, units: Sequence[int], speaks: bytearray) -> bool:
    """Hang the roots on which nothing is said on what came before them; whether there are any."""
    joined = False
    for before, unit in pairwise(units):
        if survey.parents[unit] == ROOT and not speaks[unit]:
            survey.parents[unit] = before
            survey.inferred.append(survey.first_lines[unit])
            joined = True
    return joined


def _chain(
    survey: Survey, unit: int, below: Sequence[int], speaks: bytearray, ends: array[int]
) -> None:
    """Put the children of a unit in a line, but for those where a conversation goes on."""
    parents = survey.parents
    at = unit
    for one in below:
        if not speaks[one]:
            parents[one] = at
            at = ends[one]
    result = at
    for one in below:
        if speaks[one] and survey.kinds[one] == RESULT:
            parents[one] = result
            result = one
        elif speaks[one]:
            parents[one] = at


def leaf_unit(survey: Survey, order: Sequence[int]) -> int:
    """Where the agent stands: at its last mark, unless it went on after that; else at the end of
    the line that the last record belongs to. ROOT where there is nothing."""
    if not order:
        return ROOT
    lines = survey.last_lines
    newest = max(order, key=lambda one: lines[one])
    line, name = survey.leaf_mark
    marked = survey.unit_of.get(name, ROOT)
    if marked != ROOT and lines[newest] < line and survey.threads[marked] == survey.threads[newest]:
        return marked
    below: dict[int, int] = {}
    for unit in order:
        above = survey.parents[unit]
        if above not in below or lines[below[above]] < lines[unit]:
            below[above] = unit
    while newest in below:
        newest = below[newest]
    return newest


FORMAT: FormatName = "claude-code"
CLEARED = "[Old tool result content cleared]"
"""What the model is sent in place of a result that left the context."""
_IDENTITY = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.I)


def open_session(
    path: Path,
    progress: Progress | None = None,
    cancelled: IsCancelled | None = None,
    session_id: str = "",
) -> TypedSource:
    """Open a session file, or the conversation of an agent in it.

    Raises FormatError when it is no session, OSError when it cannot be read, ReadCancelled.
    """
    began = stamp_of(path)
    surveyor = Surveyor(session_id)
    surveyor.read_on(path, cancelled)
    next_surveyor, survey = surveyor.copy(), surveyor.conclude()
    own_id = own_session_id(path, survey.session_id, survey.agent_id)
    thread = "" if session_id in ("", own_id) else session_id
    if thread and thread not in survey.threads:
        raise FormatError(str(path), 1, f"the file holds no session {session_id[:80]!r}")
    if all(one < 0 for one in survey.lines) and not any(
        one not in (BLANK, BAD) for one in survey.lines
    ):
        raise FormatError(str(path), 1, "the file holds no record of a session")
    order = straighten(survey, thread)
    if thread or neighbours.is_agent_file(path):
        header = _agent_header(path, survey, own_id, thread)
    else:
        header = _file_header(survey, own_id)
    reading = _Reading(path, next_surveyor, survey, thread, order, cancelled, began)
    if not header.relation and order:
        header = reading.mark_copied(header)
    return TypedSource(path, header, reading, progress, cancelled)


def own_session_id(path: Path, session_id: str, agent_id: str) -> str:
    """The id of the session that a file is named for: what continues it goes by the file's name,
    where the program gave it."""
    if neighbours.is_agent_file(path):
        return agent_id or path.stem.removeprefix(neighbours.AGENT_PREFIX)
    return path.stem if _IDENTITY.fullmatch(path.stem) else session_id or path.stem


def agent_threads(survey: Survey) -> list[str]:
    """The agents whose conversations stand among the records of a session."""
    return list(dict.fromkeys(one for one in survey.threads if one))


def _file_header(survey: Survey, own_id: str) -> SessionHeader:
    titles = survey.titles
    title = titles.get("customTitle") or titles.get("aiTitle") or titles.get("summary") or ""
    return SessionHeader(
        own_id, FORMAT, 1, survey.cwd, survey.time_ms, "", "", title,
        agent_version=survey.version,
    )  # fmt: skip


def _agent_header(path: Path, survey: Survey, own_id: str, thread: str) -> SessionHeader:
    """Of an agent that a call started: in a file of its own, or among the session's records."""
    facts: Mapping[str, Any] = {} if thread else neighbours.agent_facts(path)
    relation: Relation = "subagent"
    agent = thread or own_id
    if agent.startswith(neighbours.COMPACTOR_PREFIX):
        relation = "compactor"
    if thread:
        started_by, place = own_id, path
    else:
        place = neighbours.parent_file(path, survey.session_id)
        started_by = place.stem if path.parent.name == neighbours.SUBAGENTS else survey.session_id
    call = text_field(facts, "toolUseId")
    if not call and relation == "subagent":
        call = neighbours.starting_call(place, agent) or _prompting_call(path, survey, thread)
    title = text_field(facts, "description") or text_field(facts, "agentType")
    return SessionHeader(
        agent, FORMAT, 1, survey.cwd, survey.time_ms, started_by, "", title, relation, call,
        survey.version,
    )  # fmt: skip


def _prompting_call(path: Path, survey: Survey, thread: str) -> str:
    """The call whose prompt an agent among the session's records was given."""
    if not thread:
        return ""
    start = survey.first_lines[survey.threads.index(thread)]
    calls: dict[str, str] = {}
    for number, line in _numbered_lines(path):
        if number > start:
            break
        if number < start and b'"tool_use"' not in line:
            continue
        try:
            value = parse(line)
        except BadLine:
            continue
        content = message_of(value).get("content") if isinstance(value, dict) else None
        if number == start:
            return calls.get("\n".join(texts_of(content)), "")
        for block in content if isinstance(content, list) else ():
            given = block.get("input") if isinstance(block, dict) else None
            if isinstance(given, dict) and isinstance(given.get("prompt"), str):
                calls[given["prompt"]] = text_field(block, "id")
    return ""


def _numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers from 1. Raises OSError, FormatError."""
    number = 0
    with path.open("rb") as file:
        for lines, _ in line_groups(file):
            for line in lines:
                number += 1
                if number == 1 and line.startswith(BYTE_ORDER_MARK):
                    line = line[len(BYTE_ORDER_MARK) :]
                yield number, line


@lru_cache(maxsize=256)
def _tool_note(tool: str) -> str:
    return note_of({"tool": tool})


class _Reading(Struct):
    """The second pass: records to entries. A ``GrowingReader``: what a record tells of others may
    change as long as the file grows, so that ``end`` gives all entries, but for those that an
    earlier reading gave as they are now."""

    path: Path
    surveyor: Surveyor
    """As it was at the end of the last whole line: the next reading goes on with it."""
    survey: Survey
    thread: str
    order: Sequence[int]
    cancelled: IsCancelled | None
    began: tuple[int, int]
    before: Survey | None = None
    """What the reading before this one knew."""
    seen: int = 0
    """How many whole lines that one had."""
    changed: set[int] = field(default_factory=set)
    """Of the units that it knew, those whose entries are to be given again."""
    copied: frozenset[str] = frozenset()
    pending: dict[int, list[bytes]] = field(default_factory=dict)
    """Lines of units that are not complete yet."""

    def mark_copied(self, header: SessionHeader) -> SessionHeader:
        """The header of a fork, whose repeated records are remembered; else as it is."""
        survey = self.survey
        unit = min(self.order, key=lambda one: survey.first_lines[one])
        first = neighbours.FirstNode(
            next(iter(survey.unit_of)), survey.first_stamp, survey.kinds[unit] == COMPACTION
        )
        origin = neighbours.fork_origin(self.path, first)
        if origin is not None:
            self.copied = origin.uuids
        name = origin.session_id if origin is not None else survey.forked_from
        if not name or name == header.session_id:
            return header
        return replace(header, parent_session=name, relation="fork")

    @property
    def offset(self) -> int:
        """See ``GrowingReader``."""
        return self.surveyor.offset

    def copy(self) -> _Reading:
        """See ``GrowingReader``."""
        # What this one knows is what the other one compares with.
        whole = len(self.surveyor.survey.lines)
        return replace(self, before=self.survey, seen=whole, pending={})

    def known_ids(self) -> list[str] | None:
        """See ``GrowingReader``. Makes the survey of what came since."""
        before = self.before
        assert before is not None
        surveyor, self.began = self.surveyor, stamp_of(self.path)
        surveyor.read_on(self.path, self.cancelled)
        self.surveyor, self.survey = surveyor.copy(), surveyor.conclude()
        survey, known = self.survey, len(before.ids)
        for call, tool in survey.tools.items():
            if call in before.result_units and before.tools.get(call) != tool:
                return None  # Results that came before their calls: which ones, nobody noted.
        if before.has_main != survey.has_main or survey.ids[:known] != before.ids:
            return None
        if any(survey.first_lines[one] <= self.seen for one in survey.queued if one >= known):
            return None  # What was a note of the program has become a message.
        self.order = straighten(survey, self.thread)
        lasts = zip(before.last_lines, survey.last_lines, strict=False)
        self.changed = {unit for unit, (old, new) in enumerate(lasts) if old != new}
        self.changed |= survey.prunes
        self.changed.update(one for one in range(known) if survey.kinds[one] == COMPACTION)
        return [
            survey.ids[unit] + (f"#{part + 1}" if part else "")
            for unit in self.order
            if unit < known and unit not in self.changed
            for part in range(survey.parts.get(unit, 1))
        ]

    def more(self) -> Iterator[Aside]:
        """See ``GrowingReader``: the lines that are no entry."""
        if not self.thread:
            yield from self._asides(len(self.surveyor.survey.lines), False)

    def _asides(self, whole: int, last: bool) -> Iterator[Aside]:
        """Of the whole lines, or of the last one, which is not complete."""
        survey, chosen = self.survey, set(self.order)
        first = whole if last else self.seen
        stop = len(survey.lines) if last else whole
        with self.path.open("rb", buffering=CHUNK_BYTES) as file:
            for at in range(first, stop):
                unit = survey.lines[at]
                if unit == BLANK or unit in chosen:
                    continue
                if unit < 0:
                    reason = REASONS[unit]
                else:
                    reason = f"belongs to the agent {survey.threads[unit][:80]}"
                yield Aside(at + 1, self._line(file, at), reason)

    def _line(self, file: BinaryIO, at: int) -> bytes:
        file.seek(self.survey.starts[at])
        return file.read(self.survey.lengths[at])

    def end(self) -> Iterator[ReadEntry | DescribedEntry | Aside | Problem | Leaf]:
        """See ``GrowingReader``."""
        survey = self.survey
        if not self.thread:
            yield from self._asides(len(self.surveyor.survey.lines), True)
        yield from self._entries_in_order()
        yield from self._problems()
        leaf = leaf_unit(survey, self.order)
        if leaf != ROOT:
            yield Leaf(survey.last_id(leaf))

    def _entries_in_order(self) -> Iterator[ReadEntry | DescribedEntry | Aside]:
        """The entries that are not known yet, where the last of their lines stands."""
        survey = self.survey
        known = len(self.before.ids) if self.before is not None else 0
        wanted = {unit for unit in self.order if unit >= known or unit in self.changed}
        with self.path.open("rb", buffering=CHUNK_BYTES) as file:
            for at, unit in enumerate(survey.lines):
                if unit not in wanted:
                    continue
                line = self._line(file, at)
                if len(line) < survey.lengths[at] or b"\n" in line:
                    # The file is being changed: what was described is another record.
                    survey.described.pop(unit, None)
                if unit in self.pending:
                    self.pending[unit].append(line)
                else:
                    self.pending[unit] = [line]
                if at + 1 < survey.last_lines[unit]:
                    continue
                if self.cancelled is not None and self.cancelled():
                    raise ReadCancelled(f"{self.path}: reading stopped at line {at + 1:,}")
                done = survey.starts[at] + survey.lengths[at]
                if unit in survey.described:
                    yield self._described(unit, done)
                else:
                    yield from self._read(unit, done)

    def _described(self, unit: int, done: int) -> DescribedEntry:
        """The entry of a unit that the first pass described."""
        survey = self.survey
        facts, estimate = survey.described.pop(unit)
        lines = self.pending.pop(unit)
        record = (b"\n".join(lines) if len(lines) > 1 else lines[0]).decode()
        above = survey.parents[unit]
        if survey.kinds[unit] == RESULT and (tool := survey.tools.get(facts.call_id, "")):
            if tool != facts.tool:
                facts = facts._replace(tool=tool)
            record = f"{record}\n{_tool_note(tool)}"
        identity = survey.ids[unit]
        return DescribedEntry(
            identity,
            survey.last_id(above) if above != ROOT else "",
            record,
            survey.first_lines[unit],
            done,
            facts,
            estimate,
            unit in survey.copies or identity in self.copied,
        )

    def _read(self, unit: int, done: int) -> Iterator[ReadEntry | Aside]:
        """The entries of a unit, from its lines."""
        survey = self.survey
        lines: list[bytes] = []
        values: list[dict[str, Any]] = []
        number = survey.first_lines[unit]
        for line in self.pending.pop(unit):
            try:
                values.append(parse(line))
                lines.append(line)
            except BadLine:
                # It was sound in the first pass: the file is being changed.
                yield Aside(number, line, REASONS[BAD])
        if values:
            yield from self._entries(unit, lines, values, done)

    def _entries(
        self, unit: int, lines: Sequence[bytes], values: Sequence[dict[str, Any]], done: int
    ) -> Iterator[ReadEntry]:
        survey = self.survey
        number = survey.first_lines[unit]
        record = "\n".join([line.decode() for line in lines])
        above = survey.parents[unit]
        parent = survey.last_id(above) if above != ROOT else None
        inherited = unit in survey.copies or survey.ids[unit] in self.copied
        for part in range(survey.parts.get(unit, 1)):
            body, noted = self._completed(unit, body_of(values, part, survey.tools), values[0])
            identity, text = survey.ids[unit], record
            if part:
                parent = identity if part == 1 else f"{identity}#{part}"
                identity = f"{identity}#{part + 1}"
                text = f"{record}\n{PART}{part}}}"
            entry = placed_entry(values, body, identity, parent)
            yield ReadEntry(entry, text, number, done, noted, inherited)

    def _completed(
        self, unit: int, body: Body, value: Mapping[str, Any]
    ) -> tuple[Body, tuple[str, ...]]:
        """A body with what other records say of it, and the names of these fields."""
        survey = self.survey
        if isinstance(body, ToolResultMessage):
            return body, ("tool",) if body.tool else ()
        elif isinstance(body, CompactionSummary) and unit in survey.boundaries:
            boundary = survey.boundaries[unit]
            if boundary.is_missing and body.certainty == "exact":
                return replace(body, certainty="inferred"), ("certainty",)
            if boundary.first_kept != ROOT:
                head = survey.ids[boundary.first_kept]
                return replace(body, first_kept_id=head), ("first_kept_id",)
        elif isinstance(body, CustomData) and body.name == PRUNE_TYPE:
            data = {**body.data, "results": self._cleared(value)}
            return replace(body, data=data), ("data",)
        return body, ()

    def _cleared(self, value: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The results that left the context, as entries that prune name them."""
        named = object_field(value, "microcompactMetadata").get("compactedToolIds")
        results = []
        for call in named if isinstance(named, list) else ():
            found = self.survey.result_units.get(call) if isinstance(call, str) else None
            if found is None or self.survey.threads[found[0]] != self.thread:
                continue
            unit, part, tokens = found
            identity = self.survey.ids[unit] + (f"#{part + 1}" if part else "")
            results.append({"id": identity, "tokens": tokens, "text": CLEARED})
        return results

    def _problems(self) -> Iterator[Problem]:
        survey = self.survey
        if not self.thread:
            yield from survey.problems
        units = set(self.order)
        first = survey.first_lines[self.order[0]] if self.order else 0
        is_cut = first in survey.inferred and survey.parents[self.order[0]] == ROOT
        if is_cut or (survey.cut_line and not self.thread):
            reason = "the file begins in the middle: what came before its first record is not in it"
            yield remark(first if is_cut else survey.cut_line, reason)
        lines = {survey.first_lines[unit] for unit in units}
        moved = [
            one for one in survey.inferred if one != first and (one in lines or not self.thread)
        ]
        if moved:
            count, noun = len(moved), "record" if len(moved) == 1 else "records"
            reason = (
                f"{count:,} {noun} whose parent is not in the file: the entry before is taken for"
                " it (inferred)"
            )
            yield remark(moved[0], reason)
        queued = [unit for unit in survey.queued if unit in units]
        if queued:
            count = len(queued)
            noun = "message was" if count == 1 else "messages were"
            reason = (
                f"{count:,} {noun} typed during a turn and recorded in the queue alone: the place"
                " is inferred"
            )
            yield remark(survey.first_lines[queued[0]], reason)
        found = survey.incomplete & units
        if found:
            incomplete = len(found)
            noun = "reply was" if incomplete == 1 else "replies were"
            reason = (
                f"{incomplete:,} {noun} recorded with the first count of their tokens, which is"
                " incomplete: sums have it as a lower bound"
            )
            yield remark(survey.first_lines[min(found)], reason)
        for unit in sorted(units & survey.cleared_notes.keys()):
            known = sum(one in survey.unit_of for one in survey.cleared_notes[unit])
            if known:
                noun = "attachment" if known == 1 else "attachments"
                reason = (
                    f"{known:,} {noun} left the context with old results; the context that is shown"
                    " has them still"
                )
                yield remark(survey.first_lines[unit], reason)
        yield from self._compaction_problems(units)

    def _compaction_problems(self, units: set[int]) -> Iterator[Problem]:
        survey = self.survey
        for unit in sorted(units):
            if survey.kinds[unit] != COMPACTION:
                continue
            boundary = survey.boundaries.get(unit)
            line = survey.first_lines[unit]
            if boundary is None:
                yield remark(line, "a summary without its boundary: the compaction is inferred")
            elif not boundary.has_summary:
                yield remark(line, "the summary of the compaction is not in the file")
            elif boundary.is_missing:
                reason = "the messages that the compaction kept are not in the file"
                yield remark(line, f"{reason}; what it kept is inferred")
