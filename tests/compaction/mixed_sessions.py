"""Sessions in which everything that can be in one meets, made from a seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from explorer.compaction.profile.rules import Pruning
from explorer.compaction.pruning import plan_pruning
from tests.compaction.pruned_sessions import prune, take_back, used
from tests.compaction.sessions import Session

POLICIES = (
    Pruning(protect_tokens=60, minimum_savings=1, protected_tools=()),
    Pruning(protect_tokens=0, minimum_savings=200, protected_tools=("bash",)),
)


class Dice:
    """Numbers that follow from a seed, the same in every version of Python."""

    def __init__(self, seed: int) -> None:
        self._state = seed * 2_654_435_761 % (1 << 32) + 1

    def __call__(self, sides: int) -> int:
        """0 to ``sides`` - 1."""
        self._state = (self._state * 1_103_515_245 + 12_345) % (1 << 31)
        return (self._state >> 12) % sides

    def of(self, values: Sequence[Any]) -> Any:
        return values[self(len(values))]


def session_of(seed: int, steps: int = 44) -> Session:
    """A session with branches, compactions, resets, pins, omissions, prunes and failures."""
    session, dice = Session(), Dice(seed)
    session.user(3)
    for _ in range(steps):
        _step(session, dice)
    return session


def _step(session: Session, dice: Dice) -> None:
    what, size = dice(26), dice.of((0, 1, 4, 20, 90, 300))
    if what < 4:
        session.user(size)
    elif what < 7:
        session.reply(size, usage=dice.of((0, 0, 150, 700, 4_000)))
    elif what < 8:
        session.reply(size, stop=dice.of(("error", "aborted", "length")), usage=dice(900))
    elif what in (8, 9, 10, 11, 24):
        _tools(session, dice, size)
    elif what < 14:
        names = ("read", "edit", "write", "bash", "apply_patch", "create_file")
        path = f"f{dice(4)}.py"
        arguments = {"path": path, "filePath": path, "input": f"*** Delete File: {path}"}
        used(session, dice.of(names), size, arguments, error=not dice(4))
    elif what < 15:
        dice.of((session.note, session.bash))(max(1, size))
    elif what < 16:
        session.bash(2, excluded=True)
    elif what < 17:
        image = [{"type": "image", "data": "AA", "mimeType": "image/png"}]
        session.message(role="user", content=image)
    elif what < 18:
        dice.of((session.metadata, lambda: session.add({"type": "reset_boundary"})))()
    elif what < 19:
        session.branch_summary("word" * size, modified=["b.py"], by_extension=not dice(3))
    elif what < 21:
        kept = len(session.entries) - dice.of((0, 1, 2, 5, 9, 30))
        session.compaction(
            kept, dice.of(("", "word" * 9)), read=["r.py"], modified=[f"f{dice(3)}.py"],
            by_extension=not dice(4),
        )  # fmt: skip
    elif what < 24:
        _shape(session, dice)
    else:
        target = max(0, session.leaf - dice(9))
        while target > 0 and session.entries[target].get("message", {}).get("role") != "user":
            target -= 1
        session.leaf = target


def _tools(session: Session, dice: Dice, size: int) -> None:
    count = 1 + dice(3)
    reply = session.reply(dice(3), calls=[("edit", f"f{at}.py") for at in range(count)])
    if not dice(4):
        session.note(2)
    for at in range(count):
        session.result(size + at, call=f"c{reply}.{at}", error=not dice(5))


def _shape(session: Session, dice: Dice) -> None:
    what = dice(6)
    names = [f"e{dice(len(session.entries))}" for _ in range(1 + dice(2))]
    data: dict[str, Any] = {"entries": names}
    if what == 0:
        prune(session, plan_pruning(session.tree, session.leaf, POLICIES[0]))
        return
    if what == 1 and session.tree.columns.prunes:
        take_back(session, max(session.tree.columns.prunes))
        return
    kind = ("omit", "pin", "pin", "keep-user-messages", "pin", "omit")[what]
    if kind == "keep-user-messages":
        data = {"tokens": dice.of((0, 30, 500))}
    elif what == 5 and session.tree.columns.shapes:
        data = {"undoes": f"e{max(session.tree.columns.shapes)}"}
    session.add({"type": "custom", "customType": f"session-explorer/{kind}", "data": data})
