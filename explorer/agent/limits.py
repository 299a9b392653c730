"""How far a turn may go before it ends by itself."""

from __future__ import annotations

from dataclasses import dataclass

MOST_ROUNDS = 100
SAME_CALLS = 3


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """Limits of one turn, from a person's message to the next."""

    rounds: int | None = MOST_ROUNDS
    """Replies with tool calls; None for no limit."""
    tokens: int | None = None
    """Tokens read and written by all calls of the turn together, as the provider counts them and
    by the estimate where it does not; None for no limit."""
    same_calls: int | None = SAME_CALLS
    """How often the same calls give the same results, one after the other or in a cycle of two or
    three, until the model is told; two more and the turn ends. None: never."""
