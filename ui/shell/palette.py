"""The command palette: every action by its name."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from ui.actions import ActionRegistry, Bound, shown_keys


def matches(words: str, bound: Bound) -> bool:
    """Whether every word typed occurs in the title, tip or menu of an action."""
    text = f"{bound.spec.menu} {bound.spec.title} {bound.spec.tip}".casefold().replace("&", "")
    return all(word in text for word in words.casefold().split())


class CommandPalette(QDialog):
    """Type to narrow down, Enter to run; disabled actions are not listed."""

    def __init__(self, registry: ActionRegistry, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Commands")
        self.setAccessibleName("Command palette")
        self._registry = registry
        self._box = QLineEdit(self)
        self._box.setPlaceholderText("Type the name of a command")
        self._box.setAccessibleName("Name of a command")
        self._list = QListWidget(self)
        self._list.setAccessibleName("Commands that match")
        layout = QVBoxLayout(self)
        layout.addWidget(self._box)
        layout.addWidget(self._list)
        self._box.textChanged.connect(self._fill)
        self._box.installEventFilter(self)
        self._box.returnPressed.connect(self._run)
        self._list.itemActivated.connect(lambda _item: self._run())
        self.resize(520, 420)
        self._fill("")

    def _fill(self, words: str) -> None:
        self._list.clear()
        for bound in self._registry.all():
            if bound.action.isEnabled() and matches(words, bound):
                title = bound.action.text().replace("&", "")
                keys = shown_keys(bound.action)
                item = QListWidgetItem(f"{title}\t{keys}" if keys else title)
                item.setToolTip(bound.spec.tip)
                item.setData(Qt.ItemDataRole.UserRole, bound.spec.id)
                self._list.addItem(item)
        self._list.setCurrentRow(0)

    def _run(self) -> None:
        if self._list.currentRow() < 0:
            return
        item = self._list.currentItem()
        action = self._registry[item.data(Qt.ItemDataRole.UserRole)]
        self.accept()
        action.trigger()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()), 0)
            if step != 0:
                row = max(0, min(self._list.count() - 1, self._list.currentRow() + step))
                self._list.setCurrentRow(row)
                return True
        return super().eventFilter(watched, event)
