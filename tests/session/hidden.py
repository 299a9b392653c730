"""The characters that no command may print and no question hide."""

from __future__ import annotations


def _between(first: int, last: int) -> set[str]:
    return {chr(code) for code in range(first, last + 1)}


BIDI = _between(0x202A, 0x202E) | _between(0x2066, 0x2069) | {"\u200e", "\u200f", "\u061c"}
FORBIDDEN = frozenset(
    (_between(0, 0x1F) - {"\n", "\t"})
    | _between(0x7F, 0x9F)
    | BIDI
    | _between(0xD800, 0xDFFF)
    | {"\u2028", "\u2029", "\u200b", "\ufeff"}
)
