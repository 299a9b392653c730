"""From entries in file order to indices: a stable order in which every parent comes first.

Session files name parents by id, and a damaged or merged file may name one that comes later,
never, or form a cycle. Everything above works on indices where a parent's is below its child's, so
this is where those files are put right.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from heapq import heappop, heappush
from typing import Generic, Literal, NamedTuple, TypeVar

Item = TypeVar("Item")
Fault = Literal["", "orphan", "cycle", "self"]
"""Why an entry became a root although it names a parent: the parent is nowhere, it is below the
entry itself, or it is the entry itself."""


class Placement(NamedTuple, Generic[Item]):
    """An item with its parent's index; the item's own index is the order of placements."""

    item: Item
    parent: int
    fault: Fault


class _Pending(NamedTuple, Generic[Item]):
    order: int
    entry_id: str
    parent_id: str
    item: Item


class Assembler(Generic[Item]):
    """Places entries one by one, holding back those whose parent has not come yet.

    The result is the order in which each time the earliest entry of the file is taken whose
    parent has been taken; a file that is in order stays as it is and nothing waits.
    """

    def __init__(self, ids_ahead: Callable[[], Container[str]] | None = None) -> None:
        """``ids_ahead`` gives the ids that the rest of the input holds; it is asked once, when a
        parent is missing, so that orphans keep their place instead of waiting for the end."""
        self.placed: dict[str, int] = {}
        """Index of every placed id. A reader may add entries whose parent is placed already,
        as ``placed[entry_id] = len(placed)``, without going through ``place``."""
        self._ids_ahead = ids_ahead
        self._ahead: Container[str] | None = None
        self._waiting: dict[str, list[_Pending[Item]]] = {}
        self._pending: dict[str, _Pending[Item]] = {}

    @property
    def holding(self) -> bool:
        """Whether any entry waits for its parent; while one does, use ``place`` for all."""
        return bool(self._pending)

    def copy(self) -> Assembler[Item]:
        """One that goes on from here by itself."""
        other: Assembler[Item] = Assembler(self._ids_ahead)
        other.placed = self.placed.copy()
        other._ahead = self._ahead
        other._waiting = {name: list(waiting) for name, waiting in self._waiting.items()}
        other._pending = self._pending.copy()
        return other

    def __contains__(self, entry_id: str) -> bool:
        return entry_id in self.placed or entry_id in self._pending

    def place_at_once(self, entry_id: str, parent_id: str) -> int | None:
        """Add the next entry of the file, of an id that is not there yet, and return its parent's
        index; None, and nothing is done, where it or any other has to wait."""
        if self._pending or (parent_id and parent_id not in self.placed):
            return None
        parent = self.placed.get(parent_id, -1)
        self.placed[entry_id] = len(self.placed)
        return parent

    def place(self, entry_id: str, parent_id: str, item: Item) -> list[Placement[Item]]:
        """Add the next entry of the file; an empty ``parent_id`` makes it a root.

        Returns what can be placed now: nothing when the parent is still to come, else the entry
        and what had been waiting for it. Raises ValueError when the id was added before.
        """
        if entry_id in self:
            raise ValueError(f"entry id {entry_id!r} exists already")
        at_once = self.place_at_once(entry_id, parent_id)
        if at_once is not None:
            return [Placement(item, at_once, "")]
        # Of the entries that came before, each is in one of them.
        order = len(self.placed) + len(self._pending)
        pending = _Pending(order, entry_id, parent_id, item)
        if not parent_id or parent_id in self.placed:
            return self._release(pending, "")
        if parent_id == entry_id:
            return self._release(pending, "self")
        if parent_id not in self._pending and not self._comes_later(parent_id):
            return self._release(pending, "orphan")
        self._pending[entry_id] = pending
        self._waiting.setdefault(parent_id, []).append(pending)
        return []

    def finish(self) -> list[Placement[Item]]:
        """Place what still waits: orphans and cycles, each opened at its first entry."""
        out: list[Placement[Item]] = []
        for pending in list(self._pending.values()):
            if pending.entry_id in self._pending:
                start, fault = self._start_of(pending)
                del self._pending[start.entry_id]
                self._waiting[start.parent_id].remove(start)
                out += self._release(start, fault)
        return out

    def _comes_later(self, entry_id: str) -> bool:
        if self._ids_ahead is None:
            return True
        if self._ahead is None:
            self._ahead = self._ids_ahead()
        return entry_id in self._ahead

    def _start_of(self, pending: _Pending[Item]) -> tuple[_Pending[Item], Fault]:
        """The entry to make a root so that ``pending`` can be placed."""
        walked: dict[str, _Pending[Item]] = {}
        at = pending
        while at.entry_id not in walked:
            walked[at.entry_id] = at
            above = self._pending.get(at.parent_id)
            if above is None:
                return at, "orphan"
            at = above
        names = list(walked)
        cycle = names[names.index(at.entry_id) :]
        return min((walked[name] for name in cycle), key=lambda one: one.order), "cycle"

    def _release(self, pending: _Pending[Item], fault: Fault) -> list[Placement[Item]]:
        out: list[Placement[Item]] = []
        ready = [(pending.order, pending)]
        while ready:
            _, one = heappop(ready)
            parent = -1 if fault else self.placed.get(one.parent_id, -1)
            self.placed[one.entry_id] = len(self.placed)
            out.append(Placement(one.item, parent, fault))
            fault = ""
            for child in self._waiting.pop(one.entry_id, ()):
                del self._pending[child.entry_id]
                heappush(ready, (child.order, child))
        return out
