"""From a summary request to its text: read, keep what still holds, rank, choose, write."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from explorer.facts import FactKind, Mention
from explorer.facts.comparison import Rule, mark_changed
from explorer.facts.entry_texts import Speaker
from explorer.facts.figures import figures_in
from explorer.facts.statements import is_question, kinds_of
from explorer.facts.text import sentences, statement_key, terms
from explorer.models.offline.extractive.items import Focus, Item, ItemKind, focus_of
from explorer.models.offline.extractive.record import Record
from explorer.models.offline.extractive.request import (
    RequestParts,
    blocks_of,
    bounded,
    read_request,
    thin,
)
from explorer.models.offline.extractive.sections import LISTED, Template, read_template
from explorer.models.offline.extractive.selection import (
    STANDING,
    ChosenItem,
    ItemSelection,
    rank,
    wordings,
)
from explorer.models.offline.extractive.summary_layout import is_asked_for, render
from explorer.models.request import ChatMessage, ModelRequest
from explorer.tokens.estimate import estimate_text, utf16_units

_SHARE = 0.2
"""Share of the source that a summary takes when no size is asked for."""
_CEILING = 0.5
_SMALLEST = 240
_HEADINGS = 100
_LARGEST = 6000
_TIGHT = 400
"""Tokens below which blank lines are left out."""
_LATEST_SHARE = 0.3
_WANTED_SHARE = 0.6
_STANDING_SHARE = 0.55
"""Shares of the room: of the latest request, of what is asked for, of rules and decisions."""
_FINISHED = 0.6
"""Share of the telling words of open work that a report of its end has."""

_NOT_STATED = (ItemKind.LATEST, ItemKind.ERROR, *LISTED)
_CLAUSE = re.compile(r"[,;:]\s+(?:and |but |so )?|\s+(?:and|but|while)\s+")
_INSTEAD_OF = re.compile(
    r"\b(?:instead of|rather than|in place of|no longer(?: use)?|away from) "
    r"(?:the |an? |our |using )?([\w./@+-]+(?: (?!for\b|in\b|to\b|because\b|let)[\w./@+-]+)?)",
    re.IGNORECASE,
)


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
    budget = budget_tokens(request.max_output_tokens, material.tokens)
    return compose(template, items, focus, budget, cancelled)


def recall(
    messages: tuple[ChatMessage, ...], kinds: tuple[ItemKind, ...], cancelled: Callable[[], bool]
) -> list[str]:
    """What messages say of some kinds, in their order, without what was changed since."""
    material = read_request(ModelRequest("", (*messages, ChatMessage("user", ""))))
    recalled = [item for item in gather(material, Focus(), cancelled) if item.kind in kinds]
    return list(dict.fromkeys(item.text for item in recalled))


def budget_tokens(asked: int | None, source: int) -> int:
    """Tokens to spend: what was asked for, but not most of the source (E16).

    A source of a few sentences may take its own size and the headings: it cannot be shortened.
    """
    most = max(int(source * _CEILING), min(_SMALLEST, source + _HEADINGS))
    if asked is None:
        return min(_LARGEST, most, max(_SMALLEST, int(source * _SHARE)))
    return min(asked, most)


def gather(material: RequestParts, focus: Focus, cancelled: Callable[[], bool]) -> list[Item]:
    """Every item that still holds, ranked."""
    record = Record(focus)
    if material.previous.strip():
        record.add_summary(bounded(material.previous))
    blocks = list(material.spoken) or blocks_of(material.conversation, cancelled)
    record.add_blocks(thin(blocks), cancelled)
    items = record.items
    for step in (_drop_repeated, _drop_changed, _drop_finished, _name_goal):
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
        last[key] = item


def _drop_changed(items: Sequence[Item]) -> None:
    """What the user stated and a later statement changed, with every echo of it. Of a sentence with
    more in it only the clause goes."""
    rules: list[tuple[Item, Rule]] = []
    for item in items:
        stated = item.kind not in _NOT_STATED and item.speaker in (Speaker.USER, Speaker.SUMMARY)
        if item.alive and stated and not is_question(item.text):
            _drop_named(item, items)
            rules += [(item, rule) for rule in _rules(item)]
    mark_changed([rule for _, rule in rules])
    changed = [(item, rule) for item, rule in rules if rule.replaced_by]
    for item, rule in changed:
        rest = item.text.replace(rule.text, "").strip(" ,;:")
        item.facts = tuple(fact for fact in item.facts if fact.text in rest)
        item.alive = bool(item.facts)
        item.text = rest if item.facts else item.text
    for item in items:
        if item.speaker is Speaker.ASSISTANT and item.facts:
            item.alive &= not any(_echoes(item, rule) for _, rule in changed)


def _rules(item: Item) -> list[Rule]:
    """The clauses of a sentence that give a value; all of it where none does so alone."""
    whole = _rule(item, item.text)
    parts = [_rule(item, clause) for clause in _CLAUSE.split(item.text)]
    parts = [part for part in parts if part.figures]
    if parts and all(part.about for part in parts):
        return parts
    return [whole] if whole.figures or item.kind in STANDING else []


def _rule(item: Item, text: str) -> Rule:
    kind = FactKind.CONSTRAINT
    return Rule(item.order, [Mention(kind, text, statement_key(text), 0, len(text))])


def _echoes(item: Item, old: Rule) -> bool:
    """Whether an item says what was changed, and the old value with it."""
    values = {figure.key for figure in old.figures}
    same = any(figure.key in values for figure in figures_in(item.text))
    return same and bool(old.about) and old.about <= item.terms


def _drop_named(new: Item, before: Sequence[Item]) -> None:
    """Drop what a decision names as what it takes the place of."""
    for match in _INSTEAD_OF.finditer(new.text) if new.kind in STANDING else ():
        named = terms(match[1])
        for old in before[: new.order] if named else ():
            # "config.toml" is a path still where TOML is given up.
            words = old.terms - terms(" ".join(fact.text for fact in old.facts))
            about = words - named
            is_one_thing = len(about) == 1 or about & (new.terms - named)
            if named <= words and is_one_thing and old.kind not in _NOT_STATED:
                old.alive = False


def _drop_finished(items: Sequence[Item]) -> None:
    """Open work that a later report says to be done."""
    done = [item for item in items if item.kind is ItemKind.DONE and not item.inherited]
    for item in items:
        if item.kind in (ItemKind.NEXT, ItemKind.DOING) and item.inherited:
            enough = max(1, _FINISHED * len(item.terms))
            item.alive &= all(len(item.terms & report.terms) < enough for report in done)


def _name_goal(items: Sequence[Item]) -> None:
    """Without an earlier goal, the first request is the goal."""
    if any(item.kind is ItemKind.GOAL for item in items):
        return
    for item in items:
        if item.kind is ItemKind.LATEST:
            return
        if item.kind is ItemKind.REQUEST and item.alive and len(item.terms) > 1:
            item.kind = ItemKind.GOAL
            return


def compose(
    template: Template,
    items: Sequence[Item],
    focus: Focus,
    budget: int,
    cancelled: Callable[[], bool],
) -> str:
    """The summary within `budget` tokens."""
    tight = budget < _TIGHT
    items = [item for item in items if is_asked_for(template, item)]
    units = budget * 4
    selection = ItemSelection(units - utf16_units(render(template, [], tight=tight)))
    latest = next((item for item in reversed(items) if item.kind is ItemKind.LATEST), None)
    if latest is not None:
        texts = latest_wordings(latest, int(units * _LATEST_SHARE))
        selection.force(latest, texts)
        items = [item for item in items if item.kind in STANDING or item.text not in texts[0]]
    wanted = [item for item in items if item.kind is not ItemKind.LATEST and focus.wants(item)]
    selection.fill_wanted(wanted, _WANTED_SHARE)
    goal = next((item for item in items if item.kind is ItemKind.GOAL), None)
    if goal is not None and goal not in selection:
        selection.force(goal, wordings(goal))

    def left() -> list[Item]:
        return [one for one in items if one.kind is not ItemKind.LATEST and one not in selection]

    standing = [item for item in left() if item.kind in STANDING]
    selection.fill(standing, cancelled, max(0, int(selection.room * (1 - _STANDING_SHARE))))
    for _ in range(2):
        # Sections that are not empty need no mark: there is more room than was thought.
        selection.fill(left(), cancelled)
        selection.room = units - utf16_units(render(template, selection.chosen, tight=tight))
        selection.lengthen()
    return _within(budget, template, selection.chosen, tight=tight)


def _within(budget: int, template: Template, choices: Sequence[ChosenItem], *, tight: bool) -> str:
    """The text without what is worth least, until it fits."""
    text = render(template, choices, tight=tight)
    left = sorted(choices, key=lambda choice: (-choice.worth, choice.item.order))
    while (over := estimate_text(text) - budget) > 0 and len(left) > 1:
        freed = 0
        while freed < over * 4 and len(left) > 1:
            freed += left.pop().size
        text = render(template, left, tight=tight)
    loose = render(template, left) if tight else text
    return loose if estimate_text(loose) <= budget else text


def latest_wordings(latest: Item, limit: int) -> list[str]:
    """The latest request whole where the limit (UTF-16 units) allows, and only what it asks."""
    parts = [sentence.text for sentence in sentences(latest.text, [])] or [latest.text]
    asks = [part for part in parts if kinds_of(part, by_user=True)] or parts
    whole, short = _up_to(parts, limit), _up_to(asks, max(120, limit // 2))
    return [whole, short] if len(short) < len(whole) else [whole]


def _up_to(parts: Sequence[str], limit: int) -> str:
    """As many sentences as fit; the last one, where people put what they want, comes first."""
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
