"""One set of tokens that feeds the palette, the style sheet, the icons and every painter.

The names come out of their modules when they are first used: the first paint of the window needs
the tokens and the palette, not yet the icons and the textures of the verdicts.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ui.theme.icons import ICON_NAMES, bind_icon, icon, icon_pixmap
    from ui.theme.manager import (
        ThemeChoice,
        ThemeSignals,
        bind_font,
        motion_ms,
        on_theme_changed,
        set_font,
        set_motion,
        set_theme,
        theme,
        theme_choice,
        theme_signals,
    )
    from ui.theme.motion import system_asks_for_less_motion
    from ui.theme.roles import role_icon, role_name, role_token
    from ui.theme.style import set_tone
    from ui.theme.tokens import (
        DARK,
        LIGHT,
        RADIUS,
        S4,
        S8,
        S12,
        S16,
        S24,
        THEMES,
        Theme,
        contrast,
        mono_font,
        scaled,
        set_text_scale,
        small_font,
        ui_font,
    )
    from ui.theme.verdicts import (
        VERDICT_TITLES,
        paint_verdict,
        verdict_brush,
        verdict_title,
    )

__all__ = [
    "DARK",
    "ICON_NAMES",
    "LIGHT",
    "RADIUS",
    "S4",
    "S8",
    "S12",
    "S16",
    "S24",
    "THEMES",
    "VERDICT_TITLES",
    "Theme",
    "ThemeChoice",
    "ThemeSignals",
    "bind_font",
    "bind_icon",
    "contrast",
    "icon",
    "icon_pixmap",
    "mono_font",
    "motion_ms",
    "on_theme_changed",
    "paint_verdict",
    "role_icon",
    "role_name",
    "role_token",
    "scaled",
    "set_font",
    "set_motion",
    "set_text_scale",
    "set_theme",
    "set_tone",
    "small_font",
    "system_asks_for_less_motion",
    "theme",
    "theme_choice",
    "theme_signals",
    "ui_font",
    "verdict_brush",
    "verdict_title",
]

_HOMES = {
    "icons": "ICON_NAMES bind_icon icon icon_pixmap",
    "manager": "ThemeChoice ThemeSignals bind_font motion_ms on_theme_changed set_font set_motion"
    " set_theme theme theme_choice theme_signals",
    "motion": "system_asks_for_less_motion",
    "roles": "role_icon role_name role_token",
    "style": "set_tone",
    "tokens": "DARK LIGHT RADIUS S4 S8 S12 S16 S24 THEMES Theme contrast mono_font scaled"
    " set_text_scale small_font ui_font",
    "verdicts": "VERDICT_TITLES paint_verdict verdict_brush verdict_title",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """A public name, out of its module. Raises AttributeError for any other."""
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = found
    return found
