"""The command palette and the page of keys, both made from the registry of actions."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QBrush, QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QTextBrowser,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from ui import theme
from ui.actions import ActionRegistry, Bound, shown_keys
from ui.agent.view.view import CONVERSATION_KEY_HELP
from ui.map.view import MAP_KEY_HELP
from ui.widgets.dialogs import fit

_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


def matches(words: str, bound: Bound) -> bool:
    """Whether every word typed occurs in the title, tip or menu of an action."""
    text = f"{bound.spec.menu} {bound.spec.title} {bound.spec.tip}".replace("&", "").casefold()
    return all(word in text for word in words.casefold().split())


def rank(words: str, bound: Bound) -> int:
    """How well the name of an action fits what was typed; 0 is best."""
    typed, title = words.casefold().strip(), bound.spec.title.replace("&", "").casefold()
    if title.startswith(typed):
        return 0
    if any(word.startswith(typed) for word in title.split()):
        return 1
    return 2 if typed in title else 3


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
        self._list = QTreeWidget(self)
        self._list.setAccessibleName("Commands that match")
        self._list.setColumnCount(2)
        self._list.setHeaderHidden(True)
        self._list.setRootIsDecorated(False)
        self._list.setUniformRowHeights(True)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        header = self._list.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self._none = QLabel("No command that can be used now has such a name.", self)
        theme.set_tone(self._none, "dim")
        layout = QVBoxLayout(self)
        layout.addWidget(self._box)
        layout.addWidget(self._none)
        layout.addWidget(self._list)
        self._box.textChanged.connect(self._fill)
        self._box.installEventFilter(self)
        self._box.returnPressed.connect(self._run)
        self._list.itemClicked.connect(lambda _item: self._run())
        fit(self, 520, 420)
        self._fill("")

    def _fill(self, words: str) -> None:
        self._list.clear()
        found = [
            bound
            for bound in self._registry.all()
            if bound.action.isEnabled() and matches(words, bound)
        ]
        dim = QBrush(theme.theme().dim)
        for bound in sorted(found, key=lambda bound: rank(words, bound)):
            item = QTreeWidgetItem([bound.action.text().replace("&", ""), shown_keys(bound.action)])
            item.setToolTip(0, bound.spec.tip)
            item.setData(0, Qt.ItemDataRole.UserRole, bound.spec.id)
            item.setTextAlignment(1, _RIGHT)
            item.setForeground(1, dim)
            self._list.addTopLevelItem(item)
        first = self._list.topLevelItem(0)
        if first is not None:
            self._list.setCurrentItem(first)
        self._none.setVisible(first is None)

    def titles(self) -> list[str]:
        """The names that are listed."""
        items = (self._list.topLevelItem(row) for row in range(self._list.topLevelItemCount()))
        return [item.text(0) for item in items if item is not None]

    def _run(self) -> None:
        item = self._list.currentItem()
        if item is None:
            return
        action = self._registry[item.data(0, Qt.ItemDataRole.UserRole)]
        self.accept()
        action.trigger()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()), 0)
            if step != 0:
                current = self._list.currentItem()
                row = self._list.indexOfTopLevelItem(current) if current is not None else -1
                item = self._list.topLevelItem(row + step)
                if item is not None:
                    self._list.setCurrentItem(item)
                return True
        return super().eventFilter(watched, event)


def keys_html(registry: ActionRegistry) -> str:
    """All keys as a table, grouped by menu."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for bound in registry.all():
        if keys := shown_keys(bound.action):
            title = bound.spec.menu.replace("&", "") or "Window"
            groups.setdefault(title, []).append((keys, bound.spec.tip))
    groups["On the map"] = list(MAP_KEY_HELP)
    groups["In the conversation"] = list(CONVERSATION_KEY_HELP)
    parts, width = [], theme.scaled(170)
    for title, rows in groups.items():
        cells = "".join(
            f"<tr><td width='{width}' style='padding:3px 0'><code>{escape(keys)}</code></td>"
            f"<td style='padding:3px 0'>{escape(tip)}</td></tr>"
            for keys, tip in rows
        )
        parts.append(f"<h3>{escape(title)}</h3><table>{cells}</table>")
    return "".join(parts)


class KeysPage(QDialog):
    """Shown by ``?``."""

    def __init__(self, registry: ActionRegistry, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keys")
        text = QTextBrowser(self)
        text.setHtml(keys_html(registry))
        text.setAccessibleName("Keys and what they do")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(text)
        layout.addWidget(buttons)
        fit(self, 600, 640)
