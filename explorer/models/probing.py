"""Whether a key works, found out by the smallest request that is one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from explorer.models.events import ModelError
from explorer.models.info import ModelInfo
from explorer.models.listing import is_placeholder
from explorer.models.request import ChatMessage, ModelRequest

Outcome = Literal["works", "refused", "not reached", "no such model", "no key", "failed"]
_OUTPUT = 16
"""Tokens of the answer at most: some providers refuse fewer."""
_USUAL = {
    "openai": "openai/gpt-4o-mini",
    "anthropic": "anthropic/claude-haiku-4-5",
    "gemini": "gemini/gemini-flash-lite-latest",
    "mistral": "mistral/mistral-small-latest",
    "deepseek": "deepseek/deepseek-chat",
    "together_ai": "together_ai/meta-llama/Llama-3.3-70B-Instruct-Turbo",
    "fireworks_ai": "fireworks_ai/accounts/fireworks/models/llama-v3p1-8b-instruct",
    "openrouter": "openrouter/openai/gpt-4o-mini",
    "cerebras": "cerebras/llama3.1-8b",
}
_SPECIAL = re.compile(
    r"audio|realtime|search|image|vision|embed|live|tts|transcribe|turbo-instruct|guard|exp\b|preview"
    r"|experimental|computer|robotics|deep-research|:free|\bft:",
    re.IGNORECASE,
)
"""Models that are made for something else, or come and go."""


@dataclass(frozen=True, slots=True)
class KeyTest:
    """How a test went, in words for the person."""

    outcome: Outcome
    told: str
    model: str = ""
    """The model that was asked."""

    @property
    def works(self) -> bool:
        return self.outcome == "works"


def smallest_request(model: str) -> ModelRequest:
    """A question that costs next to nothing."""
    return ModelRequest(model, (ChatMessage("user", "Say: ok"),), max_output_tokens=_OUTPUT)


def model_to_ask(models: Iterable[ModelInfo], provider: str) -> str:
    """A small model of a provider that is made for talking; empty when none is known."""
    known = {
        model.id: model
        for model in models
        if model.provider == provider and not is_placeholder(model.id)
    }
    usual = _USUAL.get(provider, "")
    # Of a provider that the table knows nothing of, the usual one is the best guess.
    if usual and (usual in known or not known):
        return usual
    return min(known.values(), key=_fitness, default=ModelInfo("", "", None, None)).id


def _fitness(model: ModelInfo) -> tuple[bool, bool, bool, bool, float, str]:
    """The best first: made for talking, here to stay, quick, and cheap though not free."""
    price = (model.input_price or 0.0) + (model.output_price or 0.0)
    special = bool(_SPECIAL.search(model.id)) or model.tools is False
    return special, bool(model.deprecated), bool(model.reasoning), price <= 0, price, model.id


def judged(provider: str, model: str, error: ModelError | None, what: str = "The key") -> KeyTest:
    """What the end of the smallest request says of ``what``: the key, or the server."""
    if error is None:
        return KeyTest("works", f"{what} works: {model} answered.", model)
    reason = error.told
    if error.kind == "auth":
        return KeyTest("refused", f"{provider} refused the key: {reason}", model)
    if error.kind in ("network", "timeout"):
        return KeyTest("not reached", f"{provider} was not reached: {reason}", model)
    if error.kind == "unavailable":
        told = f"{provider} answered, but does not have {model}: {reason}"
        return KeyTest("no such model", told, model)
    if error.kind == "rate_limit":
        return KeyTest("works", f"{what} works; {provider} is busy: {reason}", model)
    if error.kind in ("bad_request", "overflow"):
        # Whoever is not let in is not told what is wrong with the request.
        return KeyTest("works", f"{what} works; {model} refused the test itself: {reason}", model)
    return KeyTest("failed", f"{provider} failed: {reason}", model)
