"""What is selected: from one character of one part to another character of another."""

from __future__ import annotations

from typing import NamedTuple

from ui.agent.view.boxes import WHOLE
from ui.agent.view.flow import Flow


class Place(NamedTuple):
    """A character: the item's entry, the part's key, the position in the part."""

    entry: int
    key: str
    at: int


class Spot(NamedTuple):
    """A place as it lies now; spots compare as they are read."""

    item: int
    part: int
    at: int


class Selection:
    """Two places; nothing is selected while they are one."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._from: Place | None = None
        self._to: Place | None = None

    def clear(self) -> None:
        self._from = self._to = None

    def begin(self, place: Place) -> None:
        """A selection starts here."""
        self._from = self._to = place

    def extend(self, place: Place) -> None:
        """It reaches to here now."""
        if self._from is None:
            self._from = place
        self._to = place

    def set(self, first: Place, last: Place) -> None:
        self._from, self._to = first, last

    @property
    def is_begun(self) -> bool:
        return self._from is not None

    @property
    def empty(self) -> bool:
        """Whether nothing is selected."""
        return self.span() is None

    def _spot(self, place: Place) -> Spot | None:
        item = self._flow.item_of(place.entry)
        if item < 0:
            return None
        laid = self._flow.laid(item)
        part = laid.places.get(place.key, -1)
        return Spot(item, part, place.at) if part >= 0 else None

    def span(self) -> tuple[Spot, Spot] | None:
        """The first and the last spot, or None; what is not there any more is not selected."""
        if self._from is None or self._to is None or self._from == self._to:
            return None
        first, last = self._spot(self._from), self._spot(self._to)
        if first is None or last is None:
            return None
        return (first, last) if first <= last else (last, first)

    @staticmethod
    def within(span: tuple[Spot, Spot], item: int, part: int) -> tuple[int, int] | None:
        """Which characters of a part a span holds."""
        first, last = span
        if not (first.item, first.part) <= (item, part) <= (last.item, last.part):
            return None
        low = first.at if (item, part) == (first.item, first.part) else 0
        high = last.at if (item, part) == (last.item, last.part) else WHOLE
        return (low, high) if low < high else None
