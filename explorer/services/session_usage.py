"""What an opened session took: its replies from their lines, its drafts from their records."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from time import perf_counter
from typing import Any

from explorer.compaction.context_size import last_report
from explorer.formats import adapter_of
from explorer.models.catalogue import ListedCost, cost_of, listed_cost, no_listed_cost
from explorer.models.client import ModelInfo, Usage
from explorer.services.session_writer import SessionWriter
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
