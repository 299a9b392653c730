"""What an opened session took: its replies from their lines, its drafts from their records."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

from explorer.formats.registry import FIRST_COUNTS
from explorer.models.catalogue import cost_of
from explorer.models.client import ModelInfo, Usage
from explorer.models.price_list import ListedCost, no_listed_cost
from explorer.session.payloads import Payloads
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
        key: int,
        tree: Callable[[], SessionTree],
        payloads: Payloads,
        info: Callable[[str], ModelInfo],
        listed_cost: ListedCost = no_listed_cost,
    ) -> None:
        """``listed_cost``: of a reply whose cost is not recorded."""
        self._store = store
        self._key = key
        self._tree = tree
        self._payloads = payloads
        self._info = info
        self._listed_cost = listed_cost
        self._ledger = UsageLedger()
        self._lock = asyncio.Lock()
        self._taking = threading.Lock()
        self._drafts = NOTHING

    async def follow(self, *, gently: bool = False) -> None:
        """Take in what is new, on a worker thread. Cancel as you like. ``gently``: rest as long
        as it works, for a window that has the interpreter to itself then. Raises StoreError."""
        async with self._lock:
            tree = self._tree()
            while (seen := len(self._ledger)) < len(tree):
                started = perf_counter()
                await asyncio.to_thread(self._take, tree, min(len(tree), seen + AT_ONCE))
                if gently:
                    await asyncio.sleep(perf_counter() - started)
            self._drafts = await asyncio.to_thread(self._read_drafts)

    def _take(self, tree: SessionTree, upto: int) -> None:
        # Who cancelled does not wait for the thread: the next one does.
        with self._taking:
            wanted = self._ledger.wanted(tree, upto, self._payloads.format in FIRST_COUNTS)
            totals = [tree.columns.usage[at] for at in wanted]
            self._ledger.take(tree, self._read(tree, wanted, totals) if wanted else {}, upto)

    def forget(self) -> None:
        """Entries say something else now: all sums are made anew when they are next followed."""
        with self._taking:
            self._ledger = UsageLedger()

    @property
    def is_whole(self) -> bool:
        """Whether the sums hold all entries that there are now."""
        return len(self._ledger) == len(self._tree())

    def of(self, entry: int) -> PartUsage:
        """One entry."""
        return self._ledger.of(entry)

    def turn(self, entry: int, leaf: int | None = None) -> PartUsage:
        """The turn that an entry is in, on the path to ``leaf`` (by default to the entry)."""
        return self._ledger.turn(self._tree(), entry, leaf)

    def branch(self, leaf: int) -> PartUsage:
        """From the root to a leaf."""
        return self._ledger.branch(self._tree(), leaf)

    def session(self) -> PartUsage:
        """All branches together, without the drafts."""
        return self._ledger.session()

    @property
    def drafts(self) -> UsageSum:
        """What summaries took that were made here, for compactions and for branches, whether they
        were used or not. At the prices that are known now."""
        return self._drafts

    def _read(
        self, tree: SessionTree, entries: list[int], totals: list[int]
    ) -> dict[int, UsageSum]:
        models, model = tree.columns.models, tree.columns.model
        usages = self._payloads.usages(list(zip(entries, totals, strict=True)))
        return {
            at: usage_sum(usage, self._listed_cost(usage, models[model[at]]))
            for at, usage in usages
            if usage is not None
        }

    def _read_drafts(self) -> UsageSum:
        total = NOTHING
        for model, usage in self._store.draft_usages(self._key):
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
