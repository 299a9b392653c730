"""Two sizes swept over a grid: every cell with its figure, the darker the more."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSize, Qt, Signal
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
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from explorer.audit.simulation import Policy, Stopped
from explorer.audit.simulation.sweep import Cell, Sweep
from explorer.compaction.reasons import share_text
from ui.inspector.gather import Loader
from ui.theme import S4, S8, S12, S16, on_theme_changed, scaled, set_tone, small_font, theme
from ui.theme.tokens import blend
from ui.widgets.choice import Choice
from ui.widgets.figures import count, full, round_short
from ui.widgets.flow import FlowLayout
from ui.widgets.labels import Caption
from ui.widgets.panels import labelled

_LEAST_SHARE, _MOST_SHARE = 0.06, 0.62
"""How much of the colour the smallest and the largest figure get: text stays readable on all."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What the cells show."""

    key: str
    title: str
    value: Callable[[Cell], float]
    text: Callable[[Cell], str]
    less: str
    """What the palest cells mean."""
    more: str
    """What the darkest ones mean."""


FIGURES = (
    Figure("sent", "Tokens sent", lambda c: c.sent, lambda c: round_short(c.sent),
           "fewest tokens", "most tokens"),
    Figure("cost", "Cost", lambda c: c.cost or 0.0, lambda c: f"${c.cost or 0.0:,.2f}",
           "cheapest", "dearest"),
    Figure("compactions", "Compactions", lambda c: c.compactions, lambda c: full(c.compactions),
           "fewest", "most"),
    Figure("largest", "Largest context", lambda c: c.largest, lambda c: round_short(c.largest),
           "smallest", "largest"),
    Figure("split", "Turns split", lambda c: c.split_turns, lambda c: share_text(c.split_turns),
           "fewest turns", "most turns"),
    Figure("too_large", "Too large for the window", lambda c: c.too_large,
           lambda c: full(c.too_large), "fewest requests", "most requests"),
)  # fmt: skip


def words_of(cell: Cell) -> str:
    """All figures of a cell, in words."""
    cost = f", ${cell.cost:,.2f}" if cell.cost is not None else ""
    large = (
        f", {count(cell.too_large, 'request')} too large for the window" if cell.too_large else ""
    )
    return (
        f"Keep {full(cell.keep)}, reserve {full(cell.reserve)}: "
        f"{count(cell.compactions, 'compaction')}, {round_short(cell.sent)} tokens sent{cost}, "
        f"largest context {round_short(cell.largest)}, {share_text(cell.split_turns)} of the turns "
        f"split{large}."
    )


class HeatMap(QWidget):
    """Arrows go from cell to cell; Return, or a double click, asks to use the cell's sizes."""

    told = Signal(str)
    chosen = Signal(object)
    """The ``Cell`` under the cursor."""
    use_asked = Signal(object)
    """A ``Cell``."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sweep: Sweep | None = None
        self._figure = FIGURES[0]
        self._own = (-1, -1)
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
        self._sweep, self._own = sweep, (keep, reserve)
        self._column = sweep.keeps.index(keep) if keep in sweep.keeps else 0
        self._row = sweep.reserves.index(reserve) if reserve in sweep.reserves else 0
        self._tell()
        self.update()

    def show_figure(self, figure: Figure) -> None:
        """Let the cells show another figure."""
        self._figure = figure
        self._tell()
        self.update()

    def show_own(self, keep: int, reserve: int) -> None:
        """Other sizes are in force."""
        self._own = (keep, reserve)
        self.update()

    @property
    def cell(self) -> Cell | None:
        """The cell under the cursor."""
        sweep = self._sweep
        if sweep is None:
            return None
        return sweep.cells[self._row * len(sweep.keeps) + self._column]

    def _tell(self) -> None:
        cell = self.cell
        words = words_of(cell) if cell is not None else ""
        if cell is not None and (cell.keep, cell.reserve) == self._own:
            words += " These are the sizes in force."
        self.setAccessibleDescription(words)
        self.told.emit(words)
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
        widest = max(metrics.horizontalAdvance(round_short(keep)) for keep in sweep.keeps) + S4
        every = max(1, -(-int(widest) // max(1, int(frame.width() / len(sweep.keeps)))))
        for column, keep in enumerate(sweep.keeps):
            if column % every and keep != self._own[0]:
                continue
            self._head_ink(painter, keep == self._own[0])
            middle = self.rect_of(0, column).center().x()
            place = QRectF(middle - widest, frame.top() - metrics.height() - 2, 2 * widest,
                           metrics.height())  # fmt: skip
            painter.drawText(place, Qt.AlignmentFlag.AlignHCenter, round_short(keep))
        for row, reserve in enumerate(sweep.reserves):
            self._head_ink(painter, reserve == self._own[1])
            cell = self.rect_of(row, 0)
            place = QRectF(0, cell.center().y() - metrics.height() / 2, frame.left() - S8,
                           metrics.height())  # fmt: skip
            painter.drawText(place, Qt.AlignmentFlag.AlignRight, round_short(reserve))

    def _head_ink(self, painter: QPainter, own: bool) -> None:
        painter.setPen(theme().ink if own else theme().dim)
        painter.setFont(small_font(bold=own))

    def _paint_cell(
        self, painter: QPainter, place: QRectF, cell: Cell, part: float, longest: str
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
        if (cell.keep, cell.reserve) == self._own:
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
    """The small font, made smaller where a cell is narrow; None where nobody could read it."""
    font = small_font()
    metrics = QFontMetricsF(font)
    taken = metrics.horizontalAdvance(text)
    part = min(1.0, width / max(1.0, taken), height / max(1.0, metrics.height()))
    if part < 0.72:
        return None
    font.setPointSizeF(font.pointSizeF() * part)
    return font


BREATH_S = 0.002
"""Between two cells: the window's thread gets its turn."""

Progress = Callable[[int, int], None]
MakeSweep = Callable[[Policy, Progress, Callable[[], bool]], Sweep]
"""Sweeps; for a worker thread. Raises Stopped."""


class _Told(QObject):
    moved = Signal(int, int)


class SweepPage(QWidget):
    """A profile, a figure, and the map of two sizes."""

    use_asked = Signal(object)
    """A ``Policy`` to take for the session."""
    undo_asked = Signal()

    def __init__(self, make: MakeSweep, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._make = make
        self._policies: list[Policy] = []
        self._in_force: Policy | None = None
        self._cell: Cell | None = None
        self._stop = threading.Event()
        self.sweep: Sweep | None = None
        self._told = _Told(self)
        self._told.moved.connect(self._moved)
        self._loader = Loader(self)
        self._loader.loaded.connect(self._loaded)
        self._loader.failed.connect(self._failed)
        self._make_head()
        self._make_foot()
        self._lay_out()
        self._busy(False)

    def _make_head(self) -> None:
        self.profile = Choice(self)
        self.profile.setAccessibleName("Profile to sweep the sizes of")
        self.figure = Choice(self)
        self.figure.setAccessibleName("Figure in the cells")
        for one in FIGURES:
            self.figure.addItem(one.title, one.key)
        self.figure.activated.connect(lambda _row: self._show_figure())
        self.start = QPushButton("S&weep", self)
        self.start.setAutoDefault(False)
        self.start.setToolTip("Walk the session with every pair of sizes; no model is asked")
        self.start.clicked.connect(self._start)
        self.stop = QPushButton("S&top", self)
        self.stop.setAutoDefault(False)
        self.stop.clicked.connect(self.cancel)
        self.progress = QProgressBar(self)
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName("Cells walked")
        self.heat = HeatMap(self)
        self.heat.told.connect(self._tell)
        self.heat.chosen.connect(self._chose)
        self.heat.use_asked.connect(lambda _cell: self._ask())
        self.key = Caption("", self, wraps=True)
        self.words = QLabel(self)
        self.words.setWordWrap(True)
        self.words.setTextFormat(Qt.TextFormat.PlainText)

    def _make_foot(self) -> None:
        self.use = QPushButton("&Use these sizes…", self)
        self.use.setAutoDefault(False)
        self.use.clicked.connect(self._ask)
        self.question = QLabel(self)
        self.question.setWordWrap(True)
        self.yes, self.no = QPushButton("&Use them", self), QPushButton("&Leave it", self)
        self.undo = QPushButton("&Undo", self)
        for button in (self.yes, self.no, self.undo):
            button.setAutoDefault(False)
        self.yes.clicked.connect(self._use)
        self.no.clicked.connect(lambda: self._show_question("", asks=False))
        self.undo.clicked.connect(self._undo)

    def _lay_out(self) -> None:
        head = QWidget(self)
        row = FlowLayout(head, across=8, down=4)
        row.addWidget(labelled("&Profile", self.profile, head))
        row.addWidget(labelled("Fi&gure", self.figure, head))
        row.addWidget(self.start)
        row.addWidget(self.stop)
        foot = QHBoxLayout()
        foot.setSpacing(S8)
        foot.addWidget(self.use)
        foot.addWidget(self.question, 1)
        for button in (self.yes, self.no, self.undo):
            foot.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(S16, S12, S16, S12)
        column.setSpacing(S8)
        column.addWidget(head)
        column.addWidget(self.progress)
        column.addWidget(self.heat, 1)
        column.addWidget(self.key)
        column.addWidget(self.words)
        column.addLayout(foot)
        self._show_question("", asks=False)

    # what is shown -----------------------------------------------------------------------------

    def show_policies(self, policies: Sequence[Policy], in_force: Policy) -> None:
        """The profiles to choose among, each with the sizes that are its own; the one in force is
        marked on its map."""
        self._policies, self._in_force = list(policies), in_force
        chosen = self.profile.currentData() or in_force.profile.name
        self.profile.clear()
        for policy in policies:
            self.profile.addItem(policy.profile.title, policy.profile.name)
        self.profile.setCurrentIndex(max(0, self.profile.findData(chosen)))
        self._mark_own()

    def forget(self) -> None:
        """Another session: what was swept is not its own."""
        self.cancel()
        self.sweep = None
        self._cell = None
        self.heat.setVisible(False)
        self._show_question("", asks=False)
        self.use.setEnabled(False)
        self.key.setText("")
        self.words.setText(INTRODUCTION)

    def _policy(self) -> Policy | None:
        name = self.profile.currentData()
        return next((one for one in self._policies if one.profile.name == name), None)

    def _mark_own(self) -> None:
        own, sweep = self._in_force, self.sweep
        if own is None or sweep is None or sweep.policy.profile.name != own.profile.name:
            self.heat.show_own(-1, -1)
            return
        self.heat.show_own(own.settings.keep_recent_tokens, own.settings.reserve_tokens)

    # sweeping ----------------------------------------------------------------------------------

    def _start(self) -> None:
        policy = self._policy()
        if policy is None:
            return
        self._stop.set()
        stop = self._stop = threading.Event()
        told, make = self._told, self._make

        def progress(done: int, total: int) -> None:
            told.moved.emit(done, total)
            time.sleep(BREATH_S)

        self._busy(True)
        self.words.setText(f"Walking the session under {policy.profile.title}…")

        def work() -> Sweep | None:
            try:
                return make(policy, progress, stop.is_set)
            except Stopped:
                return None

        self._loader.load(work)

    def cancel(self) -> None:
        """Give up a sweep that is under way."""
        self._stop.set()
        self._loader.forget()
        if self.stop.isVisibleTo(self):
            self._busy(False)
            self.words.setText("Stopped; nothing was changed.")

    def _busy(self, busy: bool) -> None:
        self.start.setVisible(not busy)
        self.stop.setVisible(busy)
        self.progress.setVisible(busy)
        self.progress.setRange(0, 0)

    def _moved(self, done: int, total: int) -> None:
        self.progress.setRange(0, total)
        self.progress.setValue(done)

    def _failed(self, message: str) -> None:
        self._busy(False)
        self.words.setText(f"{message} Nothing was changed.")

    def _loaded(self, sweep: Sweep | None) -> None:
        if sweep is None:
            return
        self._busy(False)
        self.sweep = sweep
        self.heat.setVisible(True)
        self.use.setEnabled(True)
        sizes = sweep.policy.settings
        priced = any(cell.cost is not None for cell in sweep.cells)
        at = self.figure.findData("cost")
        if not priced and self.figure.currentIndex() == at:
            self.figure.setCurrentIndex(0)
        model = self.figure.model()
        model.item(at).setEnabled(priced)  # type: ignore[attr-defined]
        self.heat.show_sweep(sweep, sizes.keep_recent_tokens, sizes.reserve_tokens)
        self._mark_own()
        self._show_figure()
        self.heat.setFocus()

    def _show_figure(self) -> None:
        figure = next(one for one in FIGURES if one.key == self.figure.currentData())
        self.heat.show_figure(figure)
        if self.sweep is None:
            return
        low = min(self.sweep.cells, key=figure.value)
        high = max(self.sweep.cells, key=figure.value)
        told = [
            f"Pale: {figure.less}, {figure.text(low)}. Dark: {figure.more}, {figure.text(high)}.",
            "Dashed frame: the sizes in force." if self._own_is_swept() else "",
            "Red stroke: some requests do not fit the window."
            if any(cell.too_large for cell in self.sweep.cells)
            else "",
        ]
        if not self.sweep.keep_matters:
            told.append("This profile keeps rounds, not tokens: its columns are alike.")
        if not self.sweep.reserve_matters:
            told.append("It does not go by the reserve: its rows are all but alike.")
        self.key.setText(" ".join(part for part in told if part))

    def _own_is_swept(self) -> bool:
        own, sweep = self._in_force, self.sweep
        return bool(own and sweep and sweep.policy.profile.name == own.profile.name)

    # taking the sizes --------------------------------------------------------------------------

    def _tell(self, words: str) -> None:
        self.words.setText(words)

    def _chose(self, cell: Cell) -> None:
        self._cell = cell
        if self.yes.isVisibleTo(self):
            self._show_question("", asks=False)

    def _ask(self) -> None:
        cell, sweep = self._cell, self.sweep
        if cell is None or sweep is None:
            return
        self._show_question(
            f"From now on this session keeps {full(cell.keep)} and reserves {full(cell.reserve)} "
            f"tokens, by the rules of {sweep.policy.profile.title}?",
            asks=True,
        )
        self.yes.setFocus()

    def _use(self) -> None:
        cell, sweep = self._cell, self.sweep
        if cell is None or sweep is None:
            return
        self.use_asked.emit(policy_with(sweep.policy, cell))
        words = f"The session keeps {full(cell.keep)} and reserves {full(cell.reserve)} tokens now."
        self._show_question(words, asks=False, undo=True)
        self.undo.setFocus()

    def _undo(self) -> None:
        self.undo_asked.emit()
        self._show_question("The rules are what they were.", asks=False)
        self.heat.setFocus()

    def _show_question(self, words: str, *, asks: bool, undo: bool = False) -> None:
        self.question.setText(words)
        set_tone(self.question, "" if asks else "dim")
        self.use.setVisible(not asks)
        self.yes.setVisible(asks)
        self.no.setVisible(asks)
        self.undo.setVisible(undo)


INTRODUCTION = (
    "Every pair of keep-recent and reserve is tried on this session: how often it would be "
    "compacted, how much is sent, how large the context gets. No model is asked."
)


def policy_with(policy: Policy, cell: Cell) -> Policy:
    """The policy with the sizes of a cell."""
    sizes = replace(policy.settings, keep_recent_tokens=cell.keep, reserve_tokens=cell.reserve)
    return replace(policy, settings=sizes)
