"""What the page of fidelity shows while a summary is audited, and where that ended without one."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from ui.theme import S8, S16


class WaitingPart(QWidget):
    """Words, how far it is, and a button that stops it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = QLabel("Reading the entries…", self)
        self.words.setWordWrap(True)
        self.progress = QProgressBar(self)
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName("Progress of the audit")
        self.stop = QPushButton("Stop", self)
        column = QVBoxLayout(self)
        column.setContentsMargins(S16, S16, S16, S16)
        column.setSpacing(S8)
        for part in (self.words, self.progress):
            column.addWidget(part)
        column.addWidget(self.stop, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)

    def wait(self, words: str) -> None:
        """It has begun."""
        self.words.setText(words)
        self.progress.setRange(0, 0)
        self.stop.setEnabled(True)

    def show_progress(self, done: int, total: int) -> None:
        """Entries done and in all."""
        self.progress.setRange(0, total)
        self.progress.setValue(done)

    def tell(self, words: str) -> None:
        """It is over, and there is nothing to be shown but words."""
        self.words.setText(words)
        self.progress.setRange(0, 1)
        self.progress.setValue(0)
        self.stop.setEnabled(False)
