"""Lays out a large session away from the window's thread."""

from __future__ import annotations

import threading
from array import array

from msgspec import Struct
from PySide6.QtCore import QObject, Signal

from explorer.compaction.path_view import entry_sizes
from explorer.session.columns import SessionColumns
from explorer.session.tree import SessionTree
from ui.map.folds import branch_links
from ui.map.layout import LaneLevels, Lanes, Skeleton, arrange
from ui.map.rows import categories, running_sums


class LayoutOrder(Struct, frozen=True):
    """What a layout is made from, copied so that the session may grow meanwhile."""

    columns: SessionColumns
    leaf: int


class LayoutResult(Struct, frozen=True):
    """A finished layout, and what the rows of the whole session are made of."""

    skeleton: Skeleton
    lanes: Lanes
    levels: LaneLevels
    groups: bytearray
    sums: array[int]
    links: list[tuple[int, int]]


def snapshot(columns: SessionColumns) -> SessionColumns:
    """A copy of the columns that a layout reads; 200,000 entries take half a millisecond."""
    return SessionColumns(
        parent=array("i", columns.parent),
        kind=bytearray(columns.kind),
        flags=array("I", columns.flags),
        estimate=array("i", columns.estimate),
        ids=list(columns.ids),
        branches=dict(columns.branches),
        user_images=dict(columns.user_images),
    )


def lay_out(order: LayoutOrder) -> LayoutResult:
    """Make a whole layout, with the levels for far zoom."""
    skeleton = Skeleton(order.columns.parent)
    links = branch_links(order.columns)
    lanes = arrange(skeleton, order.leaf, links, order.columns.kind)
    levels = LaneLevels(lanes)
    levels.prepare()
    groups = categories(order.columns)
    sums = running_sums(entry_sizes(order.columns))
    return LayoutResult(skeleton, lanes, levels, groups, sums, links)


def first_layout(tree: SessionTree, leaf: int, last: int) -> tuple[Skeleton, Lanes]:
    """The layout of the last entries alone, at once."""
    first = max(0, len(tree) - last)
    skeleton = Skeleton(tree.columns.parent, first)
    links = branch_links(tree.columns, first)
    return skeleton, arrange(skeleton, leaf, links, tree.columns.kind)


class LayoutWorker(QObject):
    """Runs one layout at a time on a separate thread; a newer order makes an older one void."""

    finished = Signal(object)
    """A ``LayoutResult``, in the thread of the receiver."""
    failed = Signal(object)
    """The exception that ended a layout."""
    _arrived = Signal(int, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._wanted = 0
        self._threads: list[threading.Thread] = []
        self._arrived.connect(self._deliver)

    @property
    def is_busy(self) -> bool:
        return any(thread.is_alive() for thread in self._threads)

    def start(self, order: LayoutOrder) -> None:
        """Lay out in the background; ``finished`` tells the end unless a newer order came."""
        self._wanted += 1
        number = self._wanted
        thread = threading.Thread(target=self._run, args=(number, order), name="map-layout")
        self._threads = [old for old in self._threads if old.is_alive()]
        self._threads.append(thread)
        thread.start()

    def cancel(self) -> None:
        """Forget what is under way."""
        self._wanted += 1

    def close(self) -> None:
        """Forget what is under way and wait until its thread is gone."""
        self.cancel()
        for thread in self._threads:
            thread.join()
        self._threads.clear()

    def _run(self, number: int, order: LayoutOrder) -> None:
        result: object
        try:
            result = lay_out(order)
        except (ValueError, IndexError, KeyError, MemoryError) as error:
            result = error
        try:
            self._arrived.emit(number, result)
        except RuntimeError:
            # The window was closed and this object deleted: nobody waits for the layout.
            return

    def _deliver(self, number: int, result: object) -> None:
        if number != self._wanted:
            return
        if isinstance(result, LayoutResult):
            self.finished.emit(result)
        else:
            self.failed.emit(result)
