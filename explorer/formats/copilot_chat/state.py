"""The state of a chat session: its document, or what a log of changes makes of the first one.

A log's line is ``{kind: 0, v}``, the whole state; ``{kind: 1, k, v}``, the value at the path ``k``;
``{kind: 2, k, v, i}``, items that a list is given at its end, after being cut to ``i`` items; or
``{kind: 3, k}``, a value that is removed. VS Code writes a whole state anew after 1,024 of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, field

from explorer.formats.adapter import FormatError
from explorer.formats.json_fields import list_field, text_field
from explorer.formats.jsonl import BYTE_ORDER_MARK, BadLine, is_blank, line_groups, parse
from explorer.session.records import Aside, Problem

INITIAL, SET, PUSH, DELETE = range(4)
_NAMES = ("the whole state", "a value that is set", "items that are added", "a removed value")

Request = Mapping[str, Any]


class Removed(NamedTuple):
    """A request that is in no later state."""

    request: Request
    after: str
    """Id of the request before it; empty for the first."""


class _CannotApply(ValueError):
    """A change of what is not there."""


class State(Struct):
    """A session as its file leaves it."""

    document: dict[str, Any] = field(default_factory=dict)
    removed: list[Removed] = field(default_factory=list)
    asides: list[Aside] = field(default_factory=list)
    """The lines of a log."""
    problems: list[Problem] = field(default_factory=list)
    lines: int = 0

    @property
    def requests(self) -> list[Request]:
        """The requests of the conversation, in order; what is no object is none."""
        return [one for one in list_field(self.document, "requests") if isinstance(one, dict)]

    @property
    def others(self) -> list[Any]:
        """Of a document: what stands in the place of requests, and is none."""
        requests = self.document.get("requests")
        found = requests if isinstance(requests, list) else [requests]
        if self.lines:
            return []
        return [
            one for one in found if one and (found is not requests or not isinstance(one, dict))
        ]


def is_change(value: object) -> bool:
    """Whether a line's value is one of a log."""
    if not isinstance(value, dict) or type(value.get("kind")) is not int:
        return False
    if value["kind"] not in range(4):
        return False
    path = isinstance(value.get("k"), list)
    return path if value["kind"] != INITIAL else isinstance(value.get("v"), dict)


def read_state(path: str | Path) -> State:
    """The state that a file holds.

    Raises FormatError when it holds none, OSError when it cannot be read.
    """
    place = Path(path)
    with place.open("rb") as file:
        first = file.readline().removeprefix(BYTE_ORDER_MARK)
    if place.suffix == ".jsonl" or is_change(value_of(first)):
        return _replay(place)
    return _read_document(place)


def value_of(line: bytes) -> Any:
    """A line's JSON value; None where it is none."""
    try:
        return parse(line)
    except BadLine:
        return None


def _read_document(place: Path) -> State:
    try:
        value = parse(place.read_bytes().removeprefix(BYTE_ORDER_MARK))
    except BadLine as error:
        raise FormatError(str(place), 1, str(error)) from error
    if not isinstance(value, dict) or "requests" not in value:
        raise FormatError(str(place), 1, "it is no chat session: it has no requests")
    state = State(value)
    _check_requests(state)
    return state


def _replay(place: Path) -> State:
    state, number, changes = State(), 0, 0
    with place.open("rb") as file:
        for lines, _ in line_groups(file):
            for raw in lines:
                number += 1
                line = raw.removeprefix(BYTE_ORDER_MARK) if number == 1 else raw
                changes += _take(state, number, line)
    state.lines = number
    if not changes:
        raise FormatError(str(place), 1, "it holds no change of a chat session")
    _check_requests(state)
    present = {text_field(one, "requestId") for one in state.requests}
    # A request that was removed may have come back.
    state.removed = [one for one in state.removed if _id(one.request) not in present]
    return state


def _check_requests(state: State) -> None:
    requests = state.document.get("requests")
    others = len(requests) - len(state.requests) if isinstance(requests, list) else None
    if others is None:
        state.problems.append(Problem(1, "the session's requests are not a list: none is shown"))
    elif others:
        state.problems.append(Problem(1, f"{others:,} of the session's requests are no objects"))


def _take(state: State, number: int, line: bytes) -> bool:
    """Apply one line of a log, and put it aside."""
    if is_blank(line):
        state.asides.append(Aside(number, line, "a blank line"))
        return False
    try:
        value = parse(line)
    except BadLine as error:
        state.asides.append(Aside(number, line, str(error)))
        state.problems.append(Problem(number, f"{error}; the line was kept aside"))
        return False
    if not is_change(value):
        state.asides.append(Aside(number, line, "no change of a known kind"))
        state.problems.append(Problem(number, "no change of a known kind; it was kept aside"))
        return False
    state.asides.append(Aside(number, line, f"of the log: {_NAMES[value['kind']]}"))
    path = value.get("k", [])
    whole = value["kind"] == INITIAL or not path
    before = list(state.requests) if whole or (path[:1] == ["requests"] and len(path) < 3) else []
    try:
        _apply(state, value)
    except _CannotApply as error:
        state.problems.append(Problem(number, str(error)))
    if before:
        _note_removed(state, before)
    return True


def _note_removed(state: State, before: list[Request]) -> None:
    present = {id(one) for one in state.requests}
    ids = {_id(one) for one in state.requests} - {""}
    after = ""
    for one in before:
        if id(one) not in present and _id(one) not in ids:
            state.removed.append(Removed(one, after))
        after = _id(one)


def _id(request: Request) -> str:
    return text_field(request, "requestId")


def _apply(state: State, change: Mapping[str, Any]) -> None:
    kind, path, value = change["kind"], change.get("k", []), change.get("v")
    if kind == INITIAL:
        state.document = change["v"]
        return
    if not path:
        if kind != SET or not isinstance(value, dict):
            raise _CannotApply("a change of the whole state that is none")
        state.document = value
        return
    place: Any = state.document
    for key in path[:-1]:
        place = _at(place, key)
    last = path[-1]
    match kind:
        case 1:
            _set(place, last, value)
        case 2:
            _push(place, last, value, change.get("i"))
        case _:
            _delete(place, last)


def _holds(place: Any, key: object) -> bool:
    """Whether a key can name a member of an object or a list, there or to be set."""
    if isinstance(place, list):
        return type(key) is int and 0 <= key < len(place)
    return isinstance(place, dict) and isinstance(key, str)


def _at(place: Any, key: Any) -> Any:
    found = None
    if _holds(place, key):
        found = place[key] if isinstance(place, list) else place.get(key)
    if not isinstance(found, dict | list):
        raise _CannotApply(f"a change of {str(key)[:80]!r}, which is not there")
    return found


def _set(place: Any, key: Any, value: Any) -> None:
    if _holds(place, key):
        place[key] = value
    elif isinstance(place, list) and key == len(place):
        place.append(value)
    else:
        raise _CannotApply(f"a change of {str(key)[:80]!r}, which is not there")


def _push(place: Any, key: object, items: object, cut: object) -> None:
    if isinstance(place, dict) and isinstance(key, str) and not isinstance(place.get(key), list):
        place[key] = []
    target = _at(place, key)
    if not isinstance(target, list):
        raise _CannotApply(f"items for {str(key)[:80]!r}, which is no list")
    if type(cut) is int and cut >= 0:
        del target[cut:]
    if isinstance(items, list):
        target += items


def _delete(place: Any, key: Any) -> None:
    if not _holds(place, key):
        raise _CannotApply(f"the removal of {str(key)[:80]!r}, which is not there")
    if isinstance(place, list):
        del place[key]
    else:
        place.pop(key, None)
