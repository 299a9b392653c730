"""The cut on the map: the line, its handle with the words on it, and where it may be dragged."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen

from ui.map.canvas import Canvas, Geometry
from ui.map.model import MapModel
from ui.widgets.figures import short


def cut_y(geometry: Geometry, model: MapModel, cut: int) -> float:
    """The height of the cut before a position of the partition's path."""
    entry = model.partition.path[cut]
    return geometry.y(model.rows.floor(entry))


def cut_text(model: MapModel, cut: int) -> str:
    """What the handle says with the cut at a position."""
    partition = model.partition
    if cut == partition.cut:
        return f"⇅ cut · keeps {short(partition.tokens_kept)}"
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


def handle_rect(model: MapModel, cut: int, geometry: Geometry, metrics: QFontMetricsF) -> QRectF:
    """Where the handle lies: on its line, and below it where no row follows that it could cover as
    little of as of the one before."""
    y = cut_y(geometry, model, cut) - 0.5
    pill = geometry.pill(y, metrics.horizontalAdvance(handle_text(model, cut, geometry, metrics)))
    if model.rows.floor(model.partition.path[cut]) >= model.rows.count:
        pill.moveTop(y)
    return pill


def place_handle(canvas: Canvas) -> None:
    """Find out where the handle will lie; the words of the rows beside it end before it."""
    partition, geometry = canvas.model.partition, canvas.geometry
    if partition is None or not 0 <= canvas.cut < len(partition.path):
        return
    pill = handle_rect(canvas.model, canvas.cut, geometry, canvas.inks.small_metrics)
    if -30 <= pill.top() <= geometry.height + 30:
        canvas.handle = pill


def paint_cut(canvas: Canvas) -> None:
    """Paint the one strong line on the screen, with the handle to drag it by."""
    geometry, pill = canvas.geometry, canvas.handle
    if canvas.dragging and canvas.model.partition is not None and canvas.cut >= 0:
        _valid_cuts(canvas)
    if pill is None:
        return
    painter, inks = canvas.painter, canvas.inks
    text = handle_text(canvas.model, canvas.cut, geometry, inks.small_metrics)
    y = cut_y(geometry, canvas.model, canvas.cut) - 0.5
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = QPen(inks.theme.accent, 2 * inks.scale, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap)
    painter.setPen(pen)
    painter.drawLine(QLineF(geometry.px(8), y, geometry.width - geometry.px(8), y))
    painter.setPen(QPen(inks.theme.paper, 1.5) if canvas.dragging else Qt.PenStyle.NoPen)
    painter.setBrush(inks.theme.accent)
    painter.drawRoundedRect(pill, pill.height() / 2, pill.height() / 2)
    painter.setFont(inks.small)
    painter.setPen(inks.theme.on_accent)
    centred = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextDontClip
    painter.drawText(pill, int(centred), text)


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
