"""Tokens of an opened session: who counted them, what entries, texts and contexts come to, and what
it took: its replies from their lines, its drafts from their records.
"""

from __future__ import annotations

import asyncio
import threading
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import Any, Literal, Protocol

from explorer.compaction.context_size import (
    ContextSize,
    context_size,
    counted_size,
    last_report,
    sizes_around,
)
from explorer.compaction.path_view import EntrySizes, entry_tokens
from explorer.compaction.profile import DEFAULT_WINDOW, PROFILES, Profile
from explorer.formats.registry import adapter_of
from explorer.models.catalogue import ListedCost, cost_of, listed_cost, no_listed_cost
from explorer.models.client import ModelInfo, Usage
from explorer.services.changes import ChangeHub, CountsChanged
from explorer.services.counting_process import ProcessCounter
from explorer.services.session_writer import SessionWriter
from explorer.session.context import ContextCache, PathContext
from explorer.session.records import Payloads
from explorer.session.tree import SessionTree
from explorer.session.usage_sums import (
    NOTHING,
    UNCOUNTED,
    PartUsage,
    UsageLedger,
    UsageSum,
    usage_sum,
)
from explorer.store import Store
from explorer.tokens.counters import (
    DEFAULT_ENCODING,
    Counter,
    EstimateCounter,
    TiktokenCounter,
    count_entry,
)

CLAUDE_LARGE = 1_000_000
"""Tokens of the larger window of Claude's models."""
AT_ONCE = 250
"""Lines read between two looks at whether anyone still waits."""


class SessionUsage:
    """Sums that follow a session as it grows. Asked on the thread of the session's event loop.

    The sums are those of the entries that were there when ``follow`` was last waited for.
    """

    def __init__(
        self,
        store: Store,
        log: SessionWriter,
        payloads: Payloads,
        info: Callable[[str], ModelInfo],
    ) -> None:
        """``payloads``: as they were recorded; ``info``: what is known of a model by its id."""
        self._store = store
        self._log = log
        self._payloads = payloads
        self._info = info
        self._is_ours = adapter_of(log.format).writes
        self.listed_cost: ListedCost = no_listed_cost
        """What a reply cost by listed prices, where its agent, whose files are only read, recorded
        no cost."""
        if not self._is_ours:
            self.listed_cost = partial(listed_cost, prices=info)
        self._measured, self._largest = 0, 0
        """Entries looked at for the largest count of a provider's, and that."""
        self._prompts: dict[int, int] = {}
        """Prompt tokens by reply, as far as they were asked for."""
        self._ledger = UsageLedger()
        self._lock = asyncio.Lock()
        self._taking = threading.Lock()
        self._drafts = NOTHING

    async def follow(self, *, gently: bool = False) -> None:
        """Take in what is new, on a worker thread. Cancel as you like. ``gently``: rest as long
        as it works, for a window that has the interpreter to itself then. Raises StoreError."""
        async with self._lock:
            tree = self._log.tree
            while (seen := len(self._ledger)) < len(tree):
                started = perf_counter()
                await asyncio.to_thread(self._take, tree, min(len(tree), seen + AT_ONCE))
                if gently:
                    await asyncio.sleep(perf_counter() - started)
            self._drafts = await asyncio.to_thread(self._read_drafts)

    def _take(self, tree: SessionTree, upto: int) -> None:
        # Who cancelled does not wait for the thread: the next one does.
        with self._taking:
            wanted = self._ledger.wanted(tree, upto)
            totals = [tree.columns.usage[at] for at in wanted]
            self._ledger.take(tree, self._read(tree, wanted, totals) if wanted else {}, upto)

    def forget(self, entries: Iterable[int]) -> None:
        """Drop the sums of changed entries: all are rebuilt at the next ``follow``."""
        for at in entries:
            self._prompts.pop(at, None)
        with self._taking:
            self._ledger = UsageLedger()

    @property
    def is_whole(self) -> bool:
        """Whether the sums hold all entries that there are now."""
        return len(self._ledger) == len(self._log.tree)

    def of(self, entry: int) -> PartUsage:
        """One entry."""
        return self._ledger.of(entry)

    def turn(self, entry: int, leaf: int | None = None) -> PartUsage:
        """The turn that an entry is in, on the path to ``leaf`` (by default to the entry)."""
        return self._ledger.turn(self._log.tree, entry, leaf)

    def branch(self, leaf: int) -> PartUsage:
        """From the root to a leaf."""
        return self._ledger.branch(self._log.tree, leaf)

    def session(self) -> PartUsage:
        """All branches together, without the drafts."""
        return self._ledger.session()

    @property
    def drafts(self) -> UsageSum:
        """What summaries took that were made here, for compactions and for branches, whether they
        were used or not. At the prices that are known now."""
        return self._drafts

    def prompt_of(self, reply: int) -> int:
        """Tokens of the prompt that the provider reported with a reply; -1 for none (B18)."""
        if reply not in self._prompts:
            usage = self._payloads.entry(reply).usage
            self._prompts[reply] = usage.prompt if usage is not None else -1
        return self._prompts[reply]

    @property
    def recorded_window(self) -> int | None:
        """Tokens of the window that the last reply on the path to the leaf recorded; 0 where it
        recorded none and only its own agent knows; None where the agent is ours, or one whose
        rules and sizes are followed here. Raises StoreError."""
        if self._is_ours:
            return None
        reply = last_report(
            self._log.tree, self._log.tree.path(self._log.leaf), 1, counted_here=True
        )
        if reply >= 0 and self._log.made_here(reply):
            return None
        usage = self._payloads.entry(reply).usage if reply >= 0 else None
        return usage.window if usage is not None else 0

    @property
    def inferred_window(self) -> int:
        """Tokens of the window that another agent must have had where it recorded none; 0 where
        nothing tells. Claude's models have windows of two sizes: the session outgrew the smaller.
        """
        columns = self._log.tree.columns
        new = columns.usage[self._measured :]
        if new:
            self._largest = max(self._largest, max(new))
            self._measured += len(new)
        if self._largest <= DEFAULT_WINDOW:
            return 0
        # Claude Code writes lines of its own under a name in angle brackets.
        models = [name for name in columns.models if name and not name.startswith("<")]
        is_claude = bool(models) and all("claude" in name for name in models)
        return CLAUDE_LARGE if is_claude else 0

    def _read(
        self, tree: SessionTree, entries: list[int], totals: list[int]
    ) -> dict[int, UsageSum]:
        columns = tree.columns
        usages = self._payloads.usages(list(zip(entries, totals, strict=True)))
        return {
            at: usage_sum(
                usage,
                self.listed_cost(usage, columns.models[columns.model[at]]),
                counted_here=columns.is_counted_here(at),
            )
            for at, usage in usages
            if usage is not None
        }

    def _read_drafts(self) -> UsageSum:
        total = NOTHING
        for model, usage in self._store.draft_usages(self._log.key):
            total += self._spent(usage, model)
        return total

    def _spent(self, usage: Any, model: str) -> UsageSum:
        if not isinstance(usage, Mapping):
            return UNCOUNTED
        try:
            counted = Usage(**usage)
        except TypeError:  # written by another version
            return UNCOUNTED
        if counted.source != "provider":
            return UNCOUNTED
        cost = cost_of(counted, self._info(model))
        return UsageSum(
            counted.input,
            counted.output,
            counted.cache_read,
            counted.cache_write,
            cost.total,
            calls=1,
            unpriced=0 if cost.known else 1,
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
