"""Thin curves between two entries that belong together: of one thing, the time before and the
time after."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter, QPainterPath

from ui.map.canvas import Canvas, Level

MOST = 30
"""Threads that are drawn at most: more could not be told apart."""
_BEYOND = 60
"""Pixels past the edges to which a thread is drawn whose end is out of sight."""


def paint_threads(canvas: Canvas) -> None:
    """Paint the threads of the model, in the room between the lanes and the glyphs."""
    geometry, rows = canvas.geometry, canvas.model.rows
    lines, ends = QPainterPath(), QPainterPath()
    low, high = -_BEYOND, geometry.height + _BEYOND
    radius = geometry.px(2.5)
    x = geometry.glyph_left - geometry.px(6)
    for number, (before, after) in enumerate(canvas.model.threads[:MOST]):
        first, last = rows.floor(before), rows.floor(after)
        if first >= last or last >= rows.count:
            continue
        # Where neither has a row, its ends would be those of something else.
        if rows.row(before) < 0 and rows.row(after) < 0:
            continue
        top, bottom = geometry.middle(first), geometry.middle(last)
        if bottom < 0 or top > geometry.height:
            continue
        bulge = geometry.px(10 + 4 * (number % 4))
        start = QPointF(x, min(max(top, low), high))
        end = QPointF(x, min(max(bottom, low), high))
        turn = min(bulge, (end.y() - start.y()) / 2)
        lines.moveTo(start)
        lines.cubicTo(x - bulge, start.y(), x - bulge, start.y(), x - bulge, start.y() + turn)
        lines.lineTo(x - bulge, end.y() - turn)
        lines.cubicTo(x - bulge, end.y(), x - bulge, end.y(), end.x(), end.y())
        for point in (start, end):
            ends.addEllipse(point, radius, radius)
    painter = canvas.painter
    # From afar the lines are long and straight, and smooth ones would take as long as the map.
    is_near = geometry.level is not Level.SPANS
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, is_near)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(canvas.inks.pen("comp", 1.1 if geometry.level is Level.ENTRIES else 0.9))
    painter.drawPath(lines)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(canvas.inks.theme.comp)
    painter.drawPath(ends)
