"""Which items a summary holds: by need, and by the room that they take."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from explorer.facts.entry_texts import Speaker
from explorer.models.offline.extractive.items import STANDING, Focus, Item, ItemKind
from explorer.models.offline.extractive.sections import LISTED, item_line, list_part
from explorer.tokens.estimate import utf16_units

_NEED: dict[ItemKind, float] = {
    ItemKind.LATEST: 100.0,
    ItemKind.NEXT: 60.0,
    ItemKind.DOING: 45.0,
    ItemKind.BLOCKED: 58.0,
    ItemKind.GOAL: 55.0,
    ItemKind.CONSTRAINT: 50.0,
    ItemKind.DECISION: 46.0,
    ItemKind.FACT: 40.0,
    ItemKind.DONE: 24.0,
    ItemKind.REQUEST: 20.0,
    ItemKind.ERROR: 12.0,
    ItemKind.CHANGE: 18.0,
    ItemKind.COMMAND: 3.0,
    ItemKind.FILE: 1.0,
}
"""What an item of a kind is worth to whoever goes on."""
_STANDS = 58.0
_NEWEST = 48.0
_OF_ASSISTANT = 0.6
_INHERITED = 0.8
"""Of what earlier notes report as done, and of what they say comes next."""
_MINOR = 6.0
_UNWANTED = 0.1
_RECENT = 0.15
"""Age up to which a failure may still stand in the way."""
_AGED = 0.5
"""Share of its worth that a request or a report loses over the whole conversation."""
_DENSITY = 0.5
"""Power of an item's size by which its worth is divided."""
_OVERHEAD = 40
TRIFLES = 1_200
"""Tokens of a summary beyond which only what the user said, and how things stand, is added."""
_TRIFLING = 25.0


def stands(item: Item) -> bool:
    """Whether a failure at the end of the conversation is unsolved."""
    recent = item.age <= _RECENT and not item.inherited
    return item.kind is ItemKind.ERROR and recent and not item.solved


def rank(items: Sequence[Item], focus: Focus) -> None:
    """Sets the worth of every item."""
    for item in items:
        worth = _NEED[item.kind]
        if item.kind in (ItemKind.REQUEST, ItemKind.DONE, ItemKind.CHANGE, ItemKind.ERROR):
            worth *= 1.0 - _AGED * item.age
        if item.newest and item.kind not in (ItemKind.NEXT, ItemKind.BLOCKED):
            worth = max(worth, _NEWEST)
        elif item.speaker is Speaker.ASSISTANT and item.kind in STANDING:
            worth *= _OF_ASSISTANT
        if item.inherited and item.kind in (ItemKind.NEXT, ItemKind.DOING, ItemKind.BLOCKED):
            worth *= _INHERITED
        if stands(item):
            worth = _STANDS
        if item.minor:
            worth = min(worth, _MINOR + 2.0 * len(item.facts))
        if focus.refuses(item):
            worth *= _UNWANTED
        item.worth = worth


class ChosenItem(Struct, eq=False):
    """An item that goes into the summary, and its text there."""

    item: Item
    text: str
    worth: float

    @property
    def size(self) -> int:
        """UTF-16 units that it takes with its bullet or comma."""
        return _size(self.item, self.text)


def _size(item: Item, text: str) -> int:
    if item.kind in LISTED:
        return utf16_units(list_part(text)) + 2
    return utf16_units(item_line(item.kind, text)) + 1


class ItemSelection:
    """Fills a room, given in UTF-16 units."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.chosen: list[ChosenItem] = []
        self._taken: set[Item] = set()

    def __contains__(self, item: Item) -> bool:
        return item in self._taken

    def force(self, item: Item, text: str) -> None:
        """Take an item whatever room it needs."""
        self._take(ChosenItem(item, text, 1000.0))

    def fill_wanted(self, items: Sequence[Item], share: float) -> None:
        """Take what the person asked for, the worthiest first and of equals the latest: one item
        whatever it takes of the room, more up to a share of it."""
        spare, least = int(self.room * (1 - share)), 0
        for item in sorted(items, key=lambda one: (-one.worth, -one.order)):
            choice = ChosenItem(item, item.text, 500.0)
            if choice.size <= self.room - least:
                self._take(choice)
                least = spare

    def fill(self, items: Sequence[Item], cancelled: Callable[[], bool], trifles: int) -> None:
        """Take items by worth and size while there is room; of those that are worth little only
        `trifles` UTF-16 units."""
        ranked = sorted(items, key=lambda one: (-self._density(one), -one.order))
        for number, item in enumerate(ranked):
            if number % 32 == 0 and cancelled():
                return
            choice = ChosenItem(item, item.text, item.worth)
            little = item.worth < _TRIFLING and not item.inherited
            if choice.size <= self.room and (not little or choice.size <= trifles):
                self._take(choice)
                trifles -= choice.size

    def _take(self, choice: ChosenItem) -> None:
        self.chosen.append(choice)
        self._taken.add(choice.item)
        self.room -= choice.size

    @staticmethod
    def _density(item: Item) -> float:
        return float(item.worth / (_size(item, item.text) + _OVERHEAD) ** _DENSITY)
