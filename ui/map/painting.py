"""One frame of the map, from the paper up to the cut."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QPainter

from ui.map.canvas import Canvas
from ui.map.geometry import Level
from ui.map.inks import Inks
from ui.map.model import MapModel
from ui.map.painting_bands import paint_bands, paint_cut, place_handle
from ui.map.painting_branches import paint_branches
from ui.map.painting_entries import paint_entries, paint_rows_below
from ui.map.painting_spans import paint_landmarks, paint_samples, paint_stretches
from ui.map.painting_turns import paint_turns
from ui.map.rows import FILTER_TITLES


def paint_map(canvas: Canvas) -> None:
    """Everything, in an order in which lines lie under nodes and the cut over all."""
    level = canvas.geometry.level
    place_handle(canvas)
    if level is Level.ENTRIES:
        paint_rows_below(canvas)
        paint_bands(canvas)
        paint_branches(canvas)
        paint_entries(canvas)
        _moving_leaf(canvas)
    elif level is Level.TURNS:
        paint_bands(canvas)
        paint_branches(canvas)
        paint_turns(canvas)
        _far_marks(canvas)
    else:
        paint_samples(canvas)
        paint_stretches(canvas)
        paint_branches(canvas)
        paint_bands(canvas)
        _far_marks(canvas)
        paint_landmarks(canvas)
    paint_cut(canvas)


def _moving_leaf(canvas: Canvas) -> None:
    if canvas.leaf_y is None:
        return
    canvas.painter.setPen(canvas.inks.pen("accent", 2.2))
    canvas.painter.setBrush(canvas.inks.theme.accent)
    radius = 5.5 * canvas.inks.scale
    canvas.painter.drawEllipse(QPointF(canvas.leaf_x, canvas.leaf_y), radius, radius)


def _far_marks(canvas: Canvas) -> None:
    """The leaf, the selected entry and the hits where rows are too low for their own."""
    painter, geometry, inks, model = canvas.painter, canvas.geometry, canvas.inks, canvas.model
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    selected = model.rows.row(model.selected)
    if geometry.first <= selected < geometry.stop:
        y = geometry.middle(selected)
        painter.setPen(inks.pen("dim", 1))
        # Beside the words of the turn, where there are any, not through them.
        is_worded = geometry.level is Level.TURNS
        right = geometry.glyph_left + geometry.px(12) if is_worded else geometry.width - 8
        painter.drawLine(QPointF(geometry.glyph_left, y), QPointF(right, y))
    leaf = model.rows.row(model.leaf)
    if geometry.first <= leaf < geometry.stop:
        painter.setPen(inks.pen("ink", 1.5))
        painter.setBrush(inks.theme.accent)
        centre = QPointF(geometry.lane_x(model.lanes.lane_at(model.leaf)), geometry.middle(leaf))
        painter.drawEllipse(centre, 4.5 * inks.scale, 4.5 * inks.scale)
    _far_hits(canvas)


def _far_hits(canvas: Canvas) -> None:
    """Diamonds before the boxes, at most one per three pixels."""
    geometry, inks, model = canvas.geometry, canvas.inks, canvas.model
    painter, size = canvas.painter, geometry.px(3.5)
    painter.setPen(Qt.PenStyle.NoPen)
    drawn = -10.0
    for entry in model.hits:
        row = model.rows.row(entry)
        y = geometry.middle(row)
        if not geometry.first <= row < geometry.stop or y - drawn < 3:
            continue
        drawn = y
        x = geometry.glyph_left - geometry.px(10)
        painter.setBrush(inks.theme.ink if entry == model.current_hit else inks.theme.accent)
        painter.drawPolygon(
            [QPointF(x, y - size), QPointF(x + size, y), QPointF(x, y + size), QPointF(x - size, y)]
        )


def empty_text(model: MapModel) -> tuple[str, str]:
    """What an empty map says, and what to do next."""
    if not len(model.tree):
        if model.is_open:
            return "This session has no entries yet", "Send a message below to begin it."
        return "No session is open", "Choose one in the library, or open a session file."
    title = FILTER_TITLES[model.filter].lower()
    return f"Nothing to show with the filter “{title}”", "Choose “All” above to see every entry."


def paint_empty(painter: QPainter, rect: QRect, inks: Inks, model: MapModel) -> None:
    """Two lines in the middle: what is so, and what to do next."""
    first, second = empty_text(model)
    middle, height = rect.center().y(), inks.metrics.height() * 1.6
    box = QRectF(24, middle - height, rect.width() - 48, height)
    painter.setFont(inks.text)
    painter.setPen(inks.theme.ink)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, first)
    painter.setPen(inks.theme.dim)
    painter.drawText(box.translated(0, height), Qt.AlignmentFlag.AlignCenter, second)
