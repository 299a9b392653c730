"""Which entries of the active path are items of the conversation, what belongs to each, and the
heights of very many items: estimated first, corrected one by one."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate, compress

from explorer.session.kinds import CONTEXT_KINDS, Flag, Kind, selector
from explorer.session.tree import Path, SessionTree

CHUNK = 256


class Heights:
    """Heights in pixels, summed by chunks so that neither asking nor correcting walks them all."""

    def __init__(self) -> None:
        self._values: array[float] = array("d")
        self._sums: list[float] = []
        self._tops: list[float] | None = None

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, at: int) -> float:
        return self._values[at]

    def extend(self, values: Iterable[float]) -> None:
        """Add items at the end."""
        first = len(self._values) // CHUNK
        self._values.extend(values)
        self._sum_from(first)

    def truncate(self, count: int) -> None:
        """Forget all items from ``count`` on."""
        del self._values[count:]
        self._sum_from(count // CHUNK)

    def _sum_from(self, chunk: int) -> None:
        del self._sums[chunk:]
        for start in range(chunk * CHUNK, len(self._values), CHUNK):
            self._sums.append(sum(self._values[start : start + CHUNK]))
        self._tops = None

    def set(self, at: int, height: float) -> None:
        """Correct one height."""
        change = height - self._values[at]
        if change:
            self._values[at] = height
            self._sums[at // CHUNK] += change
            self._tops = None

    def _starts(self) -> list[float]:
        if self._tops is None:
            self._tops = list(accumulate(self._sums, initial=0.0))
        return self._tops

    @property
    def total(self) -> float:
        """All heights together."""
        return self._starts()[-1]

    def top(self, at: int) -> float:
        """Where an item begins; ``len`` is allowed and gives the total."""
        chunk = at // CHUNK
        return self._starts()[chunk] + sum(self._values[chunk * CHUNK : at])

    def at(self, y: float) -> int:
        """The item at a height from the top, within the first and the last one; -1 for none."""
        if not self._values:
            return -1
        starts = self._starts()
        chunk = min(max(bisect_right(starts, y) - 1, 0), len(self._sums) - 1)
        place, found = starts[chunk], chunk * CHUNK
        end = min(found + CHUNK, len(self._values))
        while found < end - 1 and place + self._values[found] <= y:
            place += self._values[found]
            found += 1
        return found


_ITEM_KINDS = CONTEXT_KINDS | {
    Kind.COMPACTION,
    Kind.MODEL_CHANGE,
    Kind.THINKING_LEVEL_CHANGE,
    Kind.RESET_BOUNDARY,
    Kind.CUSTOM,
}
_SHOWN = selector(_ITEM_KINDS)
_RESULTS = selector({Kind.TOOL_RESULT})
_HIDDEN_MAYBE = selector({Kind.CUSTOM_MESSAGE, Kind.CUSTOM_ROLE, Kind.CUSTOM})
_NOT_COUNTED = bytes(value for value in range(256) if not _SHOWN[value])
_NOT_RESULTS = bytes(0 if value == Kind.TOOL_RESULT else 1 for value in range(256))
_REPLY, _RESULT, _NOTHING = (bytes([k]) for k in (Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.UNKNOWN))
_ORPHANS = re.compile(
    b"(?<![" + re.escape(_REPLY) + re.escape(_RESULT) + b"])" + re.escape(_RESULT) + b"+"
)


class Snapshot:
    """Items as they were at one moment, for a thread: each entry with its results."""

    def __init__(self, tree: SessionTree | None, path: Path, heads: list[int]) -> None:
        self._tree, self._path, self._heads = tree, path, heads

    def __len__(self) -> int:
        return len(self._heads)

    def __getitem__(self, at: int) -> tuple[int, list[int]]:
        if not 0 <= at < len(self):
            raise IndexError(f"there is no item {at}")
        return self._heads[at], self.results(at)

    def results(self, item: int) -> list[int]:
        """The tool results between an item and the next one."""
        if self._tree is None:
            return []
        first = self._path.position(self._heads[item]) + 1
        last = item + 1 == len(self._heads)
        end = len(self._path) if last else self._path.position(self._heads[item + 1])
        return self._path[first:end].select(self._tree.columns.kind, _RESULTS)


class PathItems:
    """The items of one path. Growing at the leaf costs what is new, not what is there."""

    def __init__(self) -> None:
        self.heads: list[int] = []
        """The entry of each item, in order."""
        self._path = Path([])
        self._tree: SessionTree | None = None
        self._before = _NOTHING
        """What stands before the entries to come, as far as results among them are concerned."""

    def __len__(self) -> int:
        return len(self.heads)

    @property
    def path(self) -> Path:
        """All entries of the path."""
        return self._path

    def clear(self) -> None:
        self.heads, self._path, self._tree, self._before = [], Path([]), None, _NOTHING

    def show(self, tree: SessionTree, leaf: int) -> int:
        """Take the path to a leaf (-1: an empty one); how many items from the first on stay.

        What stays is unchanged but for the last of them, to which results may have come.
        """
        path = tree.path(leaf) if leaf >= 0 else Path([])
        if tree is self._tree and len(self._path) and len(path) >= len(self._path):
            old = self._path[len(self._path) - 1]
            if path.position(old) == len(self._path) - 1:
                unchanged = len(self.heads)
                self._take(tree, path, path[len(self._path) :])
                return unchanged
        before = self.heads if tree is self._tree else []
        self.heads, self._before = [], _NOTHING
        self._take(tree, path, path)
        return _same(before, self.heads)

    def _take(self, tree: SessionTree, path: Path, new: Path) -> None:
        columns = tree.columns
        self._tree, self._path = tree, path
        shown = new.select(columns.kind, _SHOWN)
        kinds = new.gather(columns.kind).translate(None, _NOT_COUNTED)
        chosen = bytearray(kinds.translate(_NOT_RESULTS))
        known = self._before + kinds
        for found in _ORPHANS.finditer(known):
            first, end = found.start() - 1, found.end() - 1
            chosen[first:end] = b"\1" * (end - first)
        heads = list(compress(shown, chosen))
        hidden = {at for at in new.select(columns.kind, _HIDDEN_MAYBE) if not _is_shown(tree, at)}
        self.heads += [at for at in heads if at not in hidden] if hidden else heads
        if kinds:
            # Results that come later belong to what the last one belongs to.
            owned = kinds[-1:] == _REPLY or (kinds[-1:] == _RESULT and not chosen[-1])
            self._before = _REPLY if owned else _NOTHING

    def results(self, item: int) -> list[int]:
        """The tool results between an item and the next one."""
        return Snapshot(self._tree, self._path, self.heads).results(item)

    def snapshot(self) -> Snapshot:
        """All items as they are now."""
        return Snapshot(self._tree, self._path, list(self.heads))

    def item_of(self, entry: int) -> int:
        """The item that shows an entry of the path, or the nearest above it; -1 for none."""
        low, high = 0, len(self.heads)
        # Entries of a path ascend.
        while low < high:
            middle = (low + high) // 2
            if self.heads[middle] <= entry:
                low = middle + 1
            else:
                high = middle
        return low - 1


def _is_shown(tree: SessionTree, at: int) -> bool:
    flags = tree.columns.flags[at]
    if tree.columns.kind[at] == Kind.CUSTOM:
        return bool(flags & Flag.PRUNING)
    return not flags & Flag.HIDDEN


def _same(before: list[int], now: list[int]) -> int:
    """How many items both lists begin with."""
    low, high = 0, min(len(before), len(now))
    if before[:high] == now[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if before[:middle] == now[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
