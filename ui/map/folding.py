"""The one motion of a fold: what a compaction summarized closes into it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRect, QRectF, QVariantAnimation
from PySide6.QtGui import QPainter, QPixmap

from ui.map.folds import folded_by
from ui.map.geometry import Level
from ui.theme import motion_ms

if TYPE_CHECKING:
    from ui.map.view import MapView

MOTION_MS = 180


class FoldMotion(QObject):
    """Keeps a picture of the rows that are about to go, and squeezes it into the fold's node."""

    def __init__(self, view: MapView) -> None:
        super().__init__(view)
        self._view = view
        self._picture: QPixmap | None = None
        self._rows = QRect()
        self._into = -1
        self._animation = QVariantAnimation(self)
        self._animation.setStartValue(0.0)
        self._animation.setEndValue(1.0)
        self._animation.valueChanged.connect(view.viewport().update)
        self._animation.finished.connect(self._over)

    @property
    def is_running(self) -> bool:
        return self._picture is not None and self._into >= 0

    def take(self, compaction: int) -> None:
        """Before the rows of a compaction are hidden: remember what of them is on screen."""
        view = self._view
        self._animation.stop()
        self._picture = None
        if not motion_ms(MOTION_MS) or view.level is not Level.ENTRIES or not view.isVisible():
            return
        geometry, rows = view.geometry_now(), view.model.rows
        path = folded_by(view.model.tree, compaction)
        gone = [
            row
            for row in range(geometry.first, geometry.stop)
            if path.position(rows.entry(row)) >= 0
        ]
        if gone:
            top, bottom = geometry.y(gone[0]), geometry.y(gone[-1] + 1)
            port = view.viewport()
            self._rows = QRect(0, round(top), port.width(), round(bottom - top)) & port.rect()
            self._picture = port.grab(self._rows)
            self._into = compaction

    def start(self) -> None:
        """The rows are gone: let their picture follow them."""
        duration = motion_ms(MOTION_MS)
        if self._picture is not None and duration:
            self._animation.setDuration(duration)
            self._animation.start()

    def paint(self, painter: QPainter) -> None:
        """The picture on its way, over the new frame."""
        row = self._view.model.rows.row(self._into) if self.is_running else -1
        if self._picture is None or row < 0:
            return
        share = float(self._animation.currentValue())
        share = 1 - (1 - share) ** 3
        middle = self._view.geometry_now().middle(row)
        top = self._rows.top() + (middle - self._rows.top()) * share
        height = self._rows.height() * (1 - share)
        painter.setOpacity(1 - share)
        painter.drawPixmap(
            QRectF(0, top, self._rows.width(), height),
            self._picture,
            QRectF(self._picture.rect()),
        )
        painter.setOpacity(1.0)

    def _over(self) -> None:
        self._picture = None
        self._view.viewport().update()
