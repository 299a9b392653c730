"""Above an entry: whose place is marked in it, the places before and after it, and the way back."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QToolButton, QWidget

from ui.theme import S4, S8, S16, bind_icon
from ui.widgets.labels import ElidedLabel, LinkButton
from ui.widgets.panels import row


class PlaceStrip(QFrame):
    """Hidden while nothing is marked. Escape leads back from any of its buttons."""

    back_asked = Signal()
    step_asked = Signal(int)
    """To the place after (1) or before (-1) the one that is marked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("strip", True)
        self.words = ElidedLabel(parent=self)
        self.previous = self._button("chevron-up", "Where it was said before", -1)
        self.following = self._button("chevron-down", "Where it was said after that", 1)
        self.back = LinkButton("&Back to the findings", self)
        self.back.setToolTip("To the list that led here (Esc)")
        self.back.clicked.connect(self.back_asked)
        line = row(self.words, self.previous, self.following, self.back)
        line.setStretchFactor(self.words, 1)
        line.setContentsMargins(S16, S4, S8, S4)
        self.setLayout(line)
        self.hide()

    def _button(self, icon: str, tip: str, step: int) -> QToolButton:
        button = QToolButton(self)
        bind_icon(button, icon, "dim")
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.clicked.connect(lambda: self.step_asked.emit(step))
        return button

    def show_place(self, words: str, number: int, count: int) -> None:
        """Tell of the ``number``-th of ``count`` places, from 1."""
        where = f"{number:,} of {count:,} · " if count > 1 else ""
        self.words.setText(where + words)
        for button, there in ((self.previous, number > 1), (self.following, number < count)):
            button.setVisible(count > 1)
            button.setEnabled(there)
        self.setAccessibleName(self.words.text())
        self.show()

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.back_asked.emit()
        else:
            super().keyPressEvent(event)
