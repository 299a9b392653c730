"""One line of the conversation: a call with its state, folded thinking, a mark across it."""

from __future__ import annotations

import time

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from ui import theme
from ui.agent.view.boxes import Box, Looks
from ui.agent.view.calls import seconds
from ui.agent.view.inks import Inks
from ui.agent.view.parts import Role, Row

_CHEVRON = 12


def paint_role(painter: QPainter, inks: Inks, role: Role, top: float, line: float) -> None:
    """Who says it, at the left; ``line`` is the height of the first line."""
    sign, colour = inks.sign, getattr(inks.now, role.tint)
    picture = theme.icon_pixmap(role.icon, role.tint, sign, inks.dpr)
    painter.drawPixmap(QPointF(theme.S16, top + (line - sign) / 2), picture)
    if inks.narrow:
        return
    painter.setFont(inks.ui)
    painter.setPen(colour)
    left = theme.S16 + sign + theme.S8
    room = inks.left - left - theme.S8
    name = inks.metrics.elidedText(role.name, Qt.TextElideMode.ElideRight, room)
    baseline = top + (line - inks.metrics.height()) / 2 + inks.metrics.ascent()
    painter.drawText(QPointF(left, baseline), name)


class RowBox(Box):
    """A ``Row``; it is selected as a whole or not at all."""

    def __init__(self, part: Row, inks: Inks) -> None:
        super().__init__(part, inks)
        self.row = part
        self.height = float(inks.metrics.height() + theme.S4)

    def length(self) -> int:
        return 1

    def place(self, at: QPointF) -> int:
        return 0 if at.x() < (self.left + self.inks.right) / 2 else 1

    def text(self, first: int = 0, end: int = 1) -> str:
        parts = (self.row.role.name if self.row.role else "", self.row.text, self.row.tail)
        return "  ".join(part for part in parts if part)

    def hits(self, query: str) -> list[tuple[int, int]]:
        found = self.row.text.casefold().count(query.casefold())
        return [(0, 1)] * found

    @property
    def acts(self) -> bool:
        """Whether a click does anything."""
        return bool(self.row.opens or self.row.goes_to >= 0 or self.row.address)

    def tail_words(self) -> str:
        """What came of it; for a running call with the time that it runs."""
        if self.row.since:
            return (
                f"{self.row.tail} · {seconds(int(time.monotonic() - self.row.since), whole=True)}"
            )
        return self.row.tail

    def paint(self, painter: QPainter, top: float, looks: Looks, clip: QRectF) -> None:
        inks, row = self.inks, self.row
        whole = QRectF(self.left - theme.S4, top, inks.right - self.left + theme.S4, self.height)
        if looks.selected is not None or (looks.hovered and self.acts):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(inks.selection if looks.selected is not None else inks.now.panel)
            painter.drawRoundedRect(whole, 4, 4)
        right = float(inks.right - theme.S4)
        if row.opens:
            side = theme.scaled(_CHEVRON)
            name = "chevron-down" if row.is_open else "chevron-right"
            picture = theme.icon_pixmap(name, "dim", side, inks.dpr)
            painter.drawPixmap(QPointF(right - side, top + (self.height - side) / 2), picture)
            right -= side + theme.S8
        right = self._paint_tail(painter, top, right)
        end = self._paint_text(painter, top, right, looks)
        if row.is_mark and right - end > theme.S24:
            painter.setPen(inks.now.line)
            middle = round(top + self.height / 2)
            painter.drawLine(QPointF(end + theme.S12, middle), QPointF(right - theme.S4, middle))

    def _paint_tail(self, painter: QPainter, top: float, right: float) -> float:
        words = self.tail_words()
        if not words:
            return right
        metrics = self.inks.small_metrics
        room = int(min(right - self.left, max((right - self.left) * 0.45, theme.scaled(110))))
        shown = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room)
        left = right - metrics.horizontalAdvance(shown)
        painter.setFont(self.inks.small)
        painter.setPen(getattr(self.inks.now, self.row.tail_tint))
        painter.drawText(QPointF(left, self._baseline(top, metrics)), shown)
        return left - theme.S12

    def _paint_text(self, painter: QPainter, top: float, right: float, looks: Looks) -> float:
        row, inks = self.row, self.inks
        metrics = inks.mono_metrics if row.mono else inks.metrics
        room = max(0, int(right - self.left))
        # Laying out what cannot be seen would take its time.
        shown = metrics.elidedText(row.text[:1000], Qt.TextElideMode.ElideRight, room)
        width = metrics.horizontalAdvance(shown)
        if looks.query and (at := shown.casefold().find(looks.query.casefold())) >= 0:
            left = self.left + metrics.horizontalAdvance(shown[:at])
            wide = metrics.horizontalAdvance(shown[at : at + len(looks.query)])
            fill = inks.hit if looks.current < 0 else inks.selection
            painter.fillRect(QRectF(left, top + 1, wide, self.height - 2), fill)
        painter.setFont(inks.mono if row.mono else inks.ui)
        painter.setPen(getattr(inks.now, row.tint))
        painter.drawText(QPointF(self.left, self._baseline(top, metrics)), shown)
        return self.left + width

    def _baseline(self, top: float, metrics: object) -> float:
        # All type of a row stands on one line.
        whole = self.inks.metrics
        return top + (self.height - whole.height()) / 2 + whole.ascent()
