"""What the edits of a session make of a path: pins, omissions, kept messages, and pruned tool
results (A13). All hold below the entry that says them, so that a branch from before is as it
was; ``edit_entries`` has the entries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from explorer.session.edit_entries import (
    NOTHING_PRUNED,
    PLAIN,
    Pin,
    Pruned,
    PrunedResult,
    Reinserted,
    Shape,
    ShapeFacts,
    UserBudget,
)
from explorer.session.kinds import CONTEXT_KINDS, Flag, Kind, selector
from explorer.session.tree import Path, SessionTree

IMAGE_TOKENS = 1200
"""What an image in a user message takes (B6)."""


_SENT = frozenset(CONTEXT_KINDS) - {Kind.OTHER_ROLE}


_USERS = selector({Kind.USER})


_UNIT = 4


_NAMES = {
    Kind.USER: "an earlier message of the user",
    Kind.ASSISTANT: "an earlier reply of yours",
    Kind.TOOL_RESULT: "the result of an earlier tool call",
    Kind.BASH_EXECUTION: "a command that the user ran earlier",
    Kind.PYTHON_EXECUTION: "code that the user ran earlier",
    Kind.FILE_MENTION: "files that the user named earlier",
    Kind.BRANCH_SUMMARY: "an earlier summary of another branch",
}


def shapes_on(tree: SessionTree, path: Path) -> list[int]:
    """The shaping entries in force on a path, oldest first: those that nothing takes back."""
    shapes = tree.columns.shapes
    on_path = [at for at in shapes if at in path]
    taken_back = {shapes[at].undoes for at in on_path} - {""}
    ids = tree.columns.ids
    return [at for at in on_path if not shapes[at].undoes and ids[at] not in taken_back]


def last_shape_change(tree: SessionTree, path: Path, reinserted: Mapping[int, Reinserted]) -> int:
    """The last entry on a path that changed what the model is informed, or -1.

    A pin of what is sent in its place changes nothing. What a provider reported before a change
    is of a context that is gone (E7).
    """
    shapes = tree.columns.shapes
    return max((at for at in shapes if at in path and _tells(tree, at, reinserted)), default=-1)


def _tells(tree: SessionTree, at: int, reinserted: Mapping[int, Reinserted]) -> bool:
    facts = tree.columns.shapes[at]
    if facts.kind != "pin" or facts.undoes or facts.lifts:
        return True
    return any(tree.index_above(name, at) in reinserted for name, _ in facts.entries)


def shape_at(tree: SessionTree, leaf: int) -> Shape:
    """What holds at a leaf."""
    return shape_on(tree, tree.path(leaf)) if tree.columns.shapes else PLAIN


def shape_on(tree: SessionTree, path: Path) -> Shape:
    """What holds on a path from a root to a leaf."""
    if not tree.columns.shapes or not len(path):
        return PLAIN
    known = tree.shapes_known
    leaf = path[-1]
    shape = known.get(leaf)
    if shape is None:
        in_force = shapes_on(tree, path)
        shape = _Reading(tree, path).of(in_force) if in_force else PLAIN
        while len(known) >= _REMEMBERED:
            known.pop(next(iter(known)))
        known[leaf] = shape
    return shape


_REMEMBERED = 32


class _Reading:
    """The shaping entries of a path, read in order: the later one counts."""

    def __init__(self, tree: SessionTree, path: Path) -> None:
        self._tree = tree
        self._path = path
        self._pinned: dict[int, Pin] = {}
        self._omitted: dict[int, int] = {}
        self._budget: UserBudget | None = None

    def of(self, shapes: list[int]) -> Shape:
        for at in shapes:
            facts = self._tree.columns.shapes[at]
            if facts.kind == "keep-user-messages":
                self._budget = UserBudget(facts.tokens, at)
            elif facts.kind == "pin":
                self._pin(at, facts)
            else:
                self._omit(at, facts)
        return Shape(
            dict(sorted(self._pinned.items())), dict(sorted(self._omitted.items())), self._budget
        )

    def _pin(self, at: int, facts: ShapeFacts) -> None:
        for name in facts.lifts:
            self._pinned.pop(self._entry(name, at), None)
        for name, tokens in facts.entries:
            entry = self._entry(name, at)
            if entry >= 0:
                self._pinned[entry] = Pin(at, tokens)
                for one in round_of(self._tree, self._path, entry):
                    self._omitted.pop(one, None)

    def _omit(self, at: int, facts: ShapeFacts) -> None:
        for name in facts.lifts:
            for one in self._round(name, at):
                self._omitted.pop(one, None)
        for name, _ in facts.entries:
            for one in self._round(name, at):
                self._omitted[one] = at
                self._pinned.pop(one, None)

    def _round(self, name: str, at: int) -> list[int]:
        entry = self._entry(name, at)
        return round_of(self._tree, self._path, entry) if entry >= 0 else []

    def _entry(self, name: str, at: int) -> int:
        """An entry above ``at`` that can be sent to a model, or -1."""
        entry = self._tree.index_above(name, at)
        return entry if 0 <= entry < at and can_be_sent(self._tree, self._path, entry) else -1


def can_be_sent(tree: SessionTree, path: Path, entry: int) -> bool:
    """Whether an entry is on the path and puts a message into the context."""
    columns = tree.columns
    if columns.kind[entry] not in _SENT or entry not in path:
        return False
    return not columns.flags[entry] & (Flag.EXCLUDED | Flag.EMPTY_SUMMARY)


def round_of(tree: SessionTree, path: Path, entry: int) -> list[int]:
    """The entries that can only be left out together: a reply that calls tools with its results,
    else the entry alone. Empty for one that is not on the path."""
    kinds, flags = tree.columns.kind, tree.columns.flags
    at = path.position(entry)
    if at < 0:
        return []
    if kinds[entry] == Kind.TOOL_RESULT:
        while at >= 0 and kinds[path[at]] != Kind.ASSISTANT:
            at -= 1
        if at < 0:
            return [entry]
    first = path[at]
    if kinds[first] != Kind.ASSISTANT or not flags[first] & Flag.HAS_TOOL_CALL:
        return sorted({entry, first}) if first != entry else [entry]
    found = [first]
    for position in range(at + 1, len(path)):
        one = path[position]
        if kinds[one] == Kind.ASSISTANT:
            break
        if kinds[one] == Kind.TOOL_RESULT:
            found.append(one)
    return found


def heading_of(tree: SessionTree, entry: int, why: Literal["pin", "user-message"]) -> str:
    """The words before an entry that is repeated; their length is a multiple of four UTF-16
    units, so that tokens by the estimate simply add up (B8)."""
    number = tree.number(entry)
    if why == "user-message":
        return user_heading(number)
    name = _NAMES.get(Kind(tree.columns.kind[entry]), "an earlier message")
    text = (
        f"[Entry #{number}, {name}, kept word for word at the user's wish; older than the rest.]\n"
    )
    return _padded(text)


def user_heading(number: int) -> str:
    """The words before a message of the user that is repeated."""
    return _padded(f"[Entry #{number}: the user said this earlier.]\n")


def repeated_tokens(number: int, estimate: int, images: int) -> int:
    """Tokens that a message of the user takes when it is repeated, by the number of its entry, the
    estimate of its text and how many images it has."""
    return estimate + images * IMAGE_TOKENS + len(user_heading(number)) // _UNIT


def _padded(text: str) -> str:
    return text + "\n" * (_UNIT - len(text) % _UNIT)


_LEAST = len(user_heading(0)) // _UNIT
"""Tokens that any message of the user takes when it is repeated."""


def again(
    tree: SessionTree,
    path: Path,
    shape: Shape,
    stop: int,
    reset: int,
    budget: UserBudget | None,
    compaction: int = -1,
) -> dict[int, Reinserted]:
    """What is repeated after a summary of everything before the position ``stop``, in the order
    of the path.

    ``reset``: position of a new start before it, or -1; of what is older only that is repeated
    which was pinned since. ``budget``: the rule that holds for the user's messages.
    ``compaction``: the entry whose record may hold entries again, or -1.
    """
    found: dict[int, Reinserted] = {}
    for entry, pin in shape.pinned.items():
        position = path.position(entry)
        if position < stop and (position > reset or path.position(pin.by) > reset):
            heading = heading_of(tree, entry, "pin")
            more = pin.tokens - tree.columns.estimate[entry] if pin.tokens >= 0 else 0
            found[entry] = Reinserted(pin.by, "pin", heading, more + len(heading) // _UNIT)
    if compaction >= 0:
        for one in tree.columns.compactions[compaction].repeated_entries:
            entry = tree.index_above(one.id, compaction)
            if entry in found or entry in shape.omitted:
                continue
            if reset < path.position(entry) < stop:
                extra = one.tokens - tree.columns.estimate[entry] if one.tokens >= 0 else 0
                found[entry] = Reinserted(compaction, "recorded", "", extra)
    if budget is not None and budget.tokens > 0 and stop > reset + 1:
        _add_users(tree, path[reset + 1 : stop], shape, budget, found)
    return dict(sorted(found.items()))


def _add_users(
    tree: SessionTree,
    part: Path,
    shape: Shape,
    budget: UserBudget,
    found: dict[int, Reinserted],
) -> None:
    """The user's messages of a part, the newest first; one that does not fit is passed over."""
    columns, left = tree.columns, budget.tokens
    for entry in reversed(part.select(columns.kind, _USERS)):
        if left < _LEAST:
            break
        if entry in found or entry in shape.omitted or columns.estimate[entry] + _LEAST > left:
            continue
        heading = heading_of(tree, entry, "user-message")
        images = columns.user_images.get(entry, 0)
        takes = repeated_tokens(tree.number(entry), columns.estimate[entry], images)
        if takes > left:
            continue
        left -= takes
        found[entry] = Reinserted(budget.by, "user-message", heading, len(heading) // _UNIT)


def prunes_on(tree: SessionTree, path: Path) -> list[int]:
    """The prune entries in force on a path, oldest first: those that nothing takes back."""
    prunes = [at for at in tree.columns.prunes if at in path]
    taken_back = {tree.columns.prunes[at].undoes for at in prunes} - {""}
    ids = tree.columns.ids
    return [at for at in prunes if not tree.columns.prunes[at].undoes and ids[at] not in taken_back]


def last_prune_change(tree: SessionTree, path: Path) -> int:
    """The last entry on a path that pruned something or took it back, or -1.

    What a provider reported before it is of a context that is gone (E7).
    """
    return max((at for at in tree.columns.prunes if at in path), default=-1)


def pruned_at(tree: SessionTree, leaf: int) -> Pruned:
    """What is pruned at a leaf; the latest prune counts where two name the same result."""
    return pruned_on(tree, tree.path(leaf)) if tree.columns.prunes else NOTHING_PRUNED


def pruned_on(tree: SessionTree, path: Path) -> Pruned:
    """What is pruned on a path."""
    if not tree.columns.prunes:
        return NOTHING_PRUNED
    prunes = prunes_on(tree, path)
    shape = shape_on(tree, path)
    merged: dict[int, PrunedResult] = {}
    for at in prunes:
        merged.update(tree.prune_results(at))
    # What is pinned is sent whole, and what is omitted is not sent at all.
    for at in [*shape.pinned, *shape.omitted]:
        merged.pop(at, None)
    return merged
