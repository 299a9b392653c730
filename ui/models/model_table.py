"""The table of all models: two lines each, figures in columns, marks in icons and words."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from PySide6.QtCore import QModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from explorer.models.catalogue import ModelInfo, provider_of
from explorer.models.client import ModelClient
from ui.models.words import (
    ModelMark,
    is_too_small,
    marks_of,
    name_of,
    price,
    spoken,
    tokens,
)
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
from ui.widgets.table import RIGHT, Column, Index, Table, TableModel

FIGURES = (
    ("Window", "Tokens that fit into the model's context"),
    ("Answer", "Tokens of its longest answer"),
    ("$ in", "Dollars for a million tokens that it reads"),
    ("$ out", "Dollars for a million tokens that it writes"),
    ("$ cache", "Dollars for a million tokens that it reads from its cache"),
)
"""Headings of the columns after the name, and what they mean."""


class ModelRow(Struct, frozen=True):
    """A model. ``has_way``: its key or its server is there."""

    info: ModelInfo
    provider: str
    has_way: bool
    searched: str
    """All that typed words are looked for in."""
    cells: tuple[str, ...]
    """Its name and its figures, as the columns of the list have them."""
    marks: tuple[ModelMark, ...]
    """What it can do, and that it ends."""


class ProviderHeading(Struct, frozen=True):
    """Stands over the models of one provider, or one server."""

    provider: str
    count: int
    has_way: bool


Line = ModelRow | ProviderHeading


def rows_of(client: ModelClient) -> list[ModelRow]:
    """All models, those that can be called first; for a worker thread."""
    can_call: dict[str, bool] = {}
    made: list[ModelRow] = []
    for info in client.every_model():
        provider = provider_of(info.id)
        if provider not in can_call:
            can_call[provider] = client.can_call(info.id)
        made.append(
            ModelRow(
                info, provider, can_call[provider], _searched(info), _cells(info),
                tuple(marks_of(info)),
            )
        )  # fmt: skip
    return sorted(made, key=lambda row: not row.has_way)


def sift(rows: Sequence[ModelRow], words: str, only_with_way: bool) -> list[Line]:
    """The rows that hold every word, each provider's below a heading."""
    sought = words.casefold().split()
    lines: list[Line] = []
    group: list[ModelRow] = []
    for row in rows:
        if only_with_way and not row.has_way:
            continue
        if sought and not all(word in row.searched for word in sought):
            continue
        if group and group[0].provider != row.provider:
            _close(lines, group)
            group = []
        group.append(row)
    _close(lines, group)
    return lines


def _close(lines: list[Line], group: list[ModelRow]) -> None:
    if group:
        lines.append(ProviderHeading(group[0].provider, len(group), group[0].has_way))
        lines += group


def _cells(info: ModelInfo) -> tuple[str, ...]:
    return (
        name_of(info), tokens(info.window), tokens(info.output_limit),
        price(info.input_price), price(info.output_price), price(info.cache_read_price),
    )  # fmt: skip


def _searched(info: ModelInfo) -> str:
    can = [name for name in ("reasoning", "images", "tools") if getattr(info, name)]
    if info.deprecated:
        can.append("deprecated")
    return " ".join((info.id, info.label, *can)).casefold()


class ModelsModel(TableModel[Line]):
    """Holds all models and shows some below the headings of their providers."""

    def __init__(self, parent: QWidget) -> None:
        self._all: list[ModelRow] = []
        self._words, self._only = "", True
        self._context = 0
        self._in_use: dict[str, str] = {}
        name: Column[Line] = Column(
            "Model", _name, stretch=True, detail=self._sentence, spoken=self._sentence
        )
        figures = (_figure(number, *each) for number, each in enumerate(FIGURES, 1))
        super().__init__((name, *figures), parent, lambda line: isinstance(line, ModelRow))

    def set_rows(self, rows: Sequence[ModelRow]) -> None:
        self._all = list(rows)
        self._sift()

    def set_filter(self, words: str, only_with_way: bool) -> None:
        if (words, only_with_way) != (self._words, self._only):
            self._words, self._only = words, only_with_way
            self._sift()

    def set_surroundings(self, context: int, in_use: dict[str, str]) -> None:
        """``context``: tokens of the session shown; ``in_use``: by model, what it does now."""
        self._context, self._in_use = context, in_use
        self.refresh()

    def _sift(self) -> None:
        self.show(sift(self._all, self._words, self._only))

    @property
    def shown(self) -> int:
        """How many models are listed."""
        return _models_in(self.rows)

    @property
    def known(self) -> int:
        """How many there are."""
        return len(self._all)

    @property
    def hidden_matches(self) -> int:
        """How many more the words would find among those that cannot be called."""
        if not self._only:
            return 0
        return _models_in(sift(self._all, self._words, False)) - self.shown

    def row_of_model(self, model_id: str) -> int:
        """Where a model is listed; -1 where it is not."""
        for at, line in enumerate(self.rows):
            if isinstance(line, ModelRow) and line.info.id == model_id:
                return at
        return -1

    def first(self) -> int:
        """The first row that is a model; -1 for none."""
        return next((at for at, line in enumerate(self.rows) if isinstance(line, ModelRow)), -1)

    def marks(self, row: ModelRow) -> list[ModelMark]:
        """What to know of a model before it is chosen."""
        found = list(row.marks)
        if is_too_small(row.info, self._context):
            words = f"smaller than this context ({tokens(self._context)})"
            found.insert(0, ModelMark("warning", words, "lost"))
        if not row.has_way:
            found.insert(0, ModelMark("lock", "no key"))
        if row.info.id in self._in_use:
            found.insert(0, ModelMark("check", self._in_use[row.info.id], "accent"))
        return found

    def _sentence(self, line: Line) -> str:
        if isinstance(line, ProviderHeading):
            return _name(line)
        return spoken(line.info, [mark for mark in self.marks(line) if mark not in line.marks])


def _models_in(lines: Sequence[Line]) -> int:
    return sum(line.count for line in lines if isinstance(line, ProviderHeading))


def _name(line: Line) -> str:
    if isinstance(line, ModelRow):
        return line.cells[0]
    key = "" if line.has_way else ", no key"
    return f"{line.provider}: {count(line.count, 'model')}{key}"


def _figure(number: int, title: str, meaning: str) -> Column[Line]:
    def text(line: Line) -> str:
        return line.cells[number] if isinstance(line, ModelRow) else ""

    def sentence(line: Line) -> str:
        return f"{title}: {text(line)}. {meaning}." if isinstance(line, ModelRow) else ""

    return Column(title, text, RIGHT, tip=meaning, detail=sentence, spoken=sentence)


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
        line, rect = self._rows.at(index.row()), QRectF(option.rect)
        column = index.column()
        painter.save()
        if isinstance(line, ProviderHeading):
            self._heading(painter, rect, line, column)
        elif line is not None:
            if option.state & QStyle.StateFlag.State_Selected:
                painter.fillRect(rect, theme().sel)
            if column == 0:
                self._model(painter, rect, line)
            else:
                self._figure(painter, rect, line.cells[column])
        painter.restore()

    def _heading(self, painter: QPainter, rect: QRectF, line: ProviderHeading, column: int) -> None:
        now, fonts = theme(), self._fonts
        painter.setPen(now.line)
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        if column != 0:
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

    def _marks(self, painter: QPainter, place: QRectF, marks: list[ModelMark]) -> None:
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


class ModelsTable(Table):
    """Marks one model; headings are stepped over."""

    marked = Signal(object)
    """The ``ModelRow`` that is marked now, or None."""
    chosen = Signal()
    """The marked model is to be taken: Return, or a double click."""

    def __init__(self, parent: QWidget) -> None:
        self.models = ModelsModel(parent)
        super().__init__(self.models, "Models", parent)
        self.delegate = ModelDelegate(self.models, self)
        self.setItemDelegate(self.delegate)
        self.row_activated.connect(lambda _row: self.chosen.emit())
        self.restyle()

    def row_height(self) -> int:
        """Pixels of a row."""
        return self.delegate.row_height()

    def figure_width(self) -> int:
        """Pixels for a figure or for its heading, with the margins."""
        return self.delegate.figure_width()

    @property
    def row(self) -> ModelRow | None:
        """The model that is marked."""
        line = self.current
        return line if isinstance(line, ModelRow) else None

    def mark(self, model_id: str) -> None:
        """Mark a model, or the first where it is not listed."""
        at = self.models.row_of_model(model_id)
        at = at if at >= 0 else self.models.first()
        if at < 0:
            self.marked.emit(None)
            return
        self.setCurrentIndex(self.models.index(at, 0))
        # The heading of its provider is seen too, where it is the first.
        self.scrollTo(self.models.index(max(0, at - 1), 0))
        self.scrollTo(self.currentIndex())

    def step(self, by: int) -> None:
        """Mark the model so many rows away, or the last one on the way."""
        at = last = self.currentIndex().row()
        way = 1 if by > 0 else -1
        for _ in range(abs(by)):
            at += way
            while isinstance(self.models.at(at), ProviderHeading):
                at += way
            if self.models.at(at) is None:
                break
            last = at
        if last >= 0:
            self.setCurrentIndex(self.models.index(last, 0))
        if last == self.models.first():
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
            actions.MoveHome: -self.models.rowCount(),
            actions.MoveEnd: self.models.rowCount(),
        }
        if action in steps:
            self.step(steps[action])
            return self.currentIndex()
        return super().moveCursor(action, modifiers)
