"""Times and token counts as the files spell them, in numbers that the columns hold."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isfinite

MAX_COUNT = 2**31 - 1
"""Token counts are kept in 32 bits; a larger one is damage and is shown as this."""
_MAX_TIME = 8.64e15
"""Milliseconds; the range of JavaScript's Date."""


def time_ms(value: object) -> float:
    """Milliseconds since 1970 of an ISO text or a number; 0 when it is neither."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=UTC)
            return moment.timestamp() * 1000
        except (ValueError, OverflowError):
            return 0.0
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if abs(value) <= _MAX_TIME else 0.0
    return 0.0


def token_count(value: object) -> int:
    """A count of tokens from a file, within what a column holds; 0 when it is no number."""
    if type(value) is int or (isinstance(value, float) and isfinite(value)):
        return max(0, min(int(value), MAX_COUNT))
    return MAX_COUNT if isinstance(value, float) and value > 0 else 0


def usage_tokens(usage: object) -> int:
    """Context tokens of a usage record: totalTokens, or the sum of its parts (B9); -1 if none."""
    if not isinstance(usage, dict):
        return -1
    total = usage.get("totalTokens")
    if type(total) is int and 0 < total <= MAX_COUNT:
        return total
    if isinstance(total, int | float) and total:
        return token_count(total)
    parts = [usage.get(key) for key in ("input", "output", "cacheRead", "cacheWrite")]
    numbers = [token_count(part) for part in parts if isinstance(part, int | float)]
    return token_count(sum(numbers)) if numbers else -1


def prompt_tokens(usage: object) -> int:
    """Tokens of the prompt in a usage record, cached ones among them; all of it where the record
    does not tell the answer apart; -1 if none (B18)."""
    if not isinstance(usage, dict):
        return -1
    parts = [usage.get(key) for key in ("input", "cacheRead", "cacheWrite")]
    told = token_count(sum(token_count(part) for part in parts))
    return told or usage_tokens(usage)
