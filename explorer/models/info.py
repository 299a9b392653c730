"""One model and what is known of it: sizes, prices, what it can, and who says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

FigureSource = Literal["litellm", "you", "server", "program", "default"]
"""Who says a figure: litellm's table, the person, the server that has the model, this program of
its own models; ``default`` where nobody does, and the figure is None."""

FIGURES = (
    "window",
    "output_limit",
    "input_price",
    "output_price",
    "cache_read_price",
    "cache_write_price",
    "reasoning",
    "images",
    "tools",
)
"""The figures of a model that have a source, by their names in ``ModelInfo``."""


@dataclass(frozen=True, slots=True)
class PriceTier:
    """Prices of a call whose prompt is over ``above`` tokens; dollars per token, None as before."""

    above: int
    input_price: float | None = None
    output_price: float | None = None
    cache_read_price: float | None = None
    cache_write_price: float | None = None


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One model. Window and output limit in tokens, prices in dollars per token.

    None is a figure that nobody knows; it is never a guess.
    """

    id: str
    label: str
    window: int | None
    output_limit: int | None
    offline: bool = False
    input_price: float | None = None
    output_price: float | None = None
    cache_read_price: float | None = None
    """Of a prompt token that came from the provider's cache; None: as ``input_price``."""
    cache_write_price: float | None = None
    """Of a prompt token that went into the provider's cache; None: as ``input_price``."""
    reasoning: bool | None = None
    """Whether it thinks before it answers, so that a thinking level means something."""
    images: bool | None = None
    """Whether it takes pictures."""
    tools: bool | None = None
    """Whether it calls tools."""
    deprecated: str = ""
    """The day on which its provider ends it, as YYYY-MM-DD; empty: none is known."""
    tiers: tuple[PriceTier, ...] = ()
    """Dearer prices of long prompts, the lowest ``above`` first."""
    efforts: frozenset[str] = frozenset()
    """What its provider takes beside low, medium and high as a measure of thinking: "none",
    "minimal", and "adaptive" where it measures by itself and takes no budget."""
    sources: Mapping[str, FigureSource] = field(default_factory=dict, compare=False)
    """By the name of a figure: who says it."""

    def source_of(self, figure: str) -> FigureSource:
        """Who says a figure, by its name in ``FIGURES``."""
        if figure in self.sources:
            return self.sources[figure]
        if getattr(self, figure) is None:
            return "default"
        return "program" if self.offline else "litellm"

    @property
    def provider(self) -> str:
        """The part of the id before the first slash: ``openai``."""
        return self.id.partition("/")[0]
