"""What the map, the minimap and the list show together: session, rows, lanes, marks, selection, and
the words of a row."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from explorer.compaction.path_view import EntrySizes
from explorer.session.edit_entries import Pruned, Shape
from explorer.session.kinds import Kind
from explorer.session.records import Previews
from explorer.session.tree import SessionTree
from ui.map.folds import (
    Fold,
    PathPlaces,
    branch_links,
    find_above,
    fold_of,
    hidden_by,
)
from ui.map.layout import LaneLevels, Lanes, Samples, Skeleton, arrange
from ui.map.layout_worker import LayoutOrder, LayoutResult, LayoutWorker, first_layout, snapshot
from ui.map.row_texts import MadeHere, TextCache
from ui.map.rows import KIND_CATEGORY, RowFilter, Rows, categories, filter_mask
from ui.widgets.row_lines import RowLines

AT_ONCE = 8_000
"""Entries up to which a layout is made on the window's thread (under 10 ms)."""

_PATIENCE_MS = 200
"""How long a large session's layout waits for the paint of its first rows."""

FIRST_ROWS = 400
"""Entries at the end of a large session that are laid out before the first paint."""


class MapModel(QObject):
    """The state of one map. Views read it, and repaint on its signals; no view asks another."""

    session_changed = Signal()
    layout_changing = Signal()
    """Rows or lanes are about to become others: note what is where on screen."""
    layout_changed = Signal()
    """Rows or lanes are others now."""
    appended = Signal(int, int)
    selection_changed = Signal(int)
    marks_changed = Signal()
    """Hits, labels, tokens or the partition."""
    words_arrived = Signal(object)
    """The entries whose rows say more now than their stored first words."""
    threads_changed = Signal()
    leaf_changed = Signal(int, int)
    layout_failed = Signal(object)
    fold_closing = Signal(int)
    """The rows that this compaction summarized are about to be hidden; ``layout_changing`` came."""
    fold_closed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = LayoutWorker(self)
        self._worker.finished.connect(self._laid)
        self._worker.failed.connect(self.layout_failed)
        self._lines = RowLines(self)
        self._lines.arrived.connect(self.words_arrived)
        self._clear(SessionTree(), None)

    def _clear(
        self,
        tree: SessionTree,
        previews: Previews | None,
        made_here: MadeHere = lambda _entry: False,
    ) -> None:
        self.tree = tree
        self.leaf = -1
        self.selected = -1
        self.filter = RowFilter.ALL
        self.folded: set[int] = set()
        self.labels: dict[int, str] = {}
        self.started: dict[int, str] = {}
        """Titles of the sessions that an entry started."""
        self.hits: list[int] = []
        self.current_hit = -1
        self.threads: tuple[tuple[int, int], ...] = ()
        """Pairs of entries that are joined by a line, the earlier first."""
        self.partition: Any = None
        self.has_verdicts = True
        """Whether the partition's verdicts are shown, and not its cut alone."""
        self.tells_context = True
        """Whether tips tell how large the context was."""
        self.sums: Mapping[int, tuple[int, int]] = {}
        """What some entries take and the sum up to each, in place of their sizes."""
        self.places = PathPlaces(tree.path(-1))
        self.sizes = EntrySizes(tree)
        """Tokens of the entries."""
        self.groups = bytearray()
        self.skeleton = Skeleton(tree.columns.parent, len(tree))
        self.links: list[tuple[int, int]] = []
        self.rows = Rows(self.groups, self.sizes.all)
        self._is_stale = False
        self._use(arrange(self.skeleton, -1))
        self._lines.use(previews)
        self.texts = TextCache(self, self._lines, made_here)
        self.is_complete = True
        self._rest_is_ordered = True
        self.is_open = False

    # the session -----------------------------------------------------------------------------

    def show_session(
        self,
        tree: SessionTree,
        previews: Previews,
        leaf: int,
        labels: Mapping[int, str],
        made_here: MadeHere = lambda _entry: False,
    ) -> None:
        """Show another session. A large one is laid out in the background, its end at once.

        ``made_here``: whether this program recorded an entry; asked once for what is shown."""
        self._worker.cancel()
        self._clear(tree, previews, made_here)
        self.is_open = True
        self.leaf = self.selected = leaf
        self.sizes.moved(leaf)
        self.labels = dict(labels)
        if len(tree) <= AT_ONCE:
            self.groups = categories(tree.columns)
            self._arrange_now()
        else:
            self.is_complete = self._rest_is_ordered = False
            self.skeleton, lanes = first_layout(tree, leaf, FIRST_ROWS)
            self._use(lanes)
            # What the replies hold is looked at by the layout; until then the kind must do.
            self.groups = bytearray(tree.columns.kind.translate(KIND_CATEGORY))
            QTimer.singleShot(_PATIENCE_MS, self, self._order_rest)
        self._build_rows()
        self.session_changed.emit()
        # The same number is another entry now: who shows the selected one shows this one.
        self.selection_changed.emit(self.selected)

    def clear(self) -> None:
        """Show no session."""
        self._worker.cancel()
        self._clear(SessionTree(), None)
        self.session_changed.emit()
        self.selection_changed.emit(-1)

    def close(self) -> None:
        """Wait for the background layout, whatever it is doing."""
        self._worker.close()

    @property
    def is_laying_out(self) -> bool:
        return self._worker.is_busy or not self.is_complete

    def _order(self) -> None:
        self._rest_is_ordered = True
        self._worker.start(LayoutOrder(snapshot(self.tree.columns), self.leaf))

    def first_rows_painted(self) -> None:
        """The rest of a large session is laid out now; earlier it would slow that paint down."""
        if not self._rest_is_ordered:
            QTimer.singleShot(0, self, self._order_rest)

    def _order_rest(self) -> None:
        if not self._rest_is_ordered:
            self._order()

    @property
    def pruned(self) -> Pruned:
        """The tool results that a note stands for at the leaf."""
        return self.sizes.pruned

    @property
    def shape(self) -> Shape:
        """What a person pinned and omitted, as it holds at the leaf."""
        return self.sizes.shape

    @property
    def lanes(self) -> Lanes:
        """The lanes of every entry, laid out again if the tree has branched since."""
        if self._is_stale:
            self._is_stale = False
            self._rearrange()
        return self._lanes

    @property
    def lane_count(self) -> int:
        """How many lanes are in use, without laying out anew for it."""
        return self._lanes.width()

    def _use(self, lanes: Lanes, levels: LaneLevels | None = None) -> None:
        self._lanes = lanes
        self.levels = LaneLevels(lanes) if levels is None else levels
        self.samples = Samples(self.rows, lanes)
        self._is_stale = False

    def _laid(self, laid: LayoutResult) -> None:
        self.layout_changing.emit()
        self.skeleton, self.links = laid.skeleton, laid.links
        self._use(laid.lanes, laid.levels)
        self.groups = laid.groups
        self.is_complete = True
        late = len(self.tree) > len(self.groups)
        self._take_in(len(self.groups))
        if (late or laid.lanes.leaf != self.leaf) and not self._prolong():
            self._is_stale = True
        is_other = self.sizes.measured is not None or bool(self.sizes.changed)
        self._build_rows(None if late or is_other else laid.sums)
        self.layout_changed.emit()

    def _take_in(self, first: int) -> None:
        """Categories and segments of entries that came after the layout."""
        columns = self.tree.columns
        if len(self.tree) > first:
            self.groups += categories(columns, first)
        self.skeleton.extend(columns.parent)
        at = columns.kind.find(Kind.BRANCH_SUMMARY, first)
        while at >= 0:
            origin = find_above(columns.ids, columns.branches[at].from_id, 0, at)
            if origin >= 0:
                self.links.append((at, origin))
            at = columns.kind.find(Kind.BRANCH_SUMMARY, at + 1)

    def _arrange_now(self) -> None:
        self.skeleton = Skeleton(self.tree.columns.parent)
        self.links = branch_links(self.tree.columns)
        self._use(arrange(self.skeleton, self.leaf, self.links, self.tree.columns.kind))

    def _rearrange(self) -> None:
        """New lanes after a move of the leaf or a new branch."""
        if len(self.skeleton.starts) > AT_ONCE:
            self._order()
        elif self.is_complete:
            self._use(arrange(self.skeleton, self.leaf, self.links, self.tree.columns.kind))

    def origin_of(self, summary: int) -> int:
        """Where the branch was abandoned that a branch summary tells of, -1 when unknown."""
        at = bisect_left(self.links, (summary, -1))
        known = at < len(self.links) and self.links[at][0] == summary
        return self.links[at][1] if known else -1

    def _build_rows(self, sums: array[int] | None = None) -> None:
        mask = filter_mask(self.filter, self.groups, self.labels)
        hidden = hidden_by(self.tree, self.lanes, self.folded) if self.is_complete else None
        if hidden is not None:
            shown = hidden.translate(bytes([1]) + bytes(255))
            if mask is None:
                mask = shown
            else:
                both = int.from_bytes(mask, "little") & int.from_bytes(shown, "little")
                mask = bytearray(both.to_bytes(len(mask), "little"))
        if sums is None and mask is None and self.rows.entries is None and self.rows.is_summed:
            sums = self.rows.sums if self.rows.count == len(self.groups) else None
        self.rows = Rows(self.groups, self.sizes.all, mask, sums if mask is None else None)
        self.samples = Samples(self.rows, self._lanes)

    # changes ---------------------------------------------------------------------------------

    def entries_appended(self, first: int, count: int) -> None:
        """The tree has grown. Costs as much as there are new entries, on a path that goes on."""
        self.texts.forget_unanswered()
        if not self.is_complete:
            # The layout under way starts from before; what came since is taken in at its end.
            self.groups += categories(self.tree.columns, len(self.groups))
            self._build_rows()
            self.appended.emit(first, count)
            return
        self._take_in(first)
        for entry in range(first, first + count):
            if self.rows.entries is None:
                self.rows.append(entry)
            elif self._passes(entry):
                self.rows.categories.append(self.groups[entry])
                self.rows.append(entry)
        self.samples.grow()
        if not self._prolong():
            # The leaf is about to follow; if it does not, the next paint lays out anew.
            self._is_stale = True
        self.appended.emit(first, count)

    def entries_changed(self, entries: Sequence[int]) -> None:
        """These entries say something else now; where they are stays."""
        for entry in entries:
            self.groups[entry : entry + 1] = categories(self.tree.columns, entry, entry + 1)
        self.sizes.take_changed(entries)
        self.texts.forget(entries)
        self._weigh_rows()
        self.marks_changed.emit()

    def _passes(self, entry: int) -> bool:
        mask = filter_mask(self.filter, self.groups[entry : entry + 1], [])
        if self.filter is RowFilter.LABELLED:
            return entry in self.labels
        return mask is None or bool(mask[0])

    def _prolong(self) -> bool:
        """Whether the new entries only go on from the last one, the leaf with them."""
        kinds, lanes = self.tree.columns.kind, self._lanes
        bridged = kinds.find(Kind.BRANCH_SUMMARY, lanes.count) >= 0
        if not lanes.extend(self.leaf, bridged=bridged):
            return False
        chain = lanes.chain_at(lanes.count - 1)
        self.levels.prolong(lanes.chains.lane[chain], lanes.count - 1)
        self._is_stale = False
        return True

    def set_leaf(self, leaf: int) -> None:
        """Move the leaf; the lanes follow."""
        if leaf == self.leaf:
            return
        old, self.leaf = self.leaf, leaf
        if self.sizes.moved(leaf):
            self._weigh_rows()
        if not self.is_complete:
            self._order()
        elif not self._prolong():
            self.layout_changing.emit()
            self._is_stale = True
            if self.folded:
                self._build_rows()
            self.layout_changed.emit()
        self.leaf_changed.emit(old, leaf)

    def set_filter(self, choice: RowFilter) -> None:
        if choice is not self.filter:
            self.layout_changing.emit()
            self.filter = choice
            self._build_rows()
            self.layout_changed.emit()

    def set_folded(self, compactions: Iterable[int]) -> None:
        """Fold exactly these compactions."""
        wanted = {at for at in compactions if at in self.tree.columns.compactions}
        if wanted != self.folded:
            self.layout_changing.emit()
            closing = wanted - self.folded
            if closing:
                self.fold_closing.emit(max(closing))
            self.folded = wanted
            was_shown = self.rows.row(self.selected) >= 0
            self._build_rows()
            self.layout_changed.emit()
            if closing and was_shown and self.rows.row(self.selected) < 0:
                # What stands for the selected entry now is selected in its place.
                later = [at for at in closing if at > self.selected]
                self.select(min(later) if later else max(closing))
            if closing:
                self.fold_closed.emit()

    def toggle_fold(self, compaction: int) -> None:
        self.set_folded(self.folded ^ {compaction})

    def fold(self, compaction: int) -> Fold | None:
        """What a compaction entry summarized; None for other entries."""
        if compaction not in self.tree.columns.compactions:
            return None
        measured = self.sizes.measured
        return self.texts.fold(compaction, lambda entry: fold_of(self.tree, entry, measured))

    # marks -----------------------------------------------------------------------------------

    def select(self, entry: int) -> None:
        """Select an entry (-1: none)."""
        entry = entry if 0 <= entry < len(self.tree) else -1
        if entry != self.selected:
            self.selected = entry
            self.selection_changed.emit(entry)

    def uncover(self, entry: int) -> None:
        """Make sure that an entry has a row: opens what folds it, drops a filter that hides it."""
        if self.rows.row(entry) >= 0 or not 0 <= entry < len(self.tree):
            return
        self.layout_changing.emit()
        opened = {at for at in self.folded if (fold := self.fold(at)) and entry in fold.folded}
        self.folded = self.folded - opened
        self._build_rows()
        if self.rows.row(entry) < 0:
            self.filter = RowFilter.ALL
            self._build_rows()
        if self.rows.row(entry) < 0:
            self.folded = set()
            self._build_rows()
        self.layout_changed.emit()

    def set_hits(self, hits: Sequence[int], current: int) -> None:
        self.hits = sorted(set(hits))
        self.current_hit = current
        self.marks_changed.emit()

    def set_threads(self, threads: tuple[tuple[int, int], ...]) -> None:
        """Join these pairs of entries by lines, and no others."""
        if threads != self.threads:
            self.threads = threads
            self.threads_changed.emit()

    def is_hit(self, entry: int) -> bool:
        at = bisect_left(self.hits, entry)
        return at < len(self.hits) and self.hits[at] == entry

    def set_labels(self, labels: Mapping[int, str]) -> None:
        self.labels = dict(labels)
        if self.filter is RowFilter.LABELLED:
            self.layout_changing.emit()
            self._build_rows()
            self.layout_changed.emit()
        self.marks_changed.emit()

    def set_started(self, titles: Mapping[int, str]) -> None:
        """Mark the entries that started other sessions, with those sessions' titles."""
        self.started = dict(titles)
        self.marks_changed.emit()

    def set_weights(self, weights: Sequence[int] | None) -> None:
        """Set tokens per entry by another counter; None goes back to the estimate."""
        self.sizes = EntrySizes(self.tree, self.leaf, weights)
        self.texts.forget_folds()
        self._weigh_rows()
        self.marks_changed.emit()

    def _weigh_rows(self) -> None:
        """Rows whose entries take other tokens than before."""
        self.rows = Rows(self.groups, self.sizes.all)
        self._build_rows()

    def set_sums(self, sums: Mapping[int, tuple[int, int]]) -> None:
        """Show what entries take with a running sum; an empty mapping: their sizes."""
        if sums or self.sums:
            self.sums = sums
            self.marks_changed.emit()

    def set_partition(self, partition: Any, with_verdicts: bool = True) -> None:
        self.partition, self.has_verdicts = partition, with_verdicts
        self.places = PathPlaces(self.tree.path(-1) if partition is None else partition.path)
        self.marks_changed.emit()
