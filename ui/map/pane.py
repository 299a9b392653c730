"""The session map as the window uses it: bar, map, minimap and list over one model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QMargins, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QSizePolicy,
    QSplitter,
    QToolButton,
    QWidget,
)

from explorer.session.records import Previews
from explorer.session.tree import SessionTree
from ui.map.canvas import Level
from ui.map.interactions import compaction_entry
from ui.map.minimap import MiniMap
from ui.map.model import MapModel
from ui.map.outline import OutlineView
from ui.map.rows import FILTER_TITLES, RowFilter
from ui.map.view import MapView
from ui.theme import S4, S8, S12, S16, bind_icon, scaled, theme_signals
from ui.widgets.choice import ChoiceBox
from ui.widgets.panels import column_in, row_in

_FILTER_TIPS = (
    "Every entry",
    "Without tool calls, their results and shell commands",
    "What the person wrote",
    "Entries with a label",
    "Compactions and context resets",
)
LEVEL_TITLES = {Level.ENTRIES: "entries", Level.TURNS: "turns", Level.SPANS: "branches"}


def _tool(text: str, tip: str, *, checks: bool = False) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setCheckable(checks)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button


class Shown(IntEnum):
    """What the pane shows."""

    MAP = 0
    BOTH = 1
    LIST = 2


class MapBar(QWidget):
    """Filters at the left, folds, view and zoom at the right."""

    filter_chosen = Signal(RowFilter)
    fold_all_toggled = Signal(bool)
    shown_chosen = Signal(Shown)
    zoom_in = Signal()
    zoom_out = Signal()
    fit = Signal()
    actual = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName("Map tools")
        row = row_in(self, S4, (S12, S4, S8, S4))
        self._add_filters(row)
        row.addStretch(1)
        self.fold = self._button(row, "compaction", "Fold what compactions summarized", checks=True)
        self.fold.toggled.connect(self.fold_all_toggled)
        self._rule(row)
        self._add_shown(row)
        self._zoom_rule = self._rule(row)
        self._add_zoom(row)

    def _add_filters(self, row: QHBoxLayout) -> None:
        self.filters = QButtonGroup(self)
        self._segments: list[QToolButton] = []
        self.filter_list = ChoiceBox()
        policy = QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        self.filter_list.setSizeAdjustPolicy(policy)
        self.filter_list.setMinimumContentsLength(6)
        self.filter_list.setAccessibleName("Entries to show")
        for choice in RowFilter:
            title, tip = FILTER_TITLES[choice], _FILTER_TIPS[choice]
            button = _tool(title, tip, checks=True)
            button.setAccessibleName(f"Show: {title}")
            self.filters.addButton(button, choice)
            self._segments.append(button)
            row.addWidget(button)
            self.filter_list.addItem(title, choice)
            self.filter_list.setItemData(choice, tip, Qt.ItemDataRole.ToolTipRole)
        self._segments[0].setChecked(True)
        row.addWidget(self.filter_list)
        self.filter_list.hide()
        self.filters.idToggled.connect(self._toggle)
        self.filter_list.activated.connect(self._choose)

    def _toggle(self, choice: int, is_on: bool) -> None:
        """Screen readers toggle a button where a mouse clicks it."""
        if is_on:
            self._choose(choice)

    def _choose(self, choice: int) -> None:
        self.filter_chosen.emit(RowFilter(choice))

    def _add_shown(self, row: QHBoxLayout) -> None:
        self.shown = QButtonGroup(self)
        for what, name, tip in (
            (Shown.MAP, "map", "Map"),
            (Shown.BOTH, "panel-right", "Map and list side by side"),
            (Shown.LIST, "list", "List"),
        ):
            self.shown.addButton(self._button(row, name, tip, checks=True), what)
        self.shown.button(Shown.MAP).setChecked(True)
        self.shown.idToggled.connect(self._toggle_shown)

    def _toggle_shown(self, what: int, is_on: bool) -> None:
        if is_on:
            self.shown_chosen.emit(Shown(what))

    def _add_zoom(self, row: QHBoxLayout) -> None:
        self.out_button = self._button(row, "zoom-out", "Zoom out (−)")
        self.out_button.clicked.connect(self.zoom_out)
        self.zoom = _tool("100 %", "Actual size (1)")
        self.zoom.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.zoom.clicked.connect(self.actual)
        row.addWidget(self.zoom)
        self.in_button = self._button(row, "zoom-in", "Zoom in (+)")
        self.in_button.clicked.connect(self.zoom_in)
        self.fit_button = self._button(row, "fit", "Fit the whole session (0)")
        self.fit_button.clicked.connect(self.fit)

    def _button(
        self, row: QHBoxLayout, name: str, tip: str, *, checks: bool = False
    ) -> QToolButton:
        button = _tool("", tip, checks=checks)
        button.setAccessibleName(tip.partition(" (")[0])
        bind_icon(button, name, "ink")
        row.addWidget(button)
        return button

    def _rule(self, row: QHBoxLayout) -> QFrame:
        rule = QFrame()
        rule.setProperty("line", "v")
        rule.setFixedHeight(16)
        row.addSpacing(S4)
        row.addWidget(rule)
        row.addSpacing(S4)
        return rule

    def show_filter(self, choice: RowFilter) -> None:
        """Mark the filter in force."""
        self._segments[choice].setChecked(True)
        self.filter_list.setCurrentIndex(choice)

    def show_folds(self, every: bool, any_compaction: bool) -> None:
        """Show whether all compactions are folded, and whether there are any to fold."""
        self.fold.blockSignals(True)
        self.fold.setChecked(every and any_compaction)
        self.fold.blockSignals(False)
        self.fold.setEnabled(any_compaction)

    def show_room(self, wide: bool, list_alone: bool) -> None:
        """How map and list share the room when both are asked for."""
        words = "Map and list side by side" if wide else "Map above list"
        if list_alone:
            words = "Map and list: there is room for the list alone"
        button = self.shown.button(Shown.BOTH)
        button.setToolTip(words)
        button.setAccessibleName(words)

    def show_zoom(self, zoom: float, level: Level) -> None:
        """Show the factor where entries are shown, farther away what a row of the map is."""
        percent = zoom * 100
        number = f"{percent:.0f} %" if percent >= 1 else f"{percent:.2g} %"
        title = LEVEL_TITLES[level]
        self.zoom.setText(number if level is Level.ENTRIES else title)
        self.zoom.setToolTip(f"{number}, showing {title}. Press for the actual size (1)")
        self.zoom.setAccessibleName(f"Zoom {number}, showing {title}. Actual size")
        widest = self.zoom.fontMetrics().horizontalAdvance(LEVEL_TITLES[Level.SPANS])
        self.zoom.setFixedWidth(widest + S16)

    def _widths(self) -> tuple[int, int, int]:
        """The least width with filters as buttons, with them as a list, and without zoom."""
        list_width = self.filter_list.minimumSizeHint().width()
        zooms = [self.out_button, self.in_button, self.fit_button]
        rest = [self.fold, *(self.shown.button(shown) for shown in Shown)]
        layout = self.layout()
        inner = layout.contentsMargins() if layout is not None else QMargins()
        margins = self.contentsMargins() + inner
        around = margins.left() + margins.right() + 2 * (1 + 3 * S4)
        least = around + list_width + sum(button.sizeHint().width() + S4 for button in rest)
        listed = least + sum(button.sizeHint().width() + S4 for button in zooms)
        buttons = sum(button.sizeHint().width() + S4 for button in self._segments)
        return listed + buttons - list_width + self.zoom.width() + S4, listed, least

    def minimumSizeHint(self) -> QSize:
        """Room for the narrowest form; the keys and the wheel zoom where the buttons are gone."""
        return QSize(self._widths()[2], super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.make_room()

    def make_room(self) -> None:
        """Take the form that fits: filters as buttons or as a list, with or without zoom."""
        with_buttons, with_zoom, _ = self._widths()
        roomy = self.width() >= with_buttons + S8
        zooms = self.width() >= with_zoom
        for button in self._segments:
            button.setVisible(roomy)
        self.zoom.setVisible(roomy)
        self.filter_list.setVisible(not roomy)
        for part in (self.out_button, self.in_button, self.fit_button, self._zoom_rule):
            part.setVisible(zooms)


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
        self.bar = MapBar(self)
        self.shown = Shown.MAP
        """The map, the list, or both."""
        self._lay_out()
        self._connect()
        self._show_state()
        self.minimap.set_inks(self.view.inks)

    def _lay_out(self) -> None:
        self._split = QSplitter(Qt.Orientation.Horizontal, self)
        drawn = QWidget(self._split)
        row = row_in(drawn, 0)
        row.addWidget(self.view, 1)
        row.addWidget(self.minimap)
        self._drawn = drawn
        self._split.setChildrenCollapsible(False)
        self._split.addWidget(drawn)
        self._split.addWidget(self.outline)
        self._split.setStretchFactor(0, 3)
        self._split.setStretchFactor(1, 2)
        self.outline.hide()
        rule = QFrame(self)
        rule.setProperty("line", "h")
        column = column_in(self, 0)
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
        previews: Previews,
        leaf: int,
        labels: Mapping[int, str] | None = None,
        made_here: Callable[[int], bool] = lambda _entry: False,
    ) -> None:
        """Show a session with its leaf selected.

        ``previews`` gives the words of rows and is asked for those visible and near them;
        ``made_here`` says whether this program recorded an entry: its figures are exact.
        """
        self.model.show_session(tree, previews, leaf, labels or {}, made_here)

    def clear(self) -> None:
        """Show no session."""
        self.model.clear()

    def entries_appended(self, first: int, count: int) -> None:
        """Show entries that were appended, from ``first`` on."""
        self.model.entries_appended(first, count)

    def entries_changed(self, entries: Sequence[int]) -> None:
        """Read these entries again: they have changed."""
        self.model.entries_changed(entries)
        self.minimap.refresh()

    def set_leaf(self, entry: int) -> None:
        """Set the leaf; -1: before the first entry."""
        self.model.set_leaf(entry)

    def set_partition(self, partition: Any, with_verdicts: bool = True) -> None:
        """Draw a ``compaction.partition.Partition`` over its path, or nothing for None; without
        its verdicts its cut alone."""
        self.model.set_partition(partition, with_verdicts)
        self.minimap.update()

    def tell_context(self, tells: bool) -> None:
        """Whether the tips of replies tell how large the context was."""
        self.model.tells_context = tells

    def set_sums(self, sums: Mapping[int, tuple[int, int]]) -> None:
        """Show tokens of entries with the sum up to each, in place of their sizes; or no more."""
        self.model.set_sums(sums)

    def set_labels(self, labels: Mapping[int, str]) -> None:
        self.model.set_labels(labels)

    def set_started(self, titles: Mapping[int, str]) -> None:
        """Mark the entries that started other sessions, with those sessions' titles."""
        self.model.set_started(titles)

    def set_weights(self, weights: Sequence[int] | None) -> None:
        """Set tokens per entry as another counter gives them; None: the estimate."""
        self.model.set_weights(weights)
        self.minimap.refresh()

    def set_hits(self, hits: Sequence[int], current: int = -1) -> None:
        """Mark what a search found; ``current`` is brought on screen."""
        self.model.set_hits(hits, current)
        if current >= 0:
            self.model.uncover(current)
            self.view.reveal(current, centre=True)

    def set_threads(self, threads: tuple[tuple[int, int], ...]) -> None:
        """Join these pairs of entries by a thin line, the earlier first; none for ()."""
        self.model.set_threads(threads)

    def select(self, index: int, reveal: bool = True) -> None:
        """Select an entry (-1: none), and bring it on screen, whatever hides it."""
        if reveal:
            self.model.uncover(index)
        self.model.select(index)
        if reveal:
            self.view.reveal(index, centre=True)

    def select_compaction(self, direction: int) -> None:
        """Select the previous (-1) or next (1) compaction, if one is shown there."""
        entry = compaction_entry(self.model, direction)
        if entry >= 0:
            self.select(entry)

    def bring(self, entry: int) -> None:
        """Scroll to an entry by as little as shows it, whatever hides it."""
        self.model.uncover(entry)
        self.view.bring(entry)

    def bring_cut(self) -> None:
        """Scroll by as little as shows the rows above and below the cut."""
        partition = self.model.partition
        if partition is not None and partition.cut >= 0:
            for position in (max(0, partition.cut - 1), partition.cut):
                self.bring(partition.path[position])

    def follow_cut(self) -> None:
        """Scroll until there are rows above and below the cut, where it is shown: nothing is
        unfolded and no filter changed."""
        partition = self.model.partition
        if partition is not None and partition.cut >= 0:
            for position in (max(0, partition.cut - 1), partition.cut):
                if self.model.rows.row(partition.path[position]) >= 0:
                    self.view.reveal(partition.path[position], centre=True)

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

    @property
    def filter(self) -> RowFilter:
        """What is left out."""
        return self.model.filter

    @property
    def folded(self) -> Collection[int]:
        """The compactions that are folded."""
        return self.model.folded

    @property
    def is_complete(self) -> bool:
        """Whether all rows are laid out."""
        return self.model.is_complete

    def set_folded(self, compactions: Iterable[int]) -> None:
        """Fold these compactions and no others."""
        self.model.set_folded(compactions)

    def set_filter(self, choice: RowFilter) -> None:
        self.model.set_filter(choice)

    def reveal(self, entry: int) -> None:
        """Scroll to an entry without selecting it."""
        self.view.reveal(entry, centre=True)

    def fold_all(self, fold: bool = True) -> None:
        """Fold, or unfold, what every compaction summarized."""
        self.model.set_folded(self.model.tree.columns.compactions if fold else ())

    def show_as(self, shown: Shown) -> None:
        """Show the map, the list, or both."""
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
        """Fit the whole session to the view."""
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
