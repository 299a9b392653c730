"""The bar for finding words in the conversation."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QToolButton, QWidget

from ui import theme

_PAUSE_MS = 160
"""Between the last letter and the search."""


class FindBar(QFrame):
    """A field, a count, next and previous. Hidden while nobody searches."""

    asked = Signal(str)
    step_asked = Signal(int)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("strip", True)
        self.setAccessibleName("Find in the conversation")
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self._pause.timeout.connect(self._ask)
        self.field = QLineEdit(self)
        self.field.setAccessibleName("Words to find in the conversation")
        self.field.setPlaceholderText("Find in the conversation")
        self.field.setClearButtonEnabled(True)
        self.field.textChanged.connect(lambda _text: self._pause.start())
        self.count = QLabel(self)
        theme.set_tone(self.count, "dim")
        self.previous = self._button("chevron-up", "Previous place (Shift+Enter, Shift+F3)", -1)
        self.next = self._button("chevron-down", "Next place (Enter, F3)", 1)
        self._close = QToolButton(self)
        theme.bind_icon(self._close, "close", "dim")
        self._close.setToolTip("Close (Esc)")
        self._close.setAccessibleName("Close the search")
        self._close.clicked.connect(self.close_bar)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.S16, theme.S4, theme.S8, theme.S4)
        row.setSpacing(theme.S4)
        row.addWidget(self.field, 1)
        for part in (self.count, self.previous, self.next, self._close):
            row.addWidget(part)
        self.hide()

    def _ask(self) -> None:
        self.asked.emit(self.field.text())

    def _button(self, icon: str, tip: str, step: int) -> QToolButton:
        button = QToolButton(self)
        theme.bind_icon(button, icon, "dim")
        button.setToolTip(tip)
        button.setAccessibleName(tip.partition(" (")[0])
        button.clicked.connect(lambda: self.step_asked.emit(step))
        return button

    def open_bar(self) -> None:
        """Show the bar with the keyboard in its field."""
        opened = not self.isVisible()
        self.show()
        self.field.setFocus()
        self.field.selectAll()
        if opened and self.field.text():
            self.asked.emit(self.field.text())

    def close_bar(self) -> None:
        self._pause.stop()
        self.hide()
        self.closed.emit()

    def tell(self, words: str) -> None:
        """Say how many places there are, and at which one the reader is."""
        self.count.setText(words)
        self.count.setAccessibleName(words)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if event.key() == Qt.Key.Key_Escape:
            self.close_bar()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self._pause.isActive():
                self._pause.stop()
                self.asked.emit(self.field.text())
            else:
                self.step_asked.emit(-1 if back else 1)
        elif event.key() == Qt.Key.Key_F3:
            self.step_asked.emit(-1 if back else 1)
        else:
            super().keyPressEvent(event)
