"""Whether a path ends in the middle of a turn, so that the agent can go on where it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from explorer.session.kinds import Flag, Kind
from explorer.work.talk import open_calls

if TYPE_CHECKING:
    from explorer.work.document import Document

_PASSED_OVER = frozenset((Kind.COMPACTION,))
_SAID = frozenset((Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT, *_PASSED_OVER))


def unfinished(document: Document, at: int | None = None) -> str:
    """Why the agent is not done at an entry, by default the leaf, as a sentence for a person;
    empty where it is, or where nothing was asked. What stands between, as a label or a change of
    model, does not count, and neither does a compaction."""
    entry = _last_said(document, document.leaf if at is None else at)
    if entry < 0:
        return ""
    columns = document.tree.columns
    kind, flags = Kind(columns.kind[entry]), columns.flags[entry]
    if kind is Kind.USER:
        return "The last message has no answer yet."
    if kind is Kind.TOOL_RESULT:
        return "The agent has not gone on since its tools came to an end."
    if flags & Flag.ABORTED:
        return "The last answer was stopped."
    if flags & Flag.ERROR:
        return "The last answer failed."
    if open_calls(document, entry):
        return "The agent was interrupted before its tools ran."
    message: Mapping[str, Any] = document.entry(entry).get("message") or {}
    if message.get("stopReason") == "length":
        return "The last answer was cut short at its length limit."
    return ""


def _last_said(document: Document, at: int) -> int:
    """The message that an entry follows, -1 for none, or for one that begins anew there."""
    columns = document.tree.columns
    while at >= 0:
        kind = Kind(columns.kind[at])
        if kind is Kind.BRANCH_SUMMARY:
            return -1
        if kind in _SAID and kind not in _PASSED_OVER:
            return at
        at = columns.parent[at]
    return -1
