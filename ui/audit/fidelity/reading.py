"""A summary to read, with the places marked that a finding tells of."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from explorer.audit.findings import Place
from ui.theme import bind_font, on_theme_changed, ui_font
from ui.widgets.marked import mark, marked


class SummaryReading(QPlainTextEdit):
    """Cannot be edited; marks are a ground and a line below. Escape leads back to the findings."""

    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._places: Sequence[Place] = ()
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setAccessibleName("The summary")
        bind_font(self, ui_font)
        on_theme_changed(self._mark)

    def show_summary(self, text: str) -> None:
        """Show another summary, unmarked."""
        self._places = ()
        self.setPlainText(text)
        self._mark()

    def show_places(self, places: Sequence[Place]) -> None:
        """Mark places, and bring the first into sight."""
        self._places = places
        self._mark()
        if places:
            cursor = QTextCursor(self.document())
            cursor.setPosition(min(places[0].start, self._last()))
            self.setTextCursor(cursor)
            self.centerCursor()

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    @property
    def marked(self) -> list[str]:
        """The stretches that are marked."""
        return marked(self)

    def _last(self) -> int:
        return max(0, self.document().characterCount() - 1)

    def _mark(self) -> None:
        found = []
        for place in self._places:
            cursor = QTextCursor(self.document())
            # Positions of Qt are UTF-16 units, as those of places are.
            cursor.setPosition(min(place.start, self._last()))
            cursor.setPosition(min(place.end, self._last()), QTextCursor.MoveMode.KeepAnchor)
            found.append(cursor)
        mark(self, found)
