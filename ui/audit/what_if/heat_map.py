"""A map of two sizes: every cell with its figure, the darker the more."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QColor,
    QFont,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import (
    QSizePolicy,
    QToolTip,
    QWidget,
)

from explorer.audit.simulation.walk import Sweep, SweepCell
from explorer.compaction.reasons import share_text
from ui.theme import S4, S8, on_theme_changed, scaled, small_font, theme
from ui.theme.tokens import blend
from ui.widgets.figures import count, full, short

_LEAST_SHARE, _MOST_SHARE = 0.06, 0.62
"""How much of the colour the smallest and the largest figure get: text stays readable on all."""


class CellFigure(Struct, frozen=True):
    """What the cells show."""

    key: str
    title: str
    value: Callable[[SweepCell], float]
    text: Callable[[SweepCell], str]
    less: str
    """What the palest cells mean."""
    more: str
    """What the darkest ones mean."""


FIGURES = (
    CellFigure("sent", "Sent, with summaries", lambda c: c.sent + c.asked,
           lambda c: short(c.sent + c.asked), "fewest tokens", "most tokens"),
    CellFigure("cost", "Cost", lambda c: c.cost or 0.0, lambda c: f"${c.cost or 0.0:,.2f}",
           "cheapest", "dearest"),
    CellFigure("compactions", "Compactions", lambda c: c.compactions, lambda c: full(c.compactions),
           "fewest", "most"),
    CellFigure("largest", "Largest prompt", lambda c: c.largest, lambda c: short(c.largest),
           "smallest", "largest"),
    CellFigure("split", "Turns split", lambda c: c.split_turns, lambda c: share_text(c.split_turns),
           "fewest turns", "most turns"),
    CellFigure("too_large", "Too large for the window", lambda c: c.too_large,
           lambda c: full(c.too_large), "fewest requests", "most requests"),
)  # fmt: skip


def words_of(cell: SweepCell) -> str:
    """All figures of a cell, in words."""
    cost = f", ${cell.cost:,.2f}" if cell.cost is not None else ""
    large = (
        f", {count(cell.too_large, 'request')} too large for the window" if cell.too_large else ""
    )
    asked = f" and {short(cell.asked)} for summaries" if cell.asked else ""
    return (
        f"Keep {full(cell.keep)}, reserve {full(cell.reserve)}: "
        f"{count(cell.compactions, 'compaction')}, {short(cell.sent)} tokens sent{asked}{cost}, "
        f"largest prompt {short(cell.largest)}, {share_text(cell.split_turns)} of the turns "
        f"split{large}."
    )


class HeatMap(QWidget):
    """Arrows go from cell to cell; Return, or a double click, asks to use the cell's sizes."""

    described = Signal(str)
    chosen = Signal(object)
    """The ``SweepCell`` under the cursor."""
    use_asked = Signal(object)
    """A ``SweepCell``."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sweep: Sweep | None = None
        self._figure = FIGURES[0]
        self._in_force = (-1, -1)
        self._row = self._column = 0
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        self.setAccessibleName("Map of keep-recent and reserve")
        on_theme_changed(self._restyle)

    def _restyle(self) -> None:
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(720, scaled(330))

    def minimumSizeHint(self) -> QSize:
        return QSize(280, scaled(200))

    # what is shown -----------------------------------------------------------------------------

    def show_sweep(self, sweep: Sweep, keep: int, reserve: int) -> None:
        """Show a grid. The sizes in force are marked, and the cursor is put there."""
        self._sweep, self._in_force = sweep, (keep, reserve)
        self._column = sweep.keeps.index(keep) if keep in sweep.keeps else 0
        self._row = sweep.reserves.index(reserve) if reserve in sweep.reserves else 0
        self._tell()
        self.update()

    def show_figure(self, figure: CellFigure) -> None:
        """Let the cells show another figure."""
        self._figure = figure
        self._tell()
        self.update()

    def show_in_force(self, keep: int, reserve: int) -> None:
        """Other sizes are in force."""
        self._in_force = (keep, reserve)
        self.update()

    @property
    def cell(self) -> SweepCell | None:
        """The cell under the cursor."""
        sweep = self._sweep
        if sweep is None:
            return None
        return sweep.cells[self._row * len(sweep.keeps) + self._column]

    def _tell(self) -> None:
        cell = self.cell
        words = words_of(cell) if cell is not None else ""
        if cell is not None and (cell.keep, cell.reserve) == self._in_force:
            words += " These are the sizes in force."
        self.setAccessibleDescription(words)
        self.described.emit(words)
        if cell is not None:
            self.chosen.emit(cell)

    # places ------------------------------------------------------------------------------------

    def frame(self) -> QRectF:
        """Where the cells are."""
        metrics = QFontMetricsF(small_font())
        left = max(metrics.horizontalAdvance(words) for words in ("888.8k", "reserve ↓")) + S8
        top = 2 * metrics.height() + S8
        return QRectF(left, top, self.width() - left - S4, self.height() - top - S4)

    def rect_of(self, row: int, column: int) -> QRectF:
        """The place of a cell."""
        frame, sweep = self.frame(), self._sweep
        if sweep is None:
            return QRectF()
        width = frame.width() / len(sweep.keeps)
        height = frame.height() / len(sweep.reserves)
        return QRectF(frame.left() + column * width, frame.top() + row * height, width, height)

    def place_at(self, at: QPointF) -> tuple[int, int] | None:
        """Row and column of the cell at a place."""
        frame, sweep = self.frame(), self._sweep
        if sweep is None or not frame.contains(at):
            return None
        column = int((at.x() - frame.left()) / frame.width() * len(sweep.keeps))
        row = int((at.y() - frame.top()) / frame.height() * len(sweep.reserves))
        return min(row, len(sweep.reserves) - 1), min(column, len(sweep.keeps) - 1)

    # painting ----------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent, /) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        sweep = self._sweep
        if sweep is None:
            return
        self._paint_heads(painter, sweep)
        values = [self._figure.value(cell) for cell in sweep.cells]
        low, high = min(values), max(values)
        longest = max((self._figure.text(cell) for cell in sweep.cells), key=len)
        for at, cell in enumerate(sweep.cells):
            row, column = divmod(at, len(sweep.keeps))
            part = (values[at] - low) / (high - low) if high > low else 0.0
            self._paint_cell(painter, self.rect_of(row, column), cell, part, longest)
        self._paint_cursor(painter)

    def _paint_heads(self, painter: QPainter, sweep: Sweep) -> None:
        now, frame = theme(), self.frame()
        metrics = QFontMetricsF(small_font())
        painter.setFont(small_font())
        painter.setPen(now.dim)
        title = QRectF(frame.left(), 0, frame.width(), metrics.height())
        painter.drawText(title, Qt.AlignmentFlag.AlignLeft, "keep recent, tokens →")
        painter.drawText(QRectF(0, 0, frame.left() - S8, metrics.height()),
                         Qt.AlignmentFlag.AlignRight, "reserve ↓")  # fmt: skip
        widest = max(metrics.horizontalAdvance(short(keep)) for keep in sweep.keeps) + S4
        every = max(1, -(-int(widest) // max(1, int(frame.width() / len(sweep.keeps)))))
        for column, keep in enumerate(sweep.keeps):
            if column % every and keep != self._in_force[0]:
                continue
            self._head_ink(painter, keep == self._in_force[0])
            middle = self.rect_of(0, column).center().x()
            place = QRectF(middle - widest, frame.top() - metrics.height() - 2, 2 * widest,
                           metrics.height())  # fmt: skip
            painter.drawText(place, Qt.AlignmentFlag.AlignHCenter, short(keep))
        for row, reserve in enumerate(sweep.reserves):
            self._head_ink(painter, reserve == self._in_force[1])
            cell = self.rect_of(row, 0)
            place = QRectF(0, cell.center().y() - metrics.height() / 2, frame.left() - S8,
                           metrics.height())  # fmt: skip
            painter.drawText(place, Qt.AlignmentFlag.AlignRight, short(reserve))

    def _head_ink(self, painter: QPainter, in_force: bool) -> None:
        painter.setPen(theme().ink if in_force else theme().dim)
        painter.setFont(small_font(bold=in_force))

    def _paint_cell(
        self, painter: QPainter, place: QRectF, cell: SweepCell, part: float, longest: str
    ) -> None:
        now = theme()
        share = _LEAST_SHARE + part * (_MOST_SHARE - _LEAST_SHARE)
        colour: QColor = blend(now.comp, now.card, share if not now.is_dark else share * 0.8)
        inner = place.adjusted(0.5, 0.5, -0.5, -0.5)
        painter.fillRect(inner, colour)
        if cell.too_large:
            # Not by the colour alone: what would stand still is struck out.
            painter.setPen(QPen(now.lost, 1.4))
            start, long = inner.bottomLeft() + QPointF(3, -3), scaled(7)
            painter.drawLine(start, start + QPointF(long, -long))
        if (cell.keep, cell.reserve) == self._in_force:
            painter.setPen(QPen(now.ink, 2, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(inner.adjusted(1.5, 1.5, -1.5, -1.5))
        font = _fitted(longest, place.width() - S4, place.height())
        if font is not None:
            painter.setFont(font)
            painter.setPen(now.ink)
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, self._figure.text(cell))

    def _paint_cursor(self, painter: QPainter) -> None:
        place = self.rect_of(self._row, self._column)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme().accent, 3 if self.hasFocus() else 1.5))
        painter.drawRect(place.adjusted(1, 1, -1, -1))

    # what a person does ------------------------------------------------------------------------

    def event(self, event: QEvent, /) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            found, sweep = self.place_at(QPointF(event.pos())), self._sweep
            words = ""
            if found is not None and sweep is not None:
                words = words_of(sweep.cells[found[0] * len(sweep.keeps) + found[1]])
            QToolTip.showText(event.globalPos(), words, self)
            return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent, /) -> None:
        found = self.place_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and found is not None:
            self._go(*found)

    def mouseDoubleClickEvent(self, event: QMouseEvent, /) -> None:
        if self.place_at(event.position()) is not None and self.cell is not None:
            self.use_asked.emit(self.cell)

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        sweep, key = self._sweep, event.key()
        steps = {
            Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1),
            Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Down: (1, 0),
        }  # fmt: skip
        if sweep is None:
            super().keyPressEvent(event)
        elif key in steps:
            down, right = steps[Qt.Key(key)]
            row = min(max(self._row + down, 0), len(sweep.reserves) - 1)
            self._go(row, min(max(self._column + right, 0), len(sweep.keeps) - 1))
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self._go(self._row, 0 if key == Qt.Key.Key_Home else len(sweep.keeps) - 1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.use_asked.emit(self.cell)
        else:
            super().keyPressEvent(event)

    def _go(self, row: int, column: int) -> None:
        self._row, self._column = row, column
        self._tell()
        self.update()
        if QAccessible.isActive():
            words = self.accessibleDescription()
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))


def _fitted(text: str, width: float, height: float) -> QFont | None:
    """The small font; None where a cell is too narrow for it."""
    font = small_font()
    metrics = QFontMetricsF(font)
    fits = metrics.horizontalAdvance(text) <= width and metrics.height() <= height
    return font if fits else None
