"""How lines are told apart: by colour and by the pattern of their strokes."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPen

from ui.theme import scaled, theme

RECORDED = "recorded"


class Stroke(NamedTuple):
    """One line's look. Dashes in widths of the pen; none is a whole line."""

    token: str
    dashes: tuple[float, ...]
    width: float
    words: str
    """The pattern in words."""

    @property
    def colour(self) -> QColor:
        found: QColor = getattr(theme(), self.token)
        return found

    def pen(self, *, strong: bool = False) -> QPen:
        """The pen of the line. ``strong``: the one that the cursor follows."""
        pen = QPen(self.colour, (self.width + (0.8 if strong else 0.0)) * max(1.0, scaled(10) / 10))
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        if self.dashes:
            pen.setDashPattern(list(self.dashes))
        return pen


_STROKES = {
    RECORDED: Stroke("ink", (), 2.4, "thick, whole"),
    "explorer": Stroke("accent", (), 1.5, "whole"),
    "pi": Stroke("tool", (6, 3), 1.5, "long dashes"),
    "omp": Stroke("comp", (2, 2), 1.6, "short dashes"),
    "pyagent": Stroke("think", (8, 3, 2, 3), 1.5, "dash and dot"),
    "copilot": Stroke("branch", (8, 2, 2, 2, 2, 2), 1.5, "dash and two dots"),
}
_OTHERS = (
    Stroke("shell", (12, 4), 1.6, "very long dashes"),
    Stroke("asst", (1, 2), 1.8, "dots"),
    Stroke("user", (4, 2, 1, 2, 1, 2, 1, 2), 1.5, "dash and three dots"),
)


def stroke_of(key: str, number: int) -> Stroke:
    """The look of a line. ``number``: which it is of those that are no system's own."""
    return _STROKES.get(key) or _OTHERS[number % len(_OTHERS)]
