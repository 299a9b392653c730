"""How a place is marked in a text that is read: a ground and a line below, never colour alone."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from explorer.session.text_difference import (
    DifferencePiece,
)
from ui.theme import on_theme_changed, theme


def mark_format() -> QTextCharFormat:
    """The looks of a marked place in the theme of now."""
    now, form = theme(), QTextCharFormat()
    form.setBackground(now.sel)
    form.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
    form.setUnderlineColor(now.accent)
    return form


def mark(view: QPlainTextEdit | QTextEdit, places: Sequence[QTextCursor]) -> None:
    """Mark the stretches that cursors of the view's document select; none takes all marks away."""
    found = []
    for place in places:
        one = QTextEdit.ExtraSelection()
        one.cursor = place
        one.format = mark_format()
        found.append(one)
    view.setExtraSelections(found)


def marked(view: QPlainTextEdit | QTextEdit) -> list[str]:
    """The stretches that are marked, their lines divided by line feeds."""
    found = view.extraSelections()
    return [one.cursor.selectedText().replace("\u2029", "\n") for one in found]


def paint_marked_line(
    painter: QPainter, rect: QRectF, line: str, marks: Sequence[tuple[int, int]], chosen: bool
) -> None:
    """A line in the painter's font, elided, with its stretches ``marks`` (start and end) marked.
    ``chosen``: it stands on the ground of the chosen row."""
    now, metrics = theme(), painter.fontMetrics()
    shown = metrics.elidedText(line, Qt.TextElideMode.ElideRight, int(rect.width()))
    top = rect.center().y() - metrics.height() / 2
    for start, end in marks:
        left = metrics.horizontalAdvance(shown[:start])
        wide = metrics.horizontalAdvance(shown[:end]) - left
        if wide > 0:
            place = QRectF(rect.left() + left, top, wide, metrics.height())
            painter.fillRect(place, now.card if chosen else now.sel)
            painter.fillRect(QRectF(place.left(), place.bottom(), wide, 1), now.accent)
    painter.setPen(now.ink)
    painter.drawText(rect, int(Qt.AlignmentFlag.AlignVCenter), shown)


class MarkedText(QTextEdit):
    """A text in which what the other one has not is marked: by a ground and a line below."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pieces: Sequence[DifferencePiece] = ()
        self._empty = ""
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setAccessibleName(name)
        on_theme_changed(self._fill)

    def show_pieces(self, pieces: Sequence[DifferencePiece], empty: str) -> None:
        """``empty``: the words where there is no text."""
        self._pieces, self._empty = pieces, empty
        self._fill()

    @property
    def marked(self) -> list[str]:
        """The stretches that are marked."""
        return [piece.text for piece in self._pieces if piece.differs]

    def _fill(self) -> None:
        plain, marked = QTextCharFormat(), mark_format()
        self.clear()
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        for piece in self._pieces:
            cursor.insertText(piece.text, marked if piece.differs else plain)
        if not self._pieces:
            plain.setForeground(theme().dim)
            cursor.insertText(self._empty, plain)
        cursor.endEditBlock()
        self.moveCursor(QTextCursor.MoveOperation.Start)
