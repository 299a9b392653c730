"""The design tokens: colours of both themes, spacing, the corner radius, and the type scale: the
system's own font, and its fixed one for content."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication

SMALLEST_BODY = 9.75
"""Points. Some systems report 9, too small for long reading."""
SMALLEST_PIXELS = 12
"""Pixels of the smallest text at 100 %."""

_scale = 1.0


def set_text_scale(factor: float) -> None:
    """Scale all text by a factor of 0.8 to 2; takes effect with the next ``set_theme``."""
    global _scale
    _scale = min(2.0, max(0.8, factor))


def scaled(pixels: float) -> int:
    """Logical pixels that grow with the text, for signs and bars beside it."""
    return round(pixels * _scale)


def _size(delta: float) -> float:
    """Points of text that is larger than the body's by ``delta``, or smaller, scaled."""
    body = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont).pointSizeF()
    screen = QGuiApplication.primaryScreen()
    smallest = SMALLEST_PIXELS * 72 / screen.logicalDotsPerInchY()
    return max(max(body, SMALLEST_BODY) + delta, smallest) * _scale


def ui_font(size_delta: float = 0, *, bold: bool = False) -> QFont:
    """The system's general font; ``size_delta`` in points on the body size."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    font.setPointSizeF(_size(size_delta))
    font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    return font


def small_font(*, bold: bool = False) -> QFont:
    """For captions, legends and second lines."""
    return ui_font(-1.5, bold=bold)


def mono_font(size_delta: float = 0) -> QFont:
    """The system's fixed font, one step smaller than the body: it looks larger than it is."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setPointSizeF(_size(size_delta - 1))
    return font


S4, S8, S12, S16, S24 = 4, 8, 12, 16, 24
RADIUS = 6


class Theme(NamedTuple):
    """Colours by what they mean. Text tokens reach a contrast of 4.5:1 on every surface.

    Surfaces: ``paper`` (the window), ``panel`` (bars and side panes), ``card`` (fields and
    boxes), ``sel`` (the selected row). ``faint`` and ``line`` are for shapes, never for text.
    """

    name: str
    is_dark: bool
    paper: QColor
    panel: QColor
    card: QColor
    sel: QColor
    ink: QColor
    dim: QColor
    faint: QColor
    line: QColor
    accent: QColor
    on_accent: QColor
    user: QColor
    asst: QColor
    tool: QColor
    think: QColor
    shell: QColor
    comp: QColor
    branch: QColor
    lost: QColor
    kept: QColor
    hatch: QColor
    hatch2: QColor
    added: QColor
    """Background of an added line of a diff."""
    removed: QColor
    """Background of a removed line of a diff."""


SURFACES = ("paper", "panel", "card", "sel")
TEXT_TOKENS = (
    "ink", "dim", "accent", "user", "asst", "tool", "think", "shell", "comp", "branch", "lost",
)  # fmt: skip


def _theme(name: str, is_dark: bool, **colours: str) -> Theme:
    return Theme(name=name, is_dark=is_dark, **{key: _colour(v) for key, v in colours.items()})


def _colour(value: str) -> QColor:
    """``#rrggbb`` or, as in a style sheet, ``#rrggbbaa``."""
    colour = QColor(value[:7])
    if len(value) == 9:
        colour.setAlpha(int(value[7:], 16))
    return colour


LIGHT = _theme(
    "light",
    False,
    paper="#fbfaf7",
    panel="#f4f2ed",
    card="#ffffff",
    sel="#e6ecf9",
    ink="#1f2328",
    dim="#62676d",
    faint="#a6a8a7",
    line="#dfdcd4",
    accent="#2458c5",
    on_accent="#fbfaf7",
    user="#2458c5",
    asst="#4a4f57",
    tool="#0f746c",
    think="#7c4fc0",
    shell="#8a6116",
    comp="#ab4e08",
    branch="#b0337c",
    lost="#c62828",
    kept="#2458c5",
    hatch="#b4530988",
    hatch2="#7c4fc088",
    added="#dff2e3",
    removed="#fbe3e0",
)

DARK = _theme(
    "dark",
    True,
    paper="#16181b",
    panel="#1c1f23",
    card="#1f2226",
    sel="#22304d",
    ink="#e6e4df",
    dim="#9a9d9f",
    faint="#64686c",
    line="#2c3035",
    accent="#7da6ff",
    on_accent="#16181b",
    user="#7da6ff",
    asst="#b9bec6",
    tool="#4cc2b4",
    think="#b79af0",
    shell="#d5a94c",
    comp="#e8963f",
    branch="#e67ab8",
    lost="#ff7b72",
    kept="#7da6ff",
    hatch="#e8963f88",
    hatch2="#b79af088",
    added="#1d3527",
    removed="#42252a",
)

THEMES = {"light": LIGHT, "dark": DARK}

COLOUR_TOKENS = tuple(name for name in Theme._fields if name not in ("name", "is_dark"))


def _luminance(colour: QColor) -> float:
    def linear(channel: float) -> float:
        return channel / 12.92 if channel <= 0.03928 else ((channel + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(part) for part in (colour.redF(), colour.greenF(), colour.blueF()))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: QColor, second: QColor) -> float:
    """The contrast ratio of two opaque colours, 1 to 21 (WCAG 2)."""
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def blend(over: QColor, under: QColor, share: float) -> QColor:
    """``over`` laid on ``under`` with the given share (0 to 1), opaque."""
    rest = 1 - share
    return QColor.fromRgbF(
        over.redF() * share + under.redF() * rest,
        over.greenF() * share + under.greenF() * rest,
        over.blueF() * share + under.blueF() * rest,
    )
