"""Farther away: one box per turn, and at last one sample per row of pixels."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from ui.map.canvas import Canvas
from ui.map.inks import bar_share, mix
from ui.map.levels import composition, sample
from ui.map.rows import TURN_START, Category

_SEARCHED = 4_000
"""Rows above and below the view in which the first turn's start and the last one's end are
looked for."""


_LANDMARKS = 2_000
"""Landmarks of one sort that are looked at for one frame, the newest."""


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
    readable = canvas.inks.metrics.height() + 1
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
    room = rect.width() * min(1.0, bar_share(total) * 0.9)
    for group, tokens in parts:
        width = room * tokens / total
        painter.fillRect(QRectF(x, rect.top(), width, rect.height()), colours[group])
        x += width


def _words(canvas: Canvas, first: int, stop: int, rect: QRectF, faded: bool) -> None:
    painter, geometry, inks, model = canvas.painter, canvas.geometry, canvas.inks, canvas.model
    line_height = min(rect.height(), geometry.px(24))
    middle = rect.top() + line_height / 2
    baseline = round(middle + inks.metrics.ascent() / 2 - inks.metrics.descent() / 2)
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
    painter.setFont(inks.text)
    compaction = model.rows.categories[first] == Category.COMPACTION
    ink = inks.theme.comp if compaction else inks.theme.ink
    painter.setPen(inks.theme.dim if faded else ink)
    painter.drawText(QPointF(left, baseline), inks.elide(model.texts.line(entry), right - left))


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


def paint_samples(canvas: Canvas) -> None:
    """One bar per row of pixels: as long as its tokens, in the colour of what it mostly is."""
    painter, geometry, inks, model = canvas.painter, canvas.geometry, canvas.inks, canvas.model
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    left, right = geometry.glyph_left, geometry.width - geometry.px(8)
    per_bucket = 1 / geometry.row_height
    bars: dict[tuple[int, bool], list[QRectF]] = {}
    room = right - left
    for found in sample(model.rows, geometry.first, geometry.stop, per_bucket):
        entry = model.rows.entry(found.row)
        faded = not model.lanes.is_active(entry)
        y = geometry.y(found.row)
        height = max(1.0, geometry.y(found.stop) - y)
        mean = found.tokens // max(1, found.stop - found.row)
        width = max(2.0, room * bar_share(mean) ** 2 * 1.3)
        bars.setdefault((found.category, faded), []).append(QRectF(left, y, width, height))
    painter.setPen(Qt.PenStyle.NoPen)
    for (group, faded), rects in bars.items():
        painter.setBrush((inks.faded if faded else inks.categories)[group])
        painter.drawRects(rects)


def paint_landmarks(canvas: Canvas) -> None:
    """Labels, compactions and branch summaries by name, as many as find room without touching."""
    geometry, model, inks = canvas.geometry, canvas.model, canvas.inks
    columns, rows = model.tree.columns, model.rows
    height = geometry.px(19)
    taken: set[int] = set()
    chosen: list[tuple[float, int, str, str]] = []
    for entries, token in (
        (model.labels, "accent"), (columns.compactions, "comp"), (columns.branches, "branch")
    ):  # fmt: skip
        for entry in list(entries)[-_LANDMARKS:]:
            row = rows.row(entry)
            if not geometry.first <= row < geometry.stop:
                continue
            y = geometry.y(row)
            slot = int(y // height)
            if taken.isdisjoint((slot - 1, slot, slot + 1)):
                taken.add(slot)
                chosen.append((y, entry, token, model.labels.get(entry, "")))
    for y, entry, token, label in chosen:
        _landmark(canvas, y, label or model.texts.line(entry), inks.token(token))


def _landmark(canvas: Canvas, y: float, text: str, colour: QColor) -> None:
    painter, geometry, inks = canvas.painter, canvas.geometry, canvas.inks
    room = min(geometry.px(360), geometry.width - geometry.text_left - geometry.px(32))
    shown = inks.small_metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
    width = inks.small_metrics.horizontalAdvance(shown) + geometry.px(14)
    box = QRectF(
        geometry.width - geometry.px(16) - width, y - geometry.px(9), width, geometry.px(18)
    )
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(colour, 1))
    painter.setBrush(inks.theme.card)
    painter.drawRoundedRect(box, geometry.px(4), geometry.px(4))
    painter.setFont(inks.small)
    painter.setPen(colour)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, shown)
