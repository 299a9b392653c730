"""Where the person writes: several lines, history, Enter to send."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

MOST_LINES_SHOWN = 6
_SENDING = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier)
"""What Enter is pressed with to send; other programs want Ctrl with it."""


HINTS = (
    "Message at the leaf   (Enter sends, Shift+Enter new line)",
    "Message at the leaf   (Enter sends)",
    "Message at the leaf",
)
"""What the empty box says, the longest that fits into a line."""


class Composer(QPlainTextEdit):
    """A text box that grows with its text. Enter sends, Shift+Enter starts a new line."""

    sent = Signal(str)
    stopped = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Message to the agent")
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self._hinted = False
        self._history: list[str] = []
        self._at = 0
        self.document().documentLayout().documentSizeChanged.connect(lambda _size: self._fit())
        self._fit()

    def _fit(self) -> None:
        lines = max(1, min(MOST_LINES_SHOWN, int(self.document().size().height())))
        margins = self.contentsMargins()
        height = lines * self.fontMetrics().lineSpacing() + 2 * int(
            self.document().documentMargin()
        )
        self.setFixedHeight(height + margins.top() + margins.bottom() + 12)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()
            self._hint()

    def set_hint(self, shown: bool) -> None:
        """Say in the empty box what it is for, with the keys where they fit."""
        self._hinted = shown
        self._hint()

    def _hint(self) -> None:
        room = self.viewport().width() - 2 * int(self.document().documentMargin())
        metrics = self.fontMetrics()
        words = next((h for h in HINTS if metrics.horizontalAdvance(h) <= room), HINTS[-1])
        self.setPlaceholderText(words if self._hinted else "")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._hint()

    def set_history(self, texts: list[str]) -> None:
        """Earlier messages, oldest first, reached by Up in an empty box."""
        self._history = texts
        self._at = len(texts)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        plain = not modifiers
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and modifiers in _SENDING:
            self._send()
        elif key == Qt.Key.Key_Escape:
            self.stopped.emit()
        elif key == Qt.Key.Key_Up and plain and self.textCursor().blockNumber() == 0:
            self._recall(-1, event)
        elif key == Qt.Key.Key_Down and plain and self._last_line():
            self._recall(1, event)
        else:
            super().keyPressEvent(event)

    def _last_line(self) -> bool:
        return self.textCursor().blockNumber() == self.document().blockCount() - 1

    def _recall(self, step: int, event: QKeyEvent) -> None:
        untouched = not self.toPlainText() or (
            self._at < len(self._history) and self.toPlainText() == self._history[self._at]
        )
        at = self._at + step
        if not untouched or not 0 <= at <= len(self._history):
            super().keyPressEvent(event)
            return
        self._at = at
        self.setPlainText(self._history[at] if at < len(self._history) else "")
        self.moveCursor(self.textCursor().MoveOperation.End)

    def _send(self) -> None:
        text = self.toPlainText().strip()
        if text:
            self.sent.emit(text)

    def taken(self, text: str) -> None:
        """The message was accepted: empty the box and remember it."""
        if not self._history or self._history[-1] != text:
            self._history.append(text)
        self._at = len(self._history)
        self.clear()

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste as plain text, whatever the clipboard holds."""
        self.insertPlainText(source.text())
