"""What tokens cost. Dollars per token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Tier(NamedTuple):
    """Prices of a call whose prompt is over ``above`` tokens."""

    above: int
    prices: Prices


@dataclass(frozen=True, slots=True)
class Prices:
    """A model's prices; all that a provider charges is known."""

    read: float
    """Of a prompt token that the provider's cache does not hold, as far as nothing is written to
    a cache."""
    write: float
    """Of a token of the answer."""
    cached: float
    """Of a prompt token that comes from the cache."""
    into_cache: float
    """Of a prompt token that goes into the cache, as every new one of an agent's prompt does."""
    tiers: tuple[Tier, ...] = ()
    """Dearer prices of long prompts, the lowest first."""

    def of(self, sent: int, cached: int, written: int, requests: int = 1) -> float:
        """What calls cost that sent so much together. Nothing of what is asked once, as a summary
        is, goes into a cache."""
        now = self._at(sent // max(1, requests))
        return cached * now.cached + (sent - cached) * now.read + written * now.write

    def of_all(self, sent: Sequence[int], cached: Sequence[int], written: Sequence[int]) -> float:
        """What the requests of an agent cost, whose prompts go into the cache for the next."""
        if not self.tiers:
            whole, held = sum(sent), sum(cached)
            new = (whole - held) * self.into_cache
            return held * self.cached + new + sum(written) * self.write
        total = 0.0
        for prompt, held, reply in zip(sent, cached, written, strict=True):
            now = self._at(prompt)
            total += held * now.cached + (prompt - held) * now.into_cache + reply * now.write
        return total

    def _at(self, prompt: int) -> Prices:
        found = self
        for tier in self.tiers:
            if prompt > tier.above:
                found = tier.prices
        return found


class Costs(NamedTuple):
    """Dollars."""

    replies: float
    summaries: float

    @property
    def total(self) -> float:
        return self.replies + self.summaries
