"""Appending to a session: first the database, then the tree, then the views."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from random import Random
from typing import Any, TypeVar

from explorer.formats.pi.entry_writer import new_id
from explorer.formats.registry import write_record
from explorer.services.changes import ChangeHub, EntriesAppended, LabelsChanged, LeafMoved
from explorer.session.entries import Body, Entry
from explorer.session.records import EntryRecord
from explorer.session.tree import SessionTree
from explorer.store import LoadedSession, Store, StoreError

T = TypeVar("T")
READ_ONLY = "This session is only read here: go on from here to change a copy of it."


async def uninterrupted(work: Coroutine[Any, Any, T]) -> T:
    """Wait for a change that runs to its end once begun: a cancelled caller is cancelled at once,
    and database, tree and views agree all the same."""
    return await asyncio.shield(asyncio.ensure_future(work))


class SessionWriter:
    """Appends to a session and moves its leaf. Lives on the thread of its event loop."""

    def __init__(
        self,
        store: Store,
        loaded: LoadedSession,
        hub: ChangeHub,
        now_ms: Callable[[], int],
        random: Random,
        *,
        is_read_only: bool = False,
    ) -> None:
        """``is_read_only``: whether everything that would change the session is refused."""
        self.is_read_only = is_read_only
        self.key = loaded.key
        self.tree: SessionTree = loaded.tree
        self.leaf: int = loaded.leaf
        self.format = loaded.header.format
        self._store = store
        self._hub = hub
        self.now_ms = now_ms
        self._random = random
        self._lock = asyncio.Lock()
        self._began_ms = loaded.header.time_ms
        self._made_here: dict[int, bool] = {}
        """As far as it was asked."""
        self._appended: set[int] = set()

    async def append(self, body: Body, parent: int) -> int:
        """Append one entry below ``parent`` and make it the leaf; returns its index.

        Returns after the commit. Raises StoreError when the database refuses.
        """
        return await uninterrupted(self._append(body, parent))

    async def append_beside(self, body: Body, parent: int) -> int:
        """Append one entry below ``parent`` and leave the leaf where it is; see ``append``."""
        return await uninterrupted(self._append(body, parent, moves_leaf=False))

    async def _append(self, body: Body, parent: int, moves_leaf: bool = True) -> int:
        self._check_writable()
        async with self._lock:
            entry_id = new_id(self.tree, self._random)
            parent_id = self.tree.columns.ids[parent] if parent >= 0 else None
            entry = Entry.of(body, entry_id, parent_id, self.now_ms())
            record = write_record(self.format, entry)
            leaf_id = entry_id if moves_leaf else None
            saved = self._store.append(self.key, [(record, parent_id)], leaf_id=leaf_id)
            await asyncio.wrap_future(saved)
            self.pull()
            index = self.tree.index_of(entry_id)
            self._appended.add(index)
            if moves_leaf:
                self._leaf_moved(index)
            return index

    async def move_leaf(self, index: int) -> None:
        """Make an entry (-1: none) the leaf, durably."""
        await uninterrupted(self._move_leaf(index))

    async def _move_leaf(self, index: int) -> None:
        self._check_writable()
        async with self._lock:
            await asyncio.wrap_future(self._store.set_leaf(self.key, index))
            self._leaf_moved(index)

    def _check_writable(self) -> None:
        if self.is_read_only:
            raise StoreError("this session", "is only read here; go on from a copy of it")

    def pull(self) -> int:
        """Take in what the database has and the tree has not; returns how many entries."""
        records = self._store.tail(self.key, len(self.tree))
        if records:
            self._take(records)
        return len(records)

    def take_changed(self, entries: Sequence[int]) -> None:
        """Take in entries of the tree that the database has anew. It is not published yet."""
        for at in entries:
            (record,) = self._store.records(self.key, at, at)
            self.tree.replace(at, record.facts, record.estimate)

    def appended(self, index: int) -> bool:
        """Whether an entry was appended by this writer: since the session was opened, and not by
        another program."""
        return index in self._appended

    def made_here(self, index: int) -> bool:
        """Whether this program recorded an entry: it came from no file, and no fork copied it.

        Reads one row of the database the first time, and may be called while a window paints.
        False for a row that cannot be read: its figures then count as a file's, and reading the
        entry itself reports the error.
        """
        if not 0 <= index < len(self.tree):
            return False
        if index not in self._made_here:
            # A fork begins after all that it copies.
            is_new = self.tree.columns.time[index] >= self._began_ms
            try:
                made = is_new and not self._store.is_of_file(self.key, index)
            except StoreError:
                return False
            self._made_here[index] = made
        return self._made_here[index]

    def follow_leaf(self, index: int) -> None:
        """Take over the database's leaf: the session's file went on, and the user has not moved the
        leaf."""
        self._leaf_moved(index)

    def _take(self, records: list[EntryRecord]) -> None:
        first = len(self.tree)
        labelled = False
        for record in records:
            self.tree.append(record.entry_id, record.parent, record.facts, record.estimate)
            labelled = labelled or record.facts.label is not None
        self._hub.publish(EntriesAppended(self.key, first, len(records)))
        if labelled:
            self._hub.publish(LabelsChanged(self.key))

    def _leaf_moved(self, index: int) -> None:
        old, self.leaf = self.leaf, index
        if old != index:
            self._hub.publish(LeafMoved(self.key, old, index))
