"""Tokens and money: what a reply, a turn, a branch and a whole session took.

Only what a provider counted is summed up; what was estimated is told apart, and so is what
compactions and branch summaries took beside the conversation.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spent:
    """A sum over calls. Tokens as the provider counted them; ``cost`` in dollars."""

    input: int = 0
    """Neither read from a cache nor written to one."""
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float = 0.0
    calls: int = 0
    """Calls whose provider told their tokens."""
    unpriced: int = 0
    """Of those: calls that have no cost, because nobody knew the model's prices."""
    uncounted: int = 0
    """Calls whose provider told nothing; none of the figures holds anything of them."""

    @property
    def tokens(self) -> int:
        """All tokens together, cached ones among them."""
        return self.input + self.output + self.cache_read + self.cache_write

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.cost + other.cost,
            self.calls + other.calls,
            self.unpriced + other.unpriced,
            self.uncounted + other.uncounted,
        )


NOTHING = Spent()
