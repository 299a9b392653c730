"""A layout that puts its items in lines, as words are."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

from ui.theme import S4, S8
from ui.widgets.panels import NO_MARGINS, Margins


def wrapping_row(
    *widgets: QWidget, across: int = S8, down: int = S4, margins: Margins = NO_MARGINS
) -> FlowLayout:
    """Widgets in lines; ``across`` and ``down``: pixels between them."""
    line = FlowLayout(across=across, down=down)
    line.setContentsMargins(*margins)
    for widget in widgets:
        line.addWidget(widget)
    return line


class FlowLayout(QLayout):
    """Items from left to right, wrapping; the height follows from the width."""

    def __init__(self, parent: QWidget | None = None, *, across: int = 14, down: int = 4) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._heights: dict[int, int] = {}
        """Height by width; a window that is laid out asks for the same ones over and over."""
        self._across, self._down = across, down
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem, /) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int, /) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int, /) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int, /) -> int:
        if width not in self._heights:
            self._heights[width] = self._place(QRect(0, 0, width, 0), move=False)
        return self._heights[width]

    def invalidate(self) -> None:
        self._heights.clear()
        super().invalidate()

    def setGeometry(self, rect: QRect, /) -> None:
        super().setGeometry(rect)
        self._place(rect, move=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        margins = self.contentsMargins()
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def _place(self, rect: QRect, *, move: bool) -> int:
        margins = self.contentsMargins()
        inner = rect.marginsRemoved(margins)
        x, y, line = inner.x(), inner.y(), 0
        for item in self._items:
            widget = item.widget()
            if widget is not None and widget.isHidden():
                continue
            hint = item.sizeHint().boundedTo(QSize(max(inner.width(), 1), 10_000))
            if x > inner.x() and x + hint.width() > inner.right() + 1:
                x, y, line = inner.x(), y + line + self._down, 0
            if move:
                item.setGeometry(QRect(QPoint(x, y), hint))
            x += hint.width() + self._across
            line = max(line, hint.height())
        return y + line - rect.y() + margins.bottom()
