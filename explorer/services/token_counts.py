"""Tokens of an opened session: who counted them, and what entries, texts and contexts come to."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, Protocol

from explorer.compaction.context_size import (
    ContextSize,
    context_size,
    counted_size,
    sizes_around,
)
from explorer.compaction.entry_sizes import EntrySizes
from explorer.compaction.path_view import entry_tokens
from explorer.compaction.profile import PROFILES, Profile
from explorer.services.changes import ChangeHub, CountsChanged
from explorer.services.counting_process import ProcessCounter
from explorer.session.context import ContextCache, PathContext
from explorer.session.payloads import Payloads
from explorer.session.tree import SessionTree
from explorer.store import Store
from explorer.tokens.counters import (
    DEFAULT_ENCODING,
    Counter,
    EstimateCounter,
    TiktokenCounter,
    count_entry,
)

_BATCH = 256
"""Entries counted between two looks at the cancel button, and stored together."""


class _Log(Protocol):
    """The tree and the leaf, as they are now."""

    key: int
    tree: SessionTree

    @property
    def leaf(self) -> int: ...


class TokenCounts:
    """One token metric for all that is shown, triggers and is tested against a limit."""

    def __init__(
        self, log: _Log, contexts: ContextCache, payloads: Payloads, store: Store, hub: ChangeHub
    ) -> None:
        """``payloads``: as they were recorded."""
        self._log, self._contexts, self._payloads = log, contexts, payloads
        self._store, self._hub = store, hub
        self.weights: array[int] | None = None
        """Tokens per entry by a tokenizer, once all are counted; -1 for later ones."""
        self.counter: Counter = EstimateCounter()
        """Who counted ``weights``; the estimate before."""
        self.profile = PROFILES["explorer"]
        """The profile in force, as whose rules count everything is counted that is shown."""

    def weights_for(self, profile: Profile) -> Sequence[int] | None:
        """The tokenizer's counts for a profile that counts what is sent; others estimate."""
        if self.weights is None or profile.weights != "sent":
            return None
        while len(self.weights) < len(self._log.tree):
            self.weights.append(-1)  # not counted yet: the estimate stands in
        return self.weights

    def counter_for(self, profile: Profile) -> Counter:
        """The counter that counts the entries under a profile."""
        return EstimateCounter() if self.weights_for(profile) is None else self.counter

    @property
    def counted_by(self) -> Literal["tokenizer", "estimate"]:
        """The counter of the entries under the rules in force."""
        return "estimate" if self.weights_for(self.profile) is None else "tokenizer"

    # entries, texts, contexts --------------------------------------------------------------------

    def entry_tokens(self, entry: int, profile: Profile | None = None) -> int:
        """Tokens of an entry in its place, by the rules in force or those of ``profile``, whatever
        was pruned or pinned since."""
        rules = profile or self.profile
        return entry_tokens(self._log.tree.columns, entry, self.weights_for(rules))

    def shown_tokens(self, entry: int) -> int:
        """Tokens of an entry as it is sent at the leaf, by the rules in force: the one figure of
        it, wherever it is shown. See ``EntrySizes``."""
        return EntrySizes(self._log.tree, self._log.leaf, self.weights_for(self.profile))[entry]

    def count_text(self, text: str, profile: Profile) -> int:
        """Tokens of a text, by the counter that counts the entries under a profile.

        May wait for a tokenizer that is busy: for a worker thread.
        """
        return self.counter_for(profile).count(text)

    def context_size(self, profile: Profile, at: int | None = None) -> ContextSize:
        """Tokens of the context at an entry, by default at the leaf: the number that is shown,
        triggers and is tested."""
        return context_size(self._log.tree, self._context(at), profile, self.weights_for(profile))

    def counted_size(self, profile: Profile, at: int | None = None) -> int:
        """Tokens of the context's entries, whatever a provider reported; see ``Partition``."""
        return counted_size(self._log.tree, self._context(at), profile, self.weights_for(profile))

    def _context(self, at: int | None) -> PathContext:
        return self._contexts.at(self._log.tree, self._log.leaf if at is None else at)

    def sizes_around(self, compaction: int) -> tuple[int, int | None]:
        """Tokens of the context's entries before and after a compaction, counted alike, by the
        rules in force; None after it where its summary is not in the file."""
        return sizes_around(self._log.tree, compaction, self.weights_for(self.profile))

    async def counted_around(self, compaction: int) -> tuple[int, int]:
        """``sizes_around`` of a compaction that was just made, once its summary is counted too."""
        await self.count_new()
        before, after = self.sizes_around(compaction)
        assert after is not None, "what is made here has its summary"
        return before, after

    # counting ------------------------------------------------------------------------------------

    async def take_stored(self, counter: Counter) -> bool:
        """Use the counts in the database if they are whole; returns whether they are."""
        counts = await asyncio.to_thread(self._stored, counter.name)
        if counts is None:
            return False
        self._take(counts, counter)
        return True

    def take_stored_blocking(self) -> None:
        """``take_stored`` of the window's tokenizer, for callers without an event loop: what was
        counted there is the same figure everywhere."""
        counts = self._stored(DEFAULT_ENCODING)
        if counts is not None:
            counter = TiktokenCounter()
            if counter.available:
                self.weights, self.counter = counts, counter

    def _stored(self, counter: str) -> array[int] | None:
        """The counts in the database, if they are whole."""
        counts = self._store.token_counts(self._log.key, counter)
        return counts if len(counts) >= len(self._log.tree) and _is_whole(counts) else None

    async def count(
        self,
        counter: Counter,
        progress: Callable[[int, int], None],
        cancelled: Callable[[], bool],
    ) -> bool:
        """Count all entries with a tokenizer, in a thread; returns False when cancelled.

        ``progress`` is called in that thread with entries done and in all.
        """
        total = len(self._log.tree)
        counts = await asyncio.to_thread(self._count, total, counter, progress, cancelled)
        if not _is_whole(counts):
            return False
        self._take(counts, counter)
        return True

    async def count_new(self) -> None:
        """Count what was appended since everything was counted; in a thread."""
        weights, total = self.weights, len(self._log.tree)
        if weights is None or (len(weights) == total and _is_whole(weights)):
            return
        await self.count(self.counter, lambda _done, _all: None, lambda: False)

    def forget(self, entries: Iterable[int]) -> None:
        """Mark entries that changed as not counted yet."""
        for at in entries:
            if self.weights is not None and at < len(self.weights):
                self.weights[at] = -1

    def _take(self, counts: array[int], counter: Counter) -> None:
        self.weights, self.counter = counts, counter
        self._hub.publish(CountsChanged(self._log.key, len(counts), len(counts)))

    def _count(
        self,
        entries: int,
        counter: Counter,
        progress: Callable[[int, int], None],
        cancelled: Callable[[], bool],
    ) -> array[int]:
        """Tokens of the first ``entries`` entries; what was counted before is not counted again.

        Blocks. When cancelled, what is not counted is -1. Raises StoreError.
        """
        store, key = self._store, self._log.key
        counts = store.token_counts(key, counter.name)
        while len(counts) < entries:
            counts.append(-1)
        for first in range(0, entries, _BATCH):
            last = min(first + _BATCH, entries)
            missing = [at for at in range(first, last) if counts[at] < 0]
            if missing:
                if cancelled():
                    break
                new = _counts(self._payloads, missing, counter)
                for at, count in zip(missing, new, strict=True):
                    counts[at] = count
                store.set_token_counts(key, counter.name, first, counts[first:last]).result()
            progress(last, entries)
        return counts


def _counts(payloads: Payloads, entries: Sequence[int], counter: Counter) -> list[int]:
    if isinstance(counter, ProcessCounter):
        raws = dict(payloads.raws(entries))
        return counter.count_records(payloads.format, [raws.get(entry, "") for entry in entries])
    return [count_entry(counter, entry) for entry in payloads.entries(entries)]


def _is_whole(counts: array[int]) -> bool:
    """Whether every entry was counted."""
    return not counts or min(counts) >= 0
