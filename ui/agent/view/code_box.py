"""Code, outputs and diffs on a panel of their own, with a button that copies them."""

from __future__ import annotations

import time
from dataclasses import replace

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QTextBlockFormat, QTextCursor

from ui import theme
from ui.agent.view.boxes import DocumentBox, Looks, Zone
from ui.agent.view.inks import Inks
from ui.agent.view.parts import Code, Diff, Part
from ui.inspector.code import colour
from ui.widgets.plain_text import split_lines


class CodeBox(DocumentBox):
    """Code, an output or a diff on a panel of its own; long ones are several boxes in a row."""

    def __init__(self, part: Code | Diff, inks: Inks) -> None:
        super().__init__(part, inks)
        self.opens = part.opens if isinstance(part, Code) else True
        self.closes = part.closes if isinstance(part, Code) else True
        self.padding = theme.S12 if not part.inset else theme.S8
        self._headed = self.opens and isinstance(part, Code) and part.fenced
        head = inks.small_metrics.height() + theme.S8 if self._headed else theme.S4
        self.text_top = head if self.opens else 0
        self.document.setDefaultFont(inks.mono)
        self._copy_side = inks.sign + theme.S8
        if isinstance(part, Code):
            self._shown, _ = split_lines(part.text)
            self.document.setPlainText(self._shown)
            self.is_stale = part.coloured and bool(part.language or part.path)
        else:
            self._fill_diff(part)
        self._fit()

    def _fit(self) -> None:
        room = self.inks.right - self.left - 2 * self.padding
        size = self.fit(room - (0 if self._headed else self._copy_side))
        self.height = self.text_top + size.height() + (theme.S8 if self.closes else 0)

    def grow(self, part: Part) -> bool:
        """More lines: those that are there keep their colours."""
        old = self.part
        if not isinstance(part, Code) or not isinstance(old, Code):
            return False
        if (
            not part.text.startswith(old.text)
            or replace(part, text=old.text, closes=old.closes) != old
        ):
            return False
        shown, _ = split_lines(part.text)
        if not shown.startswith(self._shown):
            return False
        cursor = QTextCursor(self.document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(shown[len(self._shown) :])
        self.part, self._shown, self.closes = part, shown, part.closes
        self.is_stale = part.coloured and bool(part.language or part.path)
        self._found = ("", [])
        self._fit()
        return True

    def _fill_diff(self, part: Diff) -> None:
        now = self.inks.now
        fills = {"+": now.added, "-": now.removed}
        lines = part.lines
        words = (f"{line.sign.replace('@', ' ')} {line.text[:998]}" for line in lines)
        self.document.setPlainText("\n".join(words))
        block = self.document.begin()
        for line in lines:
            if (fill := fills.get(line.sign)) is not None:
                form = QTextBlockFormat()
                form.setBackground(fill)
                QTextCursor(block).mergeBlockFormat(form)
            block = block.next()

    @property
    def surface(self) -> QRectF:
        """The panel behind it."""
        return QRectF(self.left, 0, self.inks.right - self.left, self.height)

    def paint(self, painter: QPainter, top: float, looks: Looks, clip: QRectF) -> None:
        now, panel = self.inks.now, self.surface.translated(0, top)
        painter.save()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(now.panel)
        painter.setClipRect(panel.intersected(clip))
        # Corners only where the block begins and ends.
        above = 0 if self.opens else theme.RADIUS
        below = 0 if self.closes else theme.RADIUS
        painter.drawRoundedRect(panel.adjusted(0, -above, 0, below), theme.RADIUS, theme.RADIUS)
        painter.restore()
        if self._headed:
            self._paint_head(painter, top)
        super().paint(painter, top, looks, clip)
        if self.opens:
            rect = self._copy_rect().translated(0, top)
            sign = self.inks.sign
            picture = theme.icon_pixmap(
                "copy", "ink" if looks.hovered else "dim", sign, self.inks.dpr
            )
            corner = rect.center() - QPointF(sign / 2, sign / 2)
            painter.drawPixmap(corner, picture)

    def _paint_head(self, painter: QPainter, top: float) -> None:
        assert isinstance(self.part, Code)
        painter.setFont(self.inks.small)
        painter.setPen(self.inks.now.dim)
        baseline = top + theme.S4 + self.inks.small_metrics.ascent()
        painter.drawText(QPointF(self.text_left, baseline), self.part.language or "text")

    def _copy_rect(self) -> QRectF:
        side = self._copy_side
        return QRectF(self.inks.right - side - 2, 2, side, side)

    def zones(self) -> list[Zone]:
        return [Zone(self._copy_rect(), "copy", "Copy the code")] if self.opens else []

    def improve(self) -> None:
        self.is_stale, self.improved_at = False, time.monotonic()
        part = self.part
        if isinstance(part, Code):
            colour(self.document, self.document.begin(), part.text, part.language, part.path)
