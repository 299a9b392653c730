"""How much each statement is worth to the one who goes on working."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from explorer.models.offline.extractive import cues
from explorer.models.offline.extractive.atoms import WEIGHTS
from explorer.models.offline.extractive.focus import Focus
from explorer.models.offline.extractive.outcomes import is_telling
from explorer.models.offline.extractive.statement import Kind, Speaker, Statement
from explorer.models.offline.extractive.thinning import stoppable

_BASE: dict[Kind, float] = {
    Kind.LATEST: 100.0,
    Kind.GOAL: 9.0,
    Kind.REQUEST: 2.6,
    Kind.CONSTRAINT: 12.0,
    Kind.PREFERENCE: 8.0,
    Kind.DECISION: 11.0,
    Kind.DONE: 4.0,
    Kind.DOING: 5.0,
    Kind.BLOCKED: 6.0,
    Kind.ERROR: 6.0,
    Kind.NEXT: 4.5,
    Kind.FINDING: 6.5,
    Kind.FACT: 4.0,
    Kind.COMMAND: 1.0,
    Kind.FILE: 0.6,
    Kind.OUTPUT: 0.4,
}
_VOICE: dict[Speaker, float] = {
    Speaker.USER: 1.0,
    Speaker.SUMMARY: 1.0,
    Speaker.ASSISTANT: 0.75,
    Speaker.THINKING: 0.35,
    Speaker.RESULT: 1.0,
    Speaker.CALL: 1.0,
}
_STANDING = (Kind.CONSTRAINT, Kind.PREFERENCE, Kind.DECISION, Kind.GOAL)
_FADING = (Kind.NEXT, Kind.DOING, Kind.REQUEST)
_BY_PLACE = (Kind.FACT, Kind.DONE, Kind.ERROR, Kind.REQUEST, Kind.OUTPUT)
_ATOM_CAP = 6.0
_NUMBER_WORD = 0.4
_SOLVED = 0.7
_RECENT = 0.15
_AT_THE_END = 4.0
_UNWANTED = 0.1
_SURELY = 3
_BARE_RESULT = 0.5


def rank(
    statements: list[Statement], focus: Focus, cancelled: Callable[[], bool] = lambda: False
) -> None:
    """Sets the worth of every live statement; works in place. Atoms count at selection."""
    mentions = Counter(key for s in statements for key in s.keys)
    places = _places(statements)
    if focus.wishes:
        focus = focus.told_apart(s for s in statements if s.alive)
    for statement in stoppable(statements, cancelled):
        if not statement.alive:
            continue
        worth = _BASE[statement.kind] * _voice(statement)
        if statement.firm:
            worth += 3.0 if statement.kind is Kind.CONSTRAINT else 1.2
        if statement.noted:
            worth += 2.5
        if id(statement) in places:
            worth *= 1.15 - 0.35 * places[id(statement)]
        elif statement.kind in _FADING:
            worth *= 1.0 - 0.6 * statement.age
        elif statement.kind not in _STANDING and not statement.inherited:
            worth *= 1.15 - 0.25 * statement.age
        if statement.kind in (Kind.COMMAND, Kind.FILE):
            worth += min(2.0, 0.5 * (sum(mentions[key] for key in statement.keys) - 1))
        if statement.kind is Kind.ERROR:
            worth *= cues.error_weight(statement.text)
        if statement.text.endswith(":") or _fragment(statement):
            worth *= 0.4
        if _empty(statement):
            worth *= _emptiness(statement)
        if statement.solved:
            worth *= _SOLVED
        if focus.unwanted and focus.refuses(statement):
            worth *= _UNWANTED
        met = focus.meets(statement) if focus.wishes else 0
        if met:
            worth *= 1.0 + met
            statement.wanted = met >= _SURELY
        statement.worth += worth


def raise_end(statements: list[Statement]) -> None:
    """Where there is some room, how the conversation ended is told before smaller facts."""
    for statement in statements:
        open_work = statement.kind in (Kind.DOING, Kind.NEXT, Kind.BLOCKED)
        if stands(statement) or (
            open_work and statement.age <= _RECENT and statement.speaker is Speaker.ASSISTANT
        ):
            statement.worth += _AT_THE_END


def stands(statement: Statement) -> bool:
    """Whether a statement is a failure at the end of the conversation that nothing solved."""
    if statement.kind is not Kind.ERROR or statement.speaker is not Speaker.RESULT:
        return False
    return statement.age <= _RECENT and not statement.solved


def _voice(statement: Statement) -> float:
    if statement.kind is Kind.CONSTRAINT and statement.speaker is Speaker.RESULT:
        return 0.6
    if statement.kind is Kind.DONE and statement.speaker is Speaker.RESULT:
        return 1.5 if is_telling(statement.text) else _BARE_RESULT
    if statement.kind is Kind.CONSTRAINT and statement.speaker is Speaker.ASSISTANT:
        return 0.5
    return _VOICE[statement.speaker]


def _fragment(statement: Statement) -> bool:
    """A few words around a name or a bare number: a title, a cell of a table."""
    weak = all(atom.kind in ("name", "number", "code", "symbol") for atom in statement.atoms)
    if statement.kind is Kind.FACT and statement.speaker is Speaker.ASSISTANT:
        names = all(atom.kind == "name" for atom in statement.atoms)
        return bool(statement.atoms) and names
    return statement.kind is Kind.FACT and weak and len(statement.text.split()) <= 3


def _emptiness(statement: Statement) -> float:
    """What is left of the worth of words without anything exact in them."""
    if statement.kind is Kind.FINDING and cues.CAUSE.search(statement.text):
        return 0.8
    if statement.speaker is Speaker.USER and len(statement.terms) >= 3:
        return 0.65
    return 0.25 if cues.PROCESS.match(statement.text) else 0.55


def _empty(statement: Statement) -> bool:
    """Words without any exact thing, in a kind that lives by them."""
    if statement.atoms or statement.noted:
        return False
    if statement.kind in (Kind.FACT, Kind.REQUEST):
        return True
    lives_by_them = statement.kind in (Kind.DONE, Kind.FINDING, Kind.DOING)
    return lives_by_them and statement.speaker is not Speaker.SUMMARY


def _places(statements: list[Statement]) -> dict[int, float]:
    """Where an inherited item stood in its section, 0 first to 1 last.

    Sections are written best first, so that a rank survives from one summary to the next.
    """
    places: dict[int, float] = {}
    for kind in _BY_PLACE:
        row = [s for s in statements if s.kind is kind and s.speaker is Speaker.SUMMARY]
        for index, statement in enumerate(row):
            places[id(statement)] = index / max(1, len(row) - 1)
    return places


def exact_worth(statement: Statement, covered: set[str]) -> float:
    """What the exact things of a statement add that no chosen statement holds yet."""
    seen: set[str] = set()
    total = 0.0
    for atom in statement.atoms:
        if atom.key not in covered and atom.key not in seen:
            seen.add(atom.key)
            spelled = atom.kind == "number" and atom.text[:1].isalpha()
            total += _NUMBER_WORD if spelled else WEIGHTS[atom.kind]
    if statement.kind is Kind.ERROR:
        return min(total, 1.5)
    if statement.kind in (Kind.FILE, Kind.COMMAND) and not statement.firm:
        return 0.0
    return min(total, _ATOM_CAP) * (0.5 if statement.kind is Kind.OUTPUT else 1.0)
