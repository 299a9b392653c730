"""What a call cost, from its tokens and its model's prices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from explorer.models.events import Usage
from explorer.models.info import ModelInfo


@dataclass(frozen=True, slots=True)
class Cost:
    """Dollars. ``known`` is False where the model's prices are not: then all figures are 0."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    known: bool = True

    @property
    def total(self) -> float:
        return self.input + self.output + self.cache_read + self.cache_write

    def to_json(self) -> dict[str, float]:
        """The ``cost`` of a usage record, as pi writes it."""
        return {
            "input": self.input,
            "output": self.output,
            "cacheRead": self.cache_read,
            "cacheWrite": self.cache_write,
            "total": self.total,
        }


UNKNOWN_COST = Cost(known=False)


def cost_of(usage: Usage, info: ModelInfo) -> Cost:
    """What the tokens of one call cost at the model's prices.

    A prompt over a tier of the model is paid at that tier, all of it. Tokens that went into a
    cache or came from it cost what other input does, where no price of their own is known.
    """
    prices = {
        name: getattr(info, name)
        for name in ("input_price", "output_price", "cache_read_price", "cache_write_price")
    }
    prompt = usage.input + usage.cache_read + usage.cache_write
    for tier in info.tiers:
        if prompt > tier.above:
            prices |= {name: own for name in prices if (own := getattr(tier, name)) is not None}
    into, out = prices["input_price"], prices["output_price"]
    if into is None or out is None:
        return UNKNOWN_COST
    read, write = prices["cache_read_price"], prices["cache_write_price"]
    return Cost(
        usage.input * into,
        usage.output * out,
        usage.cache_read * (into if read is None else read),
        usage.cache_write * (into if write is None else write),
    )


def usage_record(usage: Usage | None, info: ModelInfo | None = None) -> dict[str, Any]:
    """A reply's ``usage`` as pi writes it; all zero when the provider counted nothing.

    An estimate of this side is never stored as if it were the provider's (E7).
    """
    if usage is None or usage.source != "provider":
        usage = Usage(0, 0)
    cost = cost_of(usage, info) if info is not None else UNKNOWN_COST
    return {
        "input": usage.input,
        "output": usage.output,
        "cacheRead": usage.cache_read,
        "cacheWrite": usage.cache_write,
        "totalTokens": usage.total,
        "cost": cost.to_json(),
    }
