"""Writes the chosen statements under the headings that were asked for, each heading once (E20)."""

from __future__ import annotations

from collections import defaultdict

from explorer.models.offline.extractive.cues import names_failure
from explorer.models.offline.extractive.sections import (
    ASKED_LABEL,
    CHANGED_LABEL,
    ERROR_LABEL,
    FOUND_LABEL,
    LATEST_LABEL,
    OUTPUT_LABEL,
    RAN_LABEL,
    Heading,
    Section,
    Template,
    list_line,
)
from explorer.models.offline.extractive.selection import Choice
from explorer.models.offline.extractive.statement import Kind, Speaker, Statement
from explorer.tokens.estimate import (
    utf16_units,
)

NONE = "- (none)"
_ANALYSIS = "(picked from the record without a language model)"
_RECENT = 0.15
_LAST_OPERATIONS = 8

# Where a statement goes, and where it goes instead when that section was not asked for.
_HOMES: dict[Section, tuple[Section, ...]] = {
    Section.GOAL: (Section.GOAL, Section.NOTES, Section.FACTS, Section.PROGRESS),
    Section.CONSTRAINTS: (
        Section.CONSTRAINTS,
        Section.GOAL,
        Section.FACTS,
        Section.DECISIONS,
        Section.NOTES,
    ),
    Section.DONE: (Section.DONE, Section.PROGRESS, Section.FACTS, Section.NOTES),
    Section.DOING: (Section.DOING, Section.PROGRESS, Section.NEXT, Section.DONE, Section.FACTS),
    Section.BLOCKED: (Section.BLOCKED, Section.PROGRESS, Section.FACTS, Section.DOING),
    Section.DECISIONS: (Section.DECISIONS, Section.FACTS, Section.CONSTRAINTS, Section.PROGRESS),
    Section.NEXT: (Section.NEXT, Section.DOING, Section.FACTS, Section.PROGRESS),
    Section.FACTS: (
        Section.FACTS,
        Section.NOTES,
        Section.PROGRESS,
        Section.DECISIONS,
        Section.FILES,
        Section.DONE,
        Section.DOING,
    ),
    Section.ASKED: (Section.FACTS, Section.GOAL, Section.NOTES, Section.PROGRESS),
    Section.RULES: (Section.CONSTRAINTS, Section.FACTS, Section.DECISIONS, Section.PROGRESS),
    Section.ERRORS: (Section.FACTS, Section.BLOCKED, Section.PROGRESS, Section.DONE),
    Section.COMMANDS: (Section.FACTS, Section.DONE, Section.PROGRESS, Section.NOTES),
    Section.CHANGED: (Section.FILES, Section.DONE, Section.PROGRESS, Section.FACTS),
    Section.FILES: (Section.FILES, Section.FACTS, Section.NOTES, Section.DONE, Section.PROGRESS),
}
_PLACES: dict[Kind, Section] = {
    Kind.GOAL: Section.GOAL,
    Kind.REQUEST: Section.GOAL,
    Kind.LATEST: Section.GOAL,
    Kind.CONSTRAINT: Section.CONSTRAINTS,
    Kind.PREFERENCE: Section.CONSTRAINTS,
    Kind.DECISION: Section.DECISIONS,
    Kind.DONE: Section.DONE,
    Kind.DOING: Section.DOING,
    Kind.BLOCKED: Section.BLOCKED,
    Kind.ERROR: Section.ERRORS,
    Kind.NEXT: Section.NEXT,
    Kind.FINDING: Section.FACTS,
    Kind.FACT: Section.FACTS,
    Kind.COMMAND: Section.COMMANDS,
    Kind.FILE: Section.FILES,
    Kind.OUTPUT: Section.FACTS,
}
_LABELS = {Kind.DOING: "In progress: ", Kind.BLOCKED: "Blocked: "}
_BY_TIME = (Section.GOAL, Section.NEXT, Section.DOING, Section.RECENT)


def skeleton_size(template: Template, tight: bool = False) -> int:
    """UTF-16 units of a summary that says nothing, with the marks of its empty sections."""
    return utf16_units(render(template, [], tight))


def render(template: Template, choices: list[Choice], tight: bool = False) -> str:
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


def _assign(template: Template, choices: list[Choice]) -> dict[str, list[Choice]]:
    first: dict[Section, Heading] = {}
    for heading in template.headings:
        first.setdefault(heading.section, heading)
    fallback = next(
        (h for h in template.headings if h.section is not Section.TITLE), template.headings[0]
    )
    homes: dict[str, list[Choice]] = defaultdict(list)
    recent = _recent(choices) if Section.RECENT in first else set()
    for choice in choices:
        if id(choice) in recent:
            homes[first[Section.RECENT].line].append(choice)
            continue
        section = _place(choice.statement)
        home = next((first[s] for s in _HOMES[section] if s in first), fallback)
        homes[home.line].append(choice)
    return homes


def _recent(choices: list[Choice]) -> set[int]:
    """The last calls and what they gave."""
    told = [
        c
        for c in choices
        if c.statement.speaker in (Speaker.CALL, Speaker.RESULT)
        and c.statement.kind in (Kind.COMMAND, Kind.DONE, Kind.OUTPUT, Kind.FILE)
        and not c.statement.inherited
    ]
    told.sort(key=lambda c: c.statement.order)
    return {id(choice) for choice in told[-_LAST_OPERATIONS:]}


def _place(statement: Statement) -> Section:
    recent = statement.age <= _RECENT and not statement.inherited
    if statement.kind is Kind.ERROR and recent and not statement.solved:
        return Section.BLOCKED
    if statement.kind is Kind.REQUEST and not statement.fresh and not statement.firm:
        return Section.ASKED
    if statement.kind is Kind.CONSTRAINT and statement.speaker is Speaker.RESULT:
        return Section.RULES
    if statement.kind is Kind.FILE and statement.firm:
        return Section.CHANGED
    return _PLACES[statement.kind]


def _in_list(choice: Choice) -> bool:
    return choice.statement.kind in (Kind.COMMAND, Kind.FILE)


def homeless(template: Template, statement: Statement) -> bool:
    """Whether a fact has no section that asks for facts, as when a branch is summed up."""
    if statement.kind not in (Kind.FACT, Kind.OUTPUT) or statement.wanted or statement.noted:
        return False
    asked = {heading.section for heading in template.headings}
    kept = statement.speaker in (Speaker.USER, Speaker.SUMMARY)
    return not kept and asked.isdisjoint((Section.FACTS, Section.NOTES, Section.PROGRESS))


def _section_lines(section: Section, choices: list[Choice]) -> list[str]:
    def by_time(choice: Choice) -> tuple[float, float]:
        late = 1.0 if choice.statement.kind is Kind.LATEST else 0.0
        return late, choice.statement.order

    def by_worth(choice: Choice) -> tuple[float, float]:
        return -choice.worth, choice.statement.order

    ordered = sorted(choices, key=by_time if section in _BY_TIME else by_worth)
    lines: list[str] = []
    lists: dict[str, list[str]] = defaultdict(list)
    alone = sum(c.statement.kind in (Kind.GOAL, Kind.REQUEST) for c in choices) == 0
    for choice in sorted(ordered, key=lambda c: c.statement.order if _in_list(c) else 0):
        kind = choice.statement.kind
        if kind is Kind.FILE:
            changed = choice.statement.firm and section is not Section.FACTS
            lists[CHANGED_LABEL if changed else "Files"].append(choice.text)
        elif kind is Kind.COMMAND:
            lists[RAN_LABEL if section is Section.DONE else "Commands"].append(choice.text)
        elif kind is Kind.LATEST:
            lines.append(f"- {choice.text}" if alone else f"- {LATEST_LABEL}: {choice.text}")
        elif kind is Kind.ERROR:
            plain = names_failure(choice.text)
            lines.append(f"- {choice.text}" if plain else f"- {ERROR_LABEL}: {choice.text}")
        elif kind is Kind.OUTPUT:
            lines.append(f"- {OUTPUT_LABEL}: {choice.text}")
        elif kind is Kind.REQUEST and section is not Section.GOAL:
            lines.append(f"- {ASKED_LABEL}: {choice.text}")
        elif kind in (Kind.FACT, Kind.FINDING) and section is Section.DECISIONS:
            lines.append(f"- {FOUND_LABEL}: {choice.text}")
        else:
            label = _LABELS.get(kind, "") if section is Section.PROGRESS else ""
            lines.append(f"- {label}{choice.text}")
    lines += [f"- {list_line(label, parts)}" for label, parts in lists.items()]
    return lines
