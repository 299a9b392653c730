"""The walk back to the cut as a picture: a bar for each entry, as long as the sum up to it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from explorer.services.lessons.context_answers import WalkLine
from ui.theme import S4, S8, bind_font, scaled, small_font, theme
from ui.widgets.figures import short

CUT = 2
"""Thickness of the cut's line in pixels."""


class WalkPicture(QWidget):
    """Upwards as on the map, from the newest entry to where the cut falls and a little beyond."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._lines: Sequence[WalkLine] = ()
        self._kept = 1
        bind_font(self, small_font)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("The walk back to the cut")
        self.hide()

    def show_walk(self, kept: int, lines: Sequence[WalkLine]) -> None:
        """``kept``: the tokens that are asked for; ``lines``: from above."""
        self._kept, self._lines = max(1, kept), lines
        self.setAccessibleDescription(
            ". ".join(
                f"#{one.entry}: {one.total:,} tokens{', ' if one.note else ''}{one.note}"
                for one in reversed(lines)
            )
        )
        self.updateGeometry()
        self.update()
        self.show()

    def _row(self) -> int:
        return self.fontMetrics().height() + S8

    def sizeHint(self) -> QSize:
        return QSize(scaled(160), len(self._lines) * self._row() + CUT)

    def paintEvent(self, _event: QPaintEvent, /) -> None:
        painter, now, metrics = QPainter(self), theme(), self.fontMetrics()
        names = metrics.horizontalAdvance("#0,000,000")
        sums = metrics.horizontalAdvance("000.0k")
        left, right, high = names, self.width() - sums - S8, self._row()
        # The mark of what is to be kept, with room for what the last entry has too much.
        most = max((one.total for one in self._lines[-1:]), default=0)
        most = max(most, round(1.25 * self._kept))
        middle = Qt.AlignmentFlag.AlignVCenter
        at = left + (right - left) * self._kept / most
        left_out = 0
        for number, one in enumerate(self._lines):
            top = number * high + CUT
            is_cut, is_enough = "cut" in one.note, one.total >= self._kept
            painter.setPen(now.ink if one.note else now.dim)
            painter.drawText(QRectF(0, top, names, high), middle, f"#{one.entry}")
            painter.drawText(
                QRectF(right, top, self.width() - right, high),
                middle | Qt.AlignmentFlag.AlignRight, short(one.total),
            )  # fmt: skip
            wide = (right - left) * min(1.0, one.total / most)
            painter.fillRect(
                QRectF(left, top + S4, wide, high - S8), now.accent if is_enough else now.dim
            )
            if is_cut:
                painter.fillRect(QRectF(0, top - CUT, self.width(), CUT), now.accent)
            above = self._lines[number - 1] if number else one
            if above.total - above.tokens > one.total:
                left_out = top
        painter.setPen(QPen(now.ink, 1, Qt.PenStyle.DashLine))
        painter.drawLine(round(at), 0, round(at), self.height())
        if left_out:
            painter.setPen(QPen(now.dim, 1, Qt.PenStyle.DotLine))
            painter.drawLine(0, left_out, self.width(), left_out)
        painter.end()
