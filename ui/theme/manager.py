"""The theme in force, changed at run time and followed from the system, and fonts that follow
it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from PySide6 import QtCore
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QFont, QPalette
from PySide6.QtWidgets import QApplication, QWidget

from ui.theme.style import build_palette, build_style_sheet
from ui.theme.tokens import LIGHT, THEMES, Theme, ui_font

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


def _system_is_dark(app: QApplication) -> bool:
    """Whether the system asks for dark, by the palette of Fusion, which follows it.

    ``colorScheme`` says the same, but its type brings in a namespace that takes 15 ms to make: a
    tenth of the time to the first paint.
    """
    window_colour = app.style().standardPalette().color(QPalette.ColorRole.Window)
    return window_colour.lightness() < 128


def _apply(app: QApplication) -> None:
    if not app.styleSheet():
        app.setStyle("Fusion")
    choice = _State.choice
    if choice == "system":
        choice = "dark" if _system_is_dark(app) else "light"
    _State.theme = now = THEMES[choice]
    sheet = build_style_sheet(now)
    if app.styleSheet() != sheet:  # the same sheet again would polish every widget again
        # Where one sheet follows another, Qt polishes every widget there is; where one follows
        # none, those that were ever shown: a tenth, and the others when they are.
        app.setStyleSheet("")
        app.setFont(ui_font())
        app.setPalette(build_palette(now))
        app.setStyleSheet(sheet)
    theme_signals.changed.emit()


def set_motion(allowed: bool) -> None:
    """Switch all motion on or off, for people who asked for less of it."""
    _State.motion = allowed


def motion_ms(wanted: int) -> int:
    """How long a motion may take: at most 200 ms, and 0 where motion is off."""
    if not _State.motion or not QApplication.isEffectEnabled(QtCore.Qt.UIEffect.UI_General):
        return 0
    return min(wanted, 200)


_SAVED_FONT = "_q_styleSheetWidgetFont"


def set_font(widget: QWidget, font: QFont) -> None:
    """Give a widget a font that stays when the widget is moved into another.

    Qt polishes it anew then, and gives it the font which it saved when it first did so.
    """
    widget.setFont(font)
    if widget.property(_SAVED_FONT) is not None:
        widget.setProperty(_SAVED_FONT, font)


class _FontBinding(QObject):
    """Sets the font of its parent anew on every change of theme or scale, and dies with it."""

    def __init__(self, widget: QWidget, make: Callable[[], QFont]) -> None:
        super().__init__(widget)
        self._widget = widget
        self.make = make
        theme_signals.changed.connect(self.apply)
        self.apply()

    def apply(self) -> None:
        set_font(self._widget, self.make())
        self._widget.updateGeometry()


def bind_font(widget: QWidget, make: Callable[[], QFont]) -> None:
    """Give a widget a font of the scale, such as ``small_font``. A second call replaces it."""
    direct = QtCore.Qt.FindChildOption.FindDirectChildrenOnly
    for old in widget.findChildren(_FontBinding, options=direct):
        old.make = make
        old.apply()
        return
    _FontBinding(widget, make)
