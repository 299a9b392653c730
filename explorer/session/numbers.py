"""Times and token counts as the files spell them, in numbers that the columns hold."""

from __future__ import annotations

from datetime import UTC, datetime

MAX_COUNT = 10**9
"""A hundred times the largest context window there is: what says more is no count of tokens. Sums
of a count and of what one file can hold besides stay within 32 bits."""
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


def recorded_count(value: object) -> int | None:
    """A count of tokens from a file; None where it cannot be one: a text, a truth value, less than
    nothing, a fraction, or more than any context holds."""
    if type(value) is float and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= MAX_COUNT else None


def token_count(value: object) -> int:
    """A count of tokens from a file; 0 where none is recorded, see ``recorded_count``."""
    return recorded_count(value) or 0


def usage_tokens(usage: object) -> int:
    """Context tokens of a usage record: totalTokens, or the sum of its parts (B9); -1 where they
    are not recorded. A sum of which a part cannot be a count is not known."""
    if not isinstance(usage, dict):
        return -1
    if total := recorded_count(usage.get("totalTokens")):
        return total
    parts = [usage.get(key) for key in ("input", "output", "cacheRead", "cacheWrite")]
    counts = [recorded_count(part) for part in parts if part is not None]
    known = [count for count in counts if count is not None]
    if not known or len(known) < len(counts) or sum(known) > MAX_COUNT:
        return -1
    return sum(known)


def prompt_tokens(usage: object) -> int:
    """Tokens of the prompt in a usage record, cached ones among them; all of it where the record
    does not tell the answer apart; -1 if none (B18)."""
    if not isinstance(usage, dict):
        return -1
    prompt = token_count(sum(token_count(usage.get(key)) for key in _PROMPT))
    return prompt or usage_tokens(usage)


_PROMPT = ("input", "cacheRead", "cacheWrite")
