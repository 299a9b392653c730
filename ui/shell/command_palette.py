"""The command palette and the page of keys, both made from the registry of actions."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QLabel, QLineEdit, QVBoxLayout, QWidget

from ui import theme
from ui.actions import BELOW, ActionRegistry, Bound, shown_keys
from ui.conversation.view.view import CONVERSATION_KEY_HELP
from ui.map.view import MAP_KEY_HELP
from ui.widgets.dialogs import HelpDialog, fit
from ui.widgets.popup import PopupTable
from ui.widgets.table import RIGHT, Column


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
        columns: list[Column[Bound]] = [
            Column("", lambda bound: bound.action.text().replace("&", ""), stretch=True,
                   detail=lambda bound: bound.spec.tip),
            Column("", lambda bound: shown_keys(bound.action), RIGHT, fits=True,
                   colour=lambda _bound: theme.theme().dim),
        ]  # fmt: skip
        self._list = PopupTable(columns, "Commands that match", self)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.restyle()
        self._none = QLabel("No command that can be used now has such a name.", self)
        theme.set_tone(self._none, "dim")
        layout = QVBoxLayout(self)
        layout.addWidget(self._box)
        layout.addWidget(self._none)
        layout.addWidget(self._list)
        self._box.textChanged.connect(self._fill)
        self._box.installEventFilter(self)
        self._box.returnPressed.connect(self._run)
        self._list.row_activated.connect(lambda _bound: self._run())
        fit(self, 520, 420)
        self._fill("")

    def _fill(self, words: str) -> None:
        found = [
            bound
            for bound in self._registry.all()
            if bound.action.isEnabled() and matches(words, bound)
        ]
        self._list.show_rows(sorted(found, key=lambda bound: rank(words, bound)))
        self._none.setVisible(not found)

    def titles(self) -> list[str]:
        """The names that are listed."""
        return [cells[0] for cells in self._list.cells()]

    def _run(self) -> None:
        bound: Bound | None = self._list.current
        if bound is not None:
            self.accept()
            bound.action.trigger()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()), 0)
            if step != 0:
                self._list.step(step, wraps=False)
                return True
        return super().eventFilter(watched, event)


def key_sections(registry: ActionRegistry) -> dict[str, list[tuple[str, str]]]:
    """All keys with what they do, by menu."""
    found: dict[str, list[tuple[str, str]]] = {}
    for bound in registry.all():
        if bound.exists and (keys := shown_keys(bound.action)):
            title = bound.spec.menu.split(BELOW)[0].replace("&", "") or "Window"
            found.setdefault(title, []).append((keys, bound.spec.tip))
    found["On the map"] = list(MAP_KEY_HELP)
    found["In the conversation"] = list(CONVERSATION_KEY_HELP)
    return found


class ShortcutsPage(HelpDialog):
    """Shown by ``?``."""

    def __init__(self, registry: ActionRegistry, parent: QWidget) -> None:
        super().__init__("Keys", "Keys and what they do", key_sections(registry), parent)
        fit(self, 600, 640)
