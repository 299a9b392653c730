"""Where the entries come from, on demand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from explorer.session.entries import Entry, TokenUsage
from explorer.session.records import FormatName


class Previews(Protocol):
    """Reads what rows say of entries. Implementations may be called from any thread."""

    def previews(self, indices: Sequence[int]) -> list[str]:
        """What rows say of entries, for lists and the map. Some are made of payloads, which takes a
        millisecond or two each."""

    def first_words(self, indices: Sequence[int]) -> tuple[list[str], list[int]]:
        """What rows can say at once, and the entries among them of which ``previews`` says more."""


class Payloads(Previews, Protocol):
    """Reads payloads by entry index. Implementations may be called from any thread."""

    @property
    def format(self) -> FormatName:
        """The format of the records."""

    def raw(self, index: int) -> str:
        """The record of the entry as it was read: one line, or several."""

    def entry(self, index: int) -> Entry:
        """The entry."""

    def entries(self, indices: Sequence[int]) -> list[Entry]:
        """Several entries, in the order asked for."""

    def raws(self, indices: Sequence[int]) -> Iterable[tuple[int, str]]:
        """The records of several entries, given in ascending order; those that are there."""

    def usages(self, wanted: Sequence[tuple[int, int]]) -> Iterable[tuple[int, TokenUsage | None]]:
        """What providers reported for entries, given in ascending order, each with the tokens of
        context that it is known to report; quicker than reading the entries."""

    def forget(self, indices: Sequence[int]) -> None:
        """Read what is cached of these entries again: they have changed."""
