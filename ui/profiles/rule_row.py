"""One rule: its name, what it is about in a sentence, and its value, to be read or changed."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from explorer.compaction.profile import Profile, Size, Switch, changed
from ui.profiles.telling import from_typed, rule_of, typed, value_of, with_value, words_of
from ui.theme import S4, S8, bind_font, on_theme_changed, scaled, set_tone, ui_font
from ui.widgets.choice import Choice
from ui.widgets.labels import Caption, Hairline
from ui.widgets.panels import row

WIDTHS = {"names": 240, "address": 320}
"""Of a field, at a text scale of 100 %; numbers are shorter."""


class RuleRow(QWidget):
    """Shows a rule of a profile; ``changed`` tells the profile with another value."""

    changed = Signal(object)

    def __init__(self, key: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.key = key
        self._profile: Profile | None = None
        rule = rule_of(key)
        self.title = QLabel(rule.title, self)
        bind_font(self.title, lambda: ui_font(bold=True))
        self.title.setWordWrap(True)
        self.words = QLabel(rule.explanation, self)
        self.words.setWordWrap(True)
        set_tone(self.words, "dim")
        self.told = QLabel(self)
        self.told.setWordWrap(True)
        self.told.setTextFormat(Qt.TextFormat.PlainText)
        self.told.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.choice: Choice | None = None
        self.field: QLineEdit | None = None
        self._line: QWidget | None = None
        self.differs = Caption(parent=self)
        self.differs.setWordWrap(True)
        set_tone(self.differs, "accent")
        self.problem = Caption(parent=self, tone="lost")
        self.problem.setWordWrap(True)
        self.problem.hide()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, S4, 0, S8)
        self._column.setSpacing(S4)
        self._column.addWidget(Hairline(parent=self))
        for part in (self.title, self.words, self.told, self.differs, self.problem):
            self._column.addWidget(part)

    def show_rule(self, profile: Profile, base: Profile | None, *, read_only: bool) -> None:
        """Show the value that a profile has, and what ``base`` has instead."""
        self._profile = profile
        value = value_of(profile, self.key)
        self.told.setText(words_of(self.key, value))
        self.told.setVisible(read_only)
        if not read_only:
            self._make_control()
            self._show_value(value)
        for control in (self.choice, self._line):
            if control is not None:
                control.setVisible(not read_only)
        other = value_of(base, self.key) if base is not None else value
        self.differs.setText(
            f"{base.title}: {words_of(self.key, other)}" if base is not None else ""
        )
        self.differs.setVisible(other != value)
        self.problem.hide()

    # the control -----------------------------------------------------------------------------

    def _make_control(self) -> None:
        if self.choice is not None or self.field is not None:
            return
        rule = rule_of(self.key)
        if isinstance(rule, Switch):
            control: QWidget = self._make_choice(rule)
        else:
            control = self._make_field(rule)
        self._column.insertWidget(self._column.indexOf(self.told) + 1, control)

    def _make_choice(self, rule: Switch) -> Choice:
        choice = self.choice = Choice(self, turns_by_wheel=False)
        choice.setAccessibleName(rule.title)
        choice.setAccessibleDescription(rule.explanation)
        choice.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        for at, (value, meaning) in enumerate(rule.values.items()):
            choice.addItem(meaning, value)
            choice.setItemData(at, meaning, Qt.ItemDataRole.ToolTipRole)
        choice.currentIndexChanged.connect(self._chosen)
        return choice

    def _make_field(self, rule: Size) -> QWidget:
        field = self.field = QLineEdit(self)
        field.setAccessibleName(rule.title)
        field.setAccessibleDescription(rule.explanation)
        field.setPlaceholderText("left open" if rule.unset is not None else "")
        field.editingFinished.connect(self._typed)
        unit = "" if rule.unit in ("names", "address") else rule.unit
        self._line = line = _Line(field, Caption(unit, self), WIDTHS.get(rule.unit, 130), self)
        return line

    def _show_value(self, value: Any) -> None:
        if self.choice is not None:
            self.choice.blockSignals(True)
            rows = range(self.choice.count())
            at = next((row for row in rows if self.choice.itemData(row) == value), -1)
            self.choice.setCurrentIndex(at)
            self.choice.blockSignals(False)
            self.choice.setToolTip(self.choice.currentText())
        if self.field is not None:
            self.field.setText(typed(self.key, value))

    def _chosen(self, at: int) -> None:
        if self.choice is not None and self._profile is not None and at >= 0:
            self.changed.emit(with_value(self._profile, self.key, self.choice.itemData(at)))

    def _typed(self) -> None:
        """Take what was typed; what cannot be is said and stays to be corrected."""
        if self.field is None or self._profile is None or not self.field.isModified():
            return
        try:
            found = changed(self._profile, self.key, from_typed(self.key, self.field.text()))
        except ValueError as error:
            reason = str(error).partition(": ")[2] or str(error)
            self.problem.setText(reason[:1].upper() + reason[1:] + ".")
            self.problem.show()
            return
        self.field.setModified(False)
        self.problem.hide()
        self.changed.emit(found)


class _Line(QWidget):
    """A field with its unit, as wide as its values are long."""

    def __init__(self, field: QLineEdit, unit: QLabel, width: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._field, self._width = field, width
        line = row(field, unit, 1)
        line.setStretchFactor(field, 100)
        self.setLayout(line)
        on_theme_changed(self._restyle)
        self._restyle()

    def _restyle(self) -> None:
        self._field.setMinimumWidth(scaled(60))
        self._field.setMaximumWidth(scaled(self._width))
