"""Where the entries of a thread hang: rollbacks, reverts, copies, and what a compaction repeats."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

import orjson
from msgspec.structs import replace

from explorer.formats.codex.content import compared_text
from explorer.formats.codex.entry import (
    USER_BUDGET,
    body_of,
    is_encrypted,
    other_tokens,
    others_repeated,
    placed_entry,
    repeated_users,
    replacement,
)
from explorer.formats.codex.entry_groups import Unit
from explorer.formats.codex.lines import Line
from explorer.formats.typed_source import ReadEntry
from explorer.session.edits import repeated_tokens
from explorer.session.entries import (
    AssistantMessage,
    CompactionSummary,
    Entry,
    ToolResultMessage,
    UserMessage,
    images_of,
)
from explorer.session.records import Problem, remark
from explorer.tokens.estimate import estimate_entry, estimate_text

TURNED_BACK = "thread_rolled_back"


class _Prompt(NamedTuple):
    """A message of the user on the path."""

    before: str | None
    """The entry above it."""
    text: str
    """Its words, to be compared."""
    tokens: int
    """What it takes when it is repeated after a summary."""


class _Place(NamedTuple):
    leaf: str | None
    prompts: tuple[_Prompt, ...]


class Placer:
    """Turns units into entries, each below the one before; marks move the place."""

    def __init__(self) -> None:
        self.leaf: str | None = None
        self.key = ""
        """Of the file whose lines are read: ids begin with it."""
        self._keys: list[tuple[int, str, int]] = []
        self._inherited: list[tuple[int, bool]] = [(0, False)]
        self._prompts: list[_Prompt] = []
        self._places: dict[int, _Place] = {}
        self._count = 0

    def copy(self) -> Placer:
        """One that goes on from here by itself."""
        other = copy(self)
        other._keys, other._inherited = list(self._keys), list(self._inherited)
        other._prompts, other._places = list(self._prompts), dict(self._places)
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
            self._places[unit.mark] = _Place(self.leaf, tuple(self._prompts))
            return
        if unit.kind == "begin":
            place = self._places.get(unit.mark, _Place(None, ()))
            self.leaf, self._prompts = place.leaf, list(place.prompts)
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
                user_tokens=repeated.tokens,
                repeated_tokens=repeated.others,
            )
            noted = ("tokens_before", "tokens_after", "user_tokens", "repeated_tokens")
            yield from _compaction_problems(lines[-1].number, body, payload, repeated.lost)
        elif isinstance(body, AssistantMessage):
            body, noted = _with_model(body, unit)
        elif isinstance(body, ToolResultMessage) and unit.tool:
            noted = ("tool",)
        number = lines[0].number
        made = placed_entry(values, body, self._id(unit, number), self.leaf)
        yield ReadEntry(made, _record(unit, lines), number, done, noted, self._is_inherited(number))
        if isinstance(body, UserMessage):
            self._prompts.append(self._prompt(made))
        self.leaf = made.id
        self._count += 1

    def _id(self, unit: Unit, number: int) -> str:
        _, key, before = self._keys[bisect_right(self._keys, (number, "\uffff", 0)) - 1]
        # One line may tell two things: the model, and how long it may think.
        mark = "-effort" if unit.excerpt is not None and "effort" in unit.excerpt["payload"] else ""
        return f"{key}-{number - before}{mark}"

    def _is_inherited(self, number: int) -> bool:
        return self._inherited[bisect_right(self._inherited, (number, True)) - 1][1]

    def _prompt(self, entry: Entry) -> _Prompt:
        images = len(images_of(entry.content))
        tokens = repeated_tokens(self._count, estimate_entry(entry), images)
        return _Prompt(entry.parent_id, compared_text(entry.content), tokens)

    def _roll_back(self, payload: Mapping[str, Any]) -> None:
        turns = payload.get("num_turns")
        if type(turns) is int and turns > 0 and self._prompts:
            at = max(0, len(self._prompts) - turns)
            self.leaf = self._prompts[at].before
            del self._prompts[at:]

    def _repeated(self, payload: Mapping[str, Any]) -> _Repeated:
        """The user's messages that a compaction repeats: the newest ones, without a gap, for that
        is what a budget of tokens can say."""
        if not replacement(payload):
            return _Repeated(USER_BUDGET if payload.get("message") else 0, 0, 0)
        wanted = Counter(repeated_users(payload))
        tokens = lost = 0
        others = other_tokens(payload)
        has_gap = False
        for prompt in reversed(self._prompts):
            if wanted[prompt.text] <= 0:
                has_gap = True
                continue
            wanted[prompt.text] -= 1
            if has_gap:
                lost += 1
                others += prompt.tokens
            else:
                tokens += prompt.tokens
        # What remains is no message of the user: instructions that Codex gives anew.
        others += sum(estimate_text(text) * count for text, count in wanted.items())
        return _Repeated(tokens, lost, others)


class _Repeated(NamedTuple):
    tokens: int
    lost: int
    """Messages that are repeated and do not come back by that budget."""
    others: int
    """Tokens of what is repeated besides."""


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
    line: int, body: CompactionSummary, payload: Mapping[str, Any], lost: int
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
    others = others_repeated(payload)
    if others or lost:
        yield remark(
            line,
            f"this compaction repeats {others + lost} more items word for word; they are in its "
            "record and not in the context that is shown",
        )
