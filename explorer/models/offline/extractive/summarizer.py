"""From a summary request to its text: read, keep what still holds, rank, choose, write."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence

from explorer.facts.entry_texts import Speaker
from explorer.facts.statements import kinds_of
from explorer.facts.text import statement_key
from explorer.models.offline.extractive.changes import drop_changed
from explorer.models.offline.extractive.earlier_summary import drop_over
from explorer.models.offline.extractive.items import (
    STANDING,
    Focus,
    Item,
    ItemKind,
    focus_of,
    passages,
)
from explorer.models.offline.extractive.record import Record, asks, fails
from explorer.models.offline.extractive.request import (
    RequestParts,
    blocks_of,
    bounded,
    read_request,
    thin,
)
from explorer.models.offline.extractive.sections import QUOTED_NEXT, Template, read_template
from explorer.models.offline.extractive.summary_layout import (
    TRIFLES,
    ChosenItem,
    ItemSelection,
    is_asked_for,
    rank,
    render,
)
from explorer.models.request import ChatMessage, ModelRequest
from explorer.tokens.estimate import estimate_text, utf16_units

_SHARE = 0.2
"""Share of what is new that a summary takes when no size is asked for."""
_CEILING = 0.5
"""The same, at most, whatever is asked for."""
_SMALLEST = 240
_HEADINGS = 100
_LARGEST = 6000
_TIGHT = 400
"""Tokens below which blank lines are left out."""
_LATEST_SHARE = 0.3
_WANTED_SHARE = 0.6
"""Shares of the room: of the latest request, of what is asked for."""
_FINISHED = 0.6
"""Share of the telling words of open work that a report of its end has."""
_GOAL = 4
"""Passages of the first message that may be the goal."""
_SOLVED_WORDS = 2
"""Telling words that a failure shares with the report that it is solved."""


def summarize(request: ModelRequest, cancelled: Callable[[], bool]) -> str:
    """The summary that a request asks for; empty when cancelled on the way."""
    material = read_request(request)
    template = read_template(material.instructions)
    focus = focus_of(material.focus)
    items = gather(material, focus, cancelled)
    if cancelled():
        return ""
    if template.short:
        return _short(items)
    note = _not_followed(template, material, focus, items)
    budget = budget_tokens(request.max_output_tokens, material)
    return compose(template, items, focus, budget, cancelled, note)


def recall(
    messages: tuple[ChatMessage, ...], kinds: tuple[ItemKind, ...], cancelled: Callable[[], bool]
) -> list[str]:
    """What messages say of some kinds, in their order, without what was changed since."""
    material = read_request(ModelRequest("", (*messages, ChatMessage("user", ""))))
    recalled = [item for item in gather(material, Focus(), cancelled) if item.kind in kinds]
    return list(dict.fromkeys(item.text for item in recalled))


def budget_tokens(asked: int | None, material: RequestParts) -> int:
    """Tokens to spend: what was asked for, but not most of what is new (E16); earlier notes may
    keep their size, however little was said since.

    A source of a few sentences may take its own size and the headings: it cannot be shortened.
    """
    notes = estimate_text(material.previous)
    new = material.tokens - notes
    most = max(notes + int(new * _CEILING), min(_SMALLEST, material.tokens + _HEADINGS))
    if asked is None:
        return min(most, max(notes, min(_LARGEST, max(_SMALLEST, notes + int(new * _SHARE)))))
    return min(asked, most)


def gather(material: RequestParts, focus: Focus, cancelled: Callable[[], bool]) -> list[Item]:
    """Every item that still holds, ranked."""
    record = Record(focus)
    if material.previous.strip():
        record.add_summary(bounded(material.previous))
    blocks = list(material.spoken) or blocks_of(material.conversation, cancelled)
    record.add_blocks(thin(blocks), cancelled)
    items = record.items
    for step in (
        drop_over, _drop_repeated, drop_changed, _drop_finished, _drop_solved, _name_goal,
        _drop_answered,
    ):  # fmt: skip
        if cancelled():
            return []
        step(items)
    rank(items, focus)
    return [item for item in items if item.alive]


def _drop_repeated(items: Sequence[Item]) -> None:
    """Of equal items the last stays, as the kind that the first had unless it failed again."""
    last: dict[str, Item] = {}
    for item in items:
        if item.kind is ItemKind.LATEST:
            continue
        key = statement_key(item.text)
        before = last.get(key)
        if before is not None:
            before.alive = False
            if before.kind in (*STANDING, ItemKind.GOAL, ItemKind.CHANGE):
                item.kind = before.kind
            item.minor = item.minor and before.minor
            item.solved = item.solved and before.solved
            item.inherited = item.inherited or before.inherited
        last[key] = item


def _drop_finished(items: Sequence[Item]) -> None:
    """Open work that a later report says to be done, and announcements that newer ones replace."""
    done = [item for item in items if item.kind is ItemKind.DONE and not item.inherited]
    ahead = any(item.newest and item.kind is ItemKind.NEXT for item in items)
    for item in items:
        if item.kind in (ItemKind.NEXT, ItemKind.DOING) and item.inherited:
            enough = max(1, _FINISHED * len(item.terms))
            item.alive &= all(len(item.terms & report.terms) < enough for report in done)
            item.alive &= not (ahead and _SAID_BY_ASSISTANT.search(item.text))


_SAID_BY_ASSISTANT = re.compile(r"\b(?:I|I['’]ll|I['’]d|[Ll]et me)\b|\?$")


def _drop_solved(items: Sequence[Item]) -> None:
    """Failures that a later run did not show, and reports of them once the work went on."""
    solved = [item for item in items if item.solved and item.kind is ItemKind.ERROR]
    good = [
        item
        for item in items
        if not item.inherited and item.kind is ItemKind.DONE and not fails(item.text)
    ]
    answers = [
        item for item in items if item.speaker is Speaker.USER and item.kind is not ItemKind.LATEST
    ]
    worked = any(item.speaker in (Speaker.COMMAND, Speaker.RESULT) for item in items)
    for item in items:
        if item.solved and item.kind is not ItemKind.COMMAND:
            item.alive = False
        reported = item.kind in (ItemKind.DONE, ItemKind.BLOCKED) and fails(item.text)
        if item.kind in (ItemKind.ERROR, ItemKind.BLOCKED) and item.inherited:
            item.alive &= not any(_solves(one, item) for one in good)
            # The work went on: it is known, and stands in the way no more.
            if worked and item.kind is ItemKind.BLOCKED:
                item.kind = ItemKind.ERROR if fails(item.text) else ItemKind.FACT
        elif item.kind is ItemKind.ERROR and item.speaker is Speaker.RESULT:
            item.alive &= not _is_settled(item, answers)
        elif reported and not item.newest and item.speaker is not Speaker.USER:
            later = [one for one in good if one.order > item.order]
            item.alive &= not any(len(item.terms & one.terms) >= _SOLVED_WORDS for one in later)
            item.alive &= not any(_quotes(item, one) for one in solved)
            item.alive &= not _is_settled(item, answers)


_SETTLES = re.compile(
    r"\b(?:skip|forget|never mind|leave|did (?:it|that)|done|by hand|works? now|solved|fixed)\b",
    re.I,
)


def _is_settled(report: Item, answers: Sequence[Item]) -> bool:
    """Whether the user's answer to a report says that it is done with, or not wanted."""
    at = bisect_right(answers, report.order, key=lambda one: one.order)
    message = [one for one in answers[at : at + _GOAL] if one.age == answers[at].age]
    return any(_SETTLES.search(one.text) for one in message)


def _solves(report: Item, failure: Item) -> bool:
    """Whether a success is about what failed."""
    shared = len(report.terms & failure.terms)
    return shared > _SOLVED_WORDS or (shared > 0 and report.speaker is Speaker.RESULT)


def _quotes(report: Item, failure: Item) -> bool:
    return len(report.terms & failure.terms) > _SOLVED_WORDS and report.order > failure.order


def _name_goal(items: Sequence[Item]) -> None:
    """Without an earlier goal, what the first message wants and says first is the goal."""
    if any(item.kind is ItemKind.GOAL for item in items):
        return
    said = [item for item in items if item.speaker is Speaker.USER and not item.inherited]
    told = [item for item in said if item.kind is not ItemKind.LATEST and len(item.terms) > 1]
    opening = [item for item in told if item.age == told[0].age and item.alive][:_GOAL]
    for item in opening:
        if item.kind in (ItemKind.REQUEST, ItemKind.FACT):
            item.kind = ItemKind.GOAL


def _drop_answered(items: Sequence[Item]) -> None:
    """Earlier questions that were replied to, and requests that a later report says to be done."""
    done = [
        item
        for item in items
        if item.kind is ItemKind.DONE and item.speaker is Speaker.ASSISTANT and not fails(item.text)
    ]
    for item in items:
        if item.kind is ItemKind.REQUEST and item.speaker is Speaker.USER:
            later = done[bisect_right(done, item.order, key=lambda one: one.order) :]
            if asks(item.text):
                item.alive &= not later
            enough = max(_SOLVED_WORDS, _FINISHED * len(item.terms))
            item.alive &= all(len(item.terms & report.terms) < enough for report in later)


_NOT_FOLLOWED = 300
"""Characters of an instruction that are quoted where it was not followed."""


def _not_followed(
    template: Template, material: RequestParts, focus: Focus, items: Sequence[Item]
) -> str:
    """An instruction that rules cannot follow, or what of it they cannot; empty where there is
    nothing."""
    if template.is_default and material.instructions.strip():
        return " ".join(material.instructions.split())[:_NOT_FOLLOWED]
    met = not focus.wishes or any(focus.wants(item) for item in items)
    if not (met or focus.unwanted):
        return " ".join(material.focus.split())[:_NOT_FOLLOWED]
    unmet = [one for one in focus.wishes if not any(one.is_near(item) for item in items)]
    phrases = [one.phrase for one in unmet if one.phrase]
    quoted = [
        " ".join(one.clause.split())
        for one in unmet
        if one.phrase or not any(phrase in one.clause.lower() for phrase in phrases)
    ]
    return QUOTED_NEXT.join(quoted)[:_NOT_FOLLOWED]


def compose(
    template: Template,
    items: Sequence[Item],
    focus: Focus,
    budget: int,
    cancelled: Callable[[], bool],
    note: str = "",
) -> str:
    """The summary within `budget` tokens."""
    tight = budget < _TIGHT
    items = [item for item in items if is_asked_for(template, item)]
    units = budget * 4
    room = units - utf16_units(render(template, [], tight=tight, note=note))
    selection = ItemSelection(room)
    latest = next((item for item in reversed(items) if item.kind is ItemKind.LATEST), None)
    if latest is not None:
        text = latest_wording(latest, int(units * _LATEST_SHARE))
        selection.force(latest, text)
        items = [item for item in items if item.text not in text]
    rest = [item for item in items if item.kind is not ItemKind.LATEST]
    selection.fill_wanted([item for item in rest if focus.wants(item)], _WANTED_SHARE)
    for _ in range(2):
        # Sections that are not empty need no mark: there is more room than was thought.
        left = [item for item in rest if item not in selection]
        selection.fill(left, cancelled, TRIFLES * 4)
        shown = render(template, selection.chosen, tight=tight, note=note)
        selection.room = units - utf16_units(shown)
    return _within(budget, template, selection.chosen, tight=tight, note=note)


def _within(
    budget: int, template: Template, choices: Sequence[ChosenItem], *, tight: bool, note: str
) -> str:
    """The text without what is worth least, until it fits."""
    text = render(template, choices, tight=tight, note=note)
    left = sorted(choices, key=lambda choice: (-choice.worth, choice.item.order))
    while (over := estimate_text(text) - budget) > 0 and len(left) > 1:
        freed = 0
        while freed < over * 4 and len(left) > 1:
            freed += left.pop().size
        text = render(template, left, tight=tight, note=note)
    loose = render(template, left, note=note) if tight else text
    return loose if estimate_text(loose) <= budget else text


def latest_wording(latest: Item, limit: int) -> str:
    """The latest request whole where the limit (UTF-16 units) allows; else what it asks, its last
    sentence, where people put what they want, before the others."""
    if len(latest.text) <= limit:
        return latest.text
    parts = passages(latest.text) or [latest.text]
    parts = [part for part in parts if kinds_of(part, by_user=True)] or parts
    chosen = {len(parts) - 1}
    size = len(parts[-1])
    for index, part in enumerate(parts[:-1]):
        if size + len(part) + 1 <= limit:
            chosen.add(index)
            size += len(part) + 1
    return " ".join(parts[index] for index in sorted(chosen))[: max(limit, 400)]


def _short(items: Sequence[Item]) -> str:
    """Two or three sentences in the first person (A25)."""

    def last(*kinds: ItemKind) -> str:
        texts = [item.text for item in items if item.kind in kinds]
        return re.sub(r"[.!? ]+$", "", texts[-1]) if texts else ""

    asked, done, ahead = (
        last(ItemKind.LATEST),
        last(ItemKind.DONE),
        last(ItemKind.NEXT, ItemKind.DOING),
    )
    lines = [f'I was asked: "{asked[:240]}".' if asked else "I read the conversation so far."]
    if done:
        lines.append(f"I report as done: {done[:200]}.")
    if ahead:
        lines.append(f"What I have ahead: {ahead[:200]}.")
    return " ".join(lines)
