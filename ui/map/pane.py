"""The session map as the window uses it: bar, map, minimap and list over one model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from explorer.session.tree import SessionTree
from ui.map.bar import MapBar, Shown
from ui.map.minimap import MiniMap
from ui.map.model import MapModel
from ui.map.outline import OutlineView
from ui.map.rows import RowFilter
from ui.map.view import MapView
from ui.theme import scaled, theme_signals

WIDE = 640
"""Width at a text scale of 100 % from which map and list can be read side by side."""

NARROW = 320
"""Width at a text scale of 100 % from which there is room for the overview beside the map."""

TALL = 260
"""Height at a text scale of 100 % from which they can be read one below the other."""


class MapPane(QWidget):
    """The session's tree over time. Entries are named by index, the cut by its position on the
    partition's path."""

    selection_changed = Signal(int)
    activated = Signal(int)
    """Enter or double click."""
    cut_dragged = Signal(int)
    """The cut is over this valid position, the mouse still down."""
    cut_dropped = Signal(int)
    """The cut is to be here."""
    menu_requested = Signal(int, QPoint)
    shape_asked = Signal(str, int)
    """``pin`` or ``omit``, and the entry that is to be, or to be no longer."""
    """Entry and global place of a context menu."""
    layout_failed = Signal(object)
    """The exception that ended a background layout."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = MapModel(self)
        self.view = MapView(self.model)
        self.minimap = MiniMap(self.model, self._seen)
        self.outline = OutlineView(self.model)
        self.bar = MapBar()
        self.shown = Shown.MAP
        """The map, the list, or both."""
        self._lay_out()
        self._connect()
        self._show_state()
        self.minimap.set_inks(self.view.inks)

    def _lay_out(self) -> None:
        drawn = QWidget()
        row = QHBoxLayout(drawn)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.view, 1)
        row.addWidget(self.minimap)
        self._drawn = drawn
        self._split = QSplitter(Qt.Orientation.Horizontal)
        self._split.setChildrenCollapsible(False)
        self._split.addWidget(drawn)
        self._split.addWidget(self.outline)
        self._split.setStretchFactor(0, 3)
        self._split.setStretchFactor(1, 2)
        self.outline.hide()
        rule = QFrame()
        rule.setProperty("line", "h")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.bar)
        column.addWidget(rule)
        column.addWidget(self._split, 1)
        self.setFocusProxy(self.view)

    def _connect(self) -> None:
        model, view, bar = self.model, self.view, self.bar
        model.selection_changed.connect(self.selection_changed)
        model.session_changed.connect(self._show_state)
        model.layout_changed.connect(self._show_state)
        model.appended.connect(self._show_state)
        model.layout_failed.connect(self.layout_failed)
        view.activated.connect(self.activated)
        view.cut_dragged.connect(self.cut_dragged)
        view.cut_dropped.connect(self.cut_dropped)
        view.menu_requested.connect(self.menu_requested)
        view.shape_asked.connect(self.shape_asked)
        view.view_changed.connect(self._view_changed)
        self.outline.chosen.connect(self.activated)
        self.outline.menu_requested.connect(self.menu_requested)
        self.minimap.moved.connect(view.scroll_to_row)
        bar.filter_chosen.connect(model.set_filter)
        bar.fold_all_toggled.connect(self.fold_all)
        bar.shown_chosen.connect(self.show_as)
        bar.zoom_in.connect(view.zoom_in)
        bar.zoom_out.connect(view.zoom_out)
        bar.fit.connect(view.fit)
        bar.actual.connect(view.actual)
        theme_signals.changed.connect(self._look_changed)

    # what the window tells it ------------------------------------------------------------------

    def show_session(
        self,
        tree: SessionTree,
        previews: Callable[[Sequence[int]], list[str]],
        leaf: int,
        labels: Mapping[int, str] | None = None,
        compaction_titles: Mapping[int, str] | None = None,
        made_here: Callable[[int], bool] = lambda _entry: False,
    ) -> None:
        """Show a session with its leaf selected.

        ``previews`` gives first lines by entry and is called for visible rows only;
        ``compaction_titles`` replaces the line that is otherwise written for a compaction, and
        ``made_here`` says whether this program recorded an entry: its figures are exact.
        """
        self.model.show_session(
            tree, previews, leaf, labels or {}, compaction_titles or {}, made_here
        )

    def clear(self) -> None:
        """Show no session."""
        self.model.clear()

    def entries_appended(self, first: int, count: int) -> None:
        """The tree has grown by so many entries from this one on."""
        self.model.entries_appended(first, count)

    def set_leaf(self, entry: int) -> None:
        """The leaf has moved; -1: before the first entry."""
        self.model.set_leaf(entry)

    def set_partition(self, partition: Any) -> None:
        """Draw a ``compaction.partition.Partition`` over its path, or nothing for None."""
        self.model.set_partition(partition)
        self.minimap.update()

    def set_labels(self, labels: Mapping[int, str]) -> None:
        self.model.set_labels(labels)

    def set_compaction_titles(self, titles: Mapping[int, str]) -> None:
        self.model.set_titles(titles)

    def set_weights(self, weights: Sequence[int] | None) -> None:
        """Tokens per entry as another counter gives them; None: the estimate."""
        self.model.set_weights(weights)
        self.minimap.refresh()

    def set_hits(self, hits: Sequence[int], current: int = -1) -> None:
        """Mark what a search found; ``current`` is brought on screen."""
        self.model.set_hits(hits, current)
        if current >= 0:
            self.model.uncover(current)
            self.view.reveal(current, centre=True)

    def select(self, index: int, reveal: bool = True) -> None:
        """Select an entry (-1: none), and bring it on screen, whatever hides it."""
        if reveal:
            self.model.uncover(index)
        self.model.select(index)
        if reveal:
            self.view.reveal(index, centre=True)

    def show_cut(self) -> None:
        """Bring the cut on screen; what is selected stays so."""
        partition = self.model.partition
        if partition is not None and partition.cut >= 0:
            entry = partition.path[partition.cut]
            self.model.uncover(entry)
            self.view.reveal(entry, centre=True)

    @property
    def selected(self) -> int:
        """The selected entry, -1 for none."""
        return self.model.selected

    def set_filter(self, choice: RowFilter) -> None:
        self.model.set_filter(choice)

    def fold_all(self, fold: bool = True) -> None:
        """Fold, or unfold, what every compaction summarized."""
        self.model.set_folded(self.model.tree.columns.compactions if fold else ())

    def show_as(self, shown: Shown) -> None:
        """The map, the list, or both."""
        self.shown = shown
        had_focus = self.view.hasFocus() or self.outline.hasFocus()
        self.bar.shown.button(shown).setChecked(True)
        self._share_room()
        main: QWidget = self.view if self._drawn.isVisibleTo(self) else self.outline
        self.setFocusProxy(main)
        if had_focus:
            main.setFocus()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_room()

    def _share_room(self) -> None:
        """Both side by side where both can be read, else one below the other, else the list."""
        wide = self.width() >= scaled(WIDE)
        both = self.shown is Shown.BOTH
        is_low = both and not wide and self.height() < scaled(TALL)
        # Beside a narrow map the overview takes more than it tells.
        self.minimap.setVisible(self.width() >= scaled(NARROW))
        self._drawn.setVisible(self.shown is not Shown.LIST and not is_low)
        self.outline.setVisible(self.shown is not Shown.MAP)
        way = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if self._split.orientation() is not way:
            self._split.setOrientation(way)
        self.bar.show_room(wide, both and is_low)

    def restore(self, shown: str) -> None:
        """Show what ``shown`` was called when the window was closed; others leave it as it is."""
        if shown in Shown.__members__:
            self.show_as(Shown[shown])

    def zoom_in(self) -> None:
        self.view.zoom_in()

    def zoom_out(self) -> None:
        self.view.zoom_out()

    def fit(self) -> None:
        """The whole session on screen."""
        self.view.fit()

    def actual(self) -> None:
        """100 %."""
        self.view.actual()

    def shutdown(self) -> None:
        """End the background layout; call before the window closes."""
        self.model.close()

    # what it tells itself ------------------------------------------------------------------------

    def _seen(self) -> tuple[float, float, int]:
        """For the minimap: the rows on screen, and the entry that the cut lies before."""
        geometry = self.view.geometry_now()
        last = (geometry.height + geometry.offset) / geometry.row_height
        cut = self.view.cut_now()
        entry = self.model.partition.path[cut] if cut >= 0 else -1
        return geometry.offset / geometry.row_height, min(last, float(geometry.rows)), entry

    def _view_changed(self) -> None:
        self.minimap.update()
        self.bar.show_zoom(self.view.zoom, self.view.level)

    def _show_state(self) -> None:
        compactions = self.model.tree.columns.compactions
        self.bar.show_filter(self.model.filter)
        self.bar.show_folds(self.model.folded.issuperset(compactions), bool(compactions))
        self._view_changed()

    def _look_changed(self) -> None:
        self.bar.make_room()
        self._share_room()
        self.minimap.set_inks(self.view.inks)
        self._show_state()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.minimap.set_inks(self.view.inks)
