"""The one table: columns as data, a model over any sequence of rows, and a view.

A feature describes its columns and calls ``TableModel.show`` with its rows. Rows may be numbers
that the column functions look up, so a table of 100,000 entries holds no cell in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QAction,
    QColor,
    QContextMenuEvent,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QHeaderView,
    QMenu,
    QTableView,
    QWidget,
)

from ui.theme import S4, S12, S16, mono_font, on_theme_changed, scaled, small_font, theme

Index = QModelIndex | QPersistentModelIndex
Row = TypeVar("Row")

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter

ROW = int(Qt.ItemDataRole.UserRole) + 64
"""The row object of an index."""


@dataclass(frozen=True)
class Column(Generic[Row]):
    """One column: its heading, and functions from a row to what a cell shows."""

    title: str
    text: Callable[[Row], str]
    alignment: Qt.AlignmentFlag = LEFT
    sort_key: Callable[[Row], Any] | None = None
    """Orders the rows by this column; None: the column cannot be sorted by."""
    tip: str = ""
    """Tool tip of the heading."""
    width: int = 0
    """Pixels at a text scale of 100 %; 0: as wide as a figure where the text stands at the right,
    else as wide as Qt makes it."""
    stretch: bool = False
    """Whether the column takes the room that the others leave."""
    fits: bool = False
    """Whether the column is as wide as its cells; for tables of few rows."""
    shown_from: int = 0
    """Width of the table from which the column is shown, in pixels at a text scale of 100 %."""
    detail: Callable[[Row], str | None] | None = None
    """Tool tip of a cell."""
    spoken: Callable[[Row], str] | None = None
    """A cell for screen readers; None: its text."""
    colour: Callable[[Row], QColor | None] | None = None
    """Colour of a cell's text; None: that of the palette."""
    font: Callable[[Row], QFont | None] | None = None
    """Font of a cell; None: that of the table."""

    def heading(self, role: int) -> Any:
        """What the heading answers to a role of Qt."""
        if role == Qt.ItemDataRole.DisplayRole:
            return self.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.tip or None
        return int(self.alignment) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def cell(self, row: Row, role: int) -> Any:
        """What a row's cell answers to a role of Qt."""
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(row)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(RIGHT) if self.alignment == RIGHT else None
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self.spoken(row) if self.spoken is not None else None
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.detail(row) if self.detail is not None else None
        if role == Qt.ItemDataRole.ForegroundRole:
            return self.colour(row) if self.colour is not None else None
        if role == Qt.ItemDataRole.FontRole:
            return self.font(row) if self.font is not None else None
        return None


class TableModel(QAbstractTableModel, Generic[Row]):
    """Rows in the order given, or sorted by a column."""

    row_ticked = Signal(object)
    """The row object that a person ticked or unticked."""

    def __init__(
        self,
        columns: Sequence[Column[Row]],
        parent: Any = None,
        is_choosable: Callable[[Row], bool] | None = None,
        *,
        has_ticks: bool = False,
    ) -> None:
        """``is_choosable``: whether a row can be selected; headings between rows cannot.
        ``has_ticks``: whether each row has a check box in its first column."""
        super().__init__(parent)
        self.columns: Sequence[Column[Row]] = columns
        self._rows: Sequence[Row] = ()
        self._is_choosable = is_choosable
        self.has_ticks = has_ticks
        self.ticked: set[Row] = set()
        """The rows that are ticked, also those that are not shown now."""
        self._order: list[int] | None = None
        self.sorted_by = (-1, Qt.SortOrder.AscendingOrder)
        """The column by which the rows are sorted, -1 for none, and which way."""

    # what is shown -------------------------------------------------------------------------------

    @property
    def rows(self) -> Sequence[Row]:
        """The rows in the order given, whatever they are sorted by."""
        return self._rows

    def show(
        self, rows: Sequence[Row], columns: Sequence[Column[Row]] | None = None, same: bool = False
    ) -> None:
        """Show other rows, and other columns if given.

        ``same``: these are the rows shown before with other values, so that the selection and the
        place in the list stay.
        """
        if same and len(rows) == len(self._rows) and columns is None:
            self._rows = rows
            self._arrange()
            self.refresh()
            return
        self.beginResetModel()
        self._rows = rows
        if columns is not None:
            self.columns = columns
        self._arrange()
        self.endResetModel()

    def refresh(self) -> None:
        """Show the rows' current values."""
        if self._rows and self.columns:
            last = self.index(len(self._rows) - 1, len(self.columns) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def tick(self, rows: Iterable[Row], on: bool = True) -> None:
        """Tick or untick rows, which no signal reports."""
        self.ticked = self.ticked.union(rows) if on else self.ticked.difference(rows)
        self.refresh()

    def at(self, row: int) -> Row | None:
        """The row object that is shown at a row; None outside of the table."""
        if not 0 <= row < len(self._rows):
            return None
        return self._rows[row if self._order is None else self._order[row]]

    def row_of(self, wanted: Row) -> int:
        """Where a row object is shown, or -1."""
        try:
            place = self._rows.index(wanted)
        except ValueError:
            return -1
        return place if self._order is None else self._order.index(place)

    def column(self, title: str) -> int:
        """The number of the column with a heading; raises ``ValueError`` where there is none."""
        return [each.title for each in self.columns].index(title)

    def _arrange(self) -> None:
        number, order = self.sorted_by
        key = self.columns[number].sort_key if 0 <= number < len(self.columns) else None
        if key is None:
            self._order = None
            return
        keys = [key(row) for row in self._rows]
        is_descending = order == Qt.SortOrder.DescendingOrder
        self._order = sorted(range(len(keys)), key=keys.__getitem__, reverse=is_descending)

    # Qt's questions ------------------------------------------------------------------------------

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder, /) -> None:
        """Sort by a column; -1 gives back the order in which the rows came."""
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        places = [self._place(each.row()) for each in before]
        self.sorted_by = (column, order)
        self._arrange()
        # Looked up, not searched for: of a selection there are as many indices as rows.
        shown_at = {place: at for at, place in enumerate(self._order or ())} if places else {}
        after = [
            self.index(shown_at.get(place, place), old.column())
            for place, old in zip(places, before, strict=True)
        ]
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()

    def _place(self, row: int) -> int:
        return row if self._order is None else self._order[row]

    def rowCount(self, parent: Index = QModelIndex(), /) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex(), /) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.columns)

    def flags(self, index: Index, /) -> Qt.ItemFlag:
        if self._is_choosable is not None:
            row = self.at(index.row())
            if row is None or not self._is_choosable(row):
                return Qt.ItemFlag.NoItemFlags
        flags = super().flags(index)
        has_box = self.has_ticks and index.column() == 0
        return flags | Qt.ItemFlag.ItemIsUserCheckable if has_box else flags

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole, /
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        return self.columns[section].heading(role)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole, /) -> Any:
        row = self.at(index.row())
        if row is None:
            return None
        if role == Qt.ItemDataRole.CheckStateRole and self.has_ticks and index.column() == 0:
            return Qt.CheckState.Checked if row in self.ticked else Qt.CheckState.Unchecked
        return row if role == ROW else self.columns[index.column()].cell(row, role)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole, /) -> bool:
        row = self.at(index.row())
        if role != Qt.ItemDataRole.CheckStateRole or row is None or not self.has_ticks:
            return False
        self.tick((row,), Qt.CheckState(value) == Qt.CheckState.Checked)
        self.row_ticked.emit(row)
        return True


class Table(QTableView):
    """A ``TableModel`` on the screen: one row is chosen, by pointer or keyboard.

    Return and a double click activate a row, the space bar ticks it where rows have check boxes,
    Ctrl+C copies it, a click on the heading of a column with a sort key sorts (again: the other way
    round; a third time: not at all), and the context menu offers both to the keyboard.
    """

    row_activated = Signal(object)
    """The row object on which Return was pressed, or that was double-clicked."""
    current_changed = Signal(object)
    """The row object of the current row, None where there is none."""

    def __init__(self, model: TableModel[Any], name: str, parent: QWidget | None = None) -> None:
        """``name``: for screen readers."""
        super().__init__(parent)
        self.rows = model
        self.empty_text = ""
        """Painted where there is no row."""
        self.setModel(model)
        self.setAccessibleName(name)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        # What was left out at the lower edge is moved along when the table scrolls.
        self.verticalScrollBar().valueChanged.connect(lambda _value: self.viewport().update())
        self.verticalHeader().hide()
        self.verticalHeader().setAccessibleName("Rows")
        header = self.horizontalHeader()
        header.setAccessibleName("Columns")
        header.setHighlightSections(False)
        # With the table's selection it would ask for the flags of every cell at each paint.
        header.setSelectionModel(QItemSelectionModel(model, header))
        header.sectionClicked.connect(self.sort_by)
        model.modelReset.connect(self._columns_changed)
        self._arranged: Sequence[Column[Any]] = ()
        self.doubleClicked.connect(lambda index: self.activate(index))
        self.selectionModel().currentRowChanged.connect(
            lambda _now, _before: self.current_changed.emit(self.current)
        )
        on_theme_changed(self.restyle)

    # sizes ---------------------------------------------------------------------------------------

    def row_height(self) -> int:
        """Pixels of a row."""
        return round(self.fontMetrics().height() * 1.7)

    def figure_width(self) -> int:
        """Pixels for a figure such as 1,234,567 with its margins."""
        return QFontMetrics(mono_font(-0.5)).horizontalAdvance("000,000") + S12

    def restyle(self) -> None:
        """Take sizes and colours from the theme; a class that is ready calls it once."""
        header = self.horizontalHeader()
        header.setFont(small_font())
        header.setMinimumSectionSize(30)
        rows = self.verticalHeader()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setMinimumSectionSize(self.row_height())
        rows.setDefaultSectionSize(self.row_height())
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.Highlight, theme().sel)
        self.setPalette(palette)
        self.arrange_columns()
        self.viewport().update()

    def _columns_changed(self) -> None:
        if self.rows.columns is not self._arranged:
            self.arrange_columns()

    def arrange_columns(self) -> None:
        """Give the columns their widths, and hide those that there is no room for."""
        header, modes = self.horizontalHeader(), QHeaderView.ResizeMode
        self._arranged = self.rows.columns
        header.setSectionsClickable(any(each.sort_key is not None for each in self._arranged))
        for number, column in enumerate(self._arranged):
            if column.stretch:
                header.setSectionResizeMode(number, modes.Stretch)
            elif column.fits:
                header.setSectionResizeMode(number, modes.ResizeToContents)
            elif column.width:
                header.setSectionResizeMode(number, modes.Interactive)
                header.resizeSection(number, scaled(column.width))
            elif column.alignment == RIGHT:
                header.setSectionResizeMode(number, modes.Fixed)
                header.resizeSection(number, self.figure_width())
        self._choose_columns()

    def _choose_columns(self) -> None:
        for number, column in enumerate(self._arranged):
            if column.shown_from:
                self.setColumnHidden(number, self.width() < scaled(column.shown_from))

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        self._choose_columns()

    # what is done --------------------------------------------------------------------------------

    @property
    def current(self) -> Any:
        """The row object of the current row, or None."""
        return self.rows.at(self.currentIndex().row())

    def show_rows(self, rows: Sequence[Any], current: Any = None) -> None:
        """Show other rows; ``current``, else the first one, becomes the current row."""
        self.rows.show(rows)
        if rows:
            at = self.rows.row_of(current) if current is not None else 0
            self.setCurrentIndex(self.rows.index(max(at, 0), 0))
        else:
            self.current_changed.emit(None)

    def cells(self) -> list[list[str]]:
        """The texts of all rows, as they are shown."""
        rows = range(self.rows.rowCount())
        columns = range(self.rows.columnCount())
        return [[str(self.rows.index(at, n).data() or "") for n in columns] for at in rows]

    def sort_by(self, number: int) -> None:
        """Sort by a column; once more turns the order round, a third time takes it back."""
        if self.rows.columns[number].sort_key is None:
            return
        up, down = Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder
        # The largest first is what a person looks for in figures.
        steps = (down, up) if self.rows.columns[number].alignment == RIGHT else (up, down)
        header = self.horizontalHeader()
        if self.rows.sorted_by == (number, steps[1]):
            header.setSortIndicatorShown(False)
            self.rows.sort(-1)
            return
        order = steps[1] if self.rows.sorted_by == (number, steps[0]) else steps[0]
        header.setSortIndicatorShown(True)
        header.setSortIndicator(number, order)
        self.rows.sort(number, order)
        self.scrollTo(self.currentIndex())

    def copied_text(self, index: Index) -> str:
        """What Ctrl+C copies: the shown cells of a row, with tabs between."""
        cells = (
            index.sibling(index.row(), number).data()
            for number in range(len(self.rows.columns))
            if not self.isColumnHidden(number)
        )
        return "\t".join(str(cell or "") for cell in cells)

    def copy(self) -> None:
        """Copy the current row."""
        if self.currentIndex().isValid():
            QApplication.clipboard().setText(self.copied_text(self.currentIndex()))

    def activate(self, index: Index) -> None:
        """Act on a row, as Return and a double click do."""
        row = self.rows.at(index.row()) if index.isValid() else None
        if row is not None and self.rows.flags(index) & Qt.ItemFlag.ItemIsSelectable:
            self.row_activated.emit(row)

    def moveCursor(
        self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier, /
    ) -> QModelIndex:
        """Home and End go to the first and the last row, as rows are what is chosen; without a
        current row the others go to the first in sight."""
        if action in (self.CursorAction.MoveHome, self.CursorAction.MoveEnd):
            modifiers |= Qt.KeyboardModifier.ControlModifier
        elif not self.currentIndex().isValid():
            return self.indexAt(self.whole_rows().topLeft())
        return super().moveCursor(action, modifiers)

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.activate(self.currentIndex())
        elif event.key() == Qt.Key.Key_Space and self.rows.has_ticks:
            # Whichever column is the current one, the box is in the first.
            self.edit(self.currentIndex().siblingAtColumn(0), self.EditTrigger.AnyKeyPressed, event)
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.key() == Qt.Key.Key_Escape:
            # Handled here: Qt takes it for the end of an edit that nobody began.
            event.ignore()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent, /) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        copy = QAction("&Copy row", menu)
        copy.setEnabled(self.currentIndex().isValid())
        copy.triggered.connect(self.copy)
        menu.addAction(copy)
        for number, column in enumerate(self.rows.columns):
            if column.sort_key is not None and not self.isColumnHidden(number):
                by = QAction(f"Sort by “{column.title}”", menu)
                by.triggered.connect(lambda _checked=False, at=number: self.sort_by(at))
                menu.addAction(by)
        menu.popup(event.globalPos())

    def whole_rows(self) -> QRect:
        """The part of the viewport that shows something: where the first row is whole, one that
        the lower edge would cut through is left out; at the end of a table that scrolls by rows,
        one that the upper edge would."""
        port = self.viewport().rect()
        first, last = self.rowAt(0), self.rowAt(port.bottom())
        above = self.rowViewportPosition(first)
        if first < 0 or not above:
            top = self.rowViewportPosition(last)
            # Its words are whole without the room below them.
            if top > 0 and top + self.rowHeight(last) - S4 > port.height():
                port.setBottom(top - 1)
        elif self.verticalScrollMode() is QAbstractItemView.ScrollMode.ScrollPerItem:
            port.setTop(above + self.rowHeight(first))
        return port

    def paintEvent(self, event: QPaintEvent, /) -> None:
        super().paintEvent(QPaintEvent(event.region() & self.whole_rows()))
        if self.empty_text and not self.rows.rowCount():
            painter = QPainter(self.viewport())
            painter.setPen(theme().dim)
            place = self.viewport().rect().adjusted(S16, S16, -S16, -S16)
            flags = int(Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap)
            painter.drawText(place, flags, self.empty_text)
