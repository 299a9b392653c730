"""The type scale: the system's own font, and its fixed one for content."""

from __future__ import annotations

from PySide6.QtGui import QFont, QFontDatabase

SMALLEST_BODY = 9.75
"""Points. Some systems report 9, too small for long reading."""

_scale = 1.0


def set_text_scale(factor: float) -> None:
    """Scale all text by a factor of 0.8 to 2; takes effect with the next ``set_theme``."""
    global _scale
    _scale = min(2.0, max(0.8, factor))


def text_scale() -> float:
    """The factor in force."""
    return _scale


def scaled(pixels: float) -> int:
    """Logical pixels that grow with the text, for signs and bars beside it."""
    return round(pixels * _scale)


def _size(font: QFont) -> float:
    return max(font.pointSizeF(), SMALLEST_BODY) * _scale


def ui_font(size_delta: float = 0, *, bold: bool = False) -> QFont:
    """The system's general font; ``size_delta`` in points on the body size."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    font.setPointSizeF(_size(font) + size_delta * _scale)
    font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    return font


def small_font(*, bold: bool = False) -> QFont:
    """For captions, legends and second lines."""
    return ui_font(-1.5, bold=bold)


def mono_font(size_delta: float = 0) -> QFont:
    """The system's fixed font, one step smaller than the body: it looks larger than it is."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setStyleHint(QFont.StyleHint.Monospace)
    body = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    font.setPointSizeF(_size(body) + (size_delta - 1) * _scale)
    return font
