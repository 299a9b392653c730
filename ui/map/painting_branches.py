"""The tree itself: lanes, forks, the bridges of branch summaries, and far away only stretches."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen

from ui.map.canvas import Canvas
from ui.map.geometry import Level

FORKS_AT_MOST = 300
"""Forks drawn as curves in one frame; where there are more, they are too close to be told apart."""

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
    """Dashed, from where a branch was abandoned to the summary that tells of it (A35)."""
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
