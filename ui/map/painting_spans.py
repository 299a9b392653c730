"""Farthest away: one sample per row of pixels, the stretches of the lanes, and what stands out."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from ui.map.canvas import Canvas
from ui.map.geometry import TOP
from ui.map.inks import bar_share
from ui.map.levels import bucket_rows

_LANDMARKS = 72
"""Landmarks of one sort that are looked at for one frame: twice as many as find room on a screen
of 900 pixels."""

_JOIN = 4
"""Pixels between two stretches of a lane below which they are drawn as one."""


def paint_samples(canvas: Canvas) -> None:
    """One bar per row of pixels: as long as its tokens, in the colour of what it mostly is."""
    painter, geometry, inks, model = canvas.painter, canvas.geometry, canvas.inks, canvas.model
    left, right = geometry.glyph_left, geometry.width - geometry.px(8)
    high, shift = geometry.row_height, TOP - geometry.offset
    room = 1.3 * (right - left)
    step = bucket_rows(1 / high)
    bars: dict[tuple[int, bool], list[QRectF]] = {}
    for row, stop, group, tokens, aside in model.samples.between(
        geometry.first, geometry.stop, step
    ):
        width = room * bar_share(tokens) ** 2
        rect = QRectF(left, row * high + shift, max(2.0, width), max(1.0, (stop - row) * high))
        bars.setdefault((group, aside), []).append(rect)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(Qt.PenStyle.NoPen)
    for (group, aside), rects in bars.items():
        painter.setBrush((inks.faded if aside else inks.categories)[group])
        painter.drawRects(rects)


def paint_stretches(canvas: Canvas) -> None:
    """The lanes from afar: stretches joined where they come closer than a few pixels."""
    geometry, model, painter = canvas.geometry, canvas.model, canvas.painter
    rows, lanes = model.rows, model.lanes
    low, high = rows.entry(geometry.first), rows.entry(geometry.stop - 1)
    gap = _JOIN * (high - low + 1) / max(1, geometry.stop - geometry.first) / geometry.row_height
    tall, shift = geometry.row_height, TOP - geometry.offset
    painter.setPen(Qt.PenStyle.NoPen)
    for number in range(lanes.width() - 1, -1, -1):
        lane = model.levels.lane(number, gap)
        strong = number == 0 and lanes.active >= 0
        width = geometry.px(2.5 if strong else 1.5)
        x = geometry.lane_x(number) - width / 2
        found = lane.between(low, high)
        firsts = lane.rises[found.start : found.stop]
        lasts = lane.ends[found.start : found.stop]
        if rows.entries is not None:
            firsts = [rows.floor(first) for first in firsts]
            lasts = [rows.floor(last + 1) - 1 for last in lasts]
        stretches = [
            QRectF(x, first * tall + shift, width, max(1.0, (last - first + 1) * tall))
            for first, last in zip(firsts, lasts, strict=True)
            if last >= first
        ]
        painter.setBrush(canvas.inks.theme.ink if strong else canvas.inks.theme.faint)
        painter.drawRects(stretches)


def paint_landmarks(canvas: Canvas) -> None:
    """Labels, compactions and branch summaries by name, as many as find room without touching."""
    geometry, model, inks = canvas.geometry, canvas.model, canvas.inks
    columns, rows = model.tree.columns, model.rows
    low, high = rows.entry(geometry.first), rows.entry(geometry.stop - 1)
    height = geometry.px(24)
    taken: set[int] = set()
    chosen: list[tuple[float, int, str]] = []
    for entries, token in (
        (sorted(model.labels), "accent"),
        (columns.compactions, "comp"),
        (columns.branches, "branch"),
    ):
        for entry in _some(entries, low, high):
            row = rows.row(entry)
            y = geometry.y(row)
            slot = int(y // height)
            if row >= 0 and taken.isdisjoint((slot - 1, slot, slot + 1)):
                taken.add(slot)
                chosen.append((y, entry, token))
    painter = canvas.painter
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setFont(inks.small)
    for y, entry, token in chosen:
        text = model.labels.get(entry) or model.texts.short(entry)
        _landmark(canvas, y, text, inks.token(token))


def _some(entries: Iterable[int], low: int, high: int) -> list[int]:
    """The entries from ``low`` to ``high``, thinned out evenly where they are many."""
    ordered = list(entries)
    part = ordered[bisect_left(ordered, low) : bisect_right(ordered, high)]
    return part[:: max(1, -(-len(part) // _LANDMARKS))]


def _landmark(canvas: Canvas, y: float, text: str, colour: QColor) -> None:
    painter, geometry, inks = canvas.painter, canvas.geometry, canvas.inks
    room = min(geometry.px(360), geometry.width - geometry.text_left - geometry.px(32))
    shown, width = inks.fit_small(text, room)
    width += geometry.px(14)
    left, height = geometry.width - geometry.px(16) - width, geometry.px(18)
    box = QRectF(left, y - height / 2, width, height)
    painter.setPen(QPen(colour, 1))
    painter.setBrush(inks.theme.card)
    painter.drawRoundedRect(box, geometry.px(4), geometry.px(4))
    metrics = inks.small_metrics
    baseline = round(y + metrics.ascent() / 2 - metrics.descent() / 2)
    painter.drawText(QPointF(left + geometry.px(7), baseline), shown)
