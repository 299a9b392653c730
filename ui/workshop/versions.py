"""Every version of a text, and the lines in which any two of them differ."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QHeaderView,
    QPushButton,
    QSizePolicy,
    QSplitter,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from explorer.session.changed_lines import changed_lines
from explorer.templates import Version
from ui.inspector.blocks import DiffBlock
from ui.inspector.diff_view import DiffLine, DiffView
from ui.theme import S4, S8, S12, S16
from ui.widgets.choice import Choice
from ui.widgets.figures import moment
from ui.widgets.labels import Caption
from ui.widgets.panels import row

EDITOR = -1
"""The number that stands for the text in the editor."""
NUMBER = Qt.ItemDataRole.UserRole


def version_words(version: Version) -> str:
    """A version in a few words."""
    if version.number == EDITOR:
        return "In the editor"
    if not version.number:
        return "As it came with the program"
    return f"Version {version.number}"


class VersionsPage(QWidget):
    """The versions, the newest first, and below them what changed."""

    taken = Signal(str)
    """A version's text is to be put into the editor."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._versions: dict[int, Version] = {}
        self.list = QTreeWidget(self)
        self.list.setAccessibleName("Versions of this text")
        self.list.setRootIsDecorated(False)
        self.list.setHeaderLabels(["Version", "When", "Note"])
        self.list.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.list.header().setStretchLastSection(True)
        self.list.currentItemChanged.connect(lambda _now, _old: self._compare())
        self.against = Choice(self)
        self.against.setAccessibleName("Version to compare with")
        self.against.activated.connect(lambda _at: self._compare())
        self.take = QPushButton("Put into the &editor", self)
        self.take.setToolTip("Take the chosen version's text, to save it or to change it")
        self.take.setAutoDefault(False)
        self.take.clicked.connect(self._taken)
        self.told = Caption(parent=self)
        self.told.setWordWrap(True)
        self._below = QWidget(self)
        self._column = QVBoxLayout(self._below)
        self._column.setContentsMargins(0, S8, 0, 0)
        self._column.setSpacing(S4)
        self.against.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        line = row(Caption("Compared with", self), self.against, self.take)
        line.setStretchFactor(self.against, 1)
        self._column.addLayout(line)
        self._column.addWidget(self.told)
        self.diff: DiffView | None = None
        split = QSplitter(Qt.Orientation.Vertical, self)
        split.setChildrenCollapsible(False)
        split.addWidget(self.list)
        split.addWidget(self._below)
        split.setStretchFactor(0, 2)
        split.setStretchFactor(1, 3)
        column = QVBoxLayout(self)
        column.setContentsMargins(S16, S8, S16, S12)
        column.addWidget(split)

    def show_versions(self, versions: Sequence[Version], text: str) -> None:
        """``text``: what stands in the editor."""
        editor = Version(EDITOR, 0, "", text)
        chosen, against = self._number(), self.against.currentData()
        self._versions = {one.number: one for one in (*versions, editor)}
        self.list.blockSignals(True)
        self.list.clear()
        newest = [editor, *reversed(versions)]
        for one in newest:
            when = moment(one.time_ms).rpartition(":")[0]
            item = QTreeWidgetItem(self.list, [version_words(one), when, one.note])
            item.setData(0, NUMBER, one.number)
            item.setToolTip(2, one.note)
        self.against.clear()
        for one in newest:
            self.against.addItem(version_words(one), one.number)
        self.list.blockSignals(False)
        last = versions[-1].number if versions else 0
        self._choose(chosen if chosen in self._versions else EDITOR)
        wanted = against if against in self._versions else last
        self.against.setCurrentIndex(self.against.findData(wanted))
        self._compare()

    def _choose(self, number: int) -> None:
        for at in range(self.list.topLevelItemCount()):
            item = self.list.topLevelItem(at)
            if item is not None and item.data(0, NUMBER) == number:
                self.list.setCurrentItem(item)

    def _number(self) -> int:
        item = self.list.currentItem()
        return int(item.data(0, NUMBER)) if item is not None else EDITOR

    def _compare(self) -> None:
        new = self._versions.get(self._number())
        old = self._versions.get(self.against.currentData())
        if self.diff is not None:
            self.diff.hide()
            self._column.removeWidget(self.diff)
            self.diff.deleteLater()
            self.diff = None
        if new is None or old is None:
            return
        self.take.setEnabled(new.number != EDITOR)
        lines = [DiffLine(line.sign, line.text) for line in changed_lines(old.text, new.text)]
        names = f"{version_words(old)} → {version_words(new)}"
        if not lines:
            self.told.setText(f"{names}: the same text.")
            return
        view = self.diff = DiffView(DiffBlock(names, "", ""), self._below, lines=lines, fit=0)
        self.told.setText(f"{names}: {view.summary}")
        self._column.addWidget(view, 1)

    def _taken(self) -> None:
        version = self._versions.get(self._number())
        if version is not None and version.number != EDITOR:
            self.taken.emit(version.text)
