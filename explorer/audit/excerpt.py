"""A place of an entry with what stands around it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from explorer.audit.atoms.entries import texts_of
from explorer.audit.atoms.model import Span

AROUND = 160
"""UTF-16 units that are shown before and behind a place."""


class Excerpt(NamedTuple):
    """A stretch of an entry's text: before the place, the place, behind it."""

    before: str
    text: str
    after: str


def excerpt(entry: Mapping[str, Any], span: Span, around: int = AROUND) -> Excerpt | None:
    """What stands at a place of an entry's JSON; None when the entry has no such text."""
    for found in texts_of(entry):
        if (found.block, found.argument) != (span.block, span.argument):
            continue
        units = found.text.encode("utf-16-le", "surrogatepass")
        if span.end * 2 > len(units):
            continue
        first, last = max(0, span.start - around), span.end + around
        before = ("…" if first else "") + _text(units, first, span.start)
        after = _text(units, span.end, last) + ("…" if last * 2 < len(units) else "")
        return Excerpt(before, _text(units, span.start, span.end), after)
    return None


def _text(units: bytes, start: int, end: int) -> str:
    # A cut through a surrogate pair leaves half a letter, which is left out.
    return units[start * 2 : end * 2].decode("utf-16-le", "ignore")
