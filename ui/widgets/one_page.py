"""Pages of which one is there: the others take no room, neither in width nor in height."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget


class OnePage(QWidget):
    """Unlike a stack of widgets it is as high as its current page needs at its width, so that a
    scroll area around it scrolls only where that page is too long."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pages: list[QWidget] = []
        self._at = -1
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)

    def add(self, page: QWidget) -> int:
        """One more page; the first one is shown. Returns its number."""
        self._pages.append(page)
        layout = self.layout()
        assert layout is not None
        layout.addWidget(page)
        at = len(self._pages) - 1
        page.setVisible(at == 0)
        self._at = max(self._at, 0)
        return at

    def current(self) -> int:
        """The number of the page that is shown; -1 without pages."""
        return self._at

    def show_page(self, at: int) -> None:
        """Show another page."""
        if at != self._at:
            # First away, then there: together they would ask for more room than there is.
            self._pages[self._at].hide()
            self._pages[at].show()
            self._at = at
            self.updateGeometry()
