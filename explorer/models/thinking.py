"""How long a model may think before it answers: pi's names for it, and what each provider takes."""

from __future__ import annotations

from typing import Any, Literal

from explorer.models.info import ModelInfo

ThinkingLevel = Literal["off", "minimal", "low", "medium", "high"]

THINKING_LEVELS: tuple[ThinkingLevel, ...] = ("off", "minimal", "low", "medium", "high")
"""From none to the most."""

_BUDGETS = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16384}
"""Tokens of thinking, for models that are told a number."""
_LEAST_BUDGET = 1024
"""Anthropic takes no smaller one."""
_LEAST_ANSWER = 1024
"""Tokens that are left for the answer itself at least."""
_DEFAULT_OUTPUT = 32_000
"""Where nobody knows a model's output limit."""


def as_level(value: object) -> ThinkingLevel | None:
    """The level that a text names; None for any other value. pi's ``xhigh`` is ``high`` here."""
    if value in ("xhigh", "max"):
        return "high"
    return next((level for level in THINKING_LEVELS if level == value), None)


def levels_of(info: ModelInfo) -> tuple[ThinkingLevel, ...]:
    """The levels that mean something for a model: only "off" where it does not reason."""
    return THINKING_LEVELS if info.reasoning else ("off",)


def thinking_arguments(
    level: str | None, info: ModelInfo, max_tokens: int | None
) -> dict[str, Any]:
    """What a call through litellm is given for a level; nothing for a model that does not reason.

    ``max_tokens`` is the most that the answer may have, None for no bound. A model that is told a
    budget of thinking has it beside the answer, as far as its output limit goes; then the result
    has a ``max_tokens`` of its own, and ``temperature`` None where the model takes none with it.
    """
    wanted = as_level(level)
    if wanted is None or not info.reasoning:
        return {}
    if wanted == "off":
        return _none(info)
    if info.provider == "anthropic" and "adaptive" not in info.efforts:
        return _budget(_BUDGETS[wanted], info, max_tokens)
    effort: str = wanted
    if wanted == "minimal" and "minimal" not in info.efforts and info.provider != "gemini":
        effort = "low"
    return {"reasoning_effort": effort, **_let_through(info)}


def _none(info: ModelInfo) -> dict[str, Any]:
    """Models that think unless they are told not to; others are told nothing."""
    if "none" in info.efforts:
        return {"reasoning_effort": "none", **_let_through(info)}
    if info.provider == "gemini" and "2.5-flash" in info.id:
        return {"reasoning_effort": "disable"}
    return {}


def _budget(wanted: int, info: ModelInfo, max_tokens: int | None) -> dict[str, Any]:
    limit = info.output_limit or max(_DEFAULT_OUTPUT, max_tokens or 0)
    room = limit if max_tokens is None else min(limit, max_tokens + wanted)
    budget = min(wanted, room - _LEAST_ANSWER)
    if budget < _LEAST_BUDGET:
        return {}  # no room to think in
    thinking = {"type": "enabled", "budget_tokens": budget}
    return {"thinking": thinking, "max_tokens": room, "temperature": None}


def _let_through(info: ModelInfo) -> dict[str, Any]:
    """litellm drops what it does not know a model to take; a person or a server may know better."""
    if info.source_of("reasoning") in ("you", "server"):
        return {"allowed_openai_params": ["reasoning_effort"]}
    return {}
