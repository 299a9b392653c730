"""A session as opencode stores it, whatever the store: one description with its messages, each with
its parts, in the form of ``opencode export``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import Struct, field

from explorer.formats.json_fields import object_field, text_field
from explorer.formats.jsonl import BadLine, parse
from explorer.session.json_values import MAX_DEPTH, is_too_deep, time_ms

Json = dict[str, Any]
_ADDED_LEVELS = 3
"""A record is deeper than the stored object by these levels: the message, the list of its parts."""


class RemovedParts(NamedTuple):
    """Parts that were deleted together while their message stayed."""

    at: int
    """Position in the event log."""
    parts: Sequence[Json]


class Message(Struct):
    """One message with its parts."""

    info: Json
    """With its id and its session's; with ``data`` in place of the rest where that is no JSON."""
    parts: list[Json]
    created_at: int = 0
    """Position in the event log; 0 for one that is older than the log."""
    removed_at: int | None = None
    """Position in the event log; None for one that is there."""
    removed_parts: list[RemovedParts] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The id; empty where none is recorded."""
        return text_field(self.info, "id")

    @property
    def time_ms(self) -> float:
        """When it was begun, in milliseconds since 1970."""
        return time_ms(object_field(self.info, "time").get("created"))

    @property
    def order(self) -> tuple[float, str]:
        """By what opencode sorts messages."""
        return self.time_ms, self.id


class Fork(NamedTuple):
    """Where a copied session comes from."""

    origin: str
    """The other session's id."""
    copied: frozenset[str]
    """Ids of the messages that are copies of messages there."""


class StoredSession(Struct):
    """Everything that a store holds of one session."""

    info: Json
    """As ``opencode export`` describes it."""
    raw: str
    """The description as it was stored."""
    messages: list[Message] = field(default_factory=list)
    """Sorted; those that were deleted among them."""
    problems: list[str] = field(default_factory=list)
    asides: list[tuple[str, str]] = field(default_factory=list)
    """What else is stored with it, each with what it is."""
    files: tuple[str, ...] = ()
    fork: Fork | None = None
    parent_call: str = ""
    """The call of the parent session's tool that started it."""

    @property
    def id(self) -> str:
        """The session's id; empty where none is recorded."""
        return text_field(self.info, "id")

    @property
    def parent_id(self) -> str:
        """The session that started it as a sub-agent."""
        return text_field(self.info, "parentID")

    def time_ms(self, name: str) -> float:
        """``created`` or ``updated``, in milliseconds since 1970."""
        return time_ms(object_field(self.info, "time").get(name))


def is_called(part: Any, kind: str) -> bool:
    """Whether a part is of a type."""
    return isinstance(part, dict) and part.get("type") == kind


def read_object(text: str | bytes, ids: Json) -> tuple[Json, bool]:
    """A stored JSON object with its ids set, and whether it could be read; what is no object is
    carried as ``data``."""
    try:
        raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        value = parse(raw)
    except BadLine:
        raw, value = b"", None
    if isinstance(value, dict) and not is_too_deep(raw, value, MAX_DEPTH - _ADDED_LEVELS):
        return {**value, **{name: one for name, one in ids.items() if one}}, True
    shown = text if isinstance(text, str) else text.decode("utf-8", "replace")
    return {**ids, "data": shown}, False


def started_by(child: str, parts: Sequence[Any]) -> str:
    """The call among these parts that started a sub-agent's session; empty for none."""
    for part in parts:
        if not is_called(part, "tool"):
            continue
        metadata = object_field(object_field(part, "state"), "metadata")
        if child and child in (metadata.get("sessionId"), metadata.get("sessionID")):
            return text_field(part, "callID") or text_field(part, "id")
    return ""
