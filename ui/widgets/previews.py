"""First lines of the entries that a table shows: read a stretch at a time, and kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Reading = Callable[[Sequence[int]], list[str]]

MOST_KEPT = 20_000


class KeptPreviews:
    """Of one session; another one starts anew."""

    def __init__(self, at_once: int) -> None:
        """``at_once``: rows whose entries are read together."""
        self._at_once = at_once
        self._read: Reading | None = None
        self._kept: dict[int, str] = {}

    def take(self, read: Reading | None, is_other: bool) -> None:
        """Read by this from now on. ``is_other``: what was read is another session's."""
        self._read = read
        if is_other:
            self._kept = {}

    def of(self, row: int, rows: Sequence[int], entry_of: Callable[[int], int]) -> str:
        """The first line of a row's entry; those around it are read along. ``rows``: what
        ``entry_of`` takes, row by row."""
        entry = entry_of(rows[row])
        if entry not in self._kept and self._read is not None:
            if len(self._kept) > MOST_KEPT:
                self._kept = {}
            start = row - row % self._at_once
            wanted = [entry_of(at) for at in rows[start : start + self._at_once]]
            self._kept.update(zip(wanted, self._read(wanted), strict=True))
        return self._kept.get(entry, "")
