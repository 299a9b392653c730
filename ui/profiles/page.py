"""One profile: what it is, where it comes from, and its rules."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QLabel, QScrollArea, QVBoxLayout, QWidget

from explorer.compaction.profile import Profile
from explorer.settings.profile_files import OwnProfile
from explorer.templates import load_provenance
from ui.inspector.markdown_view import MarkdownView
from ui.profiles.rule_list import RuleList
from ui.theme import S4, S8, S12, S16, bind_font, set_tone, ui_font
from ui.widgets.labels import Caption


class ProfilePage(QWidget):
    """Scrolls; ``profile_changed`` tells a profile of the person's own with a rule changed."""

    profile_changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._profile: Profile | None = None
        self._base: Profile | None = None
        self._own: OwnProfile | None = None
        self.area = QScrollArea(self)
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        body = QWidget(self.area)
        self.area.setWidget(body)
        self.title = QLabel(body)
        self.title.setWordWrap(True)
        bind_font(self.title, lambda: ui_font(2, bold=True))
        self.state = QLabel(body)
        self.state.setWordWrap(True)
        set_tone(self.state, "accent")
        self.about = MarkdownView(body)
        self.about.setAccessibleName("What the profile stands for, and where its numbers come from")
        self.only = QCheckBox("Only rules that differ", body)
        self.only.toggled.connect(lambda _on: self._show_rules())
        self.compared = Caption(parent=body)
        self.compared.setWordWrap(True)
        self.rules = RuleList(body)
        self.rules.changed.connect(self._changed)
        column = QVBoxLayout(body)
        column.setContentsMargins(S16, S12, S16, S16)
        column.setSpacing(S8)
        for part in (self.title, self.state, self.about, self.only, self.compared, self.rules):
            column.addWidget(part)
        column.addStretch(1)
        column.setSpacing(S4)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.area)

    def show_profile(self, profile: Profile, base: Profile | None, own: OwnProfile | None) -> None:
        """Show a profile beside ``base``; one that came with the program cannot be changed."""
        is_other = self._profile is None or profile.name != self._profile.name
        self._profile, self._base, self._own = profile, base, own
        self.title.setText(profile.title)
        if own is None:
            self.state.setText("Came with the program and stays as it is. Copy it to change it.")
            self.about.set_markdown(load_provenance(profile.name))
        else:
            started = base.title if base is not None else own.base
            self.state.setText(
                f"Your own, started from {started}. What you change holds at once, wherever it is "
                "in use."
            )
            self.about.set_markdown(own.about)
        self.about.setVisible(own is None or bool(own.about.strip()))
        compared = base is not None
        self.only.setVisible(compared)
        if base is not None:
            self.only.setText("&Only rules that differ")
            self.compared.setText(f"Beside each rule stands what {base.title} does instead.")
        self.compared.setVisible(compared)
        self._show_rules()
        if is_other:
            self.area.verticalScrollBar().setValue(0)

    def _show_rules(self) -> None:
        if self._profile is not None:
            self.rules.show_profile(
                self._profile,
                self._base,
                read_only=self._own is None,
                only_differing=self.only.isChecked() and self._base is not None,
            )

    def _changed(self, profile: Profile) -> None:
        self._profile = profile
        self.profile_changed.emit(profile)
