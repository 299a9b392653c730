"""The rules of a profile in sentences, each of which can be changed to see what it does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from explorer.compaction.profile import PROFILES, SWITCHES, Profile, Switch
from ui.theme import S4, S12, S16, bind_font, set_tone, ui_font
from ui.widgets.choice import Choice
from ui.widgets.labels import Caption, Hairline, LinkButton
from ui.widgets.panels import row


class RulesPage(QWidget):
    """One sentence and one choice per rule."""

    profile_changed = Signal(object)
    """A profile with one rule changed."""
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._profile = PROFILES["explorer"]
        area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        body = self._body = QWidget(area)
        area.setWidget(body)
        self.back = LinkButton("‹ &Back to the compaction", body)
        self.back.clicked.connect(self.closed)
        self.title = QLabel(body)
        bind_font(self.title, lambda: ui_font(0.5, bold=True))
        self.title.setWordWrap(True)
        self.reset = LinkButton("Restore the profile's own rules", body)
        self.reset.clicked.connect(self._restore)
        self.choices: dict[str, Choice] = {}
        self._column = QVBoxLayout(body)
        self._column.setContentsMargins(S16, S12, S16, S16)
        self._column.setSpacing(S4)
        self._column.addLayout(row(self.back, 1))
        self._column.addWidget(self.title)
        intro = Caption(
            "Where agents differ, or have a known fault. Change a rule to see in the map and the "
            "ledger what it does.", body,
        )  # fmt: skip
        intro.setWordWrap(True)
        self._column.addWidget(intro)
        self._column.addLayout(row(self.reset, 1))
        for name, switch in SWITCHES.items():
            self._add(name, switch)
        self._column.addStretch(1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(area)

    def _add(self, name: str, switch: Switch) -> None:
        self._column.addSpacing(S4)
        self._column.addWidget(Hairline(parent=self._body))
        self._column.addSpacing(S4)
        title = QLabel(switch.title, self._body)
        bind_font(title, lambda: ui_font(bold=True))
        title.setWordWrap(True)
        title.setToolTip(f"Known as {switch.source}")
        self._column.addWidget(title)
        words = QLabel(switch.explanation, self._body)
        words.setWordWrap(True)
        set_tone(words, "dim")
        self._column.addWidget(words)
        choice = Choice(self._body, turns_by_wheel=False)
        choice.setAccessibleName(switch.title)
        choice.setAccessibleDescription(switch.explanation)
        choice.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        for at, (value, meaning) in enumerate(switch.values.items()):
            choice.addItem(meaning, value)
            choice.setItemData(at, meaning, Qt.ItemDataRole.ToolTipRole)
        choice.currentIndexChanged.connect(lambda _at, name=name: self._chosen(name))
        self.choices[name] = choice
        self._column.addWidget(choice)

    def show_profile(self, profile: Profile) -> None:
        """Show the rules of a profile."""
        self._profile = profile
        own = PROFILES.get(profile.name)
        changed = own is not None and profile != own
        self.title.setText(profile.title + (" (changed)" if changed else ""))
        self.reset.setVisible(changed)
        for name, choice in self.choices.items():
            choice.blockSignals(True)
            choice.setCurrentIndex(choice.findData(getattr(profile, name)))
            choice.blockSignals(False)
            choice.setToolTip(choice.currentText())

    def _chosen(self, name: str) -> None:
        change: dict[str, Any] = {name: self.choices[name].currentData()}
        self.show_profile(replace(self._profile, **change))
        self.profile_changed.emit(self._profile)

    def _restore(self) -> None:
        self.show_profile(PROFILES[self._profile.name])
        self.profile_changed.emit(self._profile)
