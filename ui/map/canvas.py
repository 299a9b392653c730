"""What every painting function is given: the painter, the measures, the inks, and what is shown."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from ui.map.geometry import Geometry
from ui.map.inks import Inks
from ui.map.model import MapModel


@dataclass(slots=True)
class Canvas:
    """One frame being painted."""

    painter: QPainter
    geometry: Geometry
    inks: Inks
    model: MapModel
    hovered: int = -1
    """The row under the mouse, -1 for none."""
    focused: bool = False
    cut: int = -1
    """Position of the cut on the partition's path while it is dragged, else the partition's."""
    dragging: bool = False
    leaf_y: float | None = None
    """Where the leaf's mark is while it moves to a new entry."""
    leaf_x: float = 0
    handle: QRectF | None = None
    """Where the cut's handle lies, None where there is none in sight."""

    def clear_of_handle(self, right: float, top: float, bottom: float) -> float:
        """Where words between two heights must end, so that the cut's handle covers none."""
        handle = self.handle
        if handle is None or bottom <= handle.top() or top >= handle.bottom():
            return right
        return min(right, handle.left() - self.geometry.px(8))
