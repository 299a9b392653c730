"""The rows that are shown: which entries a filter and the folds leave, what each is made of, and
the tokens before each."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from itertools import accumulate, compress

from explorer.session.columns import SessionColumns
from explorer.session.kinds import METADATA_KINDS, Flag, Kind, inserted


class RowCategory(IntEnum):
    """What a row is made of, in the few groups that colours tell apart."""

    OTHER = 0
    USER = 1
    ASSISTANT = 2
    CALL = 3
    RESULT = 4
    THINKING = 5
    SHELL = 6
    NOTE = 7
    COMPACTION = 8
    BRANCH = 9
    METADATA = 10
    INSERTED = 11
    """What a program put in the user's place: it begins no turn."""


class RowFilter(IntEnum):
    """Which entries the map and the list show."""

    ALL = 0
    NO_TOOLS = 1
    USER_ONLY = 2
    LABELLED = 3
    COMPACTIONS = 4


FILTER_TITLES = ("All", "No tools", "User only", "Labelled", "Compactions")

_BY_KIND = {
    Kind.USER: RowCategory.USER,
    Kind.ASSISTANT: RowCategory.ASSISTANT,
    Kind.TOOL_RESULT: RowCategory.RESULT,
    Kind.BASH_EXECUTION: RowCategory.SHELL,
    Kind.PYTHON_EXECUTION: RowCategory.SHELL,
    Kind.CUSTOM_ROLE: RowCategory.NOTE,
    Kind.CUSTOM_MESSAGE: RowCategory.NOTE,
    Kind.SYSTEM: RowCategory.NOTE,
    Kind.FILE_MENTION: RowCategory.NOTE,
    Kind.COMPACTION: RowCategory.COMPACTION,
    Kind.COMPACTION_SUMMARY_ROLE: RowCategory.COMPACTION,
    Kind.RESET_BOUNDARY: RowCategory.COMPACTION,
    Kind.BRANCH_SUMMARY: RowCategory.BRANCH,
    Kind.BRANCH_SUMMARY_ROLE: RowCategory.BRANCH,
} | dict.fromkeys(METADATA_KINDS - {Kind.RESET_BOUNDARY}, RowCategory.METADATA)

KIND_CATEGORY = bytes(
    _BY_KIND.get(Kind(value), RowCategory.OTHER) if value < len(Kind) else RowCategory.OTHER
    for value in range(256)
)

_SHOWN_BY = {
    RowFilter.NO_TOOLS: frozenset(RowCategory)
    - {RowCategory.CALL, RowCategory.RESULT, RowCategory.SHELL},
    RowFilter.USER_ONLY: frozenset({RowCategory.USER}),
    RowFilter.COMPACTIONS: frozenset({RowCategory.COMPACTION}),
}
_SELECT = {
    choice: bytes(1 if value in shown else 0 for value in range(256))
    for choice, shown in _SHOWN_BY.items()
}

TURN_START = bytes(
    1 if value in (RowCategory.USER, RowCategory.SHELL, RowCategory.NOTE, RowCategory.BRANCH) else 0
    for value in range(256)
)
"""Translates categories into 1 where a turn may start (A18)."""


def _reply(flags: int) -> RowCategory:
    if flags & Flag.HAS_TEXT:
        return RowCategory.ASSISTANT
    if flags & Flag.HAS_TOOL_CALL:
        return RowCategory.CALL
    return RowCategory.THINKING if flags & Flag.HAS_THINKING else RowCategory.ASSISTANT


_REPLY = bytes(_reply(flags) for flags in range(256))
"""The category of a reply by its low flags, which tell what it holds."""
_NO_REPLY = bytes(
    0 if kind == Kind.ASSISTANT else group for kind, group in enumerate(KIND_CATEGORY)
)
_TO_INSERTED = bytes((0, RowCategory.USER ^ RowCategory.INSERTED)) + bytes(254)
"""Turns the category of a user's message into that of an inserted one."""
_IS_REPLY = bytes(0xFF if kind == Kind.ASSISTANT else 0 for kind in range(256))


def categories(columns: SessionColumns, first: int = 0, stop: int | None = None) -> bytearray:
    """The categories of all entries from ``first`` on, to ``stop`` (exclusive).

    Whole columns at a time, as numbers of very many digits: a loop takes 200 ms for 100,000.
    """
    kinds, flags = columns.kind[first:stop], columns.flags[first:stop]
    low = flags.tobytes()[0 if sys.byteorder == "little" else flags.itemsize - 1 :: flags.itemsize]
    replies = _number(low.translate(_REPLY)) & _number(kinds.translate(_IS_REPLY))
    found = replies | _number(kinds.translate(_NO_REPLY))
    if (others := inserted(flags)).count(1):
        found ^= _number(others.translate(_TO_INSERTED))
    return bytearray(found.to_bytes(len(kinds), "little"))


def _number(column: bytes | bytearray) -> int:
    return int.from_bytes(column, "little")


class Rows:
    """The shown entries in order."""

    __slots__ = ("_sizes", "_sums", "categories", "count", "entries")

    def __init__(
        self,
        groups: bytearray,
        sizes: Callable[[], Sequence[int]],
        mask: bytearray | None = None,
        sums: array[int] | None = None,
    ) -> None:
        """``sizes``: gives the tokens of every entry; ``mask``: 1 for every entry to show, None
        for all; ``sums``: what the property of that name would work out."""
        self.entries: array[int] | None = None
        self._sizes = sizes
        self._sums = sums
        if mask is None:
            self.categories = groups
            self.count = len(groups)
        else:
            self.entries = array("i", compress(range(len(groups)), mask))
            self.categories = bytearray(compress(groups, mask))
            self.count = len(self.entries)

    def entry(self, row: int) -> int:
        """The entry shown in a row."""
        return row if self.entries is None else self.entries[row]

    def floor(self, entry: int) -> int:
        """The row of an entry, or of the next shown entry after it."""
        if self.entries is None:
            return min(max(entry, 0), self.count)
        return bisect_left(self.entries, entry)

    def row(self, entry: int) -> int:
        """The row of an entry, -1 when it is not shown."""
        at = self.floor(entry)
        return at if 0 <= at < self.count and self.entry(at) == entry >= 0 else -1

    def append(self, entry: int) -> None:
        """Show one more entry, the newest. Its category must be appended by the caller where the
        rows are all the entries."""
        if self.entries is not None:
            self.entries.append(entry)
        self.count += 1
        if self._sums is not None:
            self._sums.append(self._sums[-1] + self._sizes()[entry])

    @property
    def sums(self) -> array[int]:
        """Tokens of all rows before a row; one more value than rows."""
        if self._sums is None:
            sizes = self._sizes()
            shown = sizes if self.entries is None else map(sizes.__getitem__, self.entries)
            self._sums = running_sums(shown)
        return self._sums

    @property
    def is_summed(self) -> bool:
        """Whether ``sums`` is there already: making it costs 10 ms at 200,000 rows."""
        return self._sums is not None

    def next_turn(self, row: int) -> int:
        """The next row after ``row`` that starts a turn, or -1."""
        return self.categories.translate(TURN_START).find(1, row + 1)

    def previous_turn(self, row: int) -> int:
        """The last row before ``row`` that starts a turn, or -1."""
        return self.categories.translate(TURN_START).rfind(1, 0, max(row, 0))


def running_sums(weights: Iterable[int]) -> array[int]:
    """The sum before every value, and of all."""
    return array("q", accumulate(weights, initial=0))


def filter_mask(choice: RowFilter, groups: bytearray, labelled: Iterable[int]) -> bytearray | None:
    """1 for every entry that a filter shows; None when it shows all."""
    if choice is RowFilter.ALL:
        return None
    if choice is RowFilter.LABELLED:
        mask = bytearray(len(groups))
        for entry in labelled:
            if 0 <= entry < len(mask):
                mask[entry] = 1
        return mask
    return groups.translate(_SELECT[choice])
