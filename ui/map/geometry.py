"""Where things are in the map, in logical pixels. Everything follows the height of the font."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QFontMetricsF

BODY = 15.125
"""Height of the font that the measures below were drawn for."""

ROW_PER_FONT = 29.5 / BODY
MOST_ZOOM = 2.0
"""Times the actual size."""

TOP = 10
"""Room above the first and below the last row."""


class Level(IntEnum):
    """How much of the session a row of pixels tells."""

    ENTRIES = 0
    TURNS = 1
    SPANS = 2


@dataclass(frozen=True, slots=True)
class Geometry:
    """One frame's measures."""

    width: float
    height: float
    row_height: float
    offset: float
    """Pixels scrolled away above."""
    rows: int
    scale: float
    """The font's height over the one that the measures were drawn for."""
    lanes: int

    @staticmethod
    def scale_of(font: QFont) -> float:
        return max(0.6, QFontMetricsF(font).height() / BODY)

    # rows --------------------------------------------------------------------------------------

    @property
    def actual_row(self) -> float:
        """The height of a row at 100 %."""
        return ROW_PER_FONT * BODY * self.scale

    @property
    def level(self) -> Level:
        """Entries while a line of text fits into a row, then turns, then one sample per pixel."""
        if self.row_height >= (BODY + 3) * self.scale:
            return Level.ENTRIES
        return Level.TURNS if self.row_height >= 1.5 else Level.SPANS

    @property
    def has_details(self) -> bool:
        """Whether a second line fits under the first."""
        return self.row_height >= 1.5 * self.actual_row

    @property
    def content_height(self) -> float:
        return self.rows * self.row_height + 2 * TOP

    def y(self, row: float) -> float:
        """The upper edge of a row."""
        return round(row * self.row_height) + TOP - self.offset

    def middle(self, row: float) -> float:
        """The height at which the node of a row sits."""
        if self.row_height < 4:
            return self.y(row)
        shown = self.actual_row if self.has_details else self.row_height
        return self.y(row) + round((shown - 1.5) / 2)

    def row_at(self, y: float) -> int:
        """The row at a height, clamped to the rows there are; -1 when there are none."""
        if not self.rows:
            return -1
        return min(self.rows - 1, max(0, int((y + self.offset - TOP + 0.5) / self.row_height)))

    def is_row(self, y: float) -> bool:
        """Whether a row lies at this height."""
        return TOP <= y + self.offset < self.rows * self.row_height + TOP

    @property
    def first(self) -> int:
        """The first visible row."""
        return max(0, self.row_at(0))

    @property
    def stop(self) -> int:
        """One past the last visible row."""
        return min(self.rows, self.row_at(self.height) + 1) if self.rows else 0

    # columns -----------------------------------------------------------------------------------

    def px(self, measure: float) -> float:
        """A measure of the drawing, scaled to the font."""
        return measure * self.scale

    @property
    def band(self) -> tuple[float, float]:
        """Left edge and width of the bands over the active path."""
        return self.px(12), self.px(10)

    @property
    def lane_step(self) -> float:
        """The distance between lanes; many lanes move together to leave the text its room."""
        room = max(self.px(26), 0.15 * self.width)
        return min(self.px(26), max(self.px(6), room / max(1, self.lanes - 1)))

    def lane_x(self, lane: int) -> float:
        return round(self.px(52) + lane * self.lane_step)

    @property
    def glyph_left(self) -> float:
        return max(self.px(108), self.lane_x(max(0, self.lanes - 1)) + self.px(30))

    def indent(self, lane: int) -> float:
        """How far the text of a branch is moved in."""
        return self.px(14) * min(lane, 1)

    @property
    def text_left(self) -> float:
        return self.glyph_left + self.px(24)

    @property
    def has_bars(self) -> bool:
        return self.width >= self.text_left + self.px(340)

    @property
    def has_numbers(self) -> bool:
        return self.width >= self.text_left + self.px(204)

    @property
    def number_right(self) -> float:
        return self.width - self.px(24)

    @property
    def bar_left(self) -> float:
        return self.width - self.px(134)

    @property
    def bar_width(self) -> float:
        return self.px(44)

    @property
    def text_right(self) -> float:
        if self.has_bars:
            return self.bar_left - self.px(8)
        return self.width - self.px(84) if self.has_numbers else self.width - self.px(12)

    def fold_handle(self, row: int, lane: int) -> QRectF:
        """The square on the lane that folds and unfolds a compaction."""
        side = self.px(18)
        return QRectF(self.lane_x(lane) - side / 2, self.middle(row) - side / 2, side, side)

    def pill(self, y: float, text_width: float) -> QRectF:
        """The handle of the cut, on its line at height ``y``."""
        width, height = text_width + self.px(28), self.px(20)
        right = min(self.text_right - self.px(12), self.width - self.px(12))
        return QRectF(max(self.px(60), right - width), y - height / 2, width, height)
