"""Writes the chosen items under the headings that were asked for, each heading once (E20)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from explorer.facts.entry_texts import Speaker
from explorer.models.offline.extractive.items import Item, ItemKind
from explorer.models.offline.extractive.sections import (
    LABELS,
    LISTED,
    NOT_FOLLOWED,
    RAN,
    SectionHeading,
    SectionSubject,
    Template,
    item_line,
    list_line,
)
from explorer.models.offline.extractive.selection import ChosenItem, stands

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
