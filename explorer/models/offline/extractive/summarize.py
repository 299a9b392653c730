"""From a summary request to its text: read, settle, rank, choose, write."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from explorer.models.offline.extractive.changes import close_finished, drop_repeated, settle
from explorer.models.offline.extractive.cues import is_reaction, user_kind
from explorer.models.offline.extractive.focus import focus_of
from explorer.models.offline.extractive.record import Builder
from explorer.models.offline.extractive.rendering import NONE, homeless, render, skeleton_size
from explorer.models.offline.extractive.request import (
    Material,
    blocks_of,
    bounded,
    read_request,
    thin,
)
from explorer.models.offline.extractive.sections import Template, read_template
from explorer.models.offline.extractive.selection import (
    FLOOR,
    LEFTOVER_FLOOR,
    Choice,
    Selection,
    raise_end,
    rank,
    wordings,
)
from explorer.models.offline.extractive.statement import (
    Kind,
    Speaker,
    Statement,
    lower_words,
    pieces_of,
)
from explorer.models.request import ChatMessage, ModelRequest
from explorer.tokens.estimate import (
    estimate_text,
    utf16_units,
)

_SHARE = 0.2
_CEILING = 0.5
_SMALLEST = 240
_HEADINGS = 100
_LARGEST = 6000
_LATEST_SHARE = 0.3
_STANDING = (Kind.CONSTRAINT, Kind.PREFERENCE, Kind.DECISION)
_TIGHT = 400
_ROOMY = 1_000
_PLENTY = 16_000
"""UTF-16 units beyond which only what is worth more is told."""
_PLENTY_FLOOR = 4.5
_WANTED_SHARE = 0.6
_STANDING_FLOOR = 5.0
_STANDING_SHARE = 0.55
_AIM = re.compile(
    r"\b(?:need|want|would\s+like|i['’]d\s+like|please|can\s+you|could\s+you|help|goal|aim|trying|build|"
    r"add|fix|implement|create|write|make|migrate|move|refactor|investigate|find|figure|why|how|port|"
    r"update|remove|improve|replace|rewrite|set\s+up|convert|split|review|debug|optimi[sz]e|working\s+on)\b",
    re.IGNORECASE,
)
_ASKING = (Kind.REQUEST, Kind.CONSTRAINT, Kind.PREFERENCE, Kind.DECISION)


def summarize(request: ModelRequest, cancelled: Callable[[], bool]) -> str:
    """The summary that a request asks for; empty when cancelled on the way."""
    material = read_request(request)
    template = read_template(material.instructions)
    statements = gather(material, cancelled)
    if cancelled():
        return ""
    if template.short:
        return _short(statements)
    budget = budget_tokens(request.max_output_tokens, material.tokens)
    return compose(template, statements, budget, cancelled)


def budget_tokens(asked: int | None, source: int) -> int:
    """Tokens to spend: what was asked for, but not most of the source (E16).

    A source of a few sentences may take its own size and the headings: it has nothing to spare.
    """
    most = max(int(source * _CEILING), min(_SMALLEST, source + _HEADINGS))
    if asked is None:
        return min(_LARGEST, most, max(_SMALLEST, int(source * _SHARE)))
    return min(asked, most)


def gather(material: Material, cancelled: Callable[[], bool]) -> list[Statement]:
    """Every statement that still holds, ranked."""
    focus = focus_of(material.focus)
    builder = Builder(focus)
    if material.previous.strip():
        builder.add_summary(bounded(material.previous), age=1.0)
    blocks = list(material.spoken) or blocks_of(material.conversation, cancelled)
    builder.add_blocks(thin(blocks, cancelled), cancelled)
    statements = builder.statements
    drop_repeated(statements)
    settle(statements, cancelled)
    _name_goal(statements)
    close_finished(statements)
    rank(statements, focus, cancelled)
    return [s for s in statements if s.alive]


def recall(
    messages: tuple[ChatMessage, ...], kinds: tuple[Kind, ...], cancelled: Callable[[], bool]
) -> list[str]:
    """What messages say of some kinds, in their order, without what was overruled since."""
    ending = ChatMessage("user", "")
    material = read_request(ModelRequest("", (*messages, ending)))
    found = [s for s in gather(material, cancelled) if s.kind in kinds]
    return list(dict.fromkeys(s.text for s in found))


def _name_goal(statements: list[Statement]) -> None:
    """Without an earlier goal, the first request is the goal."""
    if any(s.kind is Kind.GOAL for s in statements):
        return
    asked: list[Statement] = []
    for statement in statements:
        if statement.kind is Kind.LATEST:
            break
        user = statement.speaker is Speaker.USER
        if statement.kind is Kind.REQUEST and user and statement.alive:
            asked.append(statement)
    named = [s for s in asked if len(s.terms) >= 2 and (_AIM.search(s.text) or _names(s))]
    full = [s for s in asked if len(s.terms) >= 4]
    for statement in (named or full)[:1]:
        statement.kind = Kind.GOAL


def _names(statement: Statement) -> bool:
    return len(statement.terms) >= 4 and any(a.kind in ("path", "url") for a in statement.atoms)


def compose(
    template: Template, statements: list[Statement], budget: int, cancelled: Callable[[], bool]
) -> str:
    """The summary within `budget` tokens."""
    tight = budget < _TIGHT
    statements = [s for s in statements if not homeless(template, s)]
    if not tight:
        raise_end(statements)
    selection = Selection(budget * 4 - skeleton_size(template, tight))
    latest = next((s for s in reversed(statements) if s.kind is Kind.LATEST), None)
    if latest is not None:
        selection.force(latest, latest_wordings(latest, int(budget * 4 * _LATEST_SHARE)))
    selection.fill_wanted([s for s in statements if s.wanted and s is not latest], _WANTED_SHARE)
    goal = next((s for s in statements if s.kind is Kind.GOAL), None)
    if goal is not None and not selection.holds(goal):
        selection.force(goal, wordings(goal))
    rest = [s for s in statements if s.kind is not Kind.LATEST and s is not goal]
    rest = [s for s in rest if not selection.holds(s)]
    standing = [s for s in rest if s.kind in _STANDING]
    # What is kept for the marks of empty sections is no room that rules could have taken.
    marks = len(template.headings) * (len(NONE) - 1)
    free = max(0, int((selection.room + marks) * (1 - _STANDING_SHARE)) - marks)
    selection.fill(standing, cancelled, keep_free=free, floor=_STANDING_FLOOR)
    measure = _Measure(template, budget, tight)
    plenty = max(0, selection.room - _PLENTY)
    selection.fill(_left(rest, selection), cancelled, keep_free=plenty)
    selection.room = measure.room(selection)
    selection.fill(_left(rest, selection), cancelled, keep_free=plenty)
    selection.fill(_left(rest, selection), cancelled, floor=_PLENTY_FLOOR)
    selection.lengthen()
    if latest is not None:
        selection.drop_repeated(latest)
    selection.room = measure.room(selection) - plenty
    floor = LEFTOVER_FLOOR if budget < _ROOMY else FLOOR
    selection.fill(_left(rest, selection), cancelled, floor=floor)
    return _within(budget, template, selection.chosen, tight)


@dataclass(frozen=True, slots=True)
class _Measure:
    """What a summary takes as it is written."""

    template: Template
    budget: int
    tight: bool

    def room(self, selection: Selection) -> int:
        """UTF-16 units that are left. Sections that are not empty need no mark."""
        return self.budget * 4 - utf16_units(render(self.template, selection.chosen, self.tight))


def _left(statements: list[Statement], selection: Selection) -> list[Statement]:
    return [s for s in statements if not selection.holds(s)]


def _within(budget: int, template: Template, choices: list[Choice], tight: bool) -> str:
    """The text without what is worth least, until it fits."""
    text = render(template, choices, tight)
    kept = sorted(choices, key=lambda c: (-c.worth, c.statement.order))
    while (over := estimate_text(text) - budget) > 0 and len(kept) > 1:
        freed = 0
        while freed < over * 4 and len(kept) > 1:
            freed += kept.pop().size
        text = render(template, kept, tight)
    loose = render(template, kept) if tight else text
    return loose if estimate_text(loose) <= budget else text


def latest_wordings(latest: Statement, limit: int) -> list[str]:
    """The latest request whole where the limit (UTF-16 units) allows, and only what it asks."""
    pieces = [piece.text for piece in pieces_of(latest.text)]
    telling = [p for p in pieces if not is_reaction(p)] or pieces
    asks = [p for p in telling if user_kind(p, lower_words(p)) in _ASKING] or telling
    whole = _up_to(pieces, limit)
    short = _up_to(asks, max(120, limit // 2))
    return [whole, short] if len(short) < len(whole) else [whole]


def _up_to(pieces: list[str], limit: int) -> str:
    """As many sentences as fit; the last one, where people put what they want, comes first."""
    kept = {len(pieces) - 1} if pieces else set()
    size = len(pieces[-1]) if pieces else 0
    for index, piece in enumerate(pieces[:-1]):
        if size + len(piece) + 1 <= limit:
            kept.add(index)
            size += len(piece) + 1
    return " ".join(pieces[index] for index in sorted(kept))[: max(limit, 400)]


def _short(statements: list[Statement]) -> str:
    """Two or three sentences in the first person (A25)."""

    def last(*kinds: Kind) -> str:
        found = [s.text for s in statements if s.kind in kinds]
        return found[-1].rstrip(".!? ") if found else ""

    asked, done, ahead = last(Kind.LATEST), last(Kind.DONE), last(Kind.NEXT, Kind.DOING)
    sentences = [f'I was asked: "{asked[:240]}".' if asked else "I read the conversation so far."]
    if done:
        sentences.append(f"I report as done: {done[:200]}.")
    if ahead:
        sentences.append(f"What I have ahead: {ahead[:200]}.")
    return " ".join(sentences)
