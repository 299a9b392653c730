"""Which items a summary holds, by need and by the room that they take; and these written under the
headings that were asked for, each heading once (E20).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from explorer.facts.entry_texts import Speaker
from explorer.facts.summary_notes import NOT_FOLLOWED
from explorer.models.offline.extractive.items import STANDING, Focus, Item, ItemKind
from explorer.models.offline.extractive.sections import (
    LABELS,
    LISTED,
    RAN,
    SectionHeading,
    SectionSubject,
    Template,
    item_line,
    list_line,
    list_part,
)
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


NONE = "- (none)"
_ANALYSIS = "(picked from the record without a language model)"
_LAST_OPERATIONS = 8

_HOMES: Mapping[ItemKind, tuple[SectionSubject, ...]] = {
    ItemKind.GOAL: (SectionSubject.GOAL,),
    ItemKind.REQUEST: (SectionSubject.GOAL,),
    ItemKind.LATEST: (SectionSubject.GOAL,),
    ItemKind.CONSTRAINT: (SectionSubject.CONSTRAINTS, SectionSubject.GOAL),
    ItemKind.DECISION: (SectionSubject.DECISIONS,),
    ItemKind.DONE: (SectionSubject.DONE, SectionSubject.PROGRESS),
    ItemKind.DOING: (SectionSubject.DOING, SectionSubject.PROGRESS, SectionSubject.NEXT),
    ItemKind.BLOCKED: (SectionSubject.BLOCKED, SectionSubject.PROGRESS),
    ItemKind.ERROR: (SectionSubject.FACTS, SectionSubject.BLOCKED),
    ItemKind.NEXT: (SectionSubject.NEXT, SectionSubject.DOING),
    ItemKind.FACT: (SectionSubject.FACTS, SectionSubject.NOTES, SectionSubject.PROGRESS),
    ItemKind.COMMAND: (SectionSubject.FACTS, SectionSubject.DONE),
    ItemKind.FILE: (SectionSubject.FILES, SectionSubject.FACTS),
    ItemKind.CHANGE: (SectionSubject.FILES, SectionSubject.DONE, SectionSubject.PROGRESS),
}
"""The section of a kind, then those that take its place where it is not asked for."""
_OTHERWISE = (
    SectionSubject.FACTS, SectionSubject.NOTES, SectionSubject.PROGRESS,
    SectionSubject.DECISIONS, SectionSubject.DONE, SectionSubject.GOAL,
)  # fmt: skip
_UNLABELLED: Mapping[ItemKind, tuple[SectionSubject, ...]] = {
    ItemKind.DOING: (SectionSubject.DOING,),
    ItemKind.BLOCKED: (SectionSubject.BLOCKED,),
    ItemKind.FACT: (
        SectionSubject.FACTS,
        SectionSubject.NOTES,
        SectionSubject.PROGRESS,
        SectionSubject.FILES,
        SectionSubject.RECENT,
    ),
}
"""Sections that name what an item of a kind is."""


def is_asked_for(template: Template, item: Item) -> bool:
    """Whether a section of the template is for an item; the user's words are always asked for."""
    asked = {heading.section for heading in template.headings}
    if item.kind is ItemKind.COMMAND and item.solved:
        return SectionSubject.RECENT in asked  # it worked: what it did is told otherwise
    by_others = item.speaker in (Speaker.ASSISTANT, Speaker.RESULT, Speaker.COMMAND)
    may_be_left = item.kind in (ItemKind.FACT, *LISTED) and by_others
    return not may_be_left or not asked.isdisjoint(_HOMES[item.kind])


def note_line(instruction: str) -> str:
    """Says that an instruction was not followed."""
    return f"- {NOT_FOLLOWED}: “{instruction}”"


def render(
    template: Template, choices: Sequence[ChosenItem], *, tight: bool = False, note: str = ""
) -> str:
    """The summary as Markdown; an empty section says so. `tight` leaves out blank lines; `note`:
    the instruction that was not followed."""
    homes = _assign(template, choices)
    parts: list[str] = []
    for heading in template.headings:
        lines = _section_lines(heading.section, homes.get(heading.line, []))
        if not lines and heading.section is SectionSubject.NOTES:
            continue  # a place for what fits nowhere else says nothing when it is empty
        if not lines and heading.section is not SectionSubject.TITLE:
            lines = [NONE.removeprefix("- ") if tight else NONE]
        parts.append("\n".join([heading.line, *lines]))
    if note:
        parts[-1] += f"\n{note_line(note)}"
    text = ("\n" if tight else "\n\n").join(parts)
    if not template.wrapped:
        return text
    thought = f"<analysis>\n{_ANALYSIS}\n</analysis>\n" if template.analysed else ""
    return f"{thought}<summary>\n{text}\n</summary>"


def _assign(template: Template, choices: Sequence[ChosenItem]) -> dict[str, list[ChosenItem]]:
    first: dict[SectionSubject, SectionHeading] = {}
    for heading in template.headings:
        first.setdefault(heading.section, heading)
    fallback = next(
        (h for h in template.headings if h.section is not SectionSubject.TITLE),
        template.headings[0],
    )
    recent = _last_operations(choices) if SectionSubject.RECENT in first else []
    homes: dict[str, list[ChosenItem]] = defaultdict(list)
    for choice in choices:
        wanted = (*_places(choice), *_OTHERWISE)
        if choice in recent:
            wanted = (SectionSubject.RECENT,)
        home = next((first[section] for section in wanted if section in first), fallback)
        homes[home.line].append(choice)
    return homes


def _places(choice: ChosenItem) -> tuple[SectionSubject, ...]:
    item = choice.item
    if stands(item):
        return (SectionSubject.BLOCKED, *_HOMES[item.kind])
    return _HOMES[item.kind]


def _last_operations(choices: Sequence[ChosenItem]) -> list[ChosenItem]:
    """The last calls and what they gave."""
    calls = [
        choice
        for choice in choices
        if choice.item.speaker in (Speaker.COMMAND, Speaker.RESULT)
        and choice.item.kind in (*LISTED, ItemKind.DONE)
    ]
    return sorted(calls, key=lambda choice: choice.item.order)[-_LAST_OPERATIONS:]


def _section_lines(section: SectionSubject, choices: Sequence[ChosenItem]) -> list[str]:
    def by_time(choice: ChosenItem) -> tuple[float, float]:
        return float(choice.item.kind is ItemKind.LATEST), choice.item.order

    lines: list[str] = []
    lists: dict[str, list[ChosenItem]] = defaultdict(list)
    for choice in sorted(choices, key=by_time):
        kind = choice.item.kind
        if kind in LISTED:
            unproved = kind is ItemKind.COMMAND and section is SectionSubject.DONE
            lists[RAN if unproved else LABELS[kind]].append(choice)
            continue
        bare = section in _UNLABELLED.get(kind, ())
        lines.append(item_line(kind, choice.text, "" if bare else None))
    for label, listed in lists.items():
        listed.sort(key=by_time)
        lines.append(list_line(label, [choice.text for choice in listed]))
    return lines
