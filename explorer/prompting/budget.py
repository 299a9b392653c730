"""How many tokens the messages of a request may take (A46, B19)."""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

LEAST_TOKENS = 100
"""A threshold below this is neither a share nor a sensible number of tokens."""
MARGIN = 0.9
"""Of what tools leave: counts of tools are less exact than counts of texts."""


class MessageBudget(NamedTuple):
    """The sizes of one request."""

    window: int
    base: int
    """What the context is measured against: the threshold, never above the window."""
    tool_tokens: int
    messages: int
    """What the messages may take."""

    def ratio(self, message_tokens: int) -> float:
        """How full the context is: messages and tools against the base."""
        return (message_tokens + self.tool_tokens) / self.base


def resolve_threshold(value: float | None, window: int) -> int | None:
    """A threshold in tokens; None (also for 0 and below) means the whole window.

    A share in (0, 1] is of the window. Raises ValueError between 1 and 100, where a person may
    have meant either.
    """
    if value is None or value <= 0 or not isfinite(value):
        return None
    if value <= 1:
        return max(1, int(window * value))
    if value < LEAST_TOKENS:
        raise ValueError(
            f"A threshold of {value:g} is neither a share of the window (above 0, up to 1) nor a "
            f"number of tokens (at least {LEAST_TOKENS})."
        )
    return int(value)


def message_budget(
    window: int, tool_tokens: int = 0, threshold: float | None = None, margin: float = MARGIN
) -> MessageBudget:
    """What messages may take beside tools of ``tool_tokens``.

    Something is held back only where there are tools: messages then get the share ``margin`` of
    what the tools leave (B19). Raises ValueError for a threshold that means nothing.
    """
    wanted = resolve_threshold(threshold, window)
    base = max(1, window if wanted is None else min(wanted, window))
    if tool_tokens <= 0:
        return MessageBudget(window, base, 0, base)
    messages = max(1, int((base - tool_tokens) * margin))
    return MessageBudget(window, base, tool_tokens, messages)
