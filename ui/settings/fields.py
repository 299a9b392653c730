"""Fields in which the value of a setting is changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from explorer.agent.approval import (
    pattern_of,
)
from explorer.settings.keys import (
    MODEL,
    ChoiceKind,
    Names,
    OnOff,
    Percent,
    RatioOrTokens,
    SettingKey,
    Whole,
    parsed,
)
from explorer.settings.live import PROFILE_KEY
from ui.settings.key_status import KeyStatus, SettingsSurroundings
from ui.theme import S4, S8, bind_font, mono_font, scaled
from ui.widgets.choice import ChoiceBox, show_checked
from ui.widgets.labels import Caption, ElidedLabel, LinkButton
from ui.widgets.panels import row_in


class Field(QWidget):
    """A control with its unit. Subclasses show a value and emit what is chosen."""

    chosen = Signal(object)
    """A value of the key's kind."""
    emptied = Signal()
    """The value is taken away."""
    mistaken = Signal(str)
    """What was typed fits no value; empty when that is over."""

    def __init__(self, key: SettingKey, parent: QWidget) -> None:
        super().__init__(parent)
        self.key = key
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._line = QHBoxLayout(self)
        self._line.setContentsMargins(0, 0, 0, 0)
        self._line.setSpacing(S8)

    def _place(self, control: QWidget, unit: str = "") -> None:
        control.setAccessibleName(self.key.title)
        control.setAccessibleDescription(self.key.sentence)
        self._line.addWidget(control)
        if unit:
            self._line.addWidget(Caption(unit, self))
        self.setFocusProxy(control)

    def show_status(self, now: KeyStatus) -> None:
        """Show what holds, without a signal."""
        self.setEnabled(not now.blocked)


class SwitchField(Field):
    """On or off."""

    def __init__(self, key: SettingKey, parent: QWidget) -> None:
        super().__init__(key, parent)
        self.box = QCheckBox("On", self)
        self.box.toggled.connect(lambda on: self.chosen.emit(on))
        self._place(self.box)

    def show_status(self, now: KeyStatus) -> None:
        value = now.here_value if now.here else now.value
        show_checked(self.box, bool(value))
        self.box.setText("On" if value else "Off")
        super().show_status(now)


class ChoiceField(Field):
    """One of several words, each with its meaning."""

    def __init__(self, key: SettingKey, kind: ChoiceKind, parent: QWidget) -> None:
        super().__init__(key, parent)
        self.box = ChoiceBox(self)
        for value, meaning in kind.options.items():
            self.box.addItem(f"{value}: {meaning}", value)
            self.box.setItemData(self.box.count() - 1, meaning, Qt.ItemDataRole.ToolTipRole)
        self.box.setPlaceholderText("Not set")
        self.box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.box.setMinimumWidth(scaled(200))
        self.box.activated.connect(lambda at: self.chosen.emit(self.box.itemData(at)))
        self._place(self.box)

    def show_status(self, now: KeyStatus) -> None:
        self.box.setCurrentIndex(self.box.findData(now.here_value if now.here else now.value))
        super().show_status(now)


class _Box(QLineEdit):
    """A line to type in; Escape takes back what was typed, and only then closes the dialog."""

    undone = Signal()

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        if event.key() == Qt.Key.Key_Escape and self.isModified():
            self.undone.emit()
            event.accept()
            return
        super().keyPressEvent(event)


class TextField(Field):
    """A number, a text or a list of names, typed. Empty takes the value away."""

    def __init__(
        self,
        key: SettingKey,
        parent: QWidget,
        models: Sequence[str] = (),
        pick: Callable[[Callable[[str], None]], None] | None = None,
    ) -> None:
        """``models`` are offered; ``pick`` lets a person choose among all there are."""
        super().__init__(key, parent)
        self._pick = pick
        self.box = _Box(self)
        self._now: KeyStatus | None = None
        numeric = isinstance(key.kind, Whole | Percent | RatioOrTokens)
        if numeric:
            self.box.setFixedWidth(scaled(150))
        else:
            self.box.setMinimumWidth(scaled(200))
        self.box.editingFinished.connect(self._finished)
        self.box.undone.connect(self._undo)
        self._place(self.box, unit_of(key))
        self._models = models
        self._more = LinkButton("Models", self)
        self._more.setAccessibleName(f"Choose for {key.title}")
        self._more.setVisible(bool(models))
        self._more.clicked.connect(self._offer)
        self._line.addWidget(self._more)
        if numeric:
            self._line.addStretch(1)

    def show_status(self, now: KeyStatus) -> None:
        was, self._now = self._now, now
        typing = self.box.hasFocus() and self.box.isModified()
        if not typing or was is None or was.here_value != now.here_value:
            self._undo()
        self.box.setPlaceholderText(_placeholder(now))
        super().show_status(now)

    def _undo(self) -> None:
        now = self._now
        self.box.setText(as_typed(now.here_value) if now is not None and now.here else "")
        self.box.setModified(False)
        self._mark(False)
        self.mistaken.emit("")

    def _offer(self) -> None:
        """List the models; the one that is taken is set, or added to a list."""
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        menu.aboutToHide.connect(menu.deleteLater)
        for name in self._models:
            menu.addAction(name).triggered.connect(partial(self._take, name))
        if (pick := self._pick) is not None:
            menu.addSeparator()
            menu.addAction("More models…").triggered.connect(lambda: pick(self._take))
        menu.popup(self._more.mapToGlobal(self._more.rect().bottomLeft()))

    def _take(self, name: str, _checked: bool = False) -> None:
        before = self.box.text().strip().rstrip(",")
        adds = isinstance(self.key.kind, Names) and before
        self.box.setText(f"{before}, {name}" if adds else name)
        self.box.setModified(True)
        self._finished()

    def _finished(self) -> None:
        """What was typed is taken when the field is left, or by Return."""
        if not self.box.isModified() or self._now is None:
            return
        text = self.box.text().strip()
        if not text:
            self.box.setModified(False)
            self._mark(False)
            self.mistaken.emit("")
            if self._now.here:
                self.emptied.emit()
            return
        numeric = not isinstance(self.key.kind, Names) and unit_of(self.key)
        try:
            value = parsed(self.key.kind, _plain_number(text) if numeric else text)
        except ValueError as error:
            self._mark(True)
            self.mistaken.emit(f"Not taken: {error}.")
            return
        self.box.setModified(False)
        self._mark(False)
        self.mistaken.emit("")
        if not self._now.here or value != self._now.here_value:
            self.chosen.emit(value)
        else:
            self._undo()

    def _mark(self, invalid: bool) -> None:
        if bool(self.box.property("invalid")) != invalid:
            self.box.setProperty("invalid", invalid)
            self.box.style().unpolish(self.box)
            self.box.style().polish(self.box)


def field_for(key: SettingKey, parent: QWidget, around: SettingsSurroundings) -> Field:
    """The control for a setting."""
    if key.name == PROFILE_KEY:
        return ChoiceField(key, ChoiceKind(around.profiles), parent)
    if isinstance(key.kind, OnOff):
        return SwitchField(key, parent)
    if isinstance(key.kind, ChoiceKind):
        return ChoiceField(key, key.kind, parent)
    takes_models = getattr(key.kind, "pattern", "") == MODEL
    if not takes_models:
        return TextField(key, parent)
    return TextField(key, parent, around.models, around.pick_model)


def unit_of(key: SettingKey) -> str:
    """The words behind a number."""
    if isinstance(key.kind, Whole):
        return key.kind.unit
    if isinstance(key.kind, Percent):
        return "per cent"
    return "share or tokens" if isinstance(key.kind, RatioOrTokens) else ""


def as_typed(value: Any) -> str:
    """A value as a person would type it."""
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    return ", ".join(value) if isinstance(value, list) else str(value)


def _plain_number(text: str) -> str:
    """A number without what groups its digits."""
    return "".join(text.replace("_", "").replace(",", "").replace("\u202f", "").split())


def _placeholder(now: KeyStatus) -> str:
    return as_typed(now.value) or now.key.unset


ALLOW = "agent.allow"
NONE = "Nothing is allowed without asking."


class PatternsField(Field):
    """One line per pattern, and one to add another."""

    def __init__(self, key: SettingKey, parent: QWidget) -> None:
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

    def show_status(self, now: KeyStatus) -> None:
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
        super().show_status(now)

    def _line_of(self, pattern: str, is_here: bool) -> QWidget:
        line = QWidget(self)
        words = ElidedLabel(pattern, line)
        bind_font(words, mono_font)
        row = row_in(line, S8)
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
