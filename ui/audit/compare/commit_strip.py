"""Which of the drafts that are compared is committed, and where that leads."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QWidget

from ui.audit.compare.subjects import Subject
from ui.theme import S8
from ui.widgets.choice import Choice
from ui.widgets.labels import Caption

NO_DRAFT = "None of them is a draft. Try another below: it can be committed here."


class CommitStrip(QWidget):
    """One button; a box before it where there are several drafts."""

    commit_asked = Signal(object)
    """The ``Subject`` that is to be committed, with its place as the person was told of it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._drafts: dict[str, Subject] = {}
        self.taken = Choice(self)
        self.taken.setAccessibleName("Draft to commit")
        self.taken.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.taken.currentIndexChanged.connect(lambda _at: self._follow())
        self.commit = QPushButton("Co&mmit", self)
        self.commit.setProperty("kind", "primary")
        self.commit.setAutoDefault(False)
        self.commit.setToolTip("Append the compaction with the chosen draft")
        self.commit.clicked.connect(self._press)
        self.told = Caption("", self)
        self.told.setWordWrap(True)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(S8)
        line.addWidget(self.taken)
        line.addWidget(self.commit)
        line.addWidget(self.told, 1)

    def offer(self, subjects: Sequence[Subject]) -> None:
        """Offer the drafts among these; what was chosen stays, else it is the last."""
        before = self.taken.currentData()
        self._drafts = {one.key.code: one for one in subjects if one.key.kind == "draft"}
        self.taken.blockSignals(True)
        self.taken.clear()
        for code, one in self._drafts.items():
            self.taken.addItem(one.name, code)
        kept = self.taken.findData(before) if before is not None else -1
        self.taken.setCurrentIndex(kept if kept >= 0 else self.taken.count() - 1)
        self.taken.blockSignals(False)
        self.taken.setVisible(len(self._drafts) > 1)
        self._follow()

    def chosen(self) -> Subject | None:
        """The draft that the button commits."""
        return self._drafts.get(str(self.taken.currentData() or ""))

    def _follow(self) -> None:
        one = self.chosen()
        self.commit.setEnabled(one is not None)
        if one is None:
            self.commit.setText("Co&mmit")
            self.told.setText(NO_DRAFT)
            return
        name = f" {one.name}" if len(self._drafts) == 1 else ""
        self.commit.setText(f"{one.place.button}{name}")
        self.told.setText(one.place.told)
        self.commit.setAccessibleDescription(one.place.told)

    def _press(self) -> None:
        if (one := self.chosen()) is not None:
            self.commit_asked.emit(one)
