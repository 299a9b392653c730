"""Painting of the chart: the scale, the lines, and the signs of what happened on them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF

from ui.audit.what_if.lines import Drawing, Line, Sign, SignKind
from ui.theme import S4, S8, scaled, small_font, theme
from ui.widgets.figures import round_short

SIGN = 5.0
"""Half a sign's width, in pixels at a text scale of 100 %."""


FADED = 0.3
"""How much is seen of lines that are a tangle, but for the one that is followed."""
_DENSE = 1.5
"""Points for each pixel of the width from which a line is thinned further."""


class Scale:
    """From positions and tokens to places on the chart."""

    def __init__(
        self, frame: QRectF, positions: int, most: int, first: float = 0.0, span: float = 0.0
    ) -> None:
        """``first`` and ``span``: the stretch that is seen, in positions; 0: all of it."""
        self.frame = frame
        self.first = first
        self.span = span or max(1.0, positions - 1.0)
        self.most = max(1, most)

    def x(self, position: float) -> float:
        return self.frame.left() + (position - self.first) / self.span * self.frame.width()

    def y(self, tokens: float) -> float:
        return self.frame.bottom() - tokens / self.most * self.frame.height()

    def position(self, x: float) -> int:
        """The position nearest to a place."""
        part = (x - self.frame.left()) / max(1.0, self.frame.width())
        return round(self.first + min(1.0, max(0.0, part)) * self.span)

    def shows(self, position: float) -> bool:
        """Whether a position is in sight."""
        return self.first <= position <= self.first + self.span


def frame_of(width: float, height: float) -> QRectF:
    """Where the lines are, within a chart of a size: numbers stand to the left and below."""
    metrics = QFontMetricsF(small_font())
    left = metrics.horizontalAdvance("8.88M") + 2 * S8
    below = metrics.height() + S8
    return QRectF(left, S8 + metrics.height(), width - left - S8, height - below - 2 * S8 - S8)


def top_of(lines: Sequence[Line]) -> int:
    """Tokens at the upper edge: all that is drawn fits, and the window where it is near."""
    largest = max((line.found.largest for line in lines), default=0)
    windows = [line.found.window for line in lines if not line.is_recorded]
    window = max(windows, default=0)
    # A window ten times as large as all that was ever sent would press the lines flat.
    most = max(largest, window) if window <= 3 * largest else largest
    return max(1, round(most * 1.06))


def paint_scale(painter: QPainter, drawing: Drawing, scale: Scale) -> None:
    """The grid with its figures: tokens to the left, turns below."""
    now, frame = theme(), scale.frame
    painter.setFont(small_font())
    metrics = QFontMetricsF(small_font())
    for tokens in ticks(scale.most, max(2, int(frame.height() / (metrics.height() * 2.4)))):
        y = round(scale.y(tokens)) + 0.5
        painter.setPen(QPen(now.line, 1))
        painter.drawLine(QPointF(frame.left(), y), QPointF(frame.right(), y))
        painter.setPen(now.dim)
        label = QRectF(0, y - metrics.height() / 2, frame.left() - S8, metrics.height())
        painter.drawText(label, Qt.AlignmentFlag.AlignRight, round_short(tokens))
    _paint_turns(painter, drawing, scale, metrics)
    painter.setPen(QPen(now.faint, 1))
    painter.drawLine(frame.bottomLeft(), frame.bottomRight())


def _paint_turns(painter: QPainter, drawing: Drawing, scale: Scale, metrics: QFontMetricsF) -> None:
    """The numbers of turns below the chart, as many as there is room for."""
    now, frame = theme(), scale.frame
    begin = bisect_left(drawing.turns, scale.first)
    end = bisect_right(drawing.turns, scale.first + scale.span)
    room = metrics.horizontalAdvance("turn 888") + S8
    every = _round_up(max(1, round((end - begin) * room / max(1.0, frame.width()))))
    free = frame.left()
    for number in range((begin // every + 1) * every, end + 1, every):
        x = scale.x(drawing.turns[number - 1])
        words = f"turn {number:,}"
        width = metrics.horizontalAdvance(words) + 2
        left = min(max(x - width / 2, frame.left()), frame.right() - width)
        # Turns are of very different lengths: where two are near, the later has no number.
        if left < free:
            continue
        free = left + width + S4
        painter.setPen(QPen(now.faint, 1))
        painter.drawLine(QPointF(x, frame.bottom()), QPointF(x, frame.bottom() + S4))
        painter.setPen(now.dim)
        place = QRectF(left, frame.bottom() + S4, width, metrics.height())
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft, words)


def ticks(most: int, wanted: int) -> list[int]:
    """Round values from 0 to ``most``, about so many."""
    step = _round_up(max(1, most // max(1, wanted)))
    return list(range(0, most + 1, step))


def _round_up(value: int) -> int:
    """1, 2 or 5 with noughts."""
    unit = 1
    while True:
        for digit in (1, 2, 5):
            if digit * unit >= value:
                return digit * unit
        unit *= 10


def paint_limits(painter: QPainter, lines: Sequence[Line], chosen: Line, scale: Scale) -> None:
    """Window and threshold of the chosen line with their names; those of others as short marks."""
    now, frame = theme(), scale.frame
    metrics = QFontMetricsF(small_font())
    painter.setFont(small_font())
    for line in lines:
        if line is chosen or line.is_recorded or line.found.threshold > scale.most:
            continue
        y = scale.y(line.found.threshold)
        painter.setPen(QPen(line.stroke.colour, 2))
        painter.drawLine(QPointF(frame.right() - scaled(10), y), QPointF(frame.right(), y))
    rows = [("window", chosen.found.window, now.dim, Qt.PenStyle.SolidLine),
            ("threshold", chosen.found.threshold, now.dim, Qt.PenStyle.DashLine)]  # fmt: skip
    last = -1e9
    for name, tokens, colour, style in rows:
        if tokens > scale.most:
            continue
        y = round(scale.y(tokens)) + 0.5
        painter.setPen(QPen(colour, 1.2, style))
        painter.drawLine(QPointF(frame.left(), y), QPointF(frame.right(), y))
        words = f"{name} {round_short(tokens)}"
        # Below its line, where the one above leaves no room.
        top = y - metrics.height() - 1 if y - metrics.height() > last else y + 1
        last = top + metrics.height()
        place = QRectF(frame.left() + S4, top, metrics.horizontalAdvance(words) + 4,
                       metrics.height())  # fmt: skip
        background = QColor(now.paper)
        background.setAlpha(215)
        painter.fillRect(place, background)
        painter.setPen(colour)
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft, words)


def shown_signs(line: Line, scale: Scale, *, strong: bool) -> list[Sign]:
    """The line's signs that are painted: where they would cover each other, those of the chosen
    line alone."""
    seen = [sign for sign in line.signs if scale.shows(sign.x)]
    crowded = len(seen) * scaled(SIGN) * 5 > scale.frame.width()
    return seen if strong or not crowded else []


def paint_line(painter: QPainter, line: Line, scale: Scale, *, strong: bool) -> None:
    """One line. Where several of its points fall on one column of pixels, the column is drawn."""
    points = thinned(line, scale)
    painter.setPen(line.stroke.pen(strong=strong))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setOpacity(1.0 if strong or not is_dense(line, scale) else FADED)
    if not is_dense(line, scale):
        painter.drawPolyline(QPolygonF(points))
        return
    # As one shape it is a tangle that takes five times as long to fill.
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.drawLines([QLineF(one, other) for one, other in pairwise(points)])
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)


def in_sight(line: Line, scale: Scale) -> range:
    """The line's points that are seen, and one more on either side."""
    first = max(0, bisect_left(line.xs, scale.first) - 1)
    return range(first, min(len(line.xs), bisect_right(line.xs, scale.first + scale.span) + 1))


def is_dense(line: Line, scale: Scale) -> bool:
    """Whether more of its points are in sight than there is room for."""
    return len(in_sight(line, scale)) > _DENSE * scale.frame.width()


def thinned(line: Line, scale: Scale) -> list[QPointF]:
    """The line's points, few for each column of pixels: where it comes in, its lowest and highest,
    and where it goes out. Where points are many, columns are two pixels wide and have two."""
    points: list[QPointF] = []
    dense = is_dense(line, scale)
    step, column = 2 if dense else 1, -(10**9)
    found: list[int] = []

    def put() -> None:
        if not found:
            return
        ends = found[-1] >= found[0]
        heights = sorted({min(found), max(found)}, reverse=not ends)
        if not dense and len(found) > 1:
            heights = [found[0], *heights, found[-1]]
        points.extend(QPointF(column, scale.y(tokens)) for tokens in heights)

    across = scale.frame.width() / scale.span
    left, seen = scale.frame.left() - scale.first * across, in_sight(line, scale)
    parts = (line.xs[seen.start : seen.stop], line.ys[seen.start : seen.stop])
    for position, tokens in zip(*parts, strict=True):
        x = int(left + position * across) // step * step
        if x != column:
            put()
            column, found = x, []
        found.append(tokens)
    put()
    return points


def place_of(sign: Sign, scale: Scale) -> QPointF:
    """Where a sign stands: above its line."""
    y = max(scale.frame.top() - scaled(2), scale.y(sign.y) - scaled(SIGN) - 2)
    return QPointF(scale.x(sign.x), y)


def paint_sign(painter: QPainter, kind: SignKind, at: QPointF, colour: QColor) -> None:
    """A sign of its own for everything that can happen."""
    half, now = scaled(SIGN), theme()
    painter.setPen(QPen(colour, 1.4))
    if kind in ("compacted", "split"):
        painter.setBrush(colour if kind == "compacted" else now.paper)
        painter.drawPolygon(
            QPolygonF(
                [
                    at + QPointF(-half, -half),
                    at + QPointF(half, -half),
                    at + QPointF(0, half),
                ]
            )
        )
        if kind == "split":
            painter.drawLine(at + QPointF(0, -half), at + QPointF(0, half))
    elif kind == "pruned":
        painter.setBrush(now.paper)
        painter.drawEllipse(at, half * 0.75, half * 0.75)
    else:
        painter.setPen(QPen(now.lost, 1.6))
        painter.drawLine(at + QPointF(-half, -half), at + QPointF(half, half))
        painter.drawLine(at + QPointF(half, -half), at + QPointF(-half, half))
