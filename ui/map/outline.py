"""The rows of the map as a list: for the keyboard, for screen readers, and for reading along."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QContextMenuEvent, QFontMetrics, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from explorer.audit.provenance import weight_known
from ui.audit.known import entry_figure, reason
from ui.map.interactions import (
    branch_point_entry,
    edge_entry,
    entry_to_left,
    entry_to_right,
    turn_entry,
)
from ui.map.model import MapModel
from ui.theme import (
    icon,
    mono_font,
    role_icon,
    role_name,
    role_token,
    scaled,
    theme,
    theme_signals,
)
from ui.widgets.labels import elided
from ui.widgets.row_lines import is_of_tool

Index = QModelIndex | QPersistentModelIndex
NUMBER, ROLE, TEXT, TOKENS = range(4)
_TITLES = ("#", "Role", "Entry", "Tokens")
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
Role = Qt.ItemDataRole
OF_TOOL = int(Role.UserRole)
"""Whether the line is what a tool did."""


class OutlineModel(QAbstractTableModel):
    """The shown rows of a ``MapModel`` as a table; reads only what is asked for."""

    def __init__(self, model: MapModel) -> None:
        super().__init__()
        self._model = model
        self._count = model.rows.count
        self._mono = mono_font()
        model.appended.connect(self._appended)

    def refresh(self) -> None:
        """Show rows that were added or removed."""
        self.beginResetModel()
        self._count = self._model.rows.count
        self._mono = mono_font()
        self.endResetModel()

    def repaint(self) -> None:
        """Repaint words and colours; the rows stay."""
        self._mono = mono_font()
        if self._count:
            self.dataChanged.emit(self.index(0, 0), self.index(self._count - 1, TOKENS))

    def repaint_words(self, entries: Sequence[int]) -> None:
        """Repaint entries whose words were completed."""
        rows = [row for row in map(self._model.rows.row, entries) if 0 <= row < self._count]
        if rows:
            self.dataChanged.emit(self.index(min(rows), TEXT), self.index(max(rows), TEXT))

    def _appended(self) -> None:
        count = self._model.rows.count
        if count > self._count:
            self.beginInsertRows(QModelIndex(), self._count, count - 1)
            self._count = count
            self.endInsertRows()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else self._count

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(_TITLES)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        if orientation == Qt.Orientation.Horizontal:
            if role == Role.DisplayRole:
                return _TITLES[section]
            if role == Role.ToolTipRole and section == TOKENS:
                return reason("Tokens", weight_known(self._model.sizes.measured is not None))
            if role == Role.TextAlignmentRole:
                left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
                return _RIGHT if section in (NUMBER, TOKENS) else left
        return None

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        row = index.row()
        if not 0 <= row < min(self._count, self._model.rows.count):
            return None
        entry, column = self._model.rows.entry(row), index.column()
        if role == Role.DisplayRole:
            return self._shown(entry, column)
        if role == Role.AccessibleTextRole:
            return self._model.texts.describe(entry) if column == TEXT else None
        if role == Role.ToolTipRole:
            return "\n".join(self._model.texts.tip(entry))
        return self._looks(entry, column, role)

    def _shown(self, entry: int, column: int) -> str:
        columns = self._model.tree.columns
        if column == NUMBER:
            return f"{entry}"
        if column == ROLE:
            return role_name(columns.kind[entry], columns.flags[entry])
        if column == TOKENS:
            return entry_figure(columns, entry, self._model.sizes[entry])
        label = self._model.labels.get(entry)
        line = self._model.texts.line(entry)
        return f"{line}  [{label}]" if label else line

    def _looks(self, entry: int, column: int, role: int) -> Any:
        columns = self._model.tree.columns
        kind, flags = columns.kind[entry], columns.flags[entry]
        if role == Role.TextAlignmentRole:
            return _RIGHT if column in (NUMBER, TOKENS) else None
        if role == Role.FontRole:
            return self._mono if column in (NUMBER, TOKENS) else None
        if role == Role.DecorationRole and column == TEXT:
            return icon(role_icon(kind, flags), role_token(kind, flags))
        if role == OF_TOOL:
            return is_of_tool(kind, flags)
        if role == Role.ForegroundRole:
            quiet = column != TEXT or not self._model.lanes.is_active(entry)
            return theme().dim if quiet else theme().ink
        return None


class LineDelegate(QStyledItemDelegate):
    """Cuts first lines as the map does."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index, /) -> None:
        super().initStyleOption(option, index)
        room = option.rect.width() - option.decorationSize.width() - scaled(16)
        tool = bool(index.data(OF_TOOL))
        option.text = elided(option.fontMetrics, option.text, room, keep_end=tool)


class OutlineView(QTableView):
    """The list, always with the map's selection."""

    chosen = Signal(int)
    """Enter or double click on an entry."""
    menu_requested = Signal(int, QPoint)

    def __init__(self, model: MapModel) -> None:
        super().__init__()
        self._map = model
        self._following = False
        self._stale = False
        self.outline = OutlineModel(model)
        self.setModel(self.outline)
        self.setItemDelegateForColumn(TEXT, LineDelegate(self))
        self._set_up()
        model.session_changed.connect(self._refresh)
        model.layout_changed.connect(self._refresh)
        model.marks_changed.connect(self.outline.repaint)
        model.leaf_changed.connect(self.outline.repaint)
        model.words_arrived.connect(self.outline.repaint_words)
        model.selection_changed.connect(self._follow)
        theme_signals.changed.connect(self._look_changed)
        self.selectionModel().currentRowChanged.connect(self._chose)
        self.doubleClicked.connect(self._activate)

    def _set_up(self) -> None:
        self.setAccessibleName("Outline of the session")
        self.setAccessibleDescription("The entries of the map as a list")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        header.setSectionResizeMode(TEXT, QHeaderView.ResizeMode.Stretch)
        self._measure()

    def _measure(self) -> None:
        metrics = QFontMetrics(mono_font())
        self.setIconSize(QSize(scaled(16), scaled(16)))
        self.verticalHeader().setDefaultSectionSize(round(self.fontMetrics().height() * 1.7))
        self.setColumnWidth(NUMBER, metrics.horizontalAdvance("0000000") + 16)
        self.setColumnWidth(ROLE, self.fontMetrics().horizontalAdvance("branch summary") + 16)
        self.setColumnWidth(TOKENS, metrics.horizontalAdvance("00,000,00") + 16)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A narrow list keeps what no other column shows: the glyph tells the role."""
        super().resizeEvent(event)
        unit = self.fontMetrics().height()
        self.setColumnHidden(ROLE, self.width() < 30 * unit)
        self.setColumnHidden(TOKENS, self.width() < 18 * unit)

    def _look_changed(self) -> None:
        self._measure()
        self.outline.repaint()
        # Rows have another height now: the selected one stays visible.
        QTimer.singleShot(0, self, self._follow)

    def _refresh(self) -> None:
        """A hidden list waits until it is shown."""
        if not self.isVisible():
            self._stale = True
            return
        self._stale = False
        self._following = True
        self.outline.refresh()
        self._following = False
        self._follow()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh()

    def _follow(self) -> None:
        """Show the map's selection."""
        if self._stale:
            return
        row = self._map.rows.row(self._map.selected)
        index = self.outline.index(row, TEXT) if row >= 0 else QModelIndex()
        self._following = True
        self.setCurrentIndex(index)
        if not index.isValid():
            self.clearSelection()
        elif self.isVisible():
            self.scrollTo(index)
        self._following = False

    def _chose(self, current: QModelIndex) -> None:
        if not self._following and current.isValid():
            self._map.select(self._map.rows.entry(current.row()))

    def _activate(self, index: QModelIndex) -> None:
        if index.isValid():
            self.chosen.emit(self._map.rows.entry(index.row()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter goes there; left, right, turns and brackets as on the map."""
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        target = -1
        match event.key():
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self._activate(self.currentIndex())
            case Qt.Key.Key_Left:
                target = entry_to_left(self._map)
            case Qt.Key.Key_Right:
                target = entry_to_right(self._map)
            case Qt.Key.Key_BracketLeft | Qt.Key.Key_BracketRight:
                forward = event.key() == Qt.Key.Key_BracketRight
                target = branch_point_entry(self._map, 1 if forward else -1)
            case Qt.Key.Key_Up | Qt.Key.Key_Down if control:
                target = turn_entry(self._map, 1 if event.key() == Qt.Key.Key_Down else -1)
            case Qt.Key.Key_Home | Qt.Key.Key_End:
                target = edge_entry(self._map, event.key() == Qt.Key.Key_End)
            case _:
                super().keyPressEvent(event)
        if target >= 0:
            self._map.select(target)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        place = event.globalPos()
        if event.reason() != QContextMenuEvent.Reason.Mouse and self.currentIndex().isValid():
            rect = self.visualRect(self.currentIndex())
            place = self.viewport().mapToGlobal(rect.bottomLeft())
        if self._map.selected >= 0:
            self.menu_requested.emit(self._map.selected, place)
