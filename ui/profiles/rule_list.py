"""All rules of a profile in groups that open, each rule in a sentence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QLabel, QVBoxLayout, QWidget

from explorer.compaction.profile import POLICIES, Profile
from ui.profiles.groups import GROUPS, Group
from ui.profiles.rule_row import RuleRow
from ui.profiles.telling import differing_in
from ui.theme import S4, S8, bind_font, set_tone, ui_font
from ui.widgets.panels import CollapsibleSection


def _differ(number: int) -> str:
    return "1 rule differs" if number == 1 else f"{number} rules differ"


class RuleGroup(QWidget):
    """The rules of one group; made when they are first looked at, since there are many."""

    changed = Signal(object)

    def __init__(self, group: Group, parent: QWidget) -> None:
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
            self.switch.setChecked(is_on)
            self.switch.setEnabled(not read_only)
        differ = differing_in(self.group, profile, base) if base is not None else []
        for key, row in self.rows.items():
            row.show_rule(profile, base if is_on else None, read_only=read_only)
            row.setVisible(is_on and (not only_differing or key in differ))

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
            self.switch.clicked.connect(self._switched)
            self._column.addWidget(words)
            self._column.addWidget(self.switch)
            self._column.addSpacing(S4)
        for key in self.group.keys:
            row = self.rows[key] = RuleRow(key, self)
            row.changed.connect(self.changed)
            self._column.addWidget(row)

    def _switched(self, on: bool) -> None:
        if self._shown is None:
            return
        profile, base, _, _ = self._shown
        policy = self.group.policy
        kept = getattr(base, policy) if base is not None else None
        changes: dict[str, Any] = {policy: (kept or POLICIES[policy].default) if on else None}
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
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(S4)
        for at, group in enumerate(GROUPS):
            inside = self.groups[group.title] = RuleGroup(group, self)
            inside.changed.connect(self._took)
            fold = CollapsibleSection(
                group.title, inside, expanded=at == 0, tone="ink", heading=True, parent=self
            )
            fold.toggled.connect(lambda on, inside=inside: inside.fill() if on else None)
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
        for title, inside in self.groups.items():
            differ = differing_in(inside.group, profile, base) if base is not None else []
            fold = self.folds[title]
            fold.set_title(f"{title} ({len(differ)})" if differ else title)
            told = f"{_differ(len(differ))} from {base.title}" if base and differ else ""
            fold.header.setToolTip(told)
            fold.setVisible(not only_differing or bool(differ))
            inside.show_rules(profile, base, read_only, only_differing)

    def show_all(self) -> None:
        """Open every group."""
        for fold in self.folds.values():
            fold.set_expanded(True)

    def row(self, key: str) -> RuleRow:
        """The row of a rule, its group opened."""
        for title, inside in self.groups.items():
            if key in inside.group.keys:
                self.folds[title].set_expanded(True)
                inside.fill()
                return inside.rows[key]
        raise KeyError(key)

    def _took(self, profile: Profile) -> None:
        self.show_profile(
            profile, self._base, read_only=self._read_only, only_differing=self._only_differing
        )
        self.changed.emit(profile)
