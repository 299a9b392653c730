"""The partition over the active path: its bands, the valid cuts, and the cut itself."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen

from explorer.session.tree import Path
from ui.map.canvas import Canvas
from ui.map.folds import short_tokens
from ui.map.geometry import TOP, Geometry, Level
from ui.map.model import MapModel
from ui.theme import paint_verdict, verdict_brush

_RUNS = re.compile(rb"(.)\1*", re.DOTALL)
_NOT_SENT = 4


def paint_bands(canvas: Canvas) -> None:
    """The verdicts along the active path, as the textures that stand for them everywhere."""
    partition = canvas.model.partition
    geometry = canvas.geometry
    if partition is None or not len(partition.path) or geometry.stop <= geometry.first:
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


def cut_y(geometry: Geometry, model: MapModel, cut: int) -> float:
    """The height of the cut before a position of the partition's path."""
    entry = model.partition.path[cut]
    return geometry.y(model.rows.floor(entry))


def cut_text(model: MapModel, cut: int) -> str:
    """What the handle says with the cut at a position."""
    partition = model.partition
    if cut == partition.cut:
        return f"⇅ cut · keeps {short_tokens(partition.tokens_kept)}"
    if partition.cut < 0:
        return "⇅ cut · nothing to compact here"
    return f"⇅ cut · before #{partition.path[cut]}"


def handle_text(model: MapModel, cut: int, geometry: Geometry, metrics: QFontMetricsF) -> str:
    """``cut_text``, or its figure alone where that would leave the rows beside it no words."""
    text = cut_text(model, cut)
    room = geometry.text_right - geometry.text_left
    if metrics.horizontalAdvance(text) > 0.5 * room:
        sign, _, rest = text.partition(" cut · ")
        return f"{sign} {rest.removeprefix('keeps ').removeprefix('before ')}"
    return text


def place_handle(canvas: Canvas) -> None:
    """Find out where the handle will lie; the words of the rows beside it end before it."""
    partition, geometry = canvas.model.partition, canvas.geometry
    if partition is None or not 0 <= canvas.cut < len(partition.path):
        return
    y = cut_y(geometry, canvas.model, canvas.cut) - 0.5
    if -30 <= y <= geometry.height + 30:
        text = handle_text(canvas.model, canvas.cut, geometry, canvas.inks.small_metrics)
        canvas.handle = geometry.pill(y, canvas.inks.small_metrics.horizontalAdvance(text))


def paint_cut(canvas: Canvas) -> None:
    """The one strong line on the screen, with the handle to drag it by."""
    geometry, pill = canvas.geometry, canvas.handle
    if canvas.dragging and canvas.model.partition is not None and canvas.cut >= 0:
        _valid_cuts(canvas)
    if pill is None:
        return
    painter, inks = canvas.painter, canvas.inks
    text = handle_text(canvas.model, canvas.cut, geometry, inks.small_metrics)
    y = pill.center().y()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = QPen(inks.theme.accent, 2 * inks.scale, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap)
    painter.setPen(pen)
    painter.drawLine(QLineF(geometry.px(8), y, geometry.width - geometry.px(8), y))
    painter.setPen(QPen(inks.theme.paper, 1.5) if canvas.dragging else Qt.PenStyle.NoPen)
    painter.setBrush(inks.theme.accent)
    painter.drawRoundedRect(pill, pill.height() / 2, pill.height() / 2)
    painter.setFont(inks.small)
    painter.setPen(inks.theme.on_accent)
    painter.drawText(pill, Qt.AlignmentFlag.AlignCenter, text)


def _valid_cuts(canvas: Canvas) -> None:
    """While dragging: a notch beside the bands wherever the cut may go."""
    geometry, model, rows = canvas.geometry, canvas.model, canvas.model.rows
    cuts = model.partition.valid_cuts
    low = bisect_left(cuts, model.places.floor(rows.entry(geometry.first)))
    high = bisect_right(cuts, model.places.floor(rows.entry(geometry.stop - 1)))
    left, width = geometry.band
    x = left + width + geometry.px(2)
    lines = []
    for cut in cuts[low:high][:2_000]:
        y = cut_y(geometry, model, cut) - 0.5
        lines.append(QLineF(x, y, x + geometry.px(6), y))
    canvas.painter.setPen(QPen(canvas.inks.theme.accent, 1))
    canvas.painter.drawLines(lines)
