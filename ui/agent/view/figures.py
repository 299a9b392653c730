"""What a reply took, in a few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.session.describe import token_count
from ui.map.texts import clock
from ui.widgets.figures import short


def _number(usage: Mapping[str, Any], key: str) -> int:
    value = usage.get(key)
    return token_count(value) if isinstance(value, int | float) else 0


def cost_words(dollars: float) -> str:
    """Dollars with as many places as say something: ``$1.20``, ``$0.0034``."""
    if dollars <= 0:
        return ""
    if dollars < 0.0001:
        return "under $0.0001"
    return f"${dollars:.2f}" if dollars >= 1 else f"${dollars:.4f}".rstrip("0")


def usage_words(usage: object) -> str:
    """Tokens and cost of one call; empty where the provider counted nothing."""
    if not isinstance(usage, Mapping):
        return ""
    parts = []
    read, written = _number(usage, "cacheRead"), _number(usage, "cacheWrite")
    sent = _number(usage, "input") + read + written
    if sent:
        parts.append(f"{short(sent)} in")
    if read:
        parts.append(f"{short(read)} cached")
    if out := _number(usage, "output"):
        parts.append(f"{short(out)} out")
    cost = usage.get("cost")
    total = cost.get("total") if isinstance(cost, Mapping) else cost
    if isinstance(total, int | float) and not isinstance(total, bool) and cost_words(total):
        parts.append(cost_words(total))
    return " · ".join(parts)


def footer(message: Mapping[str, Any], time_ms: float) -> str:
    """When a reply was made, by which model, and what it took."""
    model = message.get("model")
    parts = [clock(time_ms), model if isinstance(model, str) else ""]
    parts.append(usage_words(message.get("usage")))
    return " · ".join(part for part in parts if part)
