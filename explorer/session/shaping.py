"""Entries with which a person shapes the context: pins, omissions, the user's messages kept.

Each is a ``custom`` entry, so that the log stays as it was and everything can be taken back. They
hold below themselves only, as prune entries do: a branch from before a pin is not pinned. The
later one counts where two speak of the same entry. Their ``data``, all fields optional:

``session-explorer/pin``
    ``entries``: a list of ``{"id": ..., "tokens": ...}``, the entries that are always told word for
    word; ``tokens``: what the entry's content takes when it is told again after a summary, by the
    estimate (B8), without the line that says where it is from. Replies need it, whose thinking is
    left out then; others weigh what they do in their place. A plain id is read too.
``session-explorer/omit``
    ``entries``: a list of ids, left out of the context and of summaries. A call and its results go
    together, whichever of them is named.
``session-explorer/keep-user-messages``
    ``tokens``: up to how many tokens of the user's own summarized messages, the newest first, are
    told again word for word; 0: none, whatever the profile says.

In all three: ``reason``, words for a person; ``lifts``: ids that a pin or omission names no more;
``undoes``: the id of one such entry that is taken back, as if it had never been said.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from explorer.session.json_values import recorded_count

ShapeKind = Literal["pin", "omit", "keep-user-messages"]

PIN_TYPE = "session-explorer/pin"
OMIT_TYPE = "session-explorer/omit"
KEEP_TYPE = "session-explorer/keep-user-messages"
SHAPE_TYPES: Mapping[str, ShapeKind] = MappingProxyType(
    {PIN_TYPE: "pin", OMIT_TYPE: "omit", KEEP_TYPE: "keep-user-messages"}
)
"""By ``customType``."""

CUSTOM_TYPES: Mapping[ShapeKind, str] = MappingProxyType(
    {kind: name for name, kind in SHAPE_TYPES.items()}
)

KEPT_USER_TOKENS = "keepUserMessages"
"""Among the ``details`` of a compaction: up to how many tokens of the user's messages its profile
kept word for word; a rule of the session goes before it."""

NOT_TOLD = -1


class ShapeFacts(NamedTuple):
    """What one of these entries says."""

    kind: ShapeKind
    entries: tuple[tuple[str, int], ...] = ()
    """Of each entry that is pinned or omitted: its id, and the tokens of its content when it is
    told again, or -1."""
    lifts: tuple[str, ...] = ()
    """Ids of entries that are pinned or omitted no more."""
    undoes: str = ""
    """The id of the entry that this one takes back; empty for none."""
    tokens: int = NOT_TOLD
    """Up to how many tokens of the user's messages are kept; -1 in pins and omissions."""
    reason: str = ""

    @property
    def title(self) -> str:
        """The entry in a line."""
        nouns = {"pin": "pin", "omit": "omission", "keep-user-messages": "rule of kept messages"}
        if self.undoes:
            return f"{nouns[self.kind]} taken back"
        if self.kind == "keep-user-messages":
            if not self.tokens:
                return "the user's messages are summarized like all others"
            return f"the user's messages are kept up to {self.tokens:,} tokens"
        said = []
        if self.entries:
            verb = "pinned" if self.kind == "pin" else "omitted"
            said.append(f"{verb} {_entries(len(self.entries))}")
        if self.lifts:
            verb = "unpinned" if self.kind == "pin" else "taken in again:"
            said.append(f"{verb} {_entries(len(self.lifts))}")
        return ", ".join(said)


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count:,} entries"


def shape_facts(custom_type: object, data: object) -> ShapeFacts | None:
    """What such an entry says, as far as it can be read; None for nothing, or another entry."""
    kind = SHAPE_TYPES.get(custom_type) if isinstance(custom_type, str) else None
    if kind is None or not isinstance(data, dict):
        return None
    reason, undoes = data.get("reason"), data.get("undoes")
    words = reason if isinstance(reason, str) else ""
    if isinstance(undoes, str) and undoes:
        return ShapeFacts(kind, undoes=undoes, reason=words)
    if kind == "keep-user-messages":
        tokens = _tokens(data.get("tokens"))
        return ShapeFacts(kind, tokens=tokens, reason=words) if tokens >= 0 else None
    named, lifted = data.get("entries"), data.get("lifts")
    entries = tuple(
        found
        for item in (named if isinstance(named, list) else ())
        if (found := _named(item)) is not None
    )
    lifts = tuple(
        item for item in (lifted if isinstance(lifted, list) else ()) if isinstance(item, str)
    )
    return ShapeFacts(kind, entries, lifts, reason=words) if entries or lifts else None


def _named(item: Any) -> tuple[str, int] | None:
    if isinstance(item, str):
        return item, NOT_TOLD
    if not isinstance(item, dict) or not isinstance(item.get("id"), str):
        return None
    return item["id"], _tokens(item.get("tokens"))


def _tokens(value: object) -> int:
    count = recorded_count(value)
    return NOT_TOLD if count is None else count


def shape_data(facts: ShapeFacts) -> dict[str, Any]:
    """The ``data`` of the entry that says this."""
    data: dict[str, Any] = {}
    if facts.undoes:
        data["undoes"] = facts.undoes
    if facts.kind == "pin" and facts.entries:
        data["entries"] = [
            {"id": name, "tokens": tokens} if tokens >= 0 else {"id": name}
            for name, tokens in facts.entries
        ]
    elif facts.entries:
        data["entries"] = [name for name, _ in facts.entries]
    if facts.lifts:
        data["lifts"] = list(facts.lifts)
    if facts.tokens >= 0:
        data["tokens"] = facts.tokens
    if facts.reason:
        data["reason"] = facts.reason
    return data
