"""Type, colours and measures of the conversation, made once per theme, scale and width."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QColor, QFont, QFontMetrics

from ui import theme
from ui.theme.tokens import blend

_WIDEST = 900
"""Words are not set wider than this, at a text scale of 100 %: longer lines read badly."""
_NARROW = 460
"""Below this the names of who speaks give way to their signs."""


@dataclass(frozen=True, slots=True)
class Inks:
    """Everything that painting and laying out need to know of the look."""

    now: theme.Theme
    ui: QFont
    bold: QFont
    small: QFont
    mono: QFont
    metrics: QFontMetrics
    small_metrics: QFontMetrics
    mono_metrics: QFontMetrics
    width: int
    """Of the whole surface, in logical pixels."""
    left: int
    """Where what is said begins."""
    right: int
    """Where it ends at the latest."""
    narrow: bool
    sign: int
    """Side of an icon."""
    selection: QColor
    hit: QColor
    current_hit: QColor
    said: QColor
    """Behind the words of the person."""
    dpr: float

    @classmethod
    def make(cls, width: int, dpr: float) -> Inks:
        """For a surface of this width, in the theme and at the scale in force."""
        now = theme.theme()
        ui, small, mono = theme.ui_font(), theme.small_font(), theme.mono_font()
        metrics = QFontMetrics(ui)
        sign = theme.scaled(15)
        narrow = width < theme.scaled(_NARROW)
        names = 0 if narrow else max(map(metrics.horizontalAdvance, ("Compacted", "Thinking")))
        left = theme.S16 + sign + theme.S8 + (names + theme.S12 if names else 0)
        right = min(width - theme.S16, left + theme.scaled(_WIDEST))
        return cls(
            now=now, ui=ui, bold=theme.ui_font(bold=True), small=small, mono=mono,
            metrics=metrics, small_metrics=QFontMetrics(small), mono_metrics=QFontMetrics(mono),
            width=width, left=left, right=max(right, left + theme.scaled(60)), narrow=narrow,
            sign=sign,
            selection=blend(now.accent, now.paper, 0.32),
            hit=blend(now.shell, now.paper, 0.38),
            current_hit=now.accent,
            said=blend(now.sel, now.paper, 0.55),
            dpr=dpr,
        )  # fmt: skip

    @property
    def room(self) -> int:
        """Width of what is said."""
        return self.right - self.left
