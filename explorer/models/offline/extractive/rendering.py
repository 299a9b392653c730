"""Writes the chosen items under the headings that were asked for, each heading once (E20)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from explorer.facts.entry_texts import Speaker
from explorer.models.offline.extractive.items import Item, Kind
from explorer.models.offline.extractive.sections import (
    LABELS,
    LISTED,
    RAN,
    Heading,
    Section,
    Template,
    item_line,
    list_line,
)
from explorer.models.offline.extractive.selection import Choice, stands

NONE = "- (none)"
_ANALYSIS = "(picked from the record without a language model)"
_LAST_OPERATIONS = 8

_HOMES: Mapping[Kind, tuple[Section, ...]] = {
    Kind.GOAL: (Section.GOAL,),
    Kind.REQUEST: (Section.GOAL,),
    Kind.LATEST: (Section.GOAL,),
    Kind.CONSTRAINT: (Section.CONSTRAINTS, Section.GOAL),
    Kind.DECISION: (Section.DECISIONS,),
    Kind.DONE: (Section.DONE, Section.PROGRESS),
    Kind.DOING: (Section.DOING, Section.PROGRESS, Section.NEXT),
    Kind.BLOCKED: (Section.BLOCKED, Section.PROGRESS),
    Kind.ERROR: (Section.FACTS, Section.BLOCKED),
    Kind.NEXT: (Section.NEXT, Section.DOING),
    Kind.FACT: (Section.FACTS, Section.NOTES, Section.PROGRESS),
    Kind.COMMAND: (Section.FACTS, Section.DONE),
    Kind.FILE: (Section.FILES, Section.FACTS),
    Kind.CHANGE: (Section.FILES, Section.DONE, Section.PROGRESS),
}
"""The section of a kind, then those that take its place where it is not asked for."""
_OTHERWISE = (
    Section.FACTS, Section.NOTES, Section.PROGRESS, Section.DECISIONS, Section.DONE, Section.GOAL,
)  # fmt: skip
_UNLABELLED: Mapping[Kind, tuple[Section, ...]] = {
    Kind.DOING: (Section.DOING,),
    Kind.BLOCKED: (Section.BLOCKED,),
    Kind.FACT: (Section.FACTS, Section.NOTES, Section.PROGRESS, Section.FILES, Section.RECENT),
}
"""Sections that name what an item of a kind is."""
_BY_TIME = (Section.GOAL, Section.NEXT, Section.DOING, Section.RECENT)


def is_asked_for(template: Template, item: Item) -> bool:
    """Whether a section of the template is for an item; the user's words are always asked for."""
    asked = {heading.section for heading in template.headings}
    by_others = item.speaker in (Speaker.ASSISTANT, Speaker.RESULT, Speaker.COMMAND)
    may_be_left = item.kind in (Kind.FACT, *LISTED) and by_others
    return not may_be_left or not asked.isdisjoint(_HOMES[item.kind])


def render(template: Template, choices: Sequence[Choice], *, tight: bool = False) -> str:
    """The summary as Markdown; an empty section says so. `tight` leaves out blank lines."""
    homes = _assign(template, choices)
    parts: list[str] = []
    for heading in template.headings:
        lines = _section_lines(heading.section, homes.get(heading.line, []))
        if not lines and heading.section is Section.NOTES:
            continue  # a place for what fits nowhere else says nothing when it is empty
        if not lines and heading.section is not Section.TITLE:
            lines = [NONE.removeprefix("- ") if tight else NONE]
        parts.append("\n".join([heading.line, *lines]))
    text = ("\n" if tight else "\n\n").join(parts)
    if not template.wrapped:
        return text
    thought = f"<analysis>\n{_ANALYSIS}\n</analysis>\n" if template.analysed else ""
    return f"{thought}<summary>\n{text}\n</summary>"


def _assign(template: Template, choices: Sequence[Choice]) -> dict[str, list[Choice]]:
    first: dict[Section, Heading] = {}
    for heading in template.headings:
        first.setdefault(heading.section, heading)
    fallback = next(
        (h for h in template.headings if h.section is not Section.TITLE), template.headings[0]
    )
    recent = _last_operations(choices) if Section.RECENT in first else []
    homes: dict[str, list[Choice]] = defaultdict(list)
    for choice in choices:
        wanted = (*_places(choice), *_OTHERWISE)
        if choice in recent:
            wanted = (Section.RECENT,)
        home = next((first[section] for section in wanted if section in first), fallback)
        homes[home.line].append(choice)
    return homes


def _places(choice: Choice) -> tuple[Section, ...]:
    item = choice.item
    if stands(item):
        return (Section.BLOCKED, *_HOMES[item.kind])
    return _HOMES[item.kind]


def _last_operations(choices: Sequence[Choice]) -> list[Choice]:
    """The last calls and what they gave."""
    calls = [
        choice
        for choice in choices
        if choice.item.speaker in (Speaker.COMMAND, Speaker.RESULT)
        and choice.item.kind in (*LISTED, Kind.DONE)
    ]
    return sorted(calls, key=lambda choice: choice.item.order)[-_LAST_OPERATIONS:]


def _section_lines(section: Section, choices: Sequence[Choice]) -> list[str]:
    def by_time(choice: Choice) -> tuple[float, float]:
        return float(choice.item.kind is Kind.LATEST), choice.item.order

    def by_worth(choice: Choice) -> tuple[float, float]:
        return -choice.worth, choice.item.order

    lines: list[str] = []
    lists: dict[str, list[Choice]] = defaultdict(list)
    for choice in sorted(choices, key=by_time if section in _BY_TIME else by_worth):
        kind = choice.item.kind
        if kind in LISTED:
            unproved = kind is Kind.COMMAND and section is Section.DONE
            lists[RAN if unproved else LABELS[kind]].append(choice)
            continue
        bare = section in _UNLABELLED.get(kind, ())
        lines.append(item_line(kind, choice.text, "" if bare else None))
    for label, listed in lists.items():
        listed.sort(key=by_time)
        lines.append(list_line(label, [choice.text for choice in listed]))
    return lines
