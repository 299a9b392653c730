"""A thread, read from the files of which it consists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import copy, deepcopy
from pathlib import Path

from msgspec.structs import replace

from explorer.formats.codex.entry_groups import Grouper, Settings
from explorer.formats.codex.files import Base, Part, Plan, is_id, with_cuts_in_order
from explorer.formats.codex.lines import Line, part_of, payload_of, type_name
from explorer.formats.codex.placement import Placer
from explorer.formats.growth import groups_from, stamp_of
from explorer.formats.json_fields import text_field
from explorer.formats.jsonl import BYTE_ORDER_MARK, BadLine, is_blank, line_groups, parse
from explorer.formats.typed_source import Leaf, ReadEntry
from explorer.session.json_values import time_ms
from explorer.session.records import Aside, Problem, remark

_TURN = re.compile(rb'"turn_id"\s*:\s*"([^"]+)"')
_AT_ONCE_MS = 1_000
"""Within so many milliseconds a parent's lines are copied."""
Read = ReadEntry | Aside | Problem | Leaf


class Copy:
    """The lines that a fork or a spawned agent of the legacy history has from its parent, stamped
    anew: which line is the first of its own."""

    def __init__(self, thread_id: str, origin: Path | None, start_ms: float) -> None:
        """``origin``: the parent's file, where that is there; its turns say it exactly. Else ids
        of turns tell, which begin with the time, or the time of the lines. Raises OSError,
        FormatError."""
        self._thread_id = thread_id
        self._turns = turns_of(origin) if origin is not None else frozenset()
        self._start_ms = start_ms
        self._has_turns = False

    def ends_at(self, line: Line) -> bool:
        """Whether this line is the session's own."""
        if line.part in ("turn start", "turn context"):
            turn = text_field(line.payload, "turn_id")
            if turn and self._turns:
                self._has_turns = True
                return turn not in self._turns
            if _has_time(turn) and _has_time(self._thread_id):
                self._has_turns = True
                return turn > self._thread_id
        if self._has_turns:
            return False  # A long history takes its time to be copied.
        stamp = time_ms(line.value.get("timestamp"))
        return bool(stamp and self._start_ms) and stamp - self._start_ms > _AT_ONCE_MS


def _has_time(name: str) -> bool:
    """Whether an id is a UUID of version 7, which sorts by its time."""
    return is_id(name) and name[14] == "7"


def turns_of(path: Path) -> frozenset[str]:
    """The ids of all turns of a file. Raises OSError, FormatError."""
    found: set[bytes] = set()
    with path.open("rb") as file:
        for lines, _ in line_groups(file):
            for line in lines:
                if b"task_started" in line or b"turn_started" in line or b"turn_context" in line:
                    found.update(_TURN.findall(line)[:4])
    return frozenset(one.decode("utf-8", "replace") for one in found)


class ThreadReader:
    """Reads the files of a plan in their order, once. Of a plan of one file it is a
    ``GrowingReader``."""

    def __init__(self, plan: Plan, copy: Copy | None) -> None:
        """``copy``: of a thread of one file that begins with its parent's lines."""
        self._plan = plan
        self._copy = copy
        self._grouper = Grouper()
        self._placer = Placer()
        self._marks: dict[tuple[int, Base], int] = {}
        self._settings: dict[int, Settings] = {}
        self._number = 0
        self._done = 0
        self._unknown: dict[str, list[int]] = {}
        self._newest: str | None = None
        self.path = plan.first.path
        self.offset = 0
        self.began = (0, 0)
        """See ``GrowingReader``."""
        self._rest = b""
        """The last line of the file, where it may not be complete."""
        self._has_begun = False

    def read(self) -> Iterator[Read]:
        """All entries, and the lines that are none. Raises OSError, FormatError."""
        yield from self._plan_problems()
        keys: set[str] = set()
        for part in self._plan.parts:
            key = _key(part)
            while key in keys:
                key += "x"
            keys.add(key)
            yield from self._file(part, key)
            if part is self._plan.last:
                self._newest = self._placer.leaf
        yield from self._conclude()

    def more(self) -> Iterator[Read]:
        """See ``GrowingReader``."""
        part = self._plan.first
        self.began = stamp_of(self.path)
        if not self._has_begun:
            self._has_begun = True
            yield from self._plan_problems()
            self._begin(part, _key(part))
        for lines, _, is_whole in groups_from(self.path, self.offset):
            if not is_whole:
                self._rest = lines[0]
                return
            for raw in lines:
                self.offset += len(raw) + 1
                yield from self._read(part, raw)
            yield from self._ready(self.offset)

    def copy(self) -> ThreadReader:
        """See ``GrowingReader``."""
        other = copy(self)
        other._copy = copy(self._copy)
        # What waits is little, and refers to itself.
        other._grouper = deepcopy(self._grouper)
        other._placer = self._placer.copy()
        other._unknown = {name: list(lines) for name, lines in self._unknown.items()}
        other._rest = b""
        return other

    def end(self) -> Iterator[Read]:
        """See ``GrowingReader``."""
        if self._rest:
            yield from self._read(self._plan.first, self._rest)
            yield from self._ready(self.offset)
        self._grouper.finish_file()
        yield from self._ready(self.offset)
        self._newest = self._placer.leaf
        yield from self._conclude()

    def known_ids(self) -> list[str]:
        """See ``GrowingReader``: ``end`` gives only what waits."""
        return []

    def _read(self, part: Part, raw: bytes) -> Iterator[Read]:
        """The next line of a file that others do not go on from."""
        self._number += 1
        line = self._line(raw, self._number)
        if isinstance(line, Line):
            self._take(part, line)
        elif line:
            yield from self._put_aside(raw, line)

    def _put_aside(self, raw: bytes, reason: str) -> Iterator[Read]:
        yield Aside(self._number, raw, reason)
        yield Problem(self._number, f"{reason}; the line was kept aside")

    def _plan_problems(self) -> Iterator[Problem]:
        for reason in self._plan.problems:
            yield Problem(1, reason)
        if not self._plan.first.meta.line:
            yield Problem(1, "no session_meta was found; the session's id is its file's name")

    def _conclude(self) -> Iterator[Read]:
        for name, lines in self._unknown.items():
            count = f"{len(lines):,} record{'s' if len(lines) > 1 else ''} of the type"
            verb = "are not known; they are" if len(lines) > 1 else "is not known; it is"
            yield remark(lines[0], f"{count} {name!r} {verb} kept")
        yield Leaf(self._newest or "")

    def _file(self, part: Part, key: str) -> Iterator[Read]:
        self._begin(part, key)
        cuts = with_cuts_in_order(part)
        start = self._number
        at = 0
        with part.path.open("rb") as file:
            for lines, _ in line_groups(file):
                for raw in lines:
                    self._number += 1
                    offset, at = at, at + len(raw) + 1
                    line = self._line(raw, self._number - start)
                    if isinstance(line, Line):
                        self._cut(part, cuts, line, offset)
                        if part.is_foreign and not cuts:
                            break
                        self._take(part, line)
                    elif line:
                        yield from self._put_aside(raw, line)
                yield from self._ready(self._done + at)
                if part.is_foreign and not cuts:
                    break
        self._grouper.finish_file()
        while cuts:
            self._mark(part, cuts.pop(0))
        self._done += at
        yield from self._ready(self._done)

    def _begin(self, part: Part, key: str) -> None:
        grouper = self._grouper
        settings, mark = Settings(), -1
        if part.on is not None and part.base is not None:
            mark = self._marks.get((id(part.on), part.base), -1)
            settings = self._settings.get(mark, settings)
        provider = text_field(part.meta.payload, "model_provider")
        grouper.settings = replace(settings, provider=provider or settings.provider)
        grouper.mark("begin", mark)
        is_copied = self._copy is not None and part is self._plan.first
        self._placer.begin_lines(self._number + 1, key, part.is_foreign or is_copied)

    def _line(self, raw: bytes, in_file: int) -> Line | str:
        """A line, or what is wrong with it; empty for a blank one."""
        text = raw.removeprefix(BYTE_ORDER_MARK) if in_file == 1 else raw
        if is_blank(text):
            return ""
        try:
            value = parse(text)
        except BadLine as error:
            return str(error)
        if not isinstance(value, dict):
            return "not a JSON object"
        payload = payload_of(value)
        return Line(self._number, in_file, raw, value, payload, part_of(value, payload))

    def _cut(self, part: Part, cuts: list[Base], line: Line, offset: int) -> None:
        ordinal = line.value.get("ordinal")
        while cuts:
            base = cuts[0]
            if type(ordinal) is int and base.ordinal is not None:
                is_behind = ordinal >= base.ordinal
            else:
                is_behind = base.offset is not None and offset >= base.offset
            if not is_behind:
                return
            self._mark(part, cuts.pop(0))

    def _mark(self, part: Part, base: Base) -> None:
        number = len(self._marks)
        self._marks[id(part), base] = number
        self._settings[number] = replace(self._grouper.settings)
        self._grouper.mark("cut", number)

    def _take(self, part: Part, line: Line) -> None:
        if line.in_file == part.meta.line and part is self._plan.first:
            return  # It is the session's header.
        if self._copy is not None and line.part != "meta" and self._copy.ends_at(line):
            self._grouper.close()
            self._placer.change_origin(line.number)
            self._copy = None
        if line.part in ("unknown", "unknown item"):
            self._unknown.setdefault(type_name(line.value), []).append(line.number)
        self._grouper.take(line)

    def _ready(self, done: int) -> Iterator[Read]:
        for one in self._grouper.ready():
            if isinstance(one, Aside):
                yield one
            else:
                yield from self._placer.place(one, done)


def _key(part: Part) -> str:
    """What the ids of a file's entries begin with."""
    name = part.path.name.removesuffix(".jsonl").lower()
    tail = name[-12:]
    if len(name) >= 36 and is_id(name[-36:]):
        return tail
    thread = part.meta.thread_id
    return thread[-12:] if is_id(thread) else "rollout"
