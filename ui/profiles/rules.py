"""The rules of a profile in groups: one sentence and one control for each."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QLabel, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from explorer.compaction.profile import (
    POLICIES,
    Profile,
    Size,
    Switch,
    changed,
)
from ui.profiles.rule_words import (
    GROUPS,
    RuleSection,
    differing_in,
    from_typed,
    rule_of,
    typed,
    value_of,
    with_value,
    words_of,
)
from ui.theme import S4, S8, bind_font, on_theme_changed, scaled, set_tone, ui_font
from ui.widgets.choice import ChoiceBox, show_checked
from ui.widgets.labels import Caption, Hairline
from ui.widgets.panels import CollapsibleSection, column_in, row

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
        self.value_text = QLabel(self)
        self.value_text.setWordWrap(True)
        self.value_text.setTextFormat(Qt.TextFormat.PlainText)
        self.value_text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.choice: ChoiceBox | None = None
        self.field: QLineEdit | None = None
        self._line: QWidget | None = None
        self.differs = Caption(parent=self, wraps=True)
        set_tone(self.differs, "accent")
        self.problem = Caption(parent=self, tone="lost", wraps=True)
        self.problem.hide()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, S4, 0, S8)
        self._column.setSpacing(S4)
        self._column.addWidget(Hairline(parent=self))
        for part in (self.title, self.words, self.value_text, self.differs, self.problem):
            self._column.addWidget(part)

    def show_rule(self, profile: Profile, base: Profile | None, *, read_only: bool) -> None:
        """Show the value that a profile has, and what ``base`` has instead."""
        self._profile = profile
        value = value_of(profile, self.key)
        self.value_text.setText(words_of(self.key, value))
        self.value_text.setVisible(read_only)
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
        self._column.insertWidget(self._column.indexOf(self.value_text) + 1, control)

    def _make_choice(self, rule: Switch) -> ChoiceBox:
        choice = self.choice = ChoiceBox(self)
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
            at = next((place for place in rows if self.choice.itemData(place) == value), -1)
            self.choice.setCurrentIndex(at)
            self.choice.blockSignals(False)
            self.choice.setToolTip(self.choice.currentText())
        if self.field is not None:
            self.field.setText(typed(self.key, value))

    def _chosen(self, at: int) -> None:
        if self.choice is not None and self._profile is not None and at >= 0:
            self.changed.emit(with_value(self._profile, self.key, self.choice.itemData(at)))

    def _typed(self) -> None:
        """Take what was typed; what cannot be is reported and stays to be corrected."""
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


def _differ(number: int) -> str:
    return "1 rule differs" if number == 1 else f"{number} rules differ"


class RuleGroup(QWidget):
    """The rules of one group; made when they are first looked at, since there are many."""

    changed = Signal(object)

    def __init__(self, group: RuleSection, parent: QWidget) -> None:
        super().__init__(parent)
        self.group = group
        self.rows: dict[str, RuleRow] = {}
        self.switch: QCheckBox | None = None
        self._shown: tuple[Profile, Profile | None, bool, bool] | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, S8)
        self._column.setSpacing(0)

    def show_rules(
        self, profile: Profile, base: Profile | None, read_only: bool, only_differing: bool
    ) -> None:
        """Show the rules of a profile, now or once they are looked at."""
        self._shown = (profile, base, read_only, only_differing)
        if not self.isHidden():
            self.fill()

    def fill(self) -> None:
        """Make the rows and show their values."""
        if self._shown is None:
            return
        profile, base, read_only, only_differing = self._shown
        if not self.rows:
            self._make()
        is_on = not self.group.policy or getattr(profile, self.group.policy) is not None
        if self.switch is not None:
            show_checked(self.switch, is_on)
            self.switch.setEnabled(not read_only)
        differ = differing_in(self.group, profile, base) if base is not None else []
        for key, rule in self.rows.items():
            rule.show_rule(profile, base if is_on else None, read_only=read_only)
            rule.setVisible(is_on and (not only_differing or key in differ))

    def _make(self) -> None:
        policy = POLICIES.get(self.group.policy)
        if policy is not None:
            words = QLabel(policy.explanation, self)
            words.setWordWrap(True)
            set_tone(words, "dim")
            title = QLabel(policy.title, self)
            title.setWordWrap(True)
            bind_font(title, lambda: ui_font(bold=True))
            self._column.addWidget(title)
            self.switch = QCheckBox("On", self)
            self.switch.setAccessibleName(policy.title)
            self.switch.setAccessibleDescription(policy.explanation)
            self.switch.toggled.connect(self._switched)
            self._column.addWidget(words)
            self._column.addWidget(self.switch)
            self._column.addSpacing(S4)
        for key in self.group.keys:
            rule = self.rows[key] = RuleRow(key, self)
            rule.changed.connect(self.changed)
            self._column.addWidget(rule)

    def _switched(self, on: bool) -> None:
        if self._shown is None:
            return
        profile, base, _, _ = self._shown
        policy = self.group.policy
        former = getattr(base, policy) if base is not None else None
        changes: dict[str, Any] = {policy: (former or POLICIES[policy].default) if on else None}
        self.changed.emit(replace(profile, **changes))


class RuleList(QWidget):
    """Groups of rules; ``changed`` tells the profile with one rule changed."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._profile: Profile | None = None
        self._base: Profile | None = None
        self._read_only = True
        self._only_differing = False
        self.groups: dict[str, RuleGroup] = {}
        self.folds: dict[str, CollapsibleSection] = {}
        column = column_in(self, S4)
        for at, group in enumerate(GROUPS):
            group_part = self.groups[group.title] = RuleGroup(group, self)
            group_part.changed.connect(self._took)
            fold = CollapsibleSection(
                group.title, group_part, expanded=at == 0, tone="ink", heading=True, parent=self
            )
            fold.toggled.connect(lambda on, part=group_part: part.fill() if on else None)
            self.folds[group.title] = fold
            column.addWidget(fold)
        column.addStretch(1)

    def show_profile(
        self,
        profile: Profile,
        base: Profile | None,
        *,
        read_only: bool,
        only_differing: bool = False,
    ) -> None:
        """Show the rules of a profile beside those of ``base``, where they differ."""
        self._profile, self._base = profile, base
        self._read_only, self._only_differing = read_only, only_differing
        for title, group_part in self.groups.items():
            differ = differing_in(group_part.group, profile, base) if base is not None else []
            fold = self.folds[title]
            fold.set_title(f"{title} ({len(differ)})" if differ else title)
            spoken = f"{_differ(len(differ))} from {base.title}" if base and differ else ""
            fold.header.setToolTip(spoken)
            fold.setVisible(not only_differing or bool(differ))
            group_part.show_rules(profile, base, read_only, only_differing)

    def show_all(self) -> None:
        """Open every group."""
        for fold in self.folds.values():
            fold.set_expanded(True)

    def row(self, key: str) -> RuleRow:
        """The row of a rule, its group opened."""
        for title, group_part in self.groups.items():
            if key in group_part.group.keys:
                self.folds[title].set_expanded(True)
                group_part.fill()
                return group_part.rows[key]
        raise KeyError(key)

    def _took(self, profile: Profile) -> None:
        self.show_profile(
            profile, self._base, read_only=self._read_only, only_differing=self._only_differing
        )
        self.changed.emit(profile)
