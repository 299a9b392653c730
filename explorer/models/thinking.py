"""How long a model may think before it answers, by the names that pi uses."""

from __future__ import annotations

from typing import Literal

ThinkingLevel = Literal["off", "minimal", "low", "medium", "high"]

THINKING_LEVELS: tuple[ThinkingLevel, ...] = ("off", "minimal", "low", "medium", "high")
"""From none to the most."""


def as_level(value: object) -> ThinkingLevel | None:
    """The level that a text names; None for any other value. pi's ``xhigh`` is ``high`` here."""
    if value in ("xhigh", "max"):
        return "high"
    return next((level for level in THINKING_LEVELS if level == value), None)
