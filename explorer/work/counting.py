"""Counting a session with a tokenizer: in a thread, in pieces, kept in the database."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from explorer.session.payloads import Payloads
from explorer.tokens.counters import Counter, ProcessCounter, count_entry

if TYPE_CHECKING:  # see explorer.work.appending
    from explorer.store import Store

AT_ONCE = 256
"""Entries counted between two looks at the cancel button, and stored together."""


def count_session(
    store: Store,
    key: int,
    payloads: Payloads,
    entries: int,
    counter: Counter,
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool],
) -> array[int]:
    """Tokens of the first ``entries`` entries; what was counted before is not counted again.

    Blocks; meant for a worker thread. When cancelled, what is not counted is -1. Raises
    StoreError.
    """
    counts = store.token_counts(key, counter.name)
    while len(counts) < entries:
        counts.append(-1)
    for first in range(0, entries, AT_ONCE):
        last = min(first + AT_ONCE, entries)
        missing = [at for at in range(first, last) if counts[at] < 0]
        if missing:
            if cancelled():
                break
            for at, count in zip(missing, _counts(payloads, missing, counter), strict=True):
                counts[at] = count
            store.set_token_counts(key, counter.name, first, counts[first:last]).result()
        progress(last, entries)
    return counts


def _counts(payloads: Payloads, entries: Sequence[int], counter: Counter) -> list[int]:
    if isinstance(counter, ProcessCounter):
        found = dict(payloads.raws(entries))
        return counter.count_lines([found.get(entry, "") for entry in entries])
    return [count_entry(counter, entry) for entry in payloads.entries(entries)]


def is_whole(counts: array[int]) -> bool:
    """Whether every entry was counted."""
    return not counts or min(counts) >= 0
