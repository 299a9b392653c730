"""Entries of all sessions whose text holds what was looked for, with the line that matched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QRectF, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QLabel,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from explorer.store import SearchHit, SearchStep
from ui.theme import S4, S16, bind_font, scaled, small_font, theme, ui_font
from ui.widgets.figures import count
from ui.widgets.labels import LinkButton
from ui.widgets.marked import paint_marked_line
from ui.widgets.panels import column_in, row
from ui.widgets.table import RIGHT, ROW, Column, Index, Table, TableModel

_TEXT = 2
"""The number of the column with the matched line."""
_BLANK = {ord(sign): " " for sign in "\n\r\t\v\f"}


class FoundEntry(NamedTuple):
    """A hit, and the title of its session."""

    hit: SearchHit
    session: str

    @property
    def entry(self) -> str:
        """Its number; an undone compaction is marked as one."""
        return f"undone #{self.hit.index}" if self.hit.is_undone else f"#{self.hit.index}"

    @property
    def line(self) -> str:
        """The matched line; its marks are where those of the hit are."""
        return self.hit.snippet.translate(_BLANK)


def progress_words(step: SearchStep) -> str:
    """How far a search is that goes on."""
    words = f"Searched {step.searched:,} of {count(step.sessions, 'session')} …"
    return f"{words} {step.note}" if step.note else words


LEAST_ROWS = 3
LOW = 420
"""Hits that are in sight at least, in a window of this height at a text scale of 100 %."""


class LineDelegate(QStyledItemDelegate):
    """A line with a ground and a rule below what matched."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        now, found = theme(), index.data(ROW)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        rect = QRectF(option.rect)
        painter.save()
        if chosen:
            painter.fillRect(rect, now.sel)
        painter.setFont(option.font)
        inner = rect.adjusted(S4, 0, -S4, 0)
        paint_marked_line(painter, inner, found.line, found.hit.marks, chosen)
        painter.restore()


class HitsPanel(QWidget):
    """Hidden until something was looked for."""

    opened = Signal(int, int)
    """(session key, entry index) of a hit."""
    closed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._words = ""
        self.title = QLabel("", self)
        self.title.setWordWrap(True)
        bind_font(self.title, lambda: ui_font(0, bold=True))
        self.close_link = LinkButton("Hide hits", self)
        bind_font(self.close_link, small_font)
        self.close_link.clicked.connect(self.closed)
        columns: list[Column[FoundEntry]] = [
            Column("Session", lambda one: one.session, width=220,
                   detail=lambda one: one.session),
            Column("Entry", lambda one: one.entry, RIGHT, width=96,
                   detail=lambda one: "This compaction was undone." if one.hit.is_undone else None),
            Column("Matched line", lambda one: one.line, stretch=True,
                   detail=lambda one: one.hit.snippet),
        ]  # fmt: skip
        self.table = Table(TableModel(columns, self), "Entries found", self)
        self.table.setItemDelegateForColumn(_TEXT, LineDelegate(self.table))
        self.table.row_activated.connect(lambda one: self.opened.emit(one.hit.key, one.hit.index))
        self.table.restyle()
        head = row(self.title, self.close_link, wide=self.title)
        head.setContentsMargins(S16, S4, S16, 0)
        column = column_in(self, S4)
        column.addLayout(head)
        column.addWidget(self.table, 1)
        self.hide()

    def show_hits(
        self,
        words: str,
        hits: Sequence[FoundEntry],
        cut: bool,
        progress: str = "",
        note: str = "",
    ) -> None:
        """Show what was found; ``cut``: there may be more; ``progress``: how far a search is that
        goes on, during which the marked hit stays; ``note``: what was not searched."""
        sessions = len({one.hit.key for one in hits})
        least = "at least " if cut else ""
        if hits:
            found = f"{least}{count(len(hits), 'entry', 'entries')} in {count(sessions, 'session')}"
        else:
            found = "No entry yet" if progress else "No entry of these sessions"
        title = f"{found[:1].upper()}{found[1:]} with “{words}”"
        more = progress or note
        self.title.setText(f"{title}. {more}" if more else title)
        is_more = self.table.isVisible() and self._words == words
        if not is_more or len(hits) != self.table.rows.rowCount():
            self.table.show_rows(hits, self.table.current if is_more else None)
        self._words = words
        self.table.setVisible(bool(hits))
        rows = LEAST_ROWS if self.window().height() >= scaled(LOW) else 1
        header = self.table.horizontalHeader().sizeHint().height()
        frame = 2 * self.table.frameWidth()
        self.table.setMinimumHeight(header + rows * self.table.row_height() + frame)
        self.show()
