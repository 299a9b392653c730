"""A stored session as a tree of entries: what was taken back is a branch that was left, and a
compaction is one entry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

import orjson
from msgspec import Struct, field
from msgspec.structs import replace

from explorer.formats.json_fields import object_field, text_field
from explorer.formats.opencode.entries import (
    KNOWN_PARTS,
    compaction_part,
    context_tokens,
    entry_of,
    has_result,
    is_summary,
    separate_parts,
    typed_texts,
)
from explorer.formats.opencode.stored import Json, Message, StoredSession
from explorer.formats.typed_source import Leaf, ReadEntry
from explorer.session.entries import AssistantMessage, CompactionSummary, Entry, UserMessage
from explorer.session.records import Aside, Problem, remark

_NOWHERE = float("inf")
_NONE: tuple[str, ...] = ()


class _Cut(NamedTuple):
    """From where a session was taken back, which can still be undone."""

    message: float
    """Index of a message; infinite for none."""
    part: int = 0
    """Index of its first part that is taken back."""


class _Placed(Struct):
    """A message of which the entries were given."""

    message: Message
    tail: str
    """The last of its entries, or what is above it where it has none."""
    tokens: int
    """Context of the last reply down to here."""
    typed: Sequence[str]
    """What the person typed last."""
    is_overflow: bool = False
    """A compaction after which the program sends the last prompt again."""
    removed: list[tuple[int, str]] = field(default_factory=list)
    """Where parts of it were deleted: position in the event log, and the last of their entries."""


class SessionEntries:
    """The entries of one session, in the order of its messages."""

    def __init__(self, session: StoredSession) -> None:
        self._session = session
        self._lines = count(1)
        self._placed: list[_Placed] = []
        self._last_live: _Placed | None = None
        self._unknown: Counter[str] = Counter()
        self._leaf = ""
        self._named: dict[str, Json] = {}
        """By id, the message or part that has it."""
        self._is_copy = False
        """Whether the message whose entries are given is one of the session's origin."""

    def __iter__(self) -> Iterator[ReadEntry | Aside | Problem | Leaf]:
        session = self._session
        cut = self._cut()
        for reason in session.problems:
            yield remark(0, reason)
        answers = self._answers(cut)
        consumed = {id(one) for one in answers.values()}
        for index, message in enumerate(session.messages):
            if id(message) in consumed:
                continue
            answer = answers.get(id(message))
            is_live = message.removed_at is None
            at = cut.part if is_live and index == cut.message else 0
            above = self._above(message)
            placed = yield from self._place(message, answer, above, at)
            self._placed.append(placed)
            if is_live:
                self._last_live = placed
                if index < cut.message:
                    self._leaf = placed.tail
        for text, reason in session.asides:
            raw = text.encode("utf-8", "surrogatepass")
            yield Aside(next(self._lines), raw, reason)
        for kind, number in self._unknown.items():
            yield remark(0, f"{number} {kind} are not known; they are kept")
        yield Leaf(self._leaf)

    def _cut(self) -> _Cut:
        """Where ``session.revert`` takes the session back to."""
        revert = object_field(self._session.info, "revert")
        message_id, part_id = text_field(revert, "messageID"), text_field(revert, "partID")
        if not message_id:
            return _Cut(_NOWHERE)
        for index, message in enumerate(self._session.messages):
            if message.id == message_id and message.removed_at is None:
                ids = [text_field(part, "id") for part in message.parts if isinstance(part, dict)]
                found = ids.index(part_id) if part_id in ids else 0
                return _Cut(index, found)
        reason = f"the session was taken back to {message_id!r}, which is not there"
        self._session.problems.append(f"{reason}; all of it is shown as it went on")
        return _Cut(_NOWHERE)

    def _answers(self, cut: _Cut) -> Mapping[int, Message]:
        """By message that asked for a compaction: its summary, where that is in force."""
        asked: dict[str, tuple[int, Message]] = {}
        found: dict[int, Message] = {}
        for index, message in enumerate(self._session.messages):
            if message.info.get("role") == "user" and compaction_part(message.parts):
                asked[message.id] = index, message
                continue
            at, question = asked.get(text_field(message.info, "parentID"), (0, None))
            if question is None or not is_summary(message.info):
                continue
            is_alike = (message.removed_at is None) == (question.removed_at is None)
            if is_alike and (at < cut.message) == (index < cut.message):
                found[id(question)] = message
        return found

    def _above(self, message: Message) -> _Placed | None:
        """What a message follows: the last one before it that was there when it was written."""
        if message.removed_at is None:
            return self._last_live
        for placed in reversed(self._placed):
            gone = placed.message.removed_at
            if gone is None or gone > message.created_at:
                return placed
        return None

    def _tail_above(self, message: Message, above: _Placed | None) -> str:
        if above is None:
            return ""
        for at, tail in above.removed:
            if message.removed_at is not None and message.created_at < at:
                return tail
        return above.tail

    def _place(
        self, message: Message, answer: Message | None, above: _Placed | None, cut: int
    ) -> Generator[ReadEntry | Problem, None, _Placed]:
        """Give the entries of a message. ``cut``: its parts from this index on are taken back."""
        role = message.info.get("role")
        if isinstance(role, str) and role not in ("user", "assistant"):
            self._unknown[f"messages of the role {role!r}"] += 1
        self._look_at(message.parts)
        fork = self._session.fork
        self._is_copy = fork is not None and message.id in fork.copied
        number = len(self._placed) + 1
        entry_id = self._name(message.info, f"message-{number}")
        tail = self._tail_above(message, above)
        asked = compaction_part(message.parts)
        tokens = above.tokens if above is not None else 0
        typed = above.typed if above is not None else ()
        placed = _Placed(message, tail, context_tokens(message.info) or tokens, typed)
        if answer is not None:
            self._look_at(answer.parts)
            yield self._compaction(message, answer, entry_id, tail, tokens)
            placed.tail = entry_id
            placed.tokens = context_tokens(answer.info) or tokens
            placed.is_overflow = asked.get("overflow") is True
            return placed
        if asked and role == "user" and message.removed_at is None:
            reason = "a compaction was asked for and did not come to an end"
            yield remark(0, f"{reason} (message {entry_id!r})")
        again = typed if above is not None and above.is_overflow else ()
        placed.typed = typed_texts(message.parts) or typed
        parts = message.parts[:cut] if cut else message.parts
        placed.tail = yield from self._message(message.info, parts, entry_id, tail, again)
        for removed in message.removed_parts:
            end = yield from self._rest(message, removed.parts, entry_id, placed.tail)
            placed.removed.append((removed.at, end))
        if cut:
            self._leaf = placed.tail
            rest = message.parts[cut:]
            placed.tail = yield from self._rest(message, rest, entry_id, placed.tail)
        return placed

    def _name(self, value: Json, other: str) -> str:
        """The id of a message or part. ``other``: its name where it has none, or one that another
        has too, as when ids were masked in an export."""
        name = text_field(value, "id")
        return name if name and self._named.setdefault(name, value) == value else other

    def _look_at(self, parts: Sequence[Any]) -> None:
        for part in parts:
            kind = part.get("type") if isinstance(part, dict) else None
            if not isinstance(kind, str):
                self._unknown["parts without a type"] += 1
            elif kind not in KNOWN_PARTS:
                self._unknown[f"parts of the type {kind!r}"] += 1

    def _compaction(
        self, asked: Message, answer: Message, entry_id: str, parent: str, tokens: int
    ) -> ReadEntry:
        values = _whole(asked.info, asked.parts), _whole(answer.info, answer.parts)
        entry = entry_of(*values)
        noted = _NONE
        if tokens and isinstance(entry.body, CompactionSummary):
            entry = replace(entry, body=replace(entry.body, tokens_before=tokens))
            noted = ("tokens_before",)
        return self._read(entry, values, entry_id, parent, noted)

    def _message(
        self, info: Json, parts: Sequence[Any], entry_id: str, parent: str, again: Sequence[str]
    ) -> Generator[ReadEntry, None, str]:
        """Give a message's entries; returns the last of them. ``again``: texts of the prompt that
        the program sent again, if this is it."""
        value = _whole(info, parts)
        entry, noted = entry_of(value), _NONE
        is_again = bool(again) and set(again) <= set(typed_texts(parts))
        if is_again and isinstance(entry.body, UserMessage):
            entry = replace(entry, body=replace(entry.body, synthetic=True))
            noted = ("synthetic",)
        yield self._read(entry, (value,), entry_id, parent, noted)
        return (yield from self._behind(info, parts, entry_id, entry.time_ms))

    def _rest(
        self, message: Message, parts: Sequence[Any], entry_id: str, parent: str
    ) -> Generator[ReadEntry, None, str]:
        """Give the parts of a message that were taken back while others stay."""
        first = text_field(parts[0], "id") if isinstance(parts[0], dict) else ""
        value = _whole(message.info, parts)
        entry, noted = entry_of(value), _NONE
        if isinstance(entry.body, AssistantMessage):
            # The reply was paid for once.
            entry = replace(entry, body=replace(entry.body, usage=None))
            noted = ("usage",)
        rest_id = f"{entry_id}:{first}"
        yield self._read(entry, (value,), rest_id, parent, noted)
        return (yield from self._behind(message.info, parts, rest_id, entry.time_ms))

    def _behind(
        self, info: Json, parts: Sequence[Any], entry_id: str, time_ms: float
    ) -> Generator[ReadEntry, None, str]:
        """Give the parts that are entries behind their message; returns the last entry."""
        role = info.get("role")
        chosen = separate_parts(parts) if role == "user" else []
        if role == "assistant":
            chosen = [part for part in parts if has_result(part)]
        for number, part in enumerate(chosen):
            entry, noted = entry_of(part), _NONE
            if not entry.time_ms:
                entry, noted = replace(entry, time_ms=time_ms), ("time_ms",)
            name = text_field(part, "callID") or str(number)
            part_id = self._name(part, f"{entry_id}:{name}")
            yield self._read(entry, (part,), part_id, entry_id, noted)
            entry_id = part_id
        return entry_id

    def _read(
        self,
        entry: Entry,
        values: Sequence[Json],
        entry_id: str,
        parent: str,
        noted: tuple[str, ...],
    ) -> ReadEntry:
        entry = replace(entry, id=entry_id, parent_id=parent or None)
        record = "\n".join([orjson.dumps(value).decode() for value in values])
        return ReadEntry(entry, record, next(self._lines), noted=noted, inherited=self._is_copy)


def _whole(info: Json, parts: Sequence[Any]) -> Json:
    return {"info": info, "parts": list(parts)}
