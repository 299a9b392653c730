"""The patterns that the agent is always allowed: a list from which each can be removed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from explorer.agent.allow_patterns import pattern_of
from explorer.settings.keys import Key
from ui.settings.fields import Field
from ui.settings.standing import Standing
from ui.theme import S4, S8, bind_font, mono_font
from ui.widgets.labels import Caption, ElidedLabel, LinkButton

ALLOW = "agent.allow"
NONE = "Nothing is allowed without asking."


class PatternsField(Field):
    """One line per pattern, and one to add another."""

    def __init__(self, key: Key, parent: QWidget) -> None:
        super().__init__(key, parent)
        self._patterns: list[str] = []
        self._lines: list[QWidget] = []
        whole = QWidget(self)
        self._column = QVBoxLayout(whole)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(S4)
        self._none = Caption(NONE, whole)
        self._column.addWidget(self._none)
        self.box = QLineEdit(whole)
        self.box.setPlaceholderText("bash(pytest *) or edit(src/**)")
        self.box.setAccessibleName(key.title)
        self.box.setAccessibleDescription("Another pattern; Return adds it")
        self.box.returnPressed.connect(self._add)
        add = LinkButton("Add", whole)
        add.setAccessibleName("Add the pattern")
        add.clicked.connect(self._add)
        line = QHBoxLayout()
        line.setSpacing(S8)
        line.addWidget(self.box, 1)
        line.addWidget(add)
        self._column.addLayout(line)
        self._line.addWidget(whole)
        self.setFocusProxy(self.box)

    def show_standing(self, now: Standing) -> None:
        value = now.here_value if now.here else now.value
        self._patterns = list(value) if isinstance(value, list) else []
        for line in self._lines:
            self._column.removeWidget(line)
            line.hide()
            line.deleteLater()
        self._lines = [self._line_of(pattern, now.here) for pattern in self._patterns]
        for at, line in enumerate(self._lines):
            self._column.insertWidget(at, line)
        self._none.setVisible(not self._patterns)
        super().show_standing(now)

    def _line_of(self, pattern: str, is_here: bool) -> QWidget:
        line = QWidget(self)
        words = ElidedLabel(pattern, line)
        bind_font(words, mono_font)
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(S8)
        row.addWidget(words, 1)
        if is_here:
            remove = LinkButton("Remove", line)
            remove.setAccessibleName(f"Remove {pattern}")
            remove.clicked.connect(self._remover(pattern))
            row.addWidget(remove)
        return line

    def _remover(self, pattern: str) -> Callable[[], None]:
        return lambda: self._remove(pattern)

    def _remove(self, pattern: str) -> None:
        left = [one for one in self._patterns if one != pattern]
        self.box.setFocus()
        if left:
            self.chosen.emit(left)
        else:
            self.emptied.emit()

    def _add(self) -> None:
        text = self.box.text().strip()
        if not text:
            return
        try:
            pattern_of(text)
        except ValueError as error:
            self.mistaken.emit(f"Not taken: {error}.")
            return
        self.mistaken.emit("")
        self.box.clear()
        if text not in self._patterns:
            self.chosen.emit([*self._patterns, text])
