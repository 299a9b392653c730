"""Which items a summary holds: by need, by the exact facts in them, and by the room they take."""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from explorer.facts import FactKind
from explorer.facts.entry_texts import Speaker
from explorer.facts.text import word_set
from explorer.models.offline.extractive.items import Focus, Item, ItemKind
from explorer.models.offline.extractive.sections import LISTED, item_line, list_part
from explorer.tokens.estimate import utf16_units

_NEED: dict[ItemKind, float] = {
    ItemKind.LATEST: 100.0,
    ItemKind.CONSTRAINT: 14.0,
    ItemKind.DECISION: 11.0,
    ItemKind.GOAL: 9.0,
    ItemKind.BLOCKED: 6.0,
    ItemKind.ERROR: 5.5,
    ItemKind.DOING: 5.0,
    ItemKind.NEXT: 4.5,
    ItemKind.DONE: 4.0,
    ItemKind.FACT: 4.0,
    ItemKind.REQUEST: 2.6,
    ItemKind.COMMAND: 1.0,
    ItemKind.CHANGE: 1.6,
    ItemKind.FILE: 0.6,
}
"""What an item of a kind is worth before its exact facts are counted."""
_EXACT: dict[FactKind, float] = {
    FactKind.URL: 4.0,
    FactKind.HASH: 3.0,
    FactKind.COMMAND: 3.0,
    FactKind.PATH: 2.6,
    FactKind.VERSION: 2.4,
    FactKind.NUMBER: 2.0,
    FactKind.ERROR: 1.5,
    FactKind.SYMBOL: 1.3,
}
"""What each exact fact adds that no chosen item holds yet."""
STANDING = (ItemKind.CONSTRAINT, ItemKind.DECISION)
_FADING = (ItemKind.NEXT, ItemKind.DOING, ItemKind.REQUEST)
_NEEDS_FACTS = (ItemKind.FACT, ItemKind.REQUEST, ItemKind.ERROR, *LISTED)
"""Kinds of items that say little once their exact facts are stated by others."""
_MOST_EXACT = 6.0
_REPEATED = 0.2
_WITHOUT_FACTS = 0.55
_OF_ASSISTANT = 0.75
_SOLVED = 0.5
_UNWANTED = 0.1
_RECENT = 0.15
"""Age up to which a failure may still stand in the way."""
_AT_THE_END = 4.0
_DENSITY = 0.7
"""Power of an item's size by which its worth is divided."""
_FLOOR = 0.6
"""Worth below which an item is left out whatever room there is."""


def stands(item: Item) -> bool:
    """Whether a failure at the end of the conversation is unsolved."""
    recent = item.age <= _RECENT and not item.inherited
    return item.kind is ItemKind.ERROR and recent and not item.solved


def rank(items: Sequence[Item], focus: Focus) -> None:
    """Sets the worth of every item, its exact facts not counted."""
    for item in items:
        worth = _NEED[item.kind]
        if item.speaker is Speaker.ASSISTANT:
            worth *= _OF_ASSISTANT
        if not item.facts and item.kind in (*_NEEDS_FACTS, ItemKind.DONE):
            worth *= _WITHOUT_FACTS
        if item.kind in _FADING:
            worth *= 1.0 - 0.6 * item.age
        elif item.kind not in STANDING:
            worth *= 1.1 - 0.2 * item.age
        if item.solved:
            worth *= _SOLVED
        if stands(item) or (item.kind is ItemKind.DOING and item.age <= _RECENT):
            worth += _AT_THE_END
        if focus.refuses(item):
            worth *= _UNWANTED
        item.worth = worth


_BEFORE = 7
_AFTER = 3
_TO_THE_END = 7
"""Words before the first exact fact, after the last one, and those up to the end of the sentence
that are not worth cutting."""
_TAIL_STOP = word_set("and but so because since which that when while if then to for as with where")
_LEAD = re.compile(
    r"^(?:(?:ok(?:ay)?|so|well|also|and|but|right|great|thanks|please|now|then|just|btw|"
    r"note(?: that)?|actually|i think|done|sure|finally|yes)(?:[,:;.!–—-]+\s*|\s+))+(?=\S{2})",
    re.IGNORECASE,
)
_WORD = re.compile(r"\S+")
_ARTICLES = word_set(
    "the a an this that these those we you i please there our my your it it's also"
)
_LONGEST_ERROR = 240


def wordings(item: Item) -> list[str]:
    """The text in full, then shorter where its exact facts can stand with fewer words."""
    if item.kind is ItemKind.ERROR:
        return [item.text[:_LONGEST_ERROR]]
    options = [item.text]
    if item.kind in (ItemKind.FACT, ItemKind.DONE, ItemKind.NEXT, ItemKind.REQUEST) and item.facts:
        window = _window(item)
        options += [window, _terse(window, item)]
    result = options[:1]
    for option in options[1:]:
        if len(option) <= len(result[-1]) - 4:
            result.append(option)
    return result


def _window(item: Item) -> str:
    """From a few words before the first exact fact to a few after the last."""
    text = item.text
    places = [(at, at + len(f.text)) for f in item.facts if (at := text.find(f.text)) >= 0]
    if not places:
        return text
    first, last = min(start for start, _ in places), max(end for _, end in places)
    before = list(_WORD.finditer(text, 0, first))[-_BEFORE:]
    start = before[0].start() if before else first
    after = list(_WORD.finditer(text, last))
    stop = len(text) if len(after) <= _TO_THE_END else last
    for word in after[: _AFTER if stop == last else 0]:
        if word.group().lower().strip(",.;") in _TAIL_STOP:
            break
        stop = word.end()
    return _LEAD.sub("", text[start:stop].strip(" ,;:"), count=1).rstrip(".")


def _terse(text: str, item: Item) -> str:
    """Without articles and pronouns, as in a note; exact facts stay as they are."""
    exact = set(" ".join(fact.text for fact in item.facts).split())
    return " ".join(w for w in text.split() if w in exact or w.lower() not in _ARTICLES)


@dataclass(slots=True, eq=False)
class ChosenItem:
    """An item that goes into the summary. `texts` are its wordings, longest first."""

    item: Item
    texts: list[str]
    level: int
    worth: float

    @property
    def text(self) -> str:
        """The wording in use."""
        return self.texts[self.level]

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
        self._covered: set[str] = set()
        self._taken: set[Item] = set()

    def __contains__(self, item: Item) -> bool:
        return item in self._taken

    def force(self, item: Item, texts: list[str]) -> None:
        """Take an item whatever room it needs, in its shortest wording for now."""
        self._take(ChosenItem(item, texts, len(texts) - 1, 1000.0))

    def fill_wanted(self, items: Sequence[Item], share: float) -> None:
        """Take what the person asked for, whole, the worthiest first and of equals the latest:
        one item whatever it takes of the room, more up to a share of it."""
        spare, least = int(self.room * (1 - share)), 0
        for item in sorted(items, key=lambda one: (-one.worth, -one.order)):
            choice = ChosenItem(item, [item.text], 0, 500.0)
            if choice.size <= self.room - least:
                self._take(choice)
                least = spare

    def fill(
        self, items: Sequence[Item], cancelled: Callable[[], bool], keep_free: int = 0
    ) -> None:
        """Take items by worth per size in their shortest wordings, while there is more room than
        `keep_free`. What an item is worth sinks as others state its exact facts."""
        heap: list[tuple[float, int, Item, list[str]]] = []
        for number, item in enumerate(items):
            if number % 32 == 0 and cancelled():
                return
            texts = wordings(item)
            heap.append((-self._density(item, texts[-1]), item.order, item, texts))
        heapq.heapify(heap)
        steps = 0
        while heap and (steps % 32 or not cancelled()):
            steps += 1
            density, order, item, texts = heapq.heappop(heap)
            now = -self._density(item, texts[-1])
            if now > density + 1e-9 and heap and now > heap[0][0]:
                heapq.heappush(heap, (now, order, item, texts))
                continue
            worth = self._worth(item)
            choice = ChosenItem(item, texts, len(texts) - 1, worth)
            if worth >= _FLOOR and choice.size <= self.room - keep_free:
                self._take(choice)

    def lengthen(self) -> None:
        """Give the room that is left to fuller wordings, the worthiest first."""
        for choice in sorted(self.chosen, key=lambda one: (-one.worth, one.item.order)):
            for level in range(choice.level):
                more = _size(choice.item, choice.texts[level]) - choice.size
                if more <= self.room:
                    choice.level = level
                    self.room -= more
                    break

    def _take(self, choice: ChosenItem) -> None:
        self.chosen.append(choice)
        self._taken.add(choice.item)
        self._covered |= {fact.key for fact in choice.item.facts}
        self.room -= choice.size

    def _density(self, item: Item, text: str) -> float:
        return float(self._worth(item) / (_size(item, text) + 14) ** _DENSITY)

    def _worth(self, item: Item) -> float:
        new = {fact.key: _EXACT[fact.kind] for fact in item.facts if fact.key not in self._covered}
        if item.facts and not new and item.kind in _NEEDS_FACTS and not stands(item):
            return item.worth * (0.0 if item.kind in LISTED else _REPEATED)
        return item.worth + (0.0 if item.minor else min(_MOST_EXACT, sum(new.values())))
