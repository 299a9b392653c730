"""What every walk came to, in figures."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from explorer.audit.simulation import Prices
from explorer.compaction.reasons import share_text
from ui.audit.what_if.lines import Line
from ui.theme import bind_font, small_font
from ui.widgets.figures import full, round_short

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
