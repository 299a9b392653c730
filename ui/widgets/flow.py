"""A layout that puts its items in lines, as words are."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

from ui.theme import S4, S8
from ui.widgets.panels import NO_MARGINS, Margins


def wrapping_row(
    *widgets: QWidget,
    across: int = S8,
    down: int = S4,
    margins: Margins = NO_MARGINS,
    closes: QWidget | None = None,
) -> FlowLayout:
    """Widgets in lines; ``across`` and ``down``: pixels between them; ``closes``: the last of
    them, at the right end of its line."""
    line = FlowLayout(across=across, down=down, closes=closes)
    line.setContentsMargins(*margins)
    for widget in widgets:
        line.addWidget(widget)
    return line


def aligned_rows(*widgets: QWidget) -> FlowLayout:
    """Widgets in as few lines as there can be, those of one line below those of another."""
    lines = FlowLayout(across=S8, down=S4, in_columns=True)
    for widget in widgets:
        lines.addWidget(widget)
    return lines


class FlowLayout(QLayout):
    """Items from left to right, wrapping; the height follows from the width."""

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        across: int = 14,
        down: int = 4,
        in_columns: bool = False,
        closes: QWidget | None = None,
    ) -> None:
        """``closes``: the item at the right end of its line. ``in_columns``: as many items in each
        line, below one another, as few lines as there can be; items move together, down to their
        least width, where that saves a line."""
        super().__init__(parent)
        self._in_columns, self._closes = in_columns, closes
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
        if self._in_columns:
            return self._place_columns(inner, move=move) + margins.top() + margins.bottom()
        x, y, line = inner.x(), inner.y(), 0
        for item in self._items:
            widget = item.widget()
            if widget is not None and widget.isHidden():
                continue
            hint = item.sizeHint().boundedTo(QSize(max(inner.width(), 1), 10_000))
            if x > inner.x() and x + hint.width() > inner.right() + 1:
                x, y, line = inner.x(), y + line + self._down, 0
            if widget is not None and widget is self._closes:
                x = inner.right() + 1 - hint.width()
            if move:
                item.setGeometry(QRect(QPoint(x, y), hint))
            x += hint.width() + self._across
            line = max(line, hint.height())
        return y + line - rect.y() + margins.bottom()

    def _place_columns(self, inner: QRect, *, move: bool) -> int:
        items = [
            item for item in self._items if not (found := item.widget()) or not found.isHidden()
        ]
        lines, widths = 0, list[int]()
        while lines < len(items):
            lines += 1
            count = ceil(len(items) / lines)
            columns = [items[at::count] for at in range(count)]
            gaps = self._across * (count - 1)
            least = [max(item.minimumSize().width() for item in column) for column in columns]
            spare = inner.width() - gaps - sum(least)
            if spare < 0 and lines < len(items):
                continue
            wanted = [max(item.sizeHint().width() for item in column) for column in columns]
            share = min(1.0, spare / max(1, sum(wanted) - sum(least)))
            pairs = zip(least, wanted, strict=True)
            widths = [low + int((high - low) * max(0.0, share)) for low, high in pairs]
            break
        y = inner.y()
        for start in range(0, len(items), max(1, len(widths))):
            x, line = inner.x(), 0
            for item, width in zip(items[start : start + len(widths)], widths, strict=False):
                hint = item.sizeHint()
                height = hint.height()
                if move:
                    # No wider than its words, which begin below those above them then.
                    item.setGeometry(QRect(x, y, min(width, hint.width()), height))
                x, line = x + width + self._across, max(line, height)
            y += line + self._down
        return max(0, y - self._down - inner.y())
