"""Farther away than entries: one box per turn."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from ui.map.canvas import Canvas
from ui.map.inks import bar_share, mix
from ui.map.levels import composition
from ui.map.rows import TURN_START, Category

_SEARCHED = 4_000
"""Rows above and below the view in which the first turn's start and the last one's end are
looked for."""


def turn_boxes(canvas: Canvas) -> list[tuple[int, int]]:
    """(first row, one past the last) of the visible turns; a turn ends where its branch does."""
    geometry, rows, lanes = canvas.geometry, canvas.model.rows, canvas.model.lanes
    if geometry.stop <= geometry.first:
        return []
    low = max(0, geometry.first - _SEARCHED)
    starts = rows.categories[low : geometry.stop + _SEARCHED].translate(TURN_START)
    begin = low + max(0, starts.rfind(1, 0, geometry.first - low + 1))
    segment = bisect_right(lanes.starts, rows.entry(geometry.first)) - 1
    if segment >= 0:
        begin = max(begin, min(rows.floor(lanes.starts[segment]), geometry.first))
    end = starts.find(1, geometry.stop - low)
    end = low + (len(starts) if end < 0 else end)
    edges = {begin, end}
    at = starts.find(1, begin - low)
    while at >= 0:
        edges.add(low + at)
        at = starts.find(1, at + 1)
    last = rows.entry(min(end, rows.count) - 1)
    edges.update(rows.floor(start) for start in lanes.starts_between(rows.entry(begin), last))
    ordered = sorted(edge for edge in edges if begin <= edge <= end)
    return [
        (first, stop) for first, stop in pairwise(ordered)
        if first < geometry.stop and stop > geometry.first
    ]  # fmt: skip


def paint_turns(canvas: Canvas) -> None:
    """A box per turn: first line where it fits, and what the turn is made of as a stacked bar."""
    painter, geometry, model = canvas.painter, canvas.geometry, canvas.model
    boxes = turn_boxes(canvas)
    readable = canvas.inks.small_metrics.height()
    tall = [
        model.rows.entry(first)
        for first, stop in boxes
        if geometry.y(stop) - geometry.y(first) >= readable
    ]
    model.texts.fetch(tall)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    for first, stop in boxes:
        _box(canvas, first, stop, readable)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    _marks(canvas, boxes)


def _box(canvas: Canvas, first: int, stop: int, readable: float) -> None:
    painter, geometry, inks, model = canvas.painter, canvas.geometry, canvas.inks, canvas.model
    entry = model.rows.entry(first)
    faded = not model.lanes.is_active(entry)
    indent = geometry.indent(model.lanes.lane_at(entry))
    left, right = geometry.glyph_left + indent, geometry.width - geometry.px(8)
    top, bottom = geometry.y(first), geometry.y(stop)
    gap = 2 if bottom - top >= 8 else (1 if bottom - top >= 3 else 0)
    rect = QRectF(left, top, right - left, max(1, bottom - top - gap))
    chosen = model.rows.row(model.selected)
    selected = first <= chosen < stop
    lines_up = rect.height() >= readable
    if lines_up:
        painter.fillRect(
            rect, inks.theme.sel if selected else mix(inks.theme.ink, inks.theme.paper, 0.035)
        )
    elif selected:
        painter.fillRect(QRectF(0, top, right, rect.height()), inks.theme.sel)
    _stack(canvas, first, stop, rect, faded, beside_text=lines_up)
    if lines_up:
        _words(canvas, first, stop, rect, faded)


def _stack(
    canvas: Canvas, first: int, stop: int, rect: QRectF, faded: bool, *, beside_text: bool
) -> None:
    """What the turn is made of: at the left edge beside words, over the whole width without."""
    painter, geometry, inks = canvas.painter, canvas.geometry, canvas.inks
    parts = composition(canvas.model.rows, first, stop)
    total = sum(tokens for _, tokens in parts)
    if not total:
        return
    colours = inks.faded if faded else inks.categories
    if beside_text:
        x, y = rect.left(), rect.top()
        for group, tokens in parts:
            height = rect.height() * tokens / total
            painter.fillRect(QRectF(x, y, geometry.px(5), height), colours[group])
            y += height
        return
    x = rect.left()
    height = min(rect.height(), round(geometry.px(5)))
    y = round(rect.center().y() - height / 2) if rect.height() > height else rect.top()
    room = rect.width() * min(1.0, bar_share(total) * 0.9)
    for group, tokens in parts:
        width = room * tokens / total
        painter.fillRect(QRectF(x, y, width, height), colours[group])
        x += width


def _words(canvas: Canvas, first: int, stop: int, rect: QRectF, faded: bool) -> None:
    painter, geometry, inks, model = canvas.painter, canvas.geometry, canvas.inks, canvas.model
    line_height = min(rect.height(), geometry.px(24))
    middle = rect.top() + line_height / 2
    is_low = rect.height() < inks.metrics.height() + 1
    metrics = inks.small_metrics if is_low else inks.metrics
    baseline = round(middle + metrics.ascent() / 2 - metrics.descent() / 2)
    left = rect.left() + geometry.px(16)
    right = rect.right() - geometry.px(16)
    entry = model.rows.entry(first)
    sums = model.rows.sums
    if geometry.has_numbers:
        painter.setFont(inks.mono)
        painter.setPen(inks.theme.dim)
        text = f"{stop - first:,} · {sums[stop] - sums[first]:,}"
        box = QRectF(right - geometry.px(130), rect.top(), geometry.px(130), line_height)
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        right -= geometry.px(138)
    right = canvas.clear_of_handle(
        right, middle - metrics.height() / 2, middle + metrics.height() / 2
    )
    painter.setFont(inks.small if is_low else inks.text)
    compaction = model.rows.categories[first] == Category.COMPACTION
    ink = inks.theme.comp if compaction else inks.theme.ink
    painter.setPen(inks.theme.dim if faded else ink)
    line = model.texts.line(entry)
    shown = inks.fit_small(line, right - left)[0] if is_low else inks.elide(line, right - left)
    painter.drawText(QPointF(left, baseline), shown)


def _marks(canvas: Canvas, boxes: list[tuple[int, int]]) -> None:
    """A small node where a turn starts, and the leaf's."""
    painter, geometry, inks, model = canvas.painter, canvas.geometry, canvas.inks, canvas.model
    lanes = model.lanes
    radius = inks.scale * 3.2
    for first, stop in boxes:
        if geometry.y(stop) - geometry.y(first) < 3 * radius:
            continue
        entry = model.rows.entry(first)
        faded = not lanes.is_active(entry)
        colour = (inks.faded if faded else inks.categories)[model.rows.categories[first]]
        painter.setPen(QPen(colour, 1.8 * inks.scale))
        painter.setBrush(inks.theme.card)
        painter.drawEllipse(
            QPointF(geometry.lane_x(lanes.lane_at(entry)), geometry.middle(first)), radius, radius
        )
