"""Which lines of a rollout are one entry.

A reply is what the model sent for one request: reasoning, messages and calls that follow each
other. It ends where a result, a message to the model, a compaction, the end of the turn or a new
count of tokens stands, for all of these need the request to be over. The count that follows it is
its usage. It comes before the results in some versions and after them in others, so that a reply
waits for it until the next one begins.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Any, Literal

from msgspec import Struct, field

from explorer.formats.codex.entry import effort_of, error_of
from explorer.formats.codex.lines import (
    SEARCH_EVENTS,
    Line,
    call_id_of,
    call_name,
    compared_text,
    event_text,
    is_compaction_output,
    item_blocks,
    last_counts,
    prompt_blocks,
    squeezed,
    sum_of,
    total_counts,
    usage_between,
)
from explorer.formats.json_fields import object_field, text_field
from explorer.session.entries import Content, TokenUsage
from explorer.session.json_values import recorded_count
from explorer.session.records import Aside

_number = attrgetter("number")
_ABOUT: tuple[str, ...] = ("timestamp", "type")
_WORDED = ("content", "summary")
UnitKind = Literal["entry", "reply", "user", "compaction", "rollback", "begin", "cut"]


class Unit(Struct, eq=False):
    """Lines that are one entry, in the order in which entries are made; or a mark between them."""

    kind: UnitKind
    lines: list[Line] = field(default_factory=list)
    is_ready: bool = True
    model: str = ""
    provider: str = ""
    tool: str = ""
    usage: TokenUsage | None = None
    """Where it follows from totals alone."""
    tokens_before: int = 0
    tokens_after: int | None = None
    excerpt: dict[str, Any] | None = None
    """The part of the line that the entry is made from, where that is not all of it."""
    mark: int = -1
    """Of a mark: which one."""

    def in_order(self) -> list[Line]:
        """Its lines in the order of the file."""
        return sorted(self.lines, key=_number) if len(self.lines) > 1 else self.lines


class Settings(Struct):
    """What holds from a line on: it goes on from a base to the file that continues it."""

    model: str = ""
    effort: str = ""
    provider: str = ""
    totals: Mapping[str, Any] = field(default_factory=dict)
    last: Mapping[str, Any] = field(default_factory=dict)
    context: int = 0
    """Tokens of the last request."""


class _Turn(Struct):
    is_asked: bool = False
    is_answered: bool = False
    error: str = ""


class Grouper:
    """Puts lines together. Units come out in the order in which they began."""

    def __init__(self) -> None:
        self.settings = Settings()
        self._queue: deque[Unit] = deque()
        self._asides: list[Aside] = []
        self._reply: Unit | None = None
        """The reply that further items belong to."""
        self._unmetered: Unit | None = None
        """The last reply, as long as its count may come."""
        self._uncounted: Unit | None = None
        """A reply that was over before its count came, as an interrupted one is: by how much the
        totals grow more than by the next request is what it took."""
        self._last: list[Line] = []
        """The items of the last reply: an event that repeats one may stand behind its count."""
        self._users: list[Unit] = []
        """Items and events of the user that may still find the one that says the same."""
        self._open: dict[str, str] = {}
        """Tools of the calls that have no result."""
        self._events: dict[str, list[Line]] = {}
        self._drafts: list[Line] = []
        """What the request for a summary was answered."""
        self._loose: list[Line] = []
        """A count of tokens that no reply takes."""
        self._compactions: list[Unit] = []
        self._turn = _Turn()
        self._record: Mapping[str, Any] = {}
        """The counts of the last request as a record of its own has them."""

    def take(self, line: Line) -> None:
        """The next line."""
        match line.part:
            case "model" if is_compaction_output(line.value):
                self._drafts.append(line)
            case "compaction output":
                self._drafts.append(line)
            case "model" | "model event":
                self._model(line)
            case "result":
                self._result(line)
            case "tool event":
                self._tool_event(line)
            case "user":
                self._user(line, item_blocks(line.payload))
            case "prompt":
                self._prompt(line)
            case "meter":
                self._meter(line)
            case "compacted":
                self._compacted(line)
            case "turn context":
                self._context(line)
            case _:
                self._other(line)

    def _other(self, line: Line) -> None:
        match line.part:
            case "turn start":
                self._close_replies()  # What the person typed may stand before it.
                self._turn = _Turn()
                self._aside(line, "the start of a turn")
            case "turn end":
                self._end(line)
            case "error":
                self.close()
                self._turn.error = error_of(line.payload)
                self._add(Unit("entry", [line]))
            case "aborted":
                self.close()
                self._turn.is_answered = True
                self._add(Unit("entry", [line]))
            case "rollback":
                self.close()
                self._turn = _Turn()
                self._add(Unit("rollback", [line]))
            case "instructions" | "note" | "unknown item" | "name":
                if line.part != "name":
                    self._end_reply()
                self._add(Unit("entry", [line]))
            case "meta":
                self._aside(line, "the session was resumed, or copied from this one")
            case "unknown":
                self._aside(line, "not known")
            case _:
                self._aside(line, "the agent's housekeeping")

    def mark(self, kind: Literal["begin", "cut"], number: int) -> None:
        """Put a mark behind what came so far."""
        self.close()
        self._give_up()
        self._queue.append(Unit(kind, mark=number))

    def finish_file(self) -> None:
        """No line of this file follows: nothing waits any longer."""
        self.close()
        self._give_up()
        for unit in self._compactions:
            unit.is_ready = True
        self._compactions.clear()
        self._open.clear()
        self._turn = _Turn()

    def ready(self) -> Iterator[Unit | Aside]:
        """What is complete."""
        yield from self._asides
        self._asides.clear()
        while self._queue and self._queue[0].is_ready:
            yield self._queue.popleft()

    def close(self) -> None:
        """A turn ends: what was begun is complete, but for what a compaction left."""
        self._end_users()
        self._close_replies()

    def _close_replies(self) -> None:
        self._end_reply()
        if self._unmetered is not None:
            self._give_up()
            self._uncounted, self._unmetered = self._unmetered, None
        for line in self._drafts:
            # The request for a summary was answered, and no compaction came of it.
            if line.part == "meter":
                self._aside(line, "a count of tokens without a reply")
            else:
                self._add(Unit("entry", [line]))
        for lines in self._events.values():
            for line in lines:
                self._aside(line, "an event of a call that has no result")
        for line in self._loose:
            self._aside(line, "a count of tokens without a reply")
        self._drafts, self._loose, self._events = [], [], {}

    def _give_up(self) -> None:
        if self._uncounted is not None:
            self._uncounted.is_ready, self._uncounted = True, None

    # replies and results -------------------------------------------------------------------------

    def _model(self, line: Line) -> None:
        if self._reply is None:
            if line.part == "model event" and self._is_repeated(line):
                self._aside(line, "an event that repeats a reply")
                return
            self.close()
            self._reply = self._unmetered = self._new_reply()
            self._last = []
        self._reply.lines.append(line)
        self._turn.is_answered = True
        if line.part == "model":
            payload = line.payload
            self._last.append(line)
            call = call_id_of(payload)
            if call and text_field(payload, "type").endswith("_call"):
                self._open[call] = call_name(payload)

    def _is_repeated(self, line: Line) -> bool:
        words = squeezed(event_text(line.payload))
        items = [one.payload for one in self._last]
        parts = [item_blocks({"content": one.get(name)}) for one in items for name in _WORDED]
        return bool(words) and any(words in compared_text(one) for one in parts)

    def _new_reply(self) -> Unit:
        unit = Unit("reply", is_ready=False)
        unit.model, unit.provider = self.settings.model, self.settings.provider
        self._queue.append(unit)
        return unit

    def _end_reply(self) -> None:
        self._reply = None

    def _result(self, line: Line) -> None:
        self._end_reply()
        self._last = []
        self._end_users()
        call = call_id_of(line.payload)
        unit = Unit("entry", [*self._events.pop(call, []), line], tool=self._open.pop(call, ""))
        self._add(unit)

    def _tool_event(self, line: Line) -> None:
        payload = line.payload
        names = (text_field(payload, "type"), text_field(object_field(payload, "item"), "type"))
        call = call_id_of(payload)
        if call in self._open:
            self._events.setdefault(call, []).append(line)
        elif self._reply is not None and not SEARCH_EVENTS.isdisjoint(names):
            self._reply.lines.append(line)
        else:
            self._aside(line, "an event that repeats a call or its result")

    # the user ------------------------------------------------------------------------------------

    def _user(self, line: Line, content: Content) -> None:
        self._end_reply()
        text = compared_text(content)
        for unit in self._users:
            if unit.lines[0].part == "prompt" and len(unit.lines) == 1:
                words = compared_text(prompt_blocks(unit.lines[0].payload))
                if words == text:
                    unit.lines.append(line)
                    return
        self._wait(Unit("user", [line]))

    def _prompt(self, line: Line) -> None:
        self._end_reply()
        self._turn.is_asked, self._turn.is_answered = True, False
        content = prompt_blocks(line.payload)
        for unit in reversed(self._users):
            if _is_same_prompt(unit, line, content):
                unit.lines.append(line)
                return
        self._wait(Unit("user", [line]))

    def _wait(self, unit: Unit) -> None:
        unit.is_ready = False
        self._last = []
        self._users.append(unit)
        self._queue.append(unit)

    def _end_users(self) -> None:
        for unit in self._users:
            unit.is_ready = True
        self._users.clear()

    # counts of tokens ----------------------------------------------------------------------------

    def _meter(self, line: Line) -> None:
        totals, last = total_counts(line.value), last_counts(line.value)
        if not totals and not last:
            self._aside(line, "the limits of the account")
            return
        old = self.settings
        is_count = line.value.get("type") == "event_msg"
        if is_count:
            self._measure_compactions(recorded_count(last.get("total_tokens")))
        repeats = totals == old.totals if totals else last == old.last
        # Totals of a thread may go on counting what was left; then the last request tells.
        is_echo = is_count and bool(last) and self._record == last
        self._record = {} if is_count else last
        total = recorded_count(last.get("total_tokens"))
        context = old.context if total is None or not is_count else total
        before, old.totals, old.last, old.context = old.totals, totals or old.totals, last, context
        if repeats or is_echo or (totals and not any(totals.values())):
            self._aside(line, "a count of tokens that was there before")
            return
        usage = None if last else usage_between(before, totals) or usage_between({}, totals)
        if self._uncounted is not None and last and before:
            self._uncounted.usage = usage_between(sum_of(before, last), totals)
        self._give_up()
        self._end_reply()
        if self._drafts:
            self._drafts.append(line)
        elif self._unmetered is not None:
            self._unmetered.lines.append(line)
            self._unmetered.usage = usage
            self._unmetered.is_ready, self._unmetered = True, None
        else:
            for one in self._loose:
                self._aside(one, "a count of tokens without a reply")
            self._loose = [line]

    def _measure_compactions(self, tokens: int | None) -> None:
        if tokens is None:
            return
        for unit in self._compactions:
            unit.tokens_after, unit.is_ready = tokens, True
        self._compactions.clear()

    # turns ---------------------------------------------------------------------------------------

    def _compacted(self, line: Line) -> None:
        drafts, self._drafts = [*self._loose, *self._drafts], []
        self._loose = []
        self.close()
        unit = Unit("compaction", [*drafts, line], is_ready=False)
        unit.tokens_before = self.settings.context
        self._queue.append(unit)
        self._compactions.append(unit)
        self._turn.is_answered = True

    def _context(self, line: Line) -> None:
        payload, old = line.payload, self.settings
        model, effort = text_field(payload, "model"), effort_of(payload)
        self._aside(line, "the context of a turn")
        about: dict[str, Any] = {name: line.value[name] for name in _ABOUT if name in line.value}
        if model and model != old.model:
            words = {"model": model}
            if old.provider:
                words["model_provider"] = old.provider
            self._add(Unit("entry", [line], excerpt={**about, "payload": words}))
        if effort and effort != old.effort:
            self._add(Unit("entry", [line], excerpt={**about, "payload": {"effort": effort}}))
        old.model, old.effort = model or old.model, effort or old.effort

    def _end(self, line: Line) -> None:
        self.close()
        payload, turn = line.payload, self._turn
        silent = "last_agent_message" in payload and payload["last_agent_message"] is None
        lost = silent and turn.is_asked and not turn.is_answered
        error = error_of(payload) if payload.get("error") else ""
        if (error or lost) and not turn.error:
            self._add(Unit("entry", [line]))
        else:
            self._aside(line, "the end of a turn")
        self._turn = _Turn()

    def _add(self, unit: Unit) -> None:
        if not unit.model:
            unit.model, unit.provider = self.settings.model, self.settings.provider
        self._queue.append(unit)

    def _aside(self, line: Line, reason: str) -> None:
        self._asides.append(Aside(line.number, line.raw, reason))


def _is_same_prompt(unit: Unit, line: Line, content: Content) -> bool:
    """Whether an event says what a unit's item says, or another kind of event in it."""
    first, words = unit.lines[0], compared_text(content)
    is_event = first.part == "prompt"
    there = prompt_blocks(first.payload) if is_event else item_blocks(first.payload)
    if any(one.part == "prompt" for one in unit.lines):
        # The same kind of event a second time is a second message.
        kinds = {text_field(one.payload, "type") for one in unit.lines}
        return compared_text(there) == words and text_field(line.payload, "type") not in kinds
    return words in compared_text(there) if words else bool(content)
