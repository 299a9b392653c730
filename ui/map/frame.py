"""One frame of the map, from the paper up to the cut: bands, lanes, stretches, landmarks."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import Any

from PySide6.QtCore import QLineF, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from explorer.session.tree import Path
from ui.map.canvas import TOP, Canvas, Level, MapInks, bar_share
from ui.map.cards import paint_entries, paint_rows_below, paint_turns, worded_rows
from ui.map.cut_handle import paint_cut, place_handle
from ui.map.layout import bucket_rows
from ui.map.model import MapModel
from ui.map.rows import FILTER_TITLES
from ui.map.threads import paint_threads
from ui.theme import paint_verdict, verdict_brush

_RUNS = re.compile(rb"(.)\1*", re.DOTALL)
_NOT_SENT = 4


def paint_bands(canvas: Canvas) -> None:
    """Paint the verdicts along the active path, as the textures that stand for them everywhere."""
    partition = canvas.model.partition
    geometry = canvas.geometry
    if partition is None or not len(partition.path) or geometry.stop <= geometry.first:
        return
    if not canvas.model.has_verdicts:
        return
    left, width = geometry.band
    painter = canvas.painter
    near = geometry.level is Level.ENTRIES
    bands = _bands_by_row(canvas, partition) if geometry.row_height >= 1.5 else None
    for verdict, top, bottom in bands or _bands_by_pixel(canvas, partition):
        if verdict == _NOT_SENT:
            continue
        rect = QRectF(left, top + near, width, max(1.0, bottom - top - 2 * near))
        if near:
            paint_verdict(painter, rect, verdict)
        else:
            painter.setBrushOrigin(QPointF(left, 0))
            painter.fillRect(rect, verdict_brush(verdict, canvas.inks.dpr))


def _bands_by_row(canvas: Canvas, partition: Any) -> list[tuple[int, float, float]]:
    """(verdict, top, bottom) of the visible runs, broken where another branch lies between."""
    geometry, rows, path = canvas.geometry, canvas.model.rows, partition.path
    low, high = rows.entry(geometry.first), rows.entry(geometry.stop - 1)
    found = []
    for part in _parts(path, low, high):
        start = path.position(part.start)
        verdicts = bytes(partition.verdicts[start : start + len(part)])
        for run in _RUNS.finditer(verdicts):
            first = rows.floor(part.start + run.start())
            stop = rows.floor(part.start + run.end())
            if stop > first:
                found.append((verdicts[run.start()], geometry.y(first), geometry.y(stop)))
    return found


def _parts(path: Path, low: int, high: int) -> Iterator[range]:
    """The ranges of a path that lie within some entries, cut to them."""
    at = max(0, bisect_right(path.ranges, low, key=lambda part: part.start) - 1)
    while at < len(path.ranges) and path.ranges[at].start <= high:
        part = range(max(path.ranges[at].start, low), min(path.ranges[at].stop, high + 1))
        if part:
            yield part
        at += 1


def _bands_by_pixel(canvas: Canvas, partition: Any) -> list[tuple[int, float, float]]:
    """The same where many rows share a pixel: one look per pixel."""
    geometry, rows, floor = canvas.geometry, canvas.model.rows, canvas.model.places.floor
    top, bottom = max(0, int(geometry.y(0))), min(geometry.height, geometry.y(geometry.rows))
    verdicts, last = partition.verdicts, partition.path[-1]
    shift, tall, most = geometry.offset - TOP, geometry.row_height, geometry.rows - 1
    seen = bytearray()
    for y in range(top, int(bottom)):
        row = min(most, int((y + shift) / tall))
        entry = row if rows.entries is None else rows.entries[row]
        at = floor(entry) if entry <= last else -1
        seen.append(verdicts[at] if at >= 0 else _NOT_SENT)
    return [(seen[run.start()], top + run.start(), top + run.end()) for run in _RUNS.finditer(seen)]


FORKS_AT_MOST = 300
"""Forks drawn as curves in one frame; where there are more, they are too close to differ."""

_BEYOND = 60
"""Pixels that lines reach past the edges, so that their ends stay out of sight."""


def paint_branches(canvas: Canvas) -> None:
    """Everything that the lanes show under the nodes; from afar the forks alone."""
    painter, inks = canvas.painter, canvas.inks
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if canvas.geometry.level is Level.SPANS:
        _forks(canvas)
        return
    faded, active = _stretches(canvas)
    painter.setPen(inks.pen("faint", 2))
    painter.drawLines(faded)
    _forks(canvas)
    _bridges(canvas)
    painter.setPen(inks.pen("ink", 2.5))
    painter.drawLines(active)


def _stretches(canvas: Canvas) -> tuple[list[QLineF], list[QLineF]]:
    """The visible upright lines of the abandoned branches, and of the active path."""
    geometry, model = canvas.geometry, canvas.model
    rows, lanes = model.rows, model.lanes
    if geometry.stop <= geometry.first:
        return [], []
    low, high = rows.entry(geometry.first), rows.entry(geometry.stop - 1)
    faded: list[QLineF] = []
    active: list[QLineF] = []
    tails = lanes.chains.tail
    for number in range(lanes.width()):
        lane = model.levels.lane(number, 0)
        x = geometry.lane_x(number)
        out = active if number == 0 and lanes.active >= 0 else faded
        for at in lane.between(low, high):
            chain = lane.chains[at]
            end = lane.ends[at] if chain < 0 else min(lane.ends[at], tails[chain])
            first, last = rows.floor(lane.rises[at]), rows.floor(end + 1) - 1
            if last >= first:
                out.append(_upright(canvas, x, first, last))
    return faded, active


def _upright(canvas: Canvas, x: float, first: int, last: int) -> QLineF:
    geometry = canvas.geometry
    top, bottom = geometry.middle(first), geometry.middle(last)
    if geometry.row_height < 4:
        bottom = geometry.y(last + 1)
    low, high = -_BEYOND, geometry.height + _BEYOND
    return QLineF(x, min(max(top, low), high), x, min(max(bottom, low), high))


def _forks(canvas: Canvas) -> None:
    """The curves from an entry to the branch that leaves there."""
    geometry, lanes, rows = canvas.geometry, canvas.model.lanes, canvas.model.rows
    if geometry.stop <= geometry.first:
        return
    low, high = rows.entry(geometry.first), rows.entry(geometry.stop - 1)
    forks = lanes.forks_between(low - 1, high + 1)
    most = FORKS_AT_MOST // 4 if geometry.level is Level.SPANS else FORKS_AT_MOST
    if not forks or len(forks) > most:
        return
    chains = lanes.chains
    path, stubs = QPainterPath(), QPainterPath()
    for rise, chain in forks:
        first = rows.floor(rise)
        if rows.floor(chains.tail[chain] + 1) <= first or chains.origin[chain] < lanes.first:
            continue
        start = geometry.lane_x(lanes.lane_at(chains.origin[chain]))
        x, y = geometry.lane_x(chains.lane[chain]), geometry.middle(first)
        if chains.hangs[chain]:
            stubs.moveTo(x - geometry.px(9), y - geometry.px(11))
            stubs.quadTo(x, y - geometry.px(11), x, y)
            continue
        above = y - max(geometry.row_height, 3) if first else y
        _curve(path, QPointF(start, above), QPointF(x, y))
    painter = canvas.painter
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(canvas.inks.pen("faint", 1.5 if geometry.level is Level.SPANS else 2))
    painter.drawPath(path)
    if geometry.level is not Level.SPANS:
        painter.setPen(_dashed(canvas, "faint", 1.6))
        painter.drawPath(stubs)


def _curve(path: QPainterPath, start: QPointF, end: QPointF) -> None:
    """From one lane to another, leaving and arriving upright."""
    height = end.y() - start.y()
    path.moveTo(start)
    path.cubicTo(
        QPointF(start.x(), start.y() + 0.55 * height),
        QPointF(end.x(), end.y() - 0.75 * height),
        end,
    )


def _dashed(canvas: Canvas, token: str, width: float) -> QPen:
    pen = QPen(canvas.inks.pen(token, width))
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    pen.setDashPattern([2.5, 2])
    return pen


def _bridges(canvas: Canvas) -> None:
    """Dashed, from where a branch was abandoned to its summary (A35)."""
    geometry, lanes, rows = canvas.geometry, canvas.model.lanes, canvas.model.rows
    if not lanes.bridges or geometry.level is Level.SPANS:
        return
    low, high = rows.entry(geometry.first), rows.entry(geometry.stop - 1)
    path = QPainterPath()
    for bridge in lanes.bridges_between(low, high):
        from_row, to_row = rows.floor(bridge.origin), rows.row(bridge.summary)
        if to_row < 0 or from_row >= to_row:
            continue
        start_x = geometry.lane_x(lanes.lane_at(bridge.origin))
        end_x = geometry.lane_x(lanes.lane_at(bridge.summary))
        start, end = geometry.middle(from_row), geometry.middle(to_row)
        path.moveTo(start_x, max(start, -_BEYOND))
        if bridge.in_lane:
            turn = max(end - geometry.row_height, start, -_BEYOND)
            path.lineTo(start_x, turn)
            height = end - turn
            path.cubicTo(start_x, turn + 0.6 * height, end_x, end - 0.4 * height, end_x, end)
        else:
            bulge = max(start_x, end_x) + geometry.px(16)
            path.cubicTo(bulge, start, bulge, end, end_x, end)
    painter = canvas.painter
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(_dashed(canvas, "branch", 1.6))
    painter.drawPath(path)


_LANDMARKS = 72
"""Landmarks of one sort that are looked at for one frame: twice as many as find room on a screen
of 900 pixels."""

_JOIN = 4
"""Pixels between two stretches of a lane below which they are drawn as one."""


def paint_samples(canvas: Canvas) -> None:
    """Paint one bar per row of pixels: as long as its tokens, coloured by what it mostly is."""
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
    """Paint the lanes from afar: stretches joined where they come closer than a few pixels."""
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
    """Compactions, branch summaries and labels by name, where no words stand for them: as many as
    find room without touching, each with how many more stand where it does."""
    geometry, model, inks = canvas.geometry, canvas.model, canvas.inks
    columns, rows = model.tree.columns, model.rows
    low, high = rows.entry(geometry.first), rows.entry(geometry.stop - 1)
    height = geometry.px(24)
    worded = worded_rows(canvas) if geometry.level is Level.TURNS else frozenset()
    chosen: list[tuple[float, int, str]] = []
    taken: dict[int, int] = {}
    more: list[int] = []
    for entries, token in (
        (columns.compactions, "comp"),
        (columns.branches, "branch"),
        (sorted(model.labels), "accent"),
    ):
        for entry in _some(entries, low, high):
            row = rows.row(entry)
            if row < 0 or (row in worded and token != "accent"):
                continue
            y = geometry.y(row)
            slot = int(y // height)
            near = next((taken[at] for at in (slot, slot - 1, slot + 1) if at in taken), -1)
            if near < 0:
                taken[slot] = len(chosen)
                chosen.append((y, entry, token))
                more.append(0)
            elif entry != chosen[near][1]:
                more[near] += 1
    painter = canvas.painter
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setFont(inks.small)
    for (y, entry, token), hidden in zip(chosen, more, strict=True):
        text = model.labels.get(entry) or model.texts.short(entry)
        _landmark(canvas, y, text, inks.token(token), f" +{hidden}" if hidden else "")


def _some(entries: Iterable[int], low: int, high: int) -> list[int]:
    """The entries from ``low`` to ``high``, thinned out evenly where they are many."""
    ordered = list(entries)
    part = ordered[bisect_left(ordered, low) : bisect_right(ordered, high)]
    return part[:: max(1, -(-len(part) // _LANDMARKS))]


def _landmark(canvas: Canvas, y: float, text: str, colour: QColor, more: str) -> None:
    painter, geometry, inks = canvas.painter, canvas.geometry, canvas.inks
    numbers = geometry.level is Level.TURNS and geometry.has_sums
    right = geometry.width - geometry.px(138 + 24 if numbers else 16)
    extra = inks.small_metrics.horizontalAdvance(more)
    room = min(geometry.px(360), right - geometry.text_left - geometry.px(16)) - extra
    shown, width = inks.fit_small(text, room)
    shown += more
    width += extra + geometry.px(14)
    left, height = right - width, geometry.px(18)
    box = QRectF(left, y - height / 2, width, height)
    painter.setPen(QPen(colour, 1))
    painter.setBrush(inks.theme.card)
    painter.drawRoundedRect(box, geometry.px(4), geometry.px(4))
    metrics = inks.small_metrics
    baseline = round(y + metrics.ascent() / 2 - metrics.descent() / 2)
    painter.drawText(QPointF(left + geometry.px(7), baseline), shown)


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
        paint_landmarks(canvas)
    else:
        paint_samples(canvas)
        paint_stretches(canvas)
        paint_branches(canvas)
        paint_bands(canvas)
        _far_marks(canvas)
        paint_landmarks(canvas)
    if canvas.model.threads:
        paint_threads(canvas)
    paint_cut(canvas)


def _moving_leaf(canvas: Canvas) -> None:
    if canvas.leaf_y is None:
        return
    canvas.painter.setPen(canvas.inks.pen("accent", 2.2))
    canvas.painter.setBrush(canvas.inks.theme.accent)
    radius = 5.5 * canvas.inks.scale
    canvas.painter.drawEllipse(QPointF(canvas.leaf_x, canvas.leaf_y), radius, radius)


def _far_marks(canvas: Canvas) -> None:
    """The leaf, the selected entry and the hits where rows are too low for a mark each."""
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
        # Without a session the welcome page is there; the map is seen when one is on its way.
        return "Opening the session…", "A large one takes a while the first time."
    title = FILTER_TITLES[model.filter].lower()
    return f"Nothing to show with the filter “{title}”", "Choose “All” above to see every entry."


def paint_empty(painter: QPainter, rect: QRect, inks: MapInks, model: MapModel) -> None:
    """Two lines in the middle: what is so, and what to do next."""
    first, second = empty_text(model)
    middle, height = rect.center().y(), inks.metrics.height() * 1.6
    box = QRectF(24, middle - height, rect.width() - 48, height)
    painter.setFont(inks.text)
    painter.setPen(inks.theme.ink)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, first)
    painter.setPen(inks.theme.dim)
    painter.drawText(box.translated(0, height), Qt.AlignmentFlag.AlignCenter, second)
