"""What a reply took, in a few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from explorer.audit.provenance import (
    NO_MODEL,
    Known,
    Provenance,
    cost_known,
    time_known,
    usage_known,
)
from explorer.session.describe import token_count, usage_tokens
from explorer.session.spending import spent_of
from ui.audit.known import NOT_RECORDED, marked, reason
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


class Footer(NamedTuple):
    """What is told below a reply, and how those of its figures are known that are not simply
    recorded."""

    words: str
    tip: str = ""


def _token_words(usage: object) -> list[str]:
    """Tokens of one call; empty where the provider counted nothing."""
    if not isinstance(usage, Mapping):
        return []
    parts = []
    read, written = _number(usage, "cacheRead"), _number(usage, "cacheWrite")
    sent = _number(usage, "input") + read + written
    if sent:
        parts.append(f"{short(sent)} in")
    if read:
        parts.append(f"{short(read)} cached")
    if out := _number(usage, "output"):
        parts.append(f"{short(out)} out")
    if not parts and (total := usage_tokens(usage)) > 0:
        parts.append(f"{short(total)} tokens")
    return parts


def _cost_words(usage: object) -> tuple[str, Known | None]:
    """The cost of a call, and how it is known; None where it is recorded that there is none."""
    cost = usage.get("cost") if isinstance(usage, Mapping) else None
    total = cost.get("total") if isinstance(cost, Mapping) else cost
    is_total = isinstance(total, int | float) and not isinstance(total, bool)
    found = spent_of(usage).cost
    if is_total:
        words = cost_words(found)
        return words, (cost_known(1, 0) if words else None)
    if found:
        known = Known(Provenance.INFERRED, "The sum of the parts that the reply recorded.")
        return marked(cost_words(found), known), known
    return "", cost_known(1, 1)


def tokens_before(entry: Mapping[str, Any]) -> int:
    """What a compaction's agent wrote down as the size before it; 0 where it did not."""
    value = entry.get("tokensBefore", entry.get("tokens_before"))
    return token_count(value) if isinstance(value, int | float) else 0


def footer(message: Mapping[str, Any], time_ms: float, made_here: bool) -> Footer:
    """When a reply was made, by which model, and what it took.

    ``made_here``: this program recorded it; what it does not say was not there to be recorded.
    """
    model, usage = message.get("model"), message.get("usage")
    parts = [clock(time_ms), model if isinstance(model, str) else ""]
    tokens, (cost, cost_is) = _token_words(usage), _cost_words(usage)
    told = [part for part in (*parts, *tokens, cost) if part]
    if made_here:
        return Footer(" · ".join(told))
    known = {
        "time": time_known(time_ms if parts[0] else 0),
        "model": Known(Provenance.EXACT, "") if parts[1] else NO_MODEL,
        "tokens": usage_known(1 if tokens else -1),
        "cost": cost_is,
    }
    missing = [of for of, one in known.items() if one and one.provenance is Provenance.UNREADABLE]
    if missing:
        told.append(f"{_listed(missing)} {NOT_RECORDED}")
    tip = [
        reason(of.capitalize(), one)
        for of, one in known.items()
        if one and one.provenance is not Provenance.EXACT
    ]
    return Footer(" · ".join(told), "\n".join(tip))


def _listed(names: list[str]) -> str:
    """``time, tokens and cost``"""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
