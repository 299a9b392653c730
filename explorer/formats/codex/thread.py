"""A thread, read from the files of which it consists; and where its entries hang: rollbacks,
reverts, copies, and what a compaction repeats.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy, deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from msgspec.structs import replace

from explorer.formats.codex.entry import (
    USER_BUDGET,
    body_of,
    head_of,
    is_encrypted,
    message_key,
    placed_entry,
    repeated_items,
    replacement,
)
from explorer.formats.codex.entry_groups import Grouper, Settings, Unit
from explorer.formats.codex.files import Base, Plan, is_id, with_cuts_in_order
from explorer.formats.codex.files import Part as FilePart
from explorer.formats.codex.lines import Line, Part, item_blocks, part_of, payload_of, type_name
from explorer.formats.json_fields import text_field
from explorer.formats.jsonl import (
    BYTE_ORDER_MARK,
    BadLine,
    groups_from,
    is_blank,
    line_groups,
    parse,
    stamp_of,
)
from explorer.formats.typed_source import Leaf, ReadEntry
from explorer.session.entries import (
    AssistantMessage,
    Body,
    CompactionSummary,
    Content,
    RepeatedEntry,
    TextBlock,
    ToolResultMessage,
    UserMessage,
)
from explorer.session.json_values import time_ms
from explorer.session.records import Aside, Problem, remark
from explorer.tokens.estimate import estimate_text


class _Message(NamedTuple):
    """An entry on the path that says something, by one or several items."""

    entry: RepeatedEntry
    """As it stands in a context that lists it."""
    keys: tuple[bytes, ...]
    """Of its items."""
    heads: tuple[str, ...]
    """Of its items that may be shortened."""
    is_prompt: bool
    before: str | None
    """The entry above it."""


class _Place(NamedTuple):
    leaf: str | None
    messages: tuple[_Message, ...]


class Placer:
    """Turns units into entries, each below the one before; marks move the place."""

    def __init__(self) -> None:
        self.leaf: str | None = None
        self.key = ""
        """Of the file whose lines are read: ids begin with it."""
        self._keys: list[tuple[int, str, int]] = []
        self._inherited: list[tuple[int, bool]] = [(0, False)]
        self._messages: list[_Message] = []
        self._places: dict[int, _Place] = {}

    def copy(self) -> Placer:
        """One that goes on from here by itself."""
        other = copy(self)
        other._keys, other._inherited = list(self._keys), list(self._inherited)
        other._messages, other._places = list(self._messages), dict(self._places)
        return other

    def begin_lines(self, number: int, key: str, is_inherited: bool) -> None:
        """The lines from this number on are of a file of this key."""
        self._keys.append((number, key, number - 1))
        self.change_origin(number, is_inherited)

    def change_origin(self, number: int, is_inherited: bool = False) -> None:
        """Whether the lines from this number on repeat another session's; until the next change."""
        self._inherited.append((number, is_inherited))

    def place(self, unit: Unit, done: int) -> Iterator[ReadEntry | Problem]:
        """The entry of a unit, and what a person should know of it. ``done``: bytes read so far."""
        if unit.kind == "cut":
            self._places[unit.mark] = _Place(self.leaf, tuple(self._messages))
            return
        if unit.kind == "begin":
            place = self._places.get(unit.mark, _Place(None, ()))
            self.leaf, self._messages = place.leaf, list(place.messages)
            return
        lines = unit.in_order()
        values = [line.value for line in lines] if unit.excerpt is None else [unit.excerpt]
        body = body_of(values, [line.part for line in lines], unit.tool)
        if unit.kind == "rollback":
            self._roll_back(lines[0].payload)
        noted: tuple[str, ...] = ()
        if isinstance(body, CompactionSummary):
            payload = next(one.payload for one in lines if one.part == "compacted")
            repeated = self._repeated(payload)
            body = replace(
                body,
                tokens_before=unit.tokens_before,
                tokens_after=unit.tokens_after,
                user_tokens=repeated.budget,
                repeated_tokens=repeated.tokens,
                repeated_entries=repeated.entries,
            )
            noted = _COMPACTION_NOTES
            yield from _compaction_problems(lines[-1].number, body, payload, repeated)
        elif isinstance(body, AssistantMessage):
            body, noted = _with_model(body, unit)
        elif isinstance(body, ToolResultMessage) and unit.tool:
            noted = ("tool",)
        number = lines[0].number
        made = placed_entry(values, body, self._id(unit, number), self.leaf)
        yield ReadEntry(made, _record(unit, lines), number, done, noted, self._is_inherited(number))
        keys, heads = _keys(lines, made.content)
        if keys:
            told = RepeatedEntry(made.id, _tokens(body))
            is_prompt = isinstance(body, UserMessage)
            self._messages.append(_Message(told, keys, heads, is_prompt, made.parent_id))
        self.leaf = made.id

    def _id(self, unit: Unit, number: int) -> str:
        _, key, before = self._keys[bisect_right(self._keys, (number, "\uffff", 0)) - 1]
        # One line may tell two things: the model, and how long it may think.
        mark = "-effort" if unit.excerpt is not None and "effort" in unit.excerpt["payload"] else ""
        return f"{key}-{number - before}{mark}"

    def _is_inherited(self, number: int) -> bool:
        return self._inherited[bisect_right(self._inherited, (number, True)) - 1][1]

    def _roll_back(self, payload: Mapping[str, Any]) -> None:
        turns = payload.get("num_turns")
        prompts = [at for at, one in enumerate(self._messages) if one.is_prompt]
        if type(turns) is int and turns > 0 and prompts:
            at = prompts[-min(turns, len(prompts))]
            self.leaf = self._messages[at].before
            del self._messages[at:]

    def _repeated(self, payload: Mapping[str, Any]) -> _Repeated:
        """What a compaction lists of the context that it begins; of equal messages the newest."""
        if not replacement(payload):
            return _Repeated(budget=USER_BUDGET if payload.get("message") else 0)
        items = repeated_items(payload)
        wanted = Counter(one.key for one in items if one.key)
        entries, heads = list[RepeatedEntry](), set[str]()
        for one in reversed(self._messages):
            if all(wanted[key] for key in one.keys) and (needs := Counter(one.keys)) <= wanted:
                wanted.subtract(needs)
                entries.append(one.entry)
            else:
                heads.update(one.heads)
        tokens = others = changed = 0
        for item in items:
            if wanted[item.key] > 0:
                wanted[item.key] -= 1
            elif item.key:
                continue
            # What remains is no message of the log: instructions that Codex gives anew, for one.
            tokens += item.tokens
            changed += item.head in heads
            others += item.head not in heads and item.part in ("model", "result", "note")
        return _Repeated(0, tuple(reversed(entries)), tokens, others, changed)


class _Repeated(NamedTuple):
    budget: int
    """Tokens of the user's messages that its agent usually repeats, where it lists nothing."""
    entries: tuple[RepeatedEntry, ...] = ()
    tokens: int = 0
    """Of what is listed besides."""
    others: int = 0
    """Items of the conversation among it."""
    changed: int = 0
    """Messages among it that begin as one of the log does, and go on otherwise."""


_SAID: frozenset[Part] = frozenset({"model", "user", "note", "instructions"})
_COMPACTION_NOTES = (
    "tokens_before", "tokens_after", "user_tokens", "repeated_tokens", "repeated_entries",
)  # fmt: skip


def _keys(lines: Sequence[Line], content: Content) -> tuple[tuple[bytes, ...], tuple[str, ...]]:
    """By which the items of an entry are found again, and their beginnings. ``content``: of the
    entry, where only events say it."""
    said = [(one.part, item_blocks(one.payload)) for one in lines if one.part in _SAID]
    said = [(part, blocks) for part, blocks in said if message_key(part, blocks)]
    if not said:
        told: list[Part] = [_OF_EVENT[one.part] for one in lines if one.part in _OF_EVENT]
        said = [(part, content) for part in told[:1]]
    keys = tuple(key for part, blocks in said if (key := message_key(part, blocks)))
    # The instructions that an agent gives change from turn to turn, and nobody shortens them.
    is_told = not any(one.part == "instructions" for one in lines)
    heads = tuple(head_of(part, blocks) for part, blocks in said if is_told)
    return keys, tuple(filter(None, heads))


_OF_EVENT: Mapping[Part, Part] = {"prompt": "user", "model event": "model"}


def _tokens(body: Body) -> int:
    """What a context holds of an entry that it lists, in tokens; -1 for all of it."""
    if not isinstance(body, AssistantMessage):
        return -1
    texts = [one.text for one in body.content if isinstance(one, TextBlock)]
    return -1 if len(texts) == len(body.content) else sum(map(estimate_text, texts))


def _with_model(body: AssistantMessage, unit: Unit) -> tuple[AssistantMessage, tuple[str, ...]]:
    usage = body.usage if unit.usage is None else unit.usage
    names = ("model", "provider", "usage" if unit.usage is not None else "")
    noted = tuple([name for name in names if name and getattr(unit, name)])
    return replace(body, model=unit.model, provider=unit.provider, usage=usage), noted


def _record(unit: Unit, lines: Sequence[Line]) -> str:
    if unit.excerpt is not None:
        return orjson.dumps(unit.excerpt).decode()
    raw = lines[0].raw if len(lines) == 1 else b"\n".join([line.raw for line in lines])
    return raw.decode()


def _compaction_problems(
    line: int, body: CompactionSummary, payload: Mapping[str, Any], repeated: _Repeated
) -> Iterator[Problem]:
    if body.certainty == "unreadable":
        why = "is encrypted" if is_encrypted(payload) else "is not in the file"
        yield remark(line, f"the summary of this compaction {why}; what it says is not known")
    elif body.certainty == "inferred":
        yield remark(
            line,
            "this compaction does not list the context that it began; it was rebuilt from the "
            "summary and the agent's usual budget for the user's messages",
        )
    elif is_encrypted(payload):
        yield remark(line, "this compaction has an encrypted part beside its summary")
    if changed := repeated.changed:
        yield remark(
            line,
            "shortened or otherwise changed in the context that this compaction lists: "
            f"{changed:,} message{'s' if changed > 1 else ''} from before it",
        )
    if others := repeated.others:
        yield remark(
            line,
            f"not in the context that is shown: {others:,} more item{'s' if others > 1 else ''} "
            "of the conversation that this compaction lists",
        )


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

    def _read(self, part: FilePart, raw: bytes) -> Iterator[Read]:
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

    def _file(self, part: FilePart, key: str) -> Iterator[Read]:
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

    def _begin(self, part: FilePart, key: str) -> None:
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

    def _cut(self, part: FilePart, cuts: list[Base], line: Line, offset: int) -> None:
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

    def _mark(self, part: FilePart, base: Base) -> None:
        number = len(self._marks)
        self._marks[id(part), base] = number
        self._settings[number] = replace(self._grouper.settings)
        self._grouper.mark("cut", number)

    def _take(self, part: FilePart, line: Line) -> None:
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


def _key(part: FilePart) -> str:
    """What the ids of a file's entries begin with."""
    name = part.path.name.removesuffix(".jsonl").lower()
    tail = name[-12:]
    if len(name) >= 36 and is_id(name[-36:]):
        return tail
    thread = part.meta.thread_id
    return thread[-12:] if is_id(thread) else "rollout"
