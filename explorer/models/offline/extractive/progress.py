"""What was finished since it was announced (E17: finished work must not come up again)."""

from __future__ import annotations

from collections import defaultdict

from explorer.models.offline.extractive.statement import Kind, Speaker, Statement

_OPEN = (Kind.DOING, Kind.NEXT, Kind.BLOCKED, Kind.REQUEST)
_LOOK_BACK = 64
_LATE = 0.2
_LAST_ANNOUNCED = 2
_WEAK = ("name", "symbol", "code", "number", "quote")
_SAME_WORDS = (Kind.ERROR, Kind.OUTPUT, Kind.COMMAND, Kind.DONE, Kind.FILE)
_SAID_AGAIN = (Speaker.ASSISTANT, Speaker.THINKING)


def close_finished(statements: list[Statement]) -> None:
    """Drops open work that a later report of done work covers; works in place.

    Work announced long before the end of the conversation and never reported is dropped
    as well when it was only the assistant's own next move.
    """
    by_term: dict[str, list[Statement]] = defaultdict(list)
    for statement in statements:
        if not statement.alive:
            continue
        if statement.kind is Kind.DONE:
            _close(statement, by_term)
        if statement.kind in _OPEN:
            for term in statement.terms:
                by_term[term].append(statement)
    _keep_last_announced(statements)


def _keep_last_announced(statements: list[Statement]) -> None:
    """What was announced and then followed by other work has its results, or none to tell."""
    left = _LAST_ANNOUNCED
    for statement in reversed(statements):
        if statement.kind is not Kind.DOING or statement.inherited or not statement.alive:
            continue
        begun = statement.text.endswith(":") and left < _LAST_ANNOUNCED  # what follows was done
        if statement.age > _LATE or left == 0 or begun:
            strong = any(atom.kind not in _WEAK for atom in statement.atoms)
            if strong and not statement.text.endswith(":"):
                statement.kind = Kind.FACT
            else:
                statement.dropped = "passed"
        else:
            left -= 1


def drop_repeated(statements: list[Statement]) -> None:
    """Of failures, outputs, commands, results and the assistant's sentences in the same words
    only the latest counts, and a file that was changed is not told as read."""
    seen: set[tuple[bool, str]] = set()
    changed = {s.text for s in statements if s.kind is Kind.FILE and s.firm}
    for statement in reversed(statements):
        if not statement.alive:
            continue
        if statement.kind in _SAME_WORDS or statement.speaker in _SAID_AGAIN:
            key = (statement.kind is Kind.FILE, statement.text)
            if key in seen or (
                statement.kind is Kind.FILE and not statement.firm and statement.text in changed
            ):
                statement.dropped = "said again later"
            seen.add(key)


def _close(done: Statement, by_term: dict[str, list[Statement]]) -> None:
    shared: dict[int, tuple[int, Statement]] = {}
    for term in done.terms:
        for opened in by_term.get(term, [])[-_LOOK_BACK:]:
            if opened.alive:
                count = shared.get(id(opened), (0, opened))[0]
                shared[id(opened)] = (count + 1, opened)
    for count, opened in shared.values():
        share = count / max(1, len(opened.terms))
        if opened.kind is Kind.REQUEST:
            if share >= 0.6 and count >= 2:
                opened.worth -= 2.0
        elif (share >= 0.5 and count >= 2) or (share == 1.0 and len(opened.terms) == 1):
            if opened.keys - done.keys and share < 0.8:
                continue  # it holds exact things that the report does not
            opened.dropped = "finished"
