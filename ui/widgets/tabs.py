"""Tabs and their bar, which the wheel turns only while it has the keyboard."""

from __future__ import annotations

from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QTabBar, QTabWidget, QWidget


class TabBar(QTabBar):
    """Who scrolls a page whose bar happens to be below the pointer stays on that page."""

    def wheelEvent(self, event: QWheelEvent, /) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class Tabs(QTabWidget):
    """Pages below such a bar."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTabBar(TabBar(self))
