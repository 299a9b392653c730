"""Numbers and times as people read them."""

from __future__ import annotations

from datetime import datetime


def short(tokens: int) -> str:
    """``412``, ``1.2k``, ``121.4k``, ``1.05M``: for bars, gauges and sentences."""
    size = abs(tokens)
    if size < 1000:
        return str(tokens)
    if size < 999_950:
        return f"{tokens / 1000:.1f}k"
    return f"{tokens / 1_000_000:.2f}M"


def round_short(tokens: int) -> str:
    """Like ``short`` without a fraction of zero: ``200k`` for a limit of 200,000."""
    return short(tokens).replace(".0k", "k").replace(".00M", "M")


def full(number: int) -> str:
    """``1,204``: for tables, where figures are compared digit by digit."""
    return f"{number:,}"


def count(number: int, noun: str, plural: str = "") -> str:
    """``1 entry``, ``12 entries``."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {plural or noun + 's'}"


def moment(time_ms: float) -> str:
    """Local date and time of milliseconds since 1970; empty for 0 and for times out of range."""
    if not time_ms:
        return ""
    try:
        return datetime.fromtimestamp(time_ms / 1000).strftime("%d %b %Y, %H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return ""


def size(number_of_bytes: int) -> str:
    """``812 bytes``, ``64.0 KB``, ``9.8 MB``."""
    if number_of_bytes < 1024:
        return f"{number_of_bytes} bytes"
    if number_of_bytes < 1024 * 1024:
        return f"{number_of_bytes / 1024:.1f} KB"
    return f"{number_of_bytes / 1024 / 1024:.1f} MB"
