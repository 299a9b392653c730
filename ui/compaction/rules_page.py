"""The rules that the session follows, each of which can be changed to see what it does."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from explorer.compaction.profile import PROFILES, Profile
from ui.profiles.rules import RuleList
from ui.theme import S4, S8, S12, S16
from ui.widgets.flow import wrapping_row
from ui.widgets.labels import Caption, Heading, LinkButton
from ui.widgets.panels import column_in, row, scroll_area


class RulesPage(QWidget):
    """One sentence and one control per rule; changes count for the session."""

    profile_changed = Signal(object)
    """A profile with one rule changed."""
    profiles_asked = Signal()
    keep_asked = Signal()
    """Store these rules as a user profile."""
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._profile = PROFILES["explorer"]
        self._unchanged = self._profile
        self._corrected = PROFILES["explorer"]
        area = scroll_area(self, "Rules of the profile")
        body = QWidget(area)
        area.setWidget(body)
        self.back = LinkButton("‹ &Back to the compaction", body)
        self.back.clicked.connect(self.closed)
        self.title = Heading(body)
        self.title.setWordWrap(True)
        self.reset = LinkButton("Restore its own rules", body)
        self.reset.setToolTip("Take back what was changed in this session")
        self.reset.clicked.connect(self._restore)
        self.keep = LinkButton("Keep as your own…", body)
        self.keep.setToolTip("Keep these rules as a profile of your own")
        self.keep.clicked.connect(self.keep_asked)
        self.profiles = LinkButton("All profiles…", body)
        self.profiles.setToolTip("What each profile stands for, and where its numbers come from")
        self.profiles.clicked.connect(self.profiles_asked)
        self.rules = RuleList(body)
        self.rules.changed.connect(self._changed)
        intro = Caption(
            "Where agents differ, or have a known fault. Change a rule to see at once in the map "
            "and the ledger what it does; the change holds for this session.", body,
        )  # fmt: skip
        intro.setWordWrap(True)
        links = wrapping_row(self.reset, self.keep, self.profiles, across=S12, down=0)
        column = column_in(body, S4, (S16, S12, S16, S16))
        column.addLayout(row(self.back, 1))
        column.addWidget(self.title)
        column.addWidget(intro)
        column.addLayout(links)
        column.addSpacing(S8)
        column.addWidget(self.rules)
        column.addStretch(1)
        outer = column_in(self)
        outer.addWidget(area)

    def show_profile(self, profile: Profile, unchanged: Profile, corrected: Profile) -> None:
        """Show the rules in force. ``unchanged``: as they are without what the session changed;
        beside each rule stands what ``corrected`` does instead, for the profile itself nothing."""
        self._profile, self._unchanged, self._corrected = profile, unchanged, corrected
        changed = profile != unchanged
        self.title.setText(profile.title + (" (changed)" if changed else ""))
        self.reset.setVisible(changed)
        self.rules.show_profile(profile, corrected, read_only=False)

    def _changed(self, profile: Profile) -> None:
        self.show_profile(profile, self._unchanged, self._corrected)
        self.profile_changed.emit(profile)

    def _restore(self) -> None:
        self.show_profile(self._unchanged, self._unchanged, self._corrected)
        self.profile_changed.emit(self._unchanged)
