"""Entries that edit the context: pins, omissions, the user's messages kept, and pruned results.

Each is a ``custom`` entry, so that the log stays as it was and everything can be taken back. They
hold below themselves only, as prune entries do: a branch from before a pin is not pinned. The
later one counts where two speak of the same entry. Their ``data``, all fields optional:

``session-explorer/pin``
    ``entries``: a list of ``{"id": ..., "tokens": ...}``, the entries that are always sent word for
    word; ``tokens``: what the entry's content takes when it is repeated after a summary, by the
    estimate (B8), without the line that says where it is from. Replies need it, whose thinking is
    left out then; others weigh what they do in their place. A plain id is read too.
``session-explorer/omit``
    ``entries``: a list of ids, left out of the context and of summaries. A call and its results go
    together, whichever of them is named.
``session-explorer/keep-user-messages``
    ``tokens``: up to how many tokens of the user summarized messages, the newest first, are
    repeated word for word; 0: none, whatever the profile says.

In all three: ``reason``, words for a person; ``lifts``: ids that a pin or omission names no more;
``undoes``: the id of one such entry that is taken back, as if it had never been made.

A prune entry (A13) is a ``custom`` entry too: it names tool results above it and the note that
stands for each. A further entry of the same type can take one back.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from explorer.session.json_values import recorded_count, token_count

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


REPEATED_USER_TOKENS = "keepUserMessages"
"""Among the ``details`` of a compaction: up to how many tokens of the user's messages its profile
kept word for word; a rule of the session goes before it."""


REPEATED_ENTRIES = "repeatedEntries"
"""Likewise: ids of entries that its record holds again, each with its tokens, as pins name them."""


NOT_COUNTED = -1


class ShapeFacts(NamedTuple):
    """What one of these entries says."""

    kind: ShapeKind
    entries: tuple[tuple[str, int], ...] = ()
    """Of each entry that is pinned or omitted: its id, and the tokens of its content when it is
    repeated, or -1."""
    lifts: tuple[str, ...] = ()
    """Ids of entries that are pinned or omitted no more."""
    undoes: str = ""
    """The id of the entry that this one takes back; empty for none."""
    tokens: int = NOT_COUNTED
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
        phrases = []
        if self.entries:
            verb = "pinned" if self.kind == "pin" else "omitted"
            phrases.append(f"{verb} {_entries(len(self.entries))}")
        if self.lifts:
            verb = "unpinned" if self.kind == "pin" else "taken in again:"
            phrases.append(f"{verb} {_entries(len(self.lifts))}")
        return ", ".join(phrases)


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
        tokens = _content_tokens(data.get("tokens"))
        return ShapeFacts(kind, tokens=tokens, reason=words) if tokens >= 0 else None
    lifted, entries = data.get("lifts"), named_entries(data.get("entries"))
    lifts = tuple(
        item for item in (lifted if isinstance(lifted, list) else ()) if isinstance(item, str)
    )
    return ShapeFacts(kind, entries, lifts, reason=words) if entries or lifts else None


def named_entries(listed: object) -> tuple[tuple[str, int], ...]:
    """The ids of a list, each with its tokens or -1; what cannot be read is passed over."""
    items = listed if isinstance(listed, list) else ()
    return tuple(found for item in items if (found := _named(item)) is not None)


def _named(item: Any) -> tuple[str, int] | None:
    if isinstance(item, str):
        return item, NOT_COUNTED
    if not isinstance(item, dict) or not isinstance(item.get("id"), str):
        return None
    return item["id"], _content_tokens(item.get("tokens"))


def _content_tokens(value: object) -> int:
    count = recorded_count(value)
    return NOT_COUNTED if count is None else count


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


PRUNE_TYPE = "session-explorer/prune"
"""The ``customType`` of prune entries."""


class PruneFacts(NamedTuple):
    """What a prune entry says."""

    results: tuple[tuple[str, int, str], ...]
    """Of each pruned result: its entry's id, its tokens, the note that stands for it."""
    saved: int
    """Tokens that the notes save."""
    reason: str
    undoes: str
    """The id of the prune entry that this one takes back; empty for a prune."""

    @property
    def title(self) -> str:
        """The entry in a line."""
        if self.undoes:
            return "prune taken back"
        noun = "result" if len(self.results) == 1 else "results"
        return f"pruned {len(self.results):,} tool {noun}, {self.saved:,} tokens saved"


class PrunedResult(NamedTuple):
    """A tool result that a note stands for."""

    tokens: int
    """What it took."""
    text: str
    """The note."""
    by: int
    """The prune entry."""
    note_tokens: int
    """What the note takes: UTF-16 units divided by four, rounded up (B8)."""

    @property
    def saved(self) -> int:
        return max(0, self.tokens - self.note_tokens)


Pruned = Mapping[int, PrunedResult]
"""By entry index."""


NOTHING_PRUNED: Pruned = MappingProxyType({})


def note_tokens(text: str) -> int:
    """Tokens of a note, by the estimate (B8)."""
    units = len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
    return (units + 3) // 4


def prune_facts(data: object) -> PruneFacts | None:
    """What the ``data`` of a prune entry says, as far as it can be read; None for nothing."""
    if not isinstance(data, dict):
        return None
    undoes, reason = data.get("undoes"), data.get("reason")
    listed = data.get("results")
    results = tuple(
        result
        for item in (listed if isinstance(listed, list) else ())
        if (result := _pruned_result(item)) is not None
    )
    taken_back = undoes if isinstance(undoes, str) else ""
    if not results and not taken_back:
        return None
    return PruneFacts(
        () if taken_back else results,
        0 if taken_back else token_count(data.get("saved")),
        reason if isinstance(reason, str) else "",
        taken_back,
    )


def _pruned_result(item: Any) -> tuple[str, int, str] | None:
    if not isinstance(item, dict):
        return None
    entry_id, text = item.get("id"), item.get("text")
    if not isinstance(entry_id, str) or not isinstance(text, str):
        return None
    return entry_id, token_count(item.get("tokens")), text


class Pin(NamedTuple):
    """An entry that is always sent word for word."""

    by: int
    """The pin entry."""
    tokens: int
    """Of its content when it is repeated; -1: what it weighs in its place."""


class UserBudget(NamedTuple):
    """A rule that keeps the user messages."""

    tokens: int
    """0: none is kept."""
    by: int
    """The entry that says so; -1: the profile does."""


class Reinserted(NamedTuple):
    """An entry from before a summary that is repeated after it, word for word."""

    by: int
    """The pin entry, the entry of the rule, or the compaction that kept the user's messages; -1
    where none was made yet."""
    why: Literal["pin", "user-message", "recorded"]
    """``recorded``: the compaction's record holds it, and it is sent as it stands there."""
    heading: str
    """Goes before its content, and says what it is and where it is from; empty for none."""
    extra: int
    """Tokens that it takes more than it does in its place; negative where it takes fewer."""


class Shape(Struct, frozen=True):
    """What holds on a path. Entries are indices."""

    pinned: Mapping[int, Pin]
    omitted: Mapping[int, int]
    """Entries that are not sent, each with the omit entry that says so; whole rounds."""
    user_budget: UserBudget | None
    """The rule of the session; None: the profile's holds."""

    def __bool__(self) -> bool:
        return bool(self.pinned or self.omitted or self.user_budget)


PLAIN = Shape(MappingProxyType({}), MappingProxyType({}), None)
"""Nothing is shaped."""
