"""A place of an entry with what stands around it."""

from __future__ import annotations

from typing import NamedTuple

from explorer.facts import Span
from explorer.facts.entry_texts import texts_of
from explorer.session.entries import Entry

AROUND = 160
"""UTF-16 units that are shown before and behind a place."""


class Excerpt(NamedTuple):
    """A stretch of an entry's text: before the place, the place, behind it."""

    before: str
    text: str
    after: str


class QuotedText(NamedTuple):
    """A text of an entry and a stretch of it, in characters."""

    whole: str
    start: int
    end: int

    @property
    def text(self) -> str:
        """The stretch."""
        return self.whole[self.start : self.end]


def excerpt(entry: Entry, span: Span, around: int = AROUND) -> Excerpt | None:
    """What stands at a place of an entry; None when the entry has no such text."""
    units = _units_at(entry, span)
    if units is None:
        return None
    first, last = max(0, span.start - around), span.end + around
    before = ("…" if first else "") + _text(units, first, span.start)
    after = _text(units, span.end, last) + ("…" if last * 2 < len(units) else "")
    return Excerpt(before, _text(units, span.start, span.end), after)


def quoted(entry: Entry, span: Span) -> QuotedText | None:
    """The text of an entry that a place is in, and where; None as for ``excerpt``."""
    units = _units_at(entry, span)
    if units is None:
        return None
    before, text = _text(units, 0, span.start), _text(units, span.start, span.end)
    whole = before + text + _text(units, span.end, len(units) // 2)
    return QuotedText(whole, len(before), len(before) + len(text))


def _units_at(entry: Entry, span: Span) -> bytes | None:
    """The text that a place is in, in UTF-16."""
    for found in texts_of(entry):
        if (found.block, found.argument) != (span.block, span.argument):
            continue
        units = found.text.encode("utf-16-le", "surrogatepass")
        if span.end * 2 <= len(units):
            return units
    return None


def _text(units: bytes, start: int, end: int) -> str:
    # A cut through a surrogate pair leaves half a letter, which is left out.
    return units[start * 2 : end * 2].decode("utf-16-le", "ignore")
