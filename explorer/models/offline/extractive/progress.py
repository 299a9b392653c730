"""What was finished since it was announced (E17: finished work must not come up again)."""

from __future__ import annotations

from collections import defaultdict

from explorer.models.offline.extractive.statement import Kind, Statement

_OPEN = (Kind.DOING, Kind.NEXT, Kind.BLOCKED, Kind.REQUEST)
_LOOK_BACK = 64


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
    for statement in statements:
        if statement.kind is Kind.DOING and not statement.inherited and statement.age > 0.2:
            if statement.atoms:
                statement.kind = Kind.FACT
            else:
                statement.dropped = "passed"


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
