"""The slim bar over the map: which entries, map or list, folds, zoom."""

from __future__ import annotations

from enum import IntEnum

from PySide6.QtCore import QMargins, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from ui.map.geometry import Level
from ui.map.rows import FILTER_TITLES, RowFilter
from ui.theme import S4, S8, S12, S16, bind_icon
from ui.widgets.choice import Choice

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

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("surface", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName("Map tools")
        row = QHBoxLayout(self)
        row.setContentsMargins(S12, S4, S8, S4)
        row.setSpacing(S4)
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
        self.filter_list = Choice()
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
        self.filters.idClicked.connect(self._choose)
        self.filter_list.activated.connect(self._choose)

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
        self.shown.idClicked.connect(lambda what: self.shown_chosen.emit(Shown(what)))

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
        """Whether all compactions are folded, and whether there are any to fold."""
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
        """The factor where entries are shown, farther away what a row of the map is."""
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
