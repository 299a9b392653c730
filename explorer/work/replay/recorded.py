"""A recorded session as a play: what was said, what was answered, what the tools gave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from explorer.session.kinds import Flag, Kind
from explorer.session.text import blocks_of

if TYPE_CHECKING:
    from explorer.work.document import Document

AS_IT_IS = frozenset(
    {
        Kind.BASH_EXECUTION,
        Kind.CUSTOM_ROLE,
        Kind.SYSTEM,
        Kind.PYTHON_EXECUTION,
        Kind.FILE_MENTION,
        Kind.OTHER_ROLE,
        Kind.CUSTOM_MESSAGE,
        Kind.BRANCH_SUMMARY,
    }
)
"""Entries that the model sees and that neither a person nor a model said: they are taken over."""
_IDENTITY = frozenset({"type", "id", "parentId", "timestamp"})
"""Fields that an entry has of its own wherever it stands."""

StepKind = Literal["prompt", "reply", "copy"]


@dataclass(frozen=True, slots=True)
class Step:
    """One message of the play. ``entry`` is its index in the recorded session."""

    kind: StepKind
    entry: int


@dataclass(frozen=True, slots=True)
class Recorded:
    """The path to a leaf, in the order in which it is played.

    Compactions, prunes, changes of the model and replies that failed or were stopped are left out:
    they are what a play decides anew. What a person pinned, omitted or kept is said again.
    """

    document: Document
    steps: Sequence[Step]
    results: Mapping[int, Sequence[int]]
    """The tool results that follow a reply, by the reply's entry."""

    def __len__(self) -> int:
        return len(self.steps)

    def message(self, entry: int) -> Mapping[str, Any]:
        """The message of an entry of the recorded session; empty for one that has none."""
        message = self.document.payloads.entry(entry).get("message")
        return message if isinstance(message, Mapping) else {}

    def copied(self, entry: int) -> tuple[str, dict[str, Any]]:
        """Type and fields with which an entry is taken over; a reply without its usage, which
        tells of another context."""
        loaded = self.document.payloads.entry(entry)
        fields = {key: value for key, value in loaded.items() if key not in _IDENTITY}
        message = fields.get("message")
        if isinstance(message, Mapping):
            fields["message"] = {key: message[key] for key in message if key != "usage"}
        return str(loaded.get("type", "message")), fields

    def answers(self, reply: int) -> dict[str, Mapping[str, Any]]:
        """The results of a reply's calls by the id of the call."""
        found = (self.message(entry) for entry in self.results.get(reply, ()))
        return {str(message.get("toolCallId", "")): message for message in found}


def recorded(document: Document, leaf: int | None = None) -> Recorded:
    """The play of the path to an entry, by default the session's leaf."""
    columns = document.tree.columns
    steps: list[Step] = []
    results: dict[int, list[int]] = {}
    last = -1
    for entry in document.tree.path(document.leaf if leaf is None else leaf).indices():
        kind = Kind(columns.kind[entry])
        if kind is Kind.TOOL_RESULT:
            results.setdefault(last, []).append(entry)
        elif _is_shape(document, entry):
            steps.append(Step("copy", entry))
        elif step := _step(kind, columns.flags[entry], entry):
            last = entry if step.kind == "reply" else last
            steps.append(step)
    return Recorded(document, steps, results)


def _step(kind: Kind, flags: int, entry: int) -> Step | None:
    if kind is Kind.USER:
        return Step("prompt", entry)
    if kind is Kind.ASSISTANT:
        return None if flags & (Flag.ERROR | Flag.ABORTED) else Step("reply", entry)
    return Step("copy", entry) if kind in AS_IT_IS else None


def _is_shape(document: Document, entry: int) -> bool:
    return entry in document.tree.columns.shapes


@dataclass(frozen=True, slots=True)
class Scene:
    """What is played in one go: what opens it, and the replies that belong to it."""

    opening: Step | None
    replies: Sequence[Step]
    first: int
    """Position of its first step in the play."""


def scenes(play: Recorded, start: int = 0) -> Iterator[Scene]:
    """The play from a step on, cut before every message that is not a reply."""
    at = start
    while at < len(play.steps):
        first, opening = at, None
        if play.steps[at].kind != "reply":
            opening, at = play.steps[at], at + 1
        end = at
        while end < len(play.steps) and play.steps[end].kind == "reply":
            end += 1
        yield Scene(opening, play.steps[at:end], first)
        at = end


def calls_of(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The tool calls of a reply."""
    return [block for block in blocks_of(message.get("content")) if block.get("type") == "toolCall"]
