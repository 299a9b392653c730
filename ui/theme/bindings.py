"""Fonts that follow the text scale while their widget lives."""

from __future__ import annotations

from collections.abc import Callable

from PySide6 import QtCore
from PySide6.QtCore import QObject
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QWidget

from ui.theme.manager import theme_signals


class _FontBinding(QObject):
    """Sets the font of its parent anew on every change of theme or scale, and dies with it."""

    def __init__(self, widget: QWidget, make: Callable[[], QFont]) -> None:
        super().__init__(widget)
        self._widget = widget
        self.make = make
        theme_signals.changed.connect(self.apply)
        self.apply()

    def apply(self) -> None:
        self._widget.setFont(self.make())
        self._widget.updateGeometry()


def bind_font(widget: QWidget, make: Callable[[], QFont]) -> None:
    """Give a widget a font of the scale, such as ``small_font``. Calling again replaces it."""
    direct = QtCore.Qt.FindChildOption.FindDirectChildrenOnly
    for old in widget.findChildren(_FontBinding, options=direct):
        old.make = make
        old.apply()
        return
    _FontBinding(widget, make)
