"""Where the entries of a thread hang: rollbacks, reverts, copies, and what a compaction repeats."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

import orjson
from msgspec.structs import replace

from explorer.formats.codex.content import item_blocks
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
from explorer.formats.codex.entry_groups import Unit
from explorer.formats.codex.lines import Line, Part
from explorer.formats.typed_source import ReadEntry
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
from explorer.session.records import Problem, remark
from explorer.tokens.estimate import estimate_text

TURNED_BACK = "thread_rolled_back"


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
