"""The chart: how large the context would have been, under every policy that is drawn."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from itertools import pairwise

from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QColor,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QPolygonF,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from ui.audit.what_if.lines import Drawing, Sign, SignKind, WalkLine, limits_of, words_at
from ui.theme import S4, S8, on_theme_changed, scaled, small_font, theme
from ui.widgets.figures import short

SIGN = 5.0
"""Half a sign's width, in pixels at a text scale of 100 %."""


FADED = 0.3
"""How much is seen of lines that are a tangle, but for the one that is followed."""
_DENSE = 1.5
"""Points for each pixel of the width from which a line is thinned further."""


class ChartScale:
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
        """Whether a position is visible."""
        return self.first <= position <= self.first + self.span


def frame_of(width: float, height: float) -> QRectF:
    """Where the lines are, within a chart of a size: numbers stand to the left and below."""
    metrics = QFontMetricsF(small_font())
    left = metrics.horizontalAdvance("8.88M") + 2 * S8
    below = metrics.height() + S8
    return QRectF(left, S8 + metrics.height(), width - left - S8, height - below - 2 * S8 - S8)


def top_of(lines: Sequence[WalkLine]) -> int:
    """Tokens at the upper edge: all that is drawn fits, and the window where it is near."""
    largest = max((line.found.largest for line in lines), default=0)
    windows = [line.found.window for line in lines if not line.is_recorded]
    window = max(windows, default=0)
    # A window ten times as large as all that was ever sent would press the lines flat.
    most = max(largest, window) if window <= 3 * largest else largest
    return max(1, round(most * 1.06))


def paint_scale(painter: QPainter, drawing: Drawing, scale: ChartScale) -> None:
    """Paint the grid with its figures: tokens to the left, turns below."""
    now, frame = theme(), scale.frame
    painter.setFont(small_font())
    metrics = QFontMetricsF(small_font())
    for tokens in ticks(scale.most, max(2, int(frame.height() / (metrics.height() * 2.4)))):
        y = round(scale.y(tokens)) + 0.5
        painter.setPen(QPen(now.line, 1))
        painter.drawLine(QPointF(frame.left(), y), QPointF(frame.right(), y))
        painter.setPen(now.dim)
        label = QRectF(0, y - metrics.height() / 2, frame.left() - S8, metrics.height())
        painter.drawText(label, Qt.AlignmentFlag.AlignRight, short(tokens))
    _paint_turns(painter, drawing, scale, metrics)
    painter.setPen(QPen(now.faint, 1))
    painter.drawLine(frame.bottomLeft(), frame.bottomRight())


def _paint_turns(
    painter: QPainter, drawing: Drawing, scale: ChartScale, metrics: QFontMetricsF
) -> None:
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


def paint_limits(
    painter: QPainter, lines: Sequence[WalkLine], chosen: WalkLine, scale: ChartScale
) -> None:
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
    styles = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine)
    colour, last = now.dim, -1e9
    for (words, tokens), style in zip(limits_of(chosen), styles, strict=True):
        if tokens > scale.most:
            continue
        y = round(scale.y(tokens)) + 0.5
        painter.setPen(QPen(colour, 1.2, style))
        painter.drawLine(QPointF(frame.left(), y), QPointF(frame.right(), y))
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


def shown_signs(line: WalkLine, scale: ChartScale, *, strong: bool) -> list[Sign]:
    """The line's signs that are painted: where they would cover each other, those of the chosen
    line alone."""
    seen = [sign for sign in line.signs if scale.shows(sign.x)]
    crowded = len(seen) * scaled(SIGN) * 5 > scale.frame.width()
    return seen if strong or not crowded else []


def paint_line(painter: QPainter, line: WalkLine, scale: ChartScale, *, strong: bool) -> None:
    """Paint one line. Where several of its points fall on one column of pixels, the column is
    drawn."""
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


def in_sight(line: WalkLine, scale: ChartScale) -> range:
    """The line's points that are seen, and one more on either side."""
    first = max(0, bisect_left(line.xs, scale.first) - 1)
    return range(first, min(len(line.xs), bisect_right(line.xs, scale.first + scale.span) + 1))


def is_dense(line: WalkLine, scale: ChartScale) -> bool:
    """Whether more of its points are visible than there is room for."""
    return len(in_sight(line, scale)) > _DENSE * scale.frame.width()


def thinned(line: WalkLine, scale: ChartScale) -> list[QPointF]:
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


def place_of(sign: Sign, scale: ChartScale) -> QPointF:
    """Where a sign stands: above its line."""
    y = max(scale.frame.top() - scaled(2), scale.y(sign.y) - scaled(SIGN) - 2)
    return QPointF(scale.x(sign.x), y)


def paint_sign(painter: QPainter, kind: SignKind, at: QPointF, colour: QColor) -> None:
    """Paint a sign for each kind of event."""
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


EMPTY = Drawing((), (), ())
ZOOM = 1.6
LEAST_SPAN = 20.0
"""Entries: nothing is zoomed into further."""
AT_ONCE = 2_000
"""Points of all lines up to which they are painted in one go."""


class Chart(QWidget):
    """Left and Right go from turn to turn, with Ctrl from sign to sign; Up and Down choose the
    line whose limits are drawn and whose signs are described; plus and minus, or the wheel, zoom;
    Return selects the entry on the map."""

    entry_requested = Signal(int)
    described = Signal(str)
    """The figures under the cursor or the mouse, in words."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._drawing = EMPTY
        self._hidden: frozenset[str] = frozenset()
        self._chosen = ""
        self._at = 0
        self._hover = -1
        self._first, self._span = 0.0, 0.0
        """The stretch that is seen, see ``ChartScale``."""
        self._layer: QPixmap | None = None
        self._left: list[WalkLine] = []
        """The lines that the layer does not hold yet."""
        self.words = ""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Size of the context over the session")
        on_theme_changed(self._restyle)

    def sizeHint(self) -> QSize:
        return QSize(640, scaled(270))

    def minimumSizeHint(self) -> QSize:
        return QSize(260, scaled(170))

    # what is drawn -----------------------------------------------------------------------------

    def show_drawing(self, drawing: Drawing) -> None:
        """Draw other lines; the cursor stays at its turn where there is one."""
        last = max(0, len(drawing.entries) - 1)
        self._at = min(self._at, last) if self._drawing.entries else last
        if self._hover > last:
            self._hover = -1  # The pointer was on a longer session.
        if len(drawing.entries) != len(self._drawing.entries):
            self._first = self._span = 0.0
        self._drawing = drawing
        if drawing.line(self._chosen) is None:
            self._chosen = ""
        self._changed()

    def hide_lines(self, keys: Collection[str]) -> None:
        """Leave lines out."""
        self._hidden = frozenset(keys)
        self._changed()

    def choose(self, key: str) -> None:
        """Follow a line."""
        self._chosen = key
        self._changed()

    @property
    def shown(self) -> list[WalkLine]:
        """The lines that are drawn."""
        return [line for line in self._drawing.lines if line.key not in self._hidden]

    @property
    def chosen(self) -> WalkLine | None:
        """The line whose limits are drawn."""
        shown = self.shown
        found = next((line for line in shown if line.key == self._chosen), None)
        return found or next((line for line in shown if not line.is_recorded), None) or next(
            iter(shown), None
        )  # fmt: skip

    @property
    def position(self) -> int:
        """Where the keyboard's cursor is."""
        return self._at

    def scale(self) -> ChartScale:
        """The scale of what is drawn now."""
        frame = frame_of(self.width(), self.height())
        most = top_of(self.shown)
        return ChartScale(frame, len(self._drawing.entries), most, self._first, self._span)

    def zoom(self, factor: float, position: float) -> None:
        """See more (a factor above 1) or less of the session, around a position."""
        whole = max(1.0, len(self._drawing.entries) - 1.0)
        before = self._span or whole
        span = min(whole, max(min(whole, LEAST_SPAN), before * factor))
        part = (position - self._first) / before
        self._first = min(max(0.0, position - part * span), whole - span)
        self._span = 0.0 if span >= whole else span
        self._changed()

    def _reveal(self, position: int) -> None:
        """Bring a position into sight."""
        if self._span and not self.scale().shows(position):
            whole = len(self._drawing.entries) - 1.0
            self._first = min(max(0.0, position - self._span / 2), whole - self._span)
            self._layer = None

    def _restyle(self) -> None:
        self.updateGeometry()
        self._changed()

    def _changed(self) -> None:
        self._layer = None
        self._tell()
        self.update()

    def _tell(self) -> None:
        position = self._hover if self._hover >= 0 else self._at
        self.words = words_at(self._drawing, self.shown, self.chosen, position)
        self.setAccessibleDescription(self.words)
        self.described.emit(self.words)

    # painting ----------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        self._layer = None
        super().resizeEvent(event)

    def paintEvent(self, event: QPaintEvent, /) -> None:
        painter = QPainter(self)
        if self._layer is None:
            self._begin()
        assert self._layer is not None
        painter.drawPixmap(0, 0, self._layer)
        if self._drawing.entries and self.shown:
            self._paint_cursor(painter)

    def _begin(self) -> None:
        """Begin everything but the cursor anew: the scale at once, the lines after it."""
        ratio = self.devicePixelRatioF()
        layer = QPixmap(round(self.width() * ratio), round(self.height() * ratio))
        layer.setDevicePixelRatio(ratio)
        layer.fill(theme().paper)
        self._layer, self._left, chosen = layer, [], self.chosen
        if chosen is None or not self._drawing.entries:
            return
        shown = self.shown
        painter = self._on_layer(layer)
        paint_scale(painter, self._drawing, self.scale())
        paint_limits(painter, shown, chosen, self.scale())
        painter.end()
        self._left = sorted(shown, key=lambda line: (not line.is_recorded, line is chosen))
        if sum(len(in_sight(line, self.scale())) for line in shown) <= AT_ONCE:
            while self._left:
                self._paint_next(layer)
            return
        QTimer.singleShot(0, self, lambda: self._go_on(layer))

    def _on_layer(self, layer: QPixmap) -> QPainter:
        painter = QPainter(layer)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        return painter

    def _go_on(self, layer: QPixmap) -> None:
        """One line after the other: a long one takes ten ms, and the window answers in between."""
        if layer is not self._layer or not self._left:
            return
        self._paint_next(layer)
        self.update()
        QTimer.singleShot(0, self, lambda: self._go_on(layer))

    def _paint_next(self, layer: QPixmap) -> None:
        """The next line; after the last one the signs, which no line may cover."""
        painter, scale, chosen = self._on_layer(layer), self.scale(), self.chosen
        line = self._left.pop(0)
        edge = scaled(SIGN) + 1.0
        painter.setClipRect(scale.frame.adjusted(-edge, -2 * edge, edge, edge))
        paint_line(painter, line, scale, strong=line is chosen)
        painter.setOpacity(1.0)
        if not self._left:
            for each in sorted(self.shown, key=lambda one: one is chosen):
                for sign in shown_signs(each, scale, strong=each is chosen):
                    paint_sign(painter, sign.kind, place_of(sign, scale), each.stroke.colour)
        painter.end()

    def _paint_cursor(self, painter: QPainter) -> None:
        now, scale = theme(), self.scale()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        position = self._hover if self._hover >= 0 else self._at
        if (self._hover < 0 and not self.hasFocus()) or not scale.shows(position):
            return
        x = scale.x(position)
        painter.setPen(QPen(now.dim, 1))
        painter.drawLine(QPointF(x, scale.frame.top()), QPointF(x, scale.frame.bottom()))
        for line in self.shown:
            tokens = line.tokens_at(position)
            if tokens >= 0:
                painter.setPen(QPen(now.paper, 1.5))
                painter.setBrush(line.stroke.colour)
                half = scaled(4 if line is self.chosen else 3)
                painter.drawEllipse(QPointF(x, scale.y(tokens)), half, half)
        if self.hasFocus():
            painter.setPen(QPen(now.accent, 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)

    # the mouse ---------------------------------------------------------------------------------

    def sign_at(self, place: QPointF) -> tuple[WalkLine, Sign] | None:
        """The sign nearest to a place, if it is near."""
        scale, best = self.scale(), scaled(SIGN) + 4.0
        found: tuple[WalkLine, Sign] | None = None
        for line in self.shown:
            for sign in shown_signs(line, scale, strong=line is self.chosen):
                away = (place_of(sign, scale) - place).manhattanLength()
                if away < best:
                    best, found = away, (line, sign)
        return found

    def mouseMoveEvent(self, event: QMouseEvent, /) -> None:
        if not self._drawing.entries:
            return
        found = self.sign_at(event.position())
        self.setCursor(Qt.CursorShape.PointingHandCursor if found else Qt.CursorShape.ArrowCursor)
        self._hover = self.scale().position(event.position().x())
        self._tell()
        if found is not None:
            line, sign = found
            self.words = f"{line.title} {sign.words}"
            self.described.emit(self.words)
        self.update()

    def leaveEvent(self, event: QEvent, /) -> None:
        self._hover = -1
        self._tell()
        self.update()
        super().leaveEvent(event)

    def wheelEvent(self, event: QWheelEvent, /) -> None:
        steps = event.angleDelta().y() / 120
        if not steps or not self._drawing.entries:
            event.ignore()
            return
        self.zoom(ZOOM**-steps, self.scale().position(event.position().x()))
        event.accept()

    def mousePressEvent(self, event: QMouseEvent, /) -> None:
        if event.button() != Qt.MouseButton.LeftButton or not self._drawing.entries:
            return
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        found = self.sign_at(event.position())
        if found is None:
            self._go(self.scale().position(event.position().x()))
            return
        line, sign = found
        self._chosen, self._at, self._layer = line.key, sign.x, None
        self._tell()
        self.update()
        self.entry_requested.emit(sign.entry)

    # the keyboard ------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        key, last = event.key(), len(self._drawing.entries) - 1
        by_sign = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if last < 0:
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._step(1 if key == Qt.Key.Key_Right else -1, by_sign)
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._other_line(1 if key == Qt.Key.Key_Down else -1)
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus):
            self.zoom(ZOOM if key == Qt.Key.Key_Minus else 1 / ZOOM, self._at)
            self._reveal(self._at)
        elif key == Qt.Key.Key_Home:
            self._go(0)
        elif key == Qt.Key.Key_End:
            self._go(last)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.entry_requested.emit(self._entry_here())
        else:
            super().keyPressEvent(event)

    def _entry_here(self) -> int:
        """The entry that a sign under the cursor leads to, else the one under the cursor."""
        chosen = self.chosen
        signs = chosen.signs if chosen is not None else ()
        here = next((sign for sign in signs if sign.x == self._at), None)
        return here.entry if here is not None else self._drawing.entries[self._at]

    def _step(self, way: int, by_sign: bool) -> None:
        """To the next turn, or to the next sign of the chosen line."""
        chosen = self.chosen
        stops = list(self._drawing.turns)
        if by_sign:
            stops = [sign.x for sign in chosen.signs] if chosen is not None else []
        further = [at for at in stops if (at > self._at if way > 0 else at < self._at)]
        if further:
            self._go(min(further) if way > 0 else max(further))

    def _other_line(self, way: int) -> None:
        shown, chosen = self.shown, self.chosen
        if chosen is not None:
            self._chosen = shown[(shown.index(chosen) + way) % len(shown)].key
            self._changed()
            self._announce()

    def _go(self, position: int) -> None:
        self._at, self._hover = position, -1
        self._reveal(position)
        self._tell()
        self._announce()
        self.update()

    def _announce(self) -> None:
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self.words))
