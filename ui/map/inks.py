"""Pens, brushes, fonts and glyphs of the map, made once per theme, font and screen."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPen, QPixmap

from ui.map.geometry import Geometry
from ui.map.rows import Category
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

CATEGORY_TOKENS = {
    Category.OTHER: "dim",
    Category.USER: "user",
    Category.ASSISTANT: "asst",
    Category.CALL: "tool",
    Category.RESULT: "tool",
    Category.THINKING: "think",
    Category.SHELL: "shell",
    Category.NOTE: "dim",
    Category.COMPACTION: "comp",
    Category.BRANCH: "branch",
    Category.METADATA: "faint",
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


@dataclass(slots=True)
class Inks:
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
    _elided: dict[tuple[str, int], str] = field(default_factory=dict)
    _fitted: dict[tuple[str, int], tuple[str, float]] = field(default_factory=dict)
    _pens: dict[tuple[str, float, bool], QPen] = field(default_factory=dict)

    @classmethod
    def make(cls, dpr: float) -> Inks:
        """For the theme and the text scale in force."""
        now, text = theme(), ui_font()
        colours = [getattr(now, CATEGORY_TOKENS[group]) for group in Category]
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
            shown = self.small_metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)
            found = self._fitted[key] = shown, self.small_metrics.horizontalAdvance(shown)
        return found

    def elide(self, text: str, width: float) -> str:
        """The text cut to a width in pixels, remembered."""
        key = (text, int(width))
        found = self._elided.get(key)
        if found is None:
            if len(self._elided) > 4_096:
                self._elided.clear()
            found = self.metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)
            self._elided[key] = found
        return found
