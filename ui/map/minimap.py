"""The whole session in a strip at the side: where one is, and where the marks are."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from ui.map.canvas import MapInks, bar_share, mix
from ui.map.layout import bucket_rows
from ui.map.model import MapModel
from ui.theme import theme

WIDTH = 48
_EDGE = 8
_PITCH = 2.05
_REFRESH_MS = 150
"""Between pictures while a live session grows."""
_MOST_HITS = 1_000


class MiniMap(QWidget):
    """Draws all rows as bars into a picture that is cached until something changes."""

    moved = Signal(float)
    """The row that should come to the middle of the map."""

    def __init__(self, model: MapModel, view: Callable[[], tuple[float, float, int]]) -> None:
        """``view`` gives the first and last visible row of the map, and the cut's entry or -1."""
        super().__init__()
        self._model, self._view = model, view
        self._picture: QPixmap | None = None
        self._inks = MapInks.make(1.0)
        self._wait = QTimer(self, singleShot=True, interval=_REFRESH_MS)
        self._wait.timeout.connect(self.refresh)
        self.setAccessibleName("Overview of the session")
        self.setAccessibleDescription("Click or drag to move the map")
        self.setToolTip("The whole session. Click or drag to move the map.")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        model.session_changed.connect(self.refresh)
        model.layout_changed.connect(self.refresh)
        model.marks_changed.connect(self.update)
        model.selection_changed.connect(self.update)
        model.appended.connect(self._grow)

    def sizeHint(self) -> QSize:
        return QSize(round(WIDTH * self._inks.scale), 200)

    def set_inks(self, inks: MapInks) -> None:
        """Set colours and fonts of another theme or screen."""
        self._inks = inks
        self.setFixedWidth(round(WIDTH * inks.scale))
        self.refresh()

    def refresh(self) -> None:
        """Draw the picture anew at the next paint."""
        self._picture = None
        self.update()

    def _grow(self) -> None:
        if not self._wait.isActive():
            self._wait.start()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.refresh()
        super().resizeEvent(event)

    # measures --------------------------------------------------------------------------------

    def _pitch(self) -> float:
        room = max(1.0, self.height() - 2 * _EDGE)
        return min(_PITCH, room / max(1, self._model.rows.count))

    def _y(self, row: float) -> float:
        return _EDGE + row * self._pitch()

    # painting --------------------------------------------------------------------------------

    def _draw(self) -> QPixmap:
        ratio = self.devicePixelRatioF()
        picture = QPixmap(round(self.width() * ratio), round(self.height() * ratio))
        picture.setDevicePixelRatio(ratio)
        picture.fill(theme().panel)
        rows = self._model.rows
        if not rows.count or not self._model.is_complete:
            return picture
        painter = QPainter(picture)
        painter.setPen(Qt.PenStyle.NoPen)
        scale, inks = self._inks.scale, self._inks
        bars: dict[tuple[int, bool], list[QRectF]] = {}
        step = bucket_rows(0.95 * _PITCH / self._pitch())
        for row, _stop, group, tokens, beside in self._model.samples.between(0, rows.count, step):
            left = (_EDGE + (10 if beside else 0)) * scale
            width = (3 + 30 * bar_share(tokens) ** 2) * scale
            rect = QRectF(left, self._y(row), min(width, self.width() - left - 3), 1.35)
            bars.setdefault((group, beside), []).append(rect)
        for (group, beside), rects in bars.items():
            painter.setBrush((inks.faded if beside else inks.categories)[group])
            painter.drawRects(rects)
        painter.end()
        return picture

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._picture is None:
            self._picture = self._draw()
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._picture)
        now, model = theme(), self._model
        painter.setPen(now.line)
        painter.drawLine(QLineF(0.5, 0, 0.5, self.height()))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not model.rows.count:
            return
        first, last, cut = self._view()
        if cut >= 0:
            self._line(painter, model.rows.floor(cut), now.accent, 2)
        if model.selected >= 0 and (row := model.rows.row(model.selected)) >= 0:
            self._line(painter, row + 0.5, now.ink, 1)
        self._hits(painter)
        top, bottom = self._y(first), self._y(last)
        box = QRectF(1.5, top, self.width() - 3, max(8.0, bottom - top))
        painter.setBrush(QColor(now.accent.red(), now.accent.green(), now.accent.blue(), 18))
        painter.setPen(QPen(now.accent, 1.5))
        painter.drawRoundedRect(box, 3, 3)

    def _line(self, painter: QPainter, row: float, colour: QColor, width: float) -> None:
        painter.setPen(QPen(colour, width))
        painter.drawLine(QLineF(3, self._y(row), self.width() - 3, self._y(row)))

    def _hits(self, painter: QPainter) -> None:
        """Diamonds at the edge, at most one per two pixels."""
        rows, right = self._model.rows, self.width() - 5.0
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(mix(theme().accent, theme().ink, 0.85))
        drawn = -4.0
        for entry in self._model.hits[:_MOST_HITS]:
            row = rows.row(entry)
            y = self._y(row + 0.5)
            if row >= 0 and y - drawn >= 2:
                drawn = y
                corners = [(0.0, -2.5), (2.5, 0.0), (0.0, 2.5), (-2.5, 0.0)]
                painter.drawPolygon([QPointF(right + x, y + down) for x, down in corners])

    # the mouse -------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._go(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._go(event)

    def _go(self, event: QMouseEvent) -> None:
        row = (event.position().y() - _EDGE) / self._pitch()
        self.moved.emit(min(max(0.0, row), float(self._model.rows.count)))
        event.accept()
