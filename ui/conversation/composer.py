"""Where the person writes: several lines, history, Enter to send, files and pictures put in."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal, SignalInstance
from PySide6.QtGui import QFocusEvent, QImage, QKeyEvent, QResizeEvent, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QWidget

MOST_LINES_SHOWN = 6
_PLAIN = Qt.KeyboardModifier.NoModifier
_SENDING = (_PLAIN, Qt.KeyboardModifier.ControlModifier)
"""What Enter is pressed with to send; other programs want Ctrl with it."""
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)

HINTS = (
    "Message the agent, / for commands, @ for files   (Enter sends, Shift+Enter new line)",
    "Message the agent   (Enter sends, Shift+Enter new line)",
    "Message the agent   (Enter sends)",
    "Message the agent",
)
RUNNING_HINTS = (
    "Tell the agent now   (Enter: into this turn, Alt+Enter: after it, Esc stops)",
    "Tell the agent now   (Enter: now, Alt+Enter: after)",
    "Tell the agent now",
)
"""What the empty box says, the longest that fits into a line."""


class Composer(QPlainTextEdit):
    """A text box that grows with its text. Enter sends, Shift+Enter starts a new line."""

    sent = Signal(str)
    sent_after = Signal(str)
    """Sent with Alt+Enter: for after the turn that runs."""
    stopped = Signal()
    picture_given = Signal(QImage)
    """A picture was pasted or dropped."""
    files_given = Signal(list)
    """Paths of files that were pasted or dropped."""
    typed = Signal()
    """The text or the place in it changed; see ``before_cursor``."""
    left = Signal()
    """The keyboard focus left."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Message to the agent")
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self._attached = False
        self._hinted, self._running = False, False
        self._history: list[str] = []
        self._at = 0
        self.document().documentLayout().documentSizeChanged.connect(lambda _size: self._fit())
        self.cursorPositionChanged.connect(self.typed)
        self.textChanged.connect(self.typed)
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

    def set_hint(self, shown: bool, running: bool = False) -> None:
        """Say in the empty box what it is for, with the keys where they fit."""
        self._hinted, self._running = shown, running
        self._hint()

    def set_attached(self, attached: bool) -> None:
        """Whether there is something to send beside the text."""
        self._attached = attached

    def _hint(self) -> None:
        room = self.viewport().width() - 2 * int(self.document().documentMargin())
        metrics = self.fontMetrics()
        hints = RUNNING_HINTS if self._running else HINTS
        words = next((h for h in hints if metrics.horizontalAdvance(h) <= room), hints[-1])
        self.setPlaceholderText(words if self._hinted else "")
        # Qt paints the old words until something else changes.
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._hint()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.left.emit()

    # the text ------------------------------------------------------------------------------------

    def before_cursor(self) -> str:
        """What stands before the cursor; empty while something is selected."""
        cursor = self.textCursor()
        return "" if cursor.hasSelection() else self.toPlainText()[: cursor.position()]

    def replace_before_cursor(self, length: int, text: str) -> None:
        """Put ``text`` in the place of the last ``length`` characters before the cursor."""
        cursor = self.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor, length)
        cursor.insertText(text)
        self.setTextCursor(cursor)

    def insert_word(self, text: str) -> None:
        """Put a word at the cursor, with a space where it would stick to its neighbours."""
        before = self.before_cursor()
        gap = " " if before and not before[-1].isspace() else ""
        self.insertPlainText(f"{gap}{text} ")

    def put_back(self, text: str) -> None:
        """Put a text that was not used into the box, before what was written since."""
        now = self.toPlainText()
        self.setPlainText(f"{text}\n\n{now}" if text and now.strip() else text or now)
        self.moveCursor(QTextCursor.MoveOperation.End)

    def set_history(self, texts: list[str]) -> None:
        """Earlier messages, oldest first, reached by Up in an empty box."""
        self._history = texts
        self._at = len(texts)

    def taken(self, text: str) -> None:
        """Empty the box and add its message to the history: it was accepted."""
        if text and (not self._history or self._history[-1] != text):
            self._history.append(text)
        self._at = len(self._history)
        self.clear()

    # keys ----------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        plain = modifiers == _PLAIN
        if key in _ENTER and modifiers in _SENDING:
            self._send(self.sent)
        elif key in _ENTER and modifiers == Qt.KeyboardModifier.AltModifier:
            self._send(self.sent_after)
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
        self.moveCursor(QTextCursor.MoveOperation.End)

    def _send(self, signal: SignalInstance) -> None:
        text = self.toPlainText().strip()
        if text or self._attached:
            signal.emit(text)

    # what is pasted and dropped ------------------------------------------------------------------

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasImage() or source.hasUrls() or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Emit files and pictures as attachments; insert everything else as plain text."""
        files = [url.toLocalFile() for url in source.urls() if url.isLocalFile()]
        if files:
            self.files_given.emit(files)
        elif source.text().strip() or not source.hasImage():
            # Copied cells of a table come as a picture too.
            self.insertPlainText(source.text())
        elif isinstance(image := source.imageData(), QImage):
            self.picture_given.emit(image)
