"""Tabs and their bar, which the wheel turns only while it has the keyboard, and whose titles move
together before one has no room."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtGui import QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QTabBar, QTabWidget, QWidget

from ui.theme import on_theme_changed

TIGHT = "tight"
"""The property of a bar whose titles stand close together; see ``ui.theme.style``."""
SAVED = 8
"""Pixels that a title then takes less."""


class TabBar(QTabBar):
    """Who scrolls a page whose bar happens to be below the pointer stays on that page."""

    def wheelEvent(self, event: QWheelEvent, /) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def fit(self, width: int) -> None:
        """Put the titles close together where they have no room in a width otherwise."""
        titles = sum(self.isTabVisible(at) for at in range(self.count()))
        was_tight = bool(self.property(TIGHT))
        wanted = self.sizeHint().width() + (SAVED * titles if was_tight else 0)
        if (is_tight := wanted > width) != was_tight:
            self.setProperty(TIGHT, is_tight)
            self.style().unpolish(self)
            self.style().polish(self)
            # A bar measures its titles anew for a change of its style alone.
            QApplication.sendEvent(self, QEvent(QEvent.Type.StyleChange))
            self.updateGeometry()


class Tabs(QTabWidget):
    """Pages below such a bar."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bar = TabBar(self)
        self.setTabBar(self._bar)
        on_theme_changed(self._fit)

    def _fit(self) -> None:
        self._bar.fit(self.width())

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        self._fit()

    def setTabVisible(self, index: int, visible: bool, /) -> None:
        super().setTabVisible(index, visible)
        self._fit()

    def tabInserted(self, index: int, /) -> None:
        super().tabInserted(index)
        self._fit()
