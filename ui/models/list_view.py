"""The list of models: two lines each, the figures in columns, the marks in icons and words."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from ui.models.list_model import Column, Index, ModelsModel
from ui.models.rows import Heading, ModelRow
from ui.models.words import Mark
from ui.theme import (
    S4,
    S8,
    S12,
    icon_pixmap,
    mono_font,
    on_theme_changed,
    scaled,
    small_font,
    theme,
    ui_font,
)
from ui.widgets.figures import count

ELIDE = Qt.TextElideMode.ElideRight
MIDDLE = Qt.TextElideMode.ElideMiddle


class _Fonts:
    """Fonts and their measures, made once per theme change and not once per row."""

    def __init__(self) -> None:
        self.name = ui_font()
        self.small = small_font()
        self.strong = QFont(self.small)
        self.strong.setWeight(QFont.Weight.DemiBold)
        self.mono = mono_font(-0.5)
        self.name_metrics = QFontMetrics(self.name)
        self.small_metrics = QFontMetrics(self.small)
        self.strong_metrics = QFontMetrics(self.strong)
        self.mono_metrics = QFontMetrics(self.mono)
        self.sign = scaled(12)


class ModelDelegate(QStyledItemDelegate):
    """Paints a model, or the heading of a provider."""

    def __init__(self, rows: ModelsModel, parent: QWidget) -> None:
        super().__init__(parent)
        # Asked itself: the way through an index takes longer than the painting.
        self._rows = rows
        self._fonts = _Fonts()
        on_theme_changed(self._restyle)

    def _restyle(self) -> None:
        self._fonts = _Fonts()

    def row_height(self) -> int:
        """Pixels."""
        return self._fonts.name_metrics.height() + self._fonts.small_metrics.height() + S12

    def figure_width(self) -> int:
        """Pixels for a figure or for its heading, with the margins."""
        figure = self._fonts.mono_metrics.horizontalAdvance("000.00")
        return max(figure, self._fonts.small_metrics.horizontalAdvance("$ cache")) + S12

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, /) -> None:
        line, rect = self._rows.line(index.row()), QRectF(option.rect)
        column = index.column()
        painter.save()
        if isinstance(line, Heading):
            self._heading(painter, rect, line, column)
        elif line is not None:
            if option.state & QStyle.StateFlag.State_Selected:
                painter.fillRect(rect, theme().sel)
            if column == Column.MODEL:
                self._model(painter, rect, line)
            else:
                self._figure(painter, rect, line.cells[column])
        painter.restore()

    def _heading(self, painter: QPainter, rect: QRectF, line: Heading, column: int) -> None:
        now, fonts = theme(), self._fonts
        painter.setPen(now.line)
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        if column != Column.MODEL:
            return
        height = fonts.strong_metrics.height()
        place = QRectF(rect.left() + S12, rect.bottom() - height - S4, rect.width() - S12, height)
        painter.setFont(fonts.strong)
        painter.setPen(now.ink)
        name = fonts.strong_metrics.elidedText(line.provider, ELIDE, int(place.width()))
        painter.drawText(place, int(Qt.AlignmentFlag.AlignLeft), name)
        place.setLeft(place.left() + fonts.strong_metrics.horizontalAdvance(name) + S8)
        painter.setFont(fonts.small)
        painter.setPen(now.dim)
        words = count(line.count, "model") + ("" if line.has_way else " · no key")
        shown = fonts.small_metrics.elidedText(words, ELIDE, int(place.width()))
        painter.drawText(place, int(Qt.AlignmentFlag.AlignLeft), shown)

    def _model(self, painter: QPainter, rect: QRectF, row: ModelRow) -> None:
        now, fonts = theme(), self._fonts
        place = rect.adjusted(S12, 5, -S4, 0)
        painter.setFont(fonts.name)
        painter.setPen(now.ink if row.has_way else now.dim)
        name = fonts.name_metrics.elidedText(row.cells[0], MIDDLE, int(place.width()))
        painter.drawText(place, int(Qt.AlignmentFlag.AlignLeft), name)
        top = place.top() + fonts.name_metrics.height() + 1
        marks = self._rows.marks(row)
        self._marks(painter, QRectF(place.left(), top, place.width(), 0), marks)

    def _marks(self, painter: QPainter, place: QRectF, marks: list[Mark]) -> None:
        now, fonts = theme(), self._fonts
        height = fonts.small_metrics.height()
        ratio = painter.device().devicePixelRatio()
        painter.setFont(fonts.small)
        x = place.left()
        for mark in marks:
            room = place.right() - x - fonts.sign - 3
            if room < fonts.sign:
                return
            sign = icon_pixmap(mark.icon, mark.tone, fonts.sign, ratio)
            painter.drawPixmap(int(x), int(place.top() + (height - fonts.sign) / 2), sign)
            x += fonts.sign + 3
            shown = fonts.small_metrics.elidedText(mark.word, ELIDE, int(room))
            painter.setPen(getattr(now, mark.tone))
            painter.drawText(
                QRectF(x, place.top(), room, height), int(Qt.AlignmentFlag.AlignLeft), shown
            )
            x += fonts.small_metrics.horizontalAdvance(shown) + S8

    def _figure(self, painter: QPainter, rect: QRectF, text: str) -> None:
        fonts = self._fonts
        painter.setFont(fonts.mono)
        painter.setPen(theme().dim if text == "–" else theme().ink)
        place = rect.adjusted(S4, 5, -S4, 0)
        painter.drawText(place, int(Qt.AlignmentFlag.AlignRight), text)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index, /) -> QSize:
        return QSize(120, self.row_height())


class ModelsTable(QTableView):
    """Marks one model; headings are stepped over."""

    marked = Signal(object)
    """The ``ModelRow`` that is marked now, or None."""
    chosen = Signal()
    """The marked model is to be taken: Return, or a double click."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows = ModelsModel(self)
        self.setAccessibleName("Models")
        self.setModel(self.rows)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.verticalHeader().hide()
        self.verticalHeader().setAccessibleName("Rows")
        header = self.horizontalHeader()
        header.setAccessibleName("Columns")
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        self.delegate = ModelDelegate(self.rows, self)
        self.setItemDelegate(self.delegate)
        self.doubleClicked.connect(self._double_clicked)
        on_theme_changed(self._restyle)
        self._restyle()

    def _restyle(self) -> None:
        header = self.horizontalHeader()
        header.setFont(small_font())
        header.setMinimumSectionSize(30)
        header.setSectionResizeMode(Column.MODEL, QHeaderView.ResizeMode.Stretch)
        for column in list(Column)[1:]:
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            header.resizeSection(column, self.delegate.figure_width())
        rows = self.verticalHeader()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setMinimumSectionSize(self.delegate.row_height())
        rows.setDefaultSectionSize(self.delegate.row_height())
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.Highlight, theme().sel)
        self.setPalette(palette)
        self.viewport().update()

    @property
    def row(self) -> ModelRow | None:
        """The model that is marked."""
        line = self.rows.line(self.currentIndex().row())
        return line if isinstance(line, ModelRow) else None

    def mark(self, model_id: str) -> None:
        """Mark a model, or the first where it is not listed."""
        at = self.rows.row_of(model_id)
        at = at if at >= 0 else self.rows.first()
        if at < 0:
            self.marked.emit(None)
            return
        self.setCurrentIndex(self.rows.index(at, Column.MODEL))
        # The heading of its provider is seen too, where it is the first.
        self.scrollTo(self.rows.index(max(0, at - 1), Column.MODEL))
        self.scrollTo(self.currentIndex())

    def step(self, by: int) -> None:
        """Mark the model so many rows away, or the last one on the way."""
        at = last = self.currentIndex().row()
        way = 1 if by > 0 else -1
        for _ in range(abs(by)):
            at += way
            while isinstance(self.rows.line(at), Heading):
                at += way
            if self.rows.line(at) is None:
                break
            last = at
        if last >= 0:
            self.setCurrentIndex(self.rows.index(last, Column.MODEL))
        if last == self.rows.first():
            self.scrollToTop()

    def page(self) -> int:
        """Models on one page."""
        return max(1, self.viewport().height() // self.delegate.row_height() - 1)

    def currentChanged(self, current: Index, previous: Index, /) -> None:
        super().currentChanged(current, previous)
        self.marked.emit(self.row)

    def moveCursor(
        self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier, /
    ) -> QModelIndex:
        """The keys of the list step over headings."""
        actions = QAbstractItemView.CursorAction
        steps = {
            actions.MoveUp: -1,
            actions.MoveDown: 1,
            actions.MovePageUp: -self.page(),
            actions.MovePageDown: self.page(),
            actions.MoveHome: -self.rows.rowCount(),
            actions.MoveEnd: self.rows.rowCount(),
        }
        if action in steps:
            self.step(steps[action])
            return self.currentIndex()
        return super().moveCursor(action, modifiers)

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.row is not None:
            self.chosen.emit()
            return
        super().keyPressEvent(event)

    def _double_clicked(self, index: Index) -> None:
        if isinstance(self.rows.line(index.row()), ModelRow):
            self.chosen.emit()
