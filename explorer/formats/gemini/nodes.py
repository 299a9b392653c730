"""What a replay remembers of a message: where its lines are, and what decides about others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import Struct, field

from explorer.formats.documents import compact
from explorer.formats.gemini.messages import (
    is_finished,
    message_text,
    output_tokens,
    read_parts,
    responses,
    tool_calls,
)
from explorer.formats.json_fields import text_at
from explorer.session.entries import ToolCallBlock


class Place(NamedTuple):
    """A line of the file."""

    line: int
    """From 1."""
    start: int
    """Its first byte."""
    end: int


Lines = Callable[[Place], bytes]
"""Gives a line. Raises OSError."""


class AsidePlace(NamedTuple):
    """A line that is no entry."""

    place: Place
    reason: str


class Looks(NamedTuple):
    """What two copies of a message have in common under different ids."""

    text: int
    """A number made of its type and its texts; 0 where it has none."""
    calls: frozenset[str]
    """The calls that it makes or answers."""

    def fits(self, other: Looks) -> bool:
        """Whether both are the same message. A tool's result may be cut short in a copy."""
        if self.calls or other.calls:
            return self.calls == other.calls
        return self.text == other.text


class Node(Struct, eq=False):
    """A place in the tree: a message, a compaction, a rewind or a name."""

    key: str
    """Id of its entry."""
    kind: str
    parent: Node | None
    order: int
    line: int
    looks: Looks | None = None
    """None until they are asked for."""
    places: list[Place] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    """The message as a checkpoint has it, where its own lines lack something."""
    calls: dict[str, bool] = field(default_factory=dict)
    """By call id: whether the message says how it ended."""
    answers: tuple[str, ...] = ()
    """Ids of the calls whose results the message sends back."""
    says_more: bool = True
    """Whether it says anything besides such results."""
    output: int = -1
    """Tokens of the reply; -1 before any were seen."""
    removed: int = 0
    """Of a rewind: messages that it took back."""
    first_kept: Node | None = None
    """Of a compaction: the message that its kept tail begins with."""
    summary: str = ""
    """Of a compaction."""
    is_first_snapshot: bool = True
    """Whether its summary is the first one of its line."""
    first_id: str = ""
    """The first entry that was made of it."""
    last_id: str = ""
    """The entry that what follows hangs on."""

    @property
    def is_sent(self) -> bool:
        """Whether the model is sent anything of it."""
        return self.kind in ("user", "gemini", "compaction")

    @property
    def is_repeat(self) -> bool:
        """Whether it says nothing but results of calls, which their replies record as well."""
        return bool(self.answers) and not self.says_more

    def add(self, message: Mapping[str, Any], place: Place | None) -> None:
        """One more recording of the message: a line of the file, or without a place a checkpoint's
        copy, which counts where it adds something."""
        before = (len(self.calls), sum(self.calls.values()), self.output)
        for number, call in enumerate(tool_calls(message)):
            name = text_at(call, "id") or str(number)
            self.calls[name] = self.calls.get(name, False) or is_finished(call)
        if message.get("tokens") is not None:
            self.output = max(self.output, output_tokens(message))
        found = responses(message)
        if found and not self.answers:
            self.answers = tuple(text_at(one, "id") for one in found)
            self.says_more = len(read_parts(message.get("content"))) > len(found)
        if place is not None:
            self.places.append(place)
            self.looks = None
        elif before != (len(self.calls), sum(self.calls.values()), self.output) or not (
            self.places or self.copies
        ):
            self.copies.append(compact(message))
            self.looks = None


def looks_of(message: Mapping[str, Any]) -> Looks:
    """By what a copy of a message is found under another id."""
    calls = {text_at(one, "id") for one in (*tool_calls(message), *responses(message))}
    for block in read_parts(message.get("content")):
        if isinstance(block, ToolCallBlock):
            calls.add(block.id)
    text = message_text(message)
    kind = message.get("type")
    if calls - {""}:
        # A reply and what answers it name the same calls.
        return Looks(0, frozenset(f"{kind} {one}" for one in calls if one))
    return Looks(hash((str(kind), text)) if text else 0, frozenset())


def above(node: Node | None) -> Iterator[Node]:
    """A node and those above it."""
    while node is not None:
        yield node
        node = node.parent
