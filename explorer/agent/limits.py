"""Limits at which a turn is ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

MOST_ROUNDS = 100
SAME_CALLS = 3


class TurnLimits(Struct, frozen=True):
    """Limits of one turn, from a person's message to the next."""

    rounds: int | None = MOST_ROUNDS
    """Replies with tool calls; None for no limit."""
    tokens: int | None = None
    """Tokens read and written by all calls of the turn together, as the provider counts them and
    by the estimate where it does not; None for no limit."""
    same_calls: int | None = SAME_CALLS
    """How often the same calls give the same results, one after the other or in a cycle of two or
    three, until the model is warned; two more and the turn ends. None: never."""

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> TurnLimits:
        """The limits that settings ask for; what is not set is as it is here."""
        return cls(
            values.get("agent.mostRounds", MOST_ROUNDS),
            values.get("agent.mostTurnTokens"),
            values.get("agent.sameCalls", SAME_CALLS) or None,
        )
