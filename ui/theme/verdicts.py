"""The textures of the verdicts: the same in map, ledger, budget bar, report and lessons.

Kept is solid, to be summarized is hatched, the turn prefix is hatched the other way, summarized
earlier is faded, not sent is empty, pruned is dotted, lost is outlined in the warning colour;
pinned has upright bars, omitted is crossed out.
"""

from __future__ import annotations

from PySide6 import QtCore
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QBrush, QColor, QGuiApplication, QPainter, QPen, QPixmap, QTransform

from ui.theme.manager import theme
from ui.theme.tokens import Theme

(
    SUMMARIZED_EARLIER, TO_SUMMARIZE, TURN_PREFIX, KEPT, NOT_SENT, PRUNED, LOST, PINNED, OMITTED,
) = range(9)  # fmt: skip
"""The values of ``Verdict`` in ``explorer.compaction.partition``."""

VERDICT_TITLES = (
    "summarized earlier",
    "to summarize",
    "turn prefix",
    "kept",
    "not sent",
    "pruned",
    "lost",
    "pinned",
    "omitted",
)

_TILE = 8
"""Width of a texture's tile, in logical pixels."""

_brushes: dict[tuple[str, int, int], QBrush] = {}


def verdict_title(verdict: int) -> str:
    """The verdict in words."""
    return VERDICT_TITLES[verdict]


def verdict_brush(verdict: int, dpr: float = 0.0) -> QBrush:
    """The fill of a verdict. ``dpr``: device pixels per logical one (0: the application's).

    Fill in device-independent coordinates; the brush scales its texture itself. Not sent and lost
    fill nothing: the first is empty, the second has an outline (see ``paint_verdict``).
    """
    now = theme()
    ratio = dpr or _application_ratio()
    key = (now.name, verdict, round(ratio * 100))
    brush = _brushes.get(key)
    if brush is None:
        brush = _brushes[key] = _make(now, verdict, ratio)
    return brush


def _application_ratio() -> float:
    app = QGuiApplication.instance()
    return app.devicePixelRatio() if isinstance(app, QGuiApplication) else 1.0


def _make(now: Theme, verdict: int, ratio: float) -> QBrush:
    if verdict == KEPT:
        return QBrush(now.kept)
    if verdict == SUMMARIZED_EARLIER:
        return QBrush(now.faint)
    if verdict in (NOT_SENT, LOST):
        return QBrush(QtCore.Qt.BrushStyle.NoBrush)
    # The tile holds whole device pixels, so that its repeats meet without a seam.
    side = max(1, round(_TILE * ratio))
    pixmap = QPixmap(side, side)
    pixmap.fill(QtCore.Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(side / _TILE, side / _TILE)
    if verdict == PRUNED:
        _dots(painter, now.dim)
    elif verdict == PINNED:
        _bars(painter, now.kept)
    elif verdict == OMITTED:
        _crosses(painter, now.dim)
    else:
        colour, direction = (now.hatch, 1) if verdict == TO_SUMMARIZE else (now.hatch2, -1)
        _stripes(painter, colour, direction)
    painter.end()
    brush = QBrush(pixmap)
    brush.setTransform(QTransform.fromScale(_TILE / side, _TILE / side))
    return brush


def _stripes(painter: QPainter, colour: QColor, direction: int) -> None:
    painter.setPen(QPen(colour, 2.6, QtCore.Qt.PenStyle.SolidLine, QtCore.Qt.PenCapStyle.FlatCap))
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
    for shift in (-_TILE, 0, _TILE):
        left, right = QPointF(shift - 1, -1), QPointF(shift + _TILE + 1, _TILE + 1)
        if direction < 0:
            left, right = QPointF(shift - 1, _TILE + 1), QPointF(shift + _TILE + 1, -1)
        painter.drawLine(left, right)


def _dots(painter: QPainter, colour: QColor) -> None:
    painter.setPen(QtCore.Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    for x in (2.0, 6.0):
        for y in (2.0, 6.0):
            painter.drawEllipse(QPointF(x, y), 1.0, 1.0)


def _bars(painter: QPainter, colour: QColor) -> None:
    painter.setPen(QtCore.Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    for x in (0.0, 4.0):
        painter.drawRect(QRectF(x, 0, 2.6, _TILE))


def _crosses(painter: QPainter, colour: QColor) -> None:
    painter.setPen(QPen(colour, 1.0))
    painter.drawLine(QPointF(2, 2), QPointF(6, 6))
    painter.drawLine(QPointF(2, 6), QPointF(6, 2))


def paint_verdict(
    painter: QPainter,
    rect: QRectF,
    verdict: int,
    *,
    radius: float = 2.0,
    outline: bool = True,
) -> None:
    """Fill a rectangle with a verdict's texture, with its hairline or, lost, its outline."""
    now = theme()
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    # The texture starts at the shape's corner, so that it does not swim while a view scrolls.
    painter.setBrushOrigin(rect.topLeft())
    painter.setBrush(verdict_brush(verdict, painter.device().devicePixelRatio()))
    if verdict == LOST:
        painter.setPen(QPen(now.lost, 1.5, QtCore.Qt.PenStyle.DashLine))
    elif outline:
        painter.setPen(QPen(now.line if verdict != NOT_SENT else now.faint, 1))
    else:
        painter.setPen(QtCore.Qt.PenStyle.NoPen)
    inset = 0.75 if verdict == LOST else (0.5 if outline else 0.0)
    painter.drawRoundedRect(rect.adjusted(inset, inset, -inset, -inset), radius, radius)
    painter.restore()
