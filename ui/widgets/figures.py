"""Numbers and times as people read them."""

from __future__ import annotations

from datetime import datetime

from explorer.compaction.reasons import tokens_text


def short(tokens: int) -> str:
    """``412``, ``1.2k``, ``121.4k``, ``1.05M``: as the sentences of rules have it."""
    return tokens_text(tokens)


def widest(tokens: int) -> str:
    """As many characters as ``short`` has for any number up to one, of digits as wide as all."""
    if tokens < 1000:
        return "0" * len(str(tokens))
    if tokens < 1_000_000:
        return f"{'0' * len(str(tokens // 1000))}.0k"
    return max("000.0k", f"{'0' * len(str(tokens // 1_000_000))}.00M", key=len)


def place(entry: int) -> str:
    """``#12``; in words where that is before the first entry."""
    return f"#{entry}" if entry >= 0 else "the beginning"


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
