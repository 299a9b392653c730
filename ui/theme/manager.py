"""The theme in force, changed at run time and followed from the system."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from PySide6 import QtCore
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from ui.theme.fonts import ui_font
from ui.theme.style import build_palette, build_style_sheet
from ui.theme.tokens import LIGHT, THEMES, Theme

ThemeChoice = Literal["light", "dark", "system"]


class ThemeSignals(QObject):
    """Tells painters that the tokens changed."""

    changed = Signal()


theme_signals = ThemeSignals()


class _State:
    theme: Theme = LIGHT
    choice: ThemeChoice = "system"
    motion = True
    followed: QApplication | None = None


def theme() -> Theme:
    """The theme in force."""
    return _State.theme


def theme_choice() -> ThemeChoice:
    """What the person chose; ``system`` follows the system's light or dark."""
    return _State.choice


def on_theme_changed(callback: Callable[[], Any]) -> None:
    """Call back after every change of theme. A bound method of a QObject ends with its object."""
    theme_signals.changed.connect(callback)


def set_theme(choice: ThemeChoice, app: QApplication) -> None:
    """Apply a theme to the whole application: style, font, palette and style sheet.

    May be called again at any time; also applies a new text scale (``set_text_scale``).
    Raises ValueError for a theme that does not exist.
    """
    if choice not in ("light", "dark", "system"):
        raise ValueError(f"no theme is called {choice!r}; there are light, dark and system")
    _State.choice = choice
    if _State.followed is not app:
        _State.followed = app
        app.styleHints().colorSchemeChanged.connect(_system_changed)
    _apply(app)


def _system_changed() -> None:
    if _State.choice == "system" and _State.followed is not None:
        _apply(_State.followed)


def _apply(app: QApplication) -> None:
    choice = _State.choice
    if choice == "system":
        is_dark = app.styleHints().colorScheme() == QtCore.Qt.ColorScheme.Dark
        choice = "dark" if is_dark else "light"
    _State.theme = now = THEMES[choice]
    if app.style() is None or app.style().objectName().lower() != "fusion":
        app.setStyle("Fusion")
    app.setFont(ui_font())
    app.setPalette(build_palette(now))
    app.setStyleSheet(build_style_sheet(now))
    theme_signals.changed.emit()


def set_motion(allowed: bool) -> None:
    """Switch all motion on or off, for people who asked for less of it."""
    _State.motion = allowed


def motion_ms(wanted: int) -> int:
    """How long a motion may take: at most 200 ms, and 0 where motion is off."""
    if not _State.motion or not QApplication.isEffectEnabled(QtCore.Qt.UIEffect.UI_General):
        return 0
    return min(wanted, 200)
