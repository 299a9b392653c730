"""The question that comes before anything which the running agent stands in the way of."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QLabel, QPushButton, QVBoxLayout, QWidget

from ui import theme
from ui.widgets.dialogs import fit
from ui.widgets.panels import row


class UnderWayDialog(QDialog):
    """Says what is under way and what stopping it means. Escape stays."""

    def __init__(self, under_way: str, then: str, parent: QWidget) -> None:
        """``then``: what is done once it is stopped, as the end of "Stop it and …"."""
        super().__init__(parent)
        self._then = then
        self.setWindowTitle("The agent is working")
        self.question = QLabel(under_way, self)
        self.question.setWordWrap(True)
        theme.bind_font(self.question, lambda: theme.ui_font(1, bold=True))
        self.facts = QLabel(
            "Stopped, it keeps what has arrived so far, marked as stopped. A tool that runs is "
            "ended, with everything that it started, and messages that wait come back into the "
            "box.",
            self,
        )
        self.facts.setWordWrap(True)
        theme.set_tone(self.facts, "dim")
        self.stay = QPushButton("S&tay", self)
        self.stay.setDefault(True)
        self.stay.clicked.connect(self.reject)
        self.go = QPushButton(f"&Stop it and {then}", self)
        self.go.setAutoDefault(False)
        self.go.clicked.connect(self.accept)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.S24, theme.S24, theme.S24, theme.S16)
        column.setSpacing(theme.S12)
        column.addWidget(self.question)
        column.addWidget(self.facts)
        column.addStretch(1)
        column.addLayout(row(1, self.go, self.stay))
        fit(self, 480, 190)
        self.stay.setFocus()

    def show_done(self) -> None:
        """The agent came to its end while the question stood."""
        self.question.setText("The agent is done.")
        self.facts.setText("Nothing needs to be stopped any more.")
        self.go.setText(f"{self._then[:1].upper()}{self._then[1:]}")
