"""What a fork takes along, and what it is called."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from ui import theme
from ui.widgets.dialogs import fit
from ui.widgets.figures import count
from ui.widgets.panels import row

PATH, WHOLE = range(2)


class ForkDialog(QDialog):
    """Nothing happens before it is accepted."""

    fork_chosen = Signal(bool, str)
    """(all branches, name)"""

    def __init__(
        self, where: str, on_path: int, in_all: int, notes: list[str], name: str, parent: QWidget
    ) -> None:
        """``where``: the entry that the fork goes on from; ``on_path`` and ``in_all``: how many
        entries are taken either way; ``notes``: what a fork of the path leaves behind."""
        super().__init__(parent)
        self.setWindowTitle("Fork to a new session")
        self.question = QLabel(f"A new session that goes on from {where}", self)
        self.question.setWordWrap(True)
        theme.bind_font(self.question, lambda: theme.ui_font(1, bold=True))
        facts = QLabel(
            "Every entry keeps its id and stays as it is; this session is not changed. Drafts and "
            "what stands in the message box are not copied.",
            self,
        )
        facts.setWordWrap(True)
        theme.set_tone(facts, "dim")
        self.choices = QButtonGroup(self)
        path = QRadioButton(f"Only the &path to it ({count(on_path, 'entry', 'entries')})", self)
        whole = QRadioButton(f"&All branches ({count(in_all, 'entry', 'entries')})", self)
        self.choices.addButton(path, PATH)
        self.choices.addButton(whole, WHOLE)
        path.setChecked(True)
        self.notes = QLabel("\n".join(notes), self)
        self.notes.setWordWrap(True)
        theme.set_tone(self.notes, "comp")
        self.notes.setVisible(bool(notes))
        path.toggled.connect(lambda on: self.notes.setVisible(on and bool(notes)))
        self.name = QLineEdit(name, self)
        self.name.setAccessibleName("Name of the fork")
        self.name.setPlaceholderText("as its first message")
        self.name.selectAll()
        label = QLabel("&Name", self)
        label.setBuddy(self.name)
        self.fork = QPushButton("&Fork", self)
        self.fork.setDefault(True)
        self.fork.setProperty("kind", "primary")
        self.fork.clicked.connect(self._fork)
        cancel = QPushButton("Cancel", self)
        cancel.setAutoDefault(False)
        cancel.clicked.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.S24, theme.S24, theme.S24, theme.S16)
        column.setSpacing(theme.S12)
        for part in (self.question, facts, path, whole, self.notes):
            column.addWidget(part)
        column.addLayout(row(label, self.name))
        column.addStretch(1)
        column.addLayout(row(1, cancel, self.fork))
        fit(self, 520, 270)
        path.setFocus()

    def _fork(self) -> None:
        self.fork_chosen.emit(self.choices.checkedId() == WHOLE, self.name.text().strip())
        self.accept()
