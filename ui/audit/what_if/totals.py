"""Which lines are drawn, and what every one of them came to in figures."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QHeaderView,
    QSizePolicy,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from explorer.audit.simulation import Prices
from explorer.compaction.reasons import share_text
from ui.audit.what_if.chart import SIGN, paint_sign
from ui.audit.what_if.lines import Line, SignKind
from ui.theme import RADIUS, S4, S8, bind_font, on_theme_changed, scaled, small_font, theme
from ui.widgets.figures import full, round_short
from ui.widgets.flow import FlowLayout

SAMPLE = 34
"""Pixels of a line's sample at a text scale of 100 %."""
SIGNS: tuple[tuple[SignKind, str], ...] = (
    ("compacted", "compacted"),
    ("split", "compacted inside a turn"),
    ("pruned", "pruned"),
    ("stuck", "nothing could be done"),
)


class LineChip(QAbstractButton):
    """A sample of a line and its name. Checked: it is drawn."""

    def __init__(self, line: Line, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.line = line
        self.setCheckable(True)
        self.setChecked(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        bind_font(self, small_font)
        self.show_line(line)
        on_theme_changed(self.updateGeometry)

    def show_line(self, line: Line) -> None:
        """Stand for a line."""
        self.line = line
        self.setText(line.title)
        self.setAccessibleName(f"Draw {line.title}, a line that is {line.stroke.words}")
        self.setToolTip(f"{line.title}: {line.stroke.words}. Click to draw it or leave it out")
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        width = metrics.horizontalAdvance(self.text()) + scaled(SAMPLE) + 2 * S8 + S8
        return QSize(width, metrics.height() + S8)

    def paintEvent(self, event: QPaintEvent, /) -> None:
        now, painter = theme(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(self.rect()).adjusted(0.75, 0.75, -0.75, -0.75)
        painter.setPen(QPen(now.accent if self.hasFocus() else now.line, 1.5))
        painter.setBrush(now.card if self.isChecked() else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(frame, RADIUS, RADIUS)
        middle = frame.center().y()
        if self.isChecked():
            painter.setPen(self.line.stroke.pen())
        else:
            painter.setPen(QPen(now.faint, 1))
        painter.drawLine(QPointF(S8, middle), QPointF(S8 + scaled(SAMPLE), middle))
        painter.setPen(now.ink if self.isChecked() else now.dim)
        font = self.font()
        font.setStrikeOut(not self.isChecked())
        painter.setFont(font)
        room = frame.adjusted(S8 + scaled(SAMPLE) + S8, 0, -S4, 0)
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter), self.text())


class SignKey(QWidget):
    """One sign and what it means."""

    def __init__(self, kind: SignKind, words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kind, self._words = kind, words
        bind_font(self, small_font)
        self.setAccessibleName(words)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        on_theme_changed(self._restyle)

    def _restyle(self) -> None:
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        width = metrics.horizontalAdvance(self._words) + 2 * scaled(SIGN) + 2 * S8
        return QSize(width, metrics.height() + S8)

    def paintEvent(self, event: QPaintEvent, /) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        half = scaled(SIGN)
        paint_sign(painter, self._kind, QPointF(half + 2, self.height() / 2), theme().dim)
        painter.setPen(theme().dim)
        room = QRectF(self.rect()).adjusted(2 * half + S8, 0, 0, 0)
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter), self._words)


class LineLegend(QWidget):
    """A chip for each line, then the signs."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._flow = FlowLayout(self, across=6, down=4)
        self.chips: dict[str, LineChip] = {}
        self._signs = [SignKey(kind, words, self) for kind, words in SIGNS]
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Lines that are drawn")
        for sign in self._signs:
            self._flow.addWidget(sign)

    @property
    def hidden(self) -> list[str]:
        """The lines that are left out."""
        return [key for key, chip in self.chips.items() if not chip.isChecked()]

    def show_lines(self, lines: Sequence[Line]) -> None:
        """Have a chip for each of these lines; what was left out stays so."""
        wanted = {line.key: line for line in lines}
        for key in [key for key in self.chips if key not in wanted]:
            chip = self.chips.pop(key)
            self._flow.removeWidget(chip)
            chip.deleteLater()
        for sign in self._signs:
            self._flow.removeWidget(sign)
        for key, line in wanted.items():
            if key in self.chips:
                self.chips[key].show_line(line)
                continue
            chip = self.chips[key] = LineChip(line, self)
            chip.toggled.connect(lambda _on: self.changed.emit())
            self._flow.addWidget(chip)
            chip.show()
        for sign in self._signs:
            self._flow.addWidget(sign)
        self._flow.invalidate()
        self.updateGeometry()


MOST_ROWS = 8
"""In sight without scrolling."""

HEADS = (
    ("Rules", "What the session was walked under"),
    ("Keeps", "Tokens, or rounds, that a compaction keeps as they are"),
    ("Threshold", "Above so many tokens the context is compacted"),
    ("Compacted", "How many compactions there would have been"),
    ("In a turn", "How many of them cut inside a turn"),
    ("Pruned", "How often old tool results gave way to notes"),
    ("Largest", "The largest context, in tokens"),
    ("Sent", "Tokens of all prompts together: each request reads the whole context again"),
    ("From cache", "The part of it that the provider's cache would have held"),
    ("Summaries", "Tokens that were sent to have summaries written"),
    ("Too large", "Requests that do not fit the window although all was done that the rules allow"),
    ("Cost", "Dollars, with the prices of the chosen model"),
)


class TotalsTable(QTableWidget):
    """One row per line. Choosing a row follows its line in the chart."""

    line_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(0, len(HEADS), parent)
        self.setAccessibleName("Totals of every walk")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        bind_font(self, small_font)
        bind_font(self.horizontalHeader(), small_font)
        for column, (head, tip) in enumerate(HEADS):
            item = QTableWidgetItem(head)
            item.setToolTip(tip)
            side = Qt.AlignmentFlag.AlignLeft if not column else Qt.AlignmentFlag.AlignRight
            item.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
            self.setHorizontalHeaderItem(column, item)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.horizontalHeader().setHighlightSections(False)
        self.itemSelectionChanged.connect(self._selected)
        self._keys: list[str] = []

    def show_totals(self, lines: Sequence[Line], prices: Prices | None) -> None:
        """Show what these lines came to; the cost where prices are known."""
        self.blockSignals(True)
        chosen = self._key()
        self._keys = [line.key for line in lines]
        self.setRowCount(len(lines))
        self.setColumnHidden(len(HEADS) - 1, prices is None)
        for row, line in enumerate(lines):
            for column, (text, tip) in enumerate(_cells(line, prices)):
                item = QTableWidgetItem(text)
                side = Qt.AlignmentFlag.AlignLeft if not column else Qt.AlignmentFlag.AlignRight
                item.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
                item.setToolTip(tip)
                spoken = f"{HEADS[column][0]} {text}" if column else text
                item.setData(Qt.ItemDataRole.AccessibleTextRole, spoken)
                self.setItem(row, column, item)
        if chosen in self._keys:
            self.selectRow(self._keys.index(chosen))
        self.blockSignals(False)
        self._take_height()

    def _take_height(self) -> None:
        """As high as its rows are, up to eight of them."""
        self.resizeRowsToContents()
        rows = sum(self.rowHeight(row) for row in range(min(self.rowCount(), MOST_ROWS)))
        head, bar = self.horizontalHeader().sizeHint(), self.horizontalScrollBar().sizeHint()
        self.setMinimumHeight(rows + head.height() + bar.height() + 4)

    def follow(self, key: str) -> None:
        """Select the row of a line."""
        if key in self._keys and key != self._key():
            self.blockSignals(True)
            self.selectRow(self._keys.index(key))
            self.blockSignals(False)

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        if event.key() == Qt.Key.Key_Escape:
            # The window's own: a table takes it for an edit that nobody began.
            event.ignore()
            return
        super().keyPressEvent(event)

    def _key(self) -> str:
        row = self.currentRow()
        return self._keys[row] if 0 <= row < len(self._keys) else ""

    def _selected(self) -> None:
        if key := self._key():
            self.line_chosen.emit(key)


def _cells(line: Line, prices: Prices | None) -> list[tuple[str, str]]:
    """What stands in a row, and what more a tip says."""
    found, sizes, profile = line.found, line.found.policy.settings, line.found.policy.profile
    keeps, threshold = "—", "—"
    if not found.is_recorded:
        by_rounds = profile.cut_unit == "rounds"
        rounds = f"{sizes.keep_rounds} round" + ("" if sizes.keep_rounds == 1 else "s")
        keeps = rounds if by_rounds else round_short(sizes.keep_recent_tokens)
        threshold = round_short(found.threshold)
    share = f"{share_text(found.cached / found.sent)} of what is sent" if found.sent else ""
    exact = f"{found.exact:,} of {len(found.requests):,} prompts as the provider counted them"
    split = f"{share_text(found.split_turns)} of {found.turns:,} turns"
    cells = [
        (line.title, found.measure.words),
        (keeps, ""),
        (threshold, f"of a window of {full(found.window)} tokens"),
        (full(len(found.compactions)), f"{split} split"),
        (full(found.splits), split),
        (full(len(found.prunes)), ""),
        (full(found.largest), ""),
        (full(found.sent), exact),
        (full(found.cached), share),
        (full(found.asked), found.summaries.words),
        (full(found.too_large), ""),
        ("", ""),
    ]
    if prices is not None:
        cost = found.cost(prices)
        told = f"{cost.replies:,.2f} for replies, {cost.summaries:,.2f} for summaries"
        cells[-1] = (f"${cost.total:,.2f}", told)
    return cells
