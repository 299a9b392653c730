"""What was sent while the agent works, and waits for its moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from explorer.agent.prompt import Queued
from ui import theme
from ui.widgets.figures import count
from ui.widgets.labels import Caption, ElidedLabel, LinkButton

MOST_LINES = 3
_WHEN = {"steering": "Next", "follow-up": "Then"}
_TIPS = {
    "steering": "The agent reads it in this turn, after the tools that run now",
    "follow-up": "The agent reads it when this turn is done",
}


class QueueStrip(QFrame):
    """One line per message, each of which can be taken back into the box."""

    taken_back = Signal(object)
    """``Queued``"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("strip", True)
        self.setAccessibleName("Messages that wait")
        self._rows: list[QWidget] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(theme.S16, theme.S4, theme.S16, theme.S4)
        self._column.setSpacing(0)
        self.hide()

    @property
    def lines(self) -> list[str]:
        """What is said of each message."""
        return [row.accessibleName() for row in self._rows]

    def show_waiting(self, waiting: Sequence[Queued]) -> None:
        """Show what waits; nothing is shown while nothing does."""
        had_keys = any(row.isAncestorOf(self.focusWidget() or self) for row in self._rows)
        for row in self._rows:
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._rows = [self._line(one) for one in waiting[:MOST_LINES]]
        if len(waiting) > MOST_LINES:
            self._rows.append(self._more(len(waiting) - MOST_LINES))
        for row in self._rows:
            self._column.addWidget(row)
        self.setVisible(bool(waiting))
        if had_keys and self._rows and (button := self._rows[0].findChild(LinkButton)):
            button.setFocus()

    def _line(self, one: Queued) -> QWidget:
        row = QWidget(self)
        when = Caption(f"{_WHEN[one.kind]}:", row)
        words = one.prompt.text
        if one.prompt.images:
            pictures = count(len(one.prompt.images), "picture")
            words = f"{words} ({pictures})" if words else pictures
        when.setToolTip(_TIPS[one.kind])
        text = ElidedLabel(words, row)
        row.setAccessibleName(f"{when.text()} {text.text()}")
        row.setAccessibleDescription(_TIPS[one.kind])
        back = LinkButton("Take back", row)
        back.setToolTip("Put this message back into the box; the agent does not get it")
        back.setAccessibleName(f"Take back: {text.text()[:60]}")
        back.clicked.connect(self._taker(one))
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(theme.S8)
        line.addWidget(when, 0, Qt.AlignmentFlag.AlignVCenter)
        line.addWidget(text, 1)
        line.addWidget(back)
        return row

    def _taker(self, one: Queued) -> Callable[[], None]:
        return lambda: self.taken_back.emit(one)

    def _more(self, others: int) -> QWidget:
        caption = Caption(f"and {count(others, 'more', 'more')}", self)
        caption.setAccessibleName(caption.text())
        return caption
