"""What every painting function of the map is given: the painter, the measures, pens and brushes,
and what is shown."""

from __future__ import annotations

import math
from enum import IntEnum

from msgspec import Struct, field
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QPixmap

from ui.map.model import MapModel
from ui.map.rows import RowCategory
from ui.theme import (
    Theme,
    icon_pixmap,
    mono_font,
    role_icon,
    role_token,
    small_font,
    theme,
    ui_font,
)
from ui.widgets.labels import elided

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


class Geometry(Struct, frozen=True):
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
    digits: int = 3
    """Of the number of the last entry."""

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
    def is_narrow(self) -> bool:
        """Whether bands and lanes move together for the sake of words and tokens."""
        return self.width < self.px(372)

    @property
    def band(self) -> tuple[float, float]:
        """Left edge and width of the bands over the active path."""
        return self.px(4 if self.is_narrow else 12), self.px(8 if self.is_narrow else 10)

    @property
    def lane_step(self) -> float:
        """The distance between lanes; many lanes move together to leave the text its room."""
        most = self.px(15 if self.is_narrow else 26)
        room = max(most, (0.06 if self.is_narrow else 0.15) * self.width)
        return min(most, max(self.px(6), room / max(1, self.lanes - 1)))

    def lane_x(self, lane: int) -> float:
        return round(self.px(22 if self.is_narrow else 52) + lane * self.lane_step)

    @property
    def glyph_left(self) -> float:
        least, beside = (42, 16) if self.is_narrow else (108, 30)
        return max(self.px(least), self.lane_x(max(0, self.lanes - 1)) + self.px(beside))

    def indent(self, lane: int) -> float:
        """How far the text of a branch is moved in."""
        return self.px(14) * min(lane, 1)

    @property
    def text_left(self) -> float:
        return self.glyph_left + self.px(22 if self.is_narrow else 24)

    @property
    def has_bars(self) -> bool:
        return self.width >= self.text_left + self.px(400)

    @property
    def has_numbers(self) -> bool:
        """Whether there is room for the tokens of entries."""
        return self.width >= self.text_left + self.px(180 if self.is_narrow else 240)

    @property
    def has_sums(self) -> bool:
        """Whether there is room for the entries and tokens of turns."""
        return self.width >= self.text_left + self.px(240)

    @property
    def number_right(self) -> float:
        return self.width - self.px(8 if self.is_narrow else 24)

    @property
    def bar_left(self) -> float:
        return self.width - self.px(134)

    @property
    def bar_width(self) -> float:
        return self.px(44)

    @property
    def has_names(self) -> bool:
        """Whether there is room for what entries are named by: their indices. Where a second line
        fits, they stand there."""
        is_wide = self.width >= self.text_left + self.px(96)
        return is_wide and self.level is Level.ENTRIES and not self.has_details

    @property
    def name_right(self) -> float:
        if self.has_bars:
            return self.bar_left - self.px(8)
        if not self.has_numbers:
            return self.width - self.px(12)
        return self.number_right - self.px(44 if self.is_narrow else 56)

    @property
    def text_right(self) -> float:
        if self.has_names:
            return self.name_right - self.px((14 if self.is_narrow else 24) + 8 * self.digits)
        if self.has_bars:
            return self.name_right
        return self.name_right - self.px(4 if self.has_numbers else 0)

    def fold_handle(self, row: int, lane: int) -> QRectF:
        """The square on the lane that folds and unfolds a compaction."""
        side = self.px(18)
        return QRectF(self.lane_x(lane) - side / 2, self.middle(row) - side / 2, side, side)

    def pill(self, y: float, text_width: float) -> QRectF:
        """The handle of the cut, on its line at height ``y``: at the actual size it just fits
        between the words of the two rows."""
        width, height = text_width + self.px(24), self.px(13.5)
        right = min(self.text_right - self.px(12), self.width - self.px(12))
        return QRectF(max(self.px(60), right - width), y - height / 2, width, height)


CATEGORY_TOKENS = {
    RowCategory.OTHER: "dim",
    RowCategory.USER: "user",
    RowCategory.ASSISTANT: "asst",
    RowCategory.CALL: "tool",
    RowCategory.RESULT: "tool",
    RowCategory.THINKING: "think",
    RowCategory.SHELL: "shell",
    RowCategory.NOTE: "dim",
    RowCategory.COMPACTION: "comp",
    RowCategory.BRANCH: "branch",
    RowCategory.METADATA: "faint",
    RowCategory.INSERTED: "dim",
}

FADE = 0.45
"""How much of its colour what is off the active path keeps."""


def mix(over: QColor, under: QColor, share: float) -> QColor:
    """``over`` laid on ``under`` with a share of 0 to 1, opaque."""
    rest = 1 - share
    return QColor(
        round(over.red() * share + under.red() * rest),
        round(over.green() * share + under.green() * rest),
        round(over.blue() * share + under.blue() * rest),
    )


def bar_share(tokens: int) -> float:
    """How full a token bar is: logarithmic, full at 32,768 tokens."""
    return min(1.0, math.log2(max(tokens, 0) + 1) / 15)


class MapInks(Struct):
    """What one theme, font and screen need for painting."""

    theme: Theme
    dpr: float
    text: QFont
    small: QFont
    mono: QFont
    metrics: QFontMetricsF
    small_metrics: QFontMetricsF
    scale: float
    categories: list[QColor]
    faded: list[QColor]
    _icons: dict[tuple[str, str, bool], QPixmap] = field(default_factory=dict)
    _elided: dict[tuple[str, int, bool], str] = field(default_factory=dict)
    _fitted: dict[tuple[str, int], tuple[str, float]] = field(default_factory=dict)
    _pens: dict[tuple[str, float, bool], QPen] = field(default_factory=dict)

    @classmethod
    def make(cls, dpr: float) -> MapInks:
        """For the theme and the text scale in force."""
        now, text = theme(), ui_font()
        colours = [getattr(now, CATEGORY_TOKENS[group]) for group in RowCategory]
        return cls(
            theme=now,
            dpr=dpr,
            text=text,
            small=small_font(),
            mono=mono_font(-0.5),
            metrics=QFontMetricsF(text),
            small_metrics=QFontMetricsF(small_font()),
            scale=Geometry.scale_of(text),
            categories=[mix(colour, now.paper, 0.75) for colour in colours],
            faded=[mix(colour, now.paper, 0.35) for colour in colours],
        )

    def token(self, name: str, *, faded: bool = False) -> QColor:
        """A colour token, or what is left of it off the active path."""
        colour: QColor = getattr(self.theme, name)
        return mix(colour, self.theme.paper, FADE) if faded else colour

    def pen(self, name: str, width: float, *, faded: bool = False) -> QPen:
        """A solid round pen of a colour token; width in logical pixels before scaling."""
        key = (name, width, faded)
        if key not in self._pens:
            pen = QPen(self.token(name, faded=faded), width * self.scale)
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
            self._pens[key] = pen
        return self._pens[key]

    def icon(self, kind: int, flags: int, *, faded: bool) -> QPixmap:
        """The glyph of an entry's role."""
        key = (role_icon(kind, flags), role_token(kind, flags), faded)
        found = self._icons.get(key)
        if found is None:
            colour = self.token(key[1], faded=faded)
            size = round(15 * self.scale)
            found = self._icons[key] = icon_pixmap(key[0], colour, size, self.dpr)
        return found

    def sign(self, name: str, token: str, *, faded: bool) -> QPixmap:
        """A small sign in a colour token."""
        key = (name, token, faded)
        found = self._icons.get(key)
        if found is None:
            colour = self.token(token, faded=faded)
            found = self._icons[key] = icon_pixmap(name, colour, round(12 * self.scale), self.dpr)
        return found

    def fit_small(self, text: str, width: float) -> tuple[str, float]:
        """The text cut to a width in the small font, and the width that it takes."""
        key = (text, int(width))
        found = self._fitted.get(key)
        if found is None:
            if len(self._fitted) > 1_024:
                self._fitted.clear()
            shown = elided(self.small_metrics, text, width)
            found = self._fitted[key] = shown, self.small_metrics.horizontalAdvance(shown)
        return found

    def elide(self, text: str, width: float, *, keep_end: bool = False) -> str:
        """``elided`` in the font of the rows, remembered."""
        key = (text, int(width), keep_end)
        found = self._elided.get(key)
        if found is None:
            if len(self._elided) > 4_096:
                self._elided.clear()
            found = self._elided[key] = elided(self.metrics, text, width, keep_end=keep_end)
        return found


class Canvas(Struct):
    """One frame being painted."""

    painter: QPainter
    geometry: Geometry
    inks: MapInks
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
