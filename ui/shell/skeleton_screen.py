"""What the window shows in its first moments: where everything is going to be."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from ui import theme

HEADER, LIBRARY, INSPECTOR, AGENT = 44, 212, 452, 200
"""Sizes in pixels at a text scale of 100 %, as the window has them until a person changes them."""


class SkeletonScreen(QWidget):
    """The surfaces of the window's parts, and the lines between them.

    Labels and frames that the style sheet colours: a painter, an alignment or methods of a style
    would bring in namespaces of enums that take 15 ms each to make.
    """

    def __init__(self, parent: QWidget | None = None, with_panes: bool = True) -> None:
        """``with_panes``: whether a session is to be opened; else the welcome page follows."""
        super().__init__(parent)
        self.setAccessibleName("Session Explorer is starting")
        self._with_panes = with_panes
        self._label = QLabel("Opening the library…", self)
        self._label.setProperty("tone", "dim")
        if not with_panes:
            return
        self._header, self._library = self._surface(), self._surface()
        self._title = QLabel("Session Explorer", self)
        self._lines = [QFrame(self) for _ in range(4)]
        for at, line in enumerate(self._lines):
            line.setProperty("line", "h" if at < 2 else "v")

    def _surface(self) -> QLabel:
        label = QLabel(self)
        label.setProperty("surface", "panel")
        return label

    def resizeEvent(self, event: QResizeEvent) -> None:
        width, height = self.width(), self.height()
        if not self._with_panes:
            self._centre_label(0, width, 0, height)
            return
        top, left = theme.scaled(HEADER), LIBRARY
        right, bottom = max(left, width - INSPECTOR), max(top, height - AGENT)
        self._header.setGeometry(0, 0, width, top)
        self._library.setGeometry(0, top, left, bottom - top)
        under_header, over_agent, beside_library, beside_inspector = self._lines
        under_header.setGeometry(0, top, width, 1)
        over_agent.setGeometry(0, bottom, right, 1)
        beside_library.setGeometry(left, top, 1, bottom - top)
        beside_inspector.setGeometry(right, top, 1, height - top)
        size = self._title.sizeHint()
        self._title.setGeometry(theme.S16, (top - size.height()) // 2, size.width(), size.height())
        self._centre_label(left, right, top, bottom)
        self._label.raise_()

    def _centre_label(self, left: int, right: int, top: int, bottom: int) -> None:
        size = self._label.sizeHint()
        self._label.setGeometry(
            (left + right - size.width()) // 2,
            (top + bottom - size.height()) // 2,
            size.width(),
            size.height(),
        )
