"""The box for what a person adds to the prompt of the summary."""

from __future__ import annotations

from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from ui.theme import on_theme_changed

FEWEST, MOST = 3, 8
"""Lines that it shows at least, and at most before it scrolls."""
_FRAME = 26
"""Pixels around the lines: the frame, its padding and the document's margin."""


class InstructionsBox(QPlainTextEdit):
    """Tab leaves it; it is as high as its text, within bounds."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setTabChangesFocus(True)
        self.setPlaceholderText("What the summary must not lose, in your words")
        self.setAccessibleName("Instructions added to the prompt")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().documentLayout().documentSizeChanged.connect(lambda _size: self._fit())
        on_theme_changed(self._fit)
        self._fit()

    def _fit(self) -> None:
        # A plain document is measured in lines, those that are wrapped counted too.
        lines = max(FEWEST, min(MOST, round(self.document().size().height())))
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + _FRAME)

    def add(self, text: str) -> None:
        """Add a paragraph after what is there, and select it; what is there already is only
        selected. The first of it is in sight."""
        before = self.toPlainText().rstrip()
        start = before.find(text)
        if start < 0:
            start = len(before) + 2 if before else 0
            self.setPlainText(f"{before}\n\n{text}" if before else text)
        cursor = self.textCursor()
        cursor.setPosition(start + len(text))
        cursor.setPosition(start, QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)
        self.ensureCursorVisible()
