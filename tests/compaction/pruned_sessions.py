"""Sessions with tool results to prune."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.compaction.pruning import PruningPlan
from explorer.session.edit_entries import PRUNE_TYPE
from tests.compaction.sessions import Session, words


def used(
    session: Session,
    tool: str,
    tokens: int = 100,
    arguments: Mapping[str, Any] | None = None,
    *,
    text: str | None = None,
    error: bool = False,
) -> int:
    """A reply that calls a tool, and its result; returns the result."""
    call = f"c{len(session.entries)}"
    block = {"type": "toolCall", "id": call, "name": tool, "arguments": dict(arguments or {})}
    session.message(role="assistant", content=[block], stopReason="toolUse")
    said = words(tokens) if text is None else text
    return session.message(
        role="toolResult",
        toolCallId=call,
        toolName=tool,
        content=[{"type": "text", "text": said}],
        isError=error,
    )


def prune(session: Session, plan: PruningPlan) -> int:
    """Append the prune entry of a plan."""
    data = plan.data(session.tree.columns.ids)
    return session.add({"type": "custom", "customType": PRUNE_TYPE, "data": data})


def take_back(session: Session, entry: int) -> int:
    """Append the entry that takes a prune back."""
    data = {"undoes": session.tree.columns.ids[entry]}
    return session.add({"type": "custom", "customType": PRUNE_TYPE, "data": data})
