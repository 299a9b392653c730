"""What recorded calls cost by the list of prices: an agent's name for a model as the list has it.

Agents write ``provider/model`` or the model alone, with the release's date or without, with dots or
dashes in its version. A name is looked up as it is written first. A service that is not paid by the
token (GitHub's Copilot) has no prices, and what is not found stays unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from explorer.models.catalogue import ModelInfo, cost_of
from explorer.models.events import Usage
from explorer.session.entries import TokenUsage
from explorer.session.usage_sums import NO_LIST, price_size

Prices = Callable[[str], ModelInfo]
"""What is known of a model by its id; see ``Catalogue.info``."""
ListedCost = Callable[[TokenUsage | None, str], float]
"""What a call of a model cost by the list, in dollars; 0 where that is not to be known."""

_PROVIDERS = {"google": "gemini", "google-vertex": "vertex_ai", "amazon-bedrock": "bedrock"}
"""Names of providers that the list has another one for."""
_MAKERS = (
    (re.compile(r"claude-"), "anthropic"),
    (re.compile(r"gpt-|chatgpt-|codex-|o\d"), "openai"),
    (re.compile(r"gemini-"), "gemini"),
    (re.compile(r"grok-"), "xai"),
    (re.compile(r"deepseek-"), "deepseek"),
)
"""Who makes a model that is named alone."""
_DATE = re.compile(r"-(?:20\d{6}|20\d\d-\d\d-\d\d)$")
_REMARK = re.compile(r"\[\w+\]$")
_DOT = re.compile(r"(?<=\d)\.(?=\d)")


def listed_ids(model: str) -> Iterator[str]:
    """The ids under which the list may have a model, the likeliest first."""
    provider, slash, name = model.partition("/")
    if not slash:
        name = model
        provider = next((maker for start, maker in _MAKERS if start.match(name)), "")
    if not provider or not name:
        return
    provider = _PROVIDERS.get(provider, provider)
    name = _REMARK.sub("", name)  # Claude Code's mark of a longer window: claude-opus-4-5[1m]
    undated = _DATE.sub("", name)
    spellings = (name, _DOT.sub("-", name), undated, _DOT.sub("-", undated))
    for spelling in dict.fromkeys(spellings):
        yield f"{provider}/{spelling}"


def listed_model(model: str, prices: Prices) -> ModelInfo | None:
    """The model with its prices; None where the list has none of it, or it costs nothing."""
    for model_id in listed_ids(model):
        info = prices(model_id)
        if info.input_price and info.output_price:
            return info
    return None


def listed_cost(usage: TokenUsage | None, model: str, prices: Prices) -> float:
    """What a call cost by the list, in dollars, where no cost is recorded with it; 0 where one is,
    where nobody counted input and output apart, and where the model has no listed price."""
    if usage is None or price_size(usage) == NO_LIST:
        return 0.0
    counted = Usage(usage.input, usage.output, usage.cache_read, usage.cache_write)
    info = listed_model(model, prices)
    return cost_of(counted, info).total if info is not None else 0.0


def no_listed_cost(_usage: TokenUsage | None, _model: str) -> float:
    """Of a session whose agent records what its calls cost: nothing is worked out."""
    return 0.0
