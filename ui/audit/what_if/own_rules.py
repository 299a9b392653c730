"""Which window all walks have, and further rules to draw beside the profiles' own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from explorer.audit.simulation import Policy
from explorer.compaction.profile import Profile, Settings
from ui.theme import S4, S8
from ui.widgets.choice import Choice
from ui.widgets.figures import round_short
from ui.widgets.flow import FlowLayout

LEAST_WINDOW, MOST_WINDOW = 2_000, 10_000_000


def number(name: str, least: int, most: int, parent: QWidget) -> QSpinBox:
    """A box for a number of tokens."""
    box = QSpinBox(parent)
    box.setRange(least, most)
    box.setGroupSeparatorShown(True)
    box.setKeyboardTracking(False)
    box.setSingleStep(1_000)
    box.setAccessibleName(f"{name}, tokens")
    box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    return box


def named(name: str, control: QWidget, parent: QWidget) -> QWidget:
    """A control with its name before it, on one line."""
    pair = QWidget(parent)
    label = QLabel(name, pair)
    label.setBuddy(control)
    row = QHBoxLayout(pair)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(S4)
    row.addWidget(label)
    row.addWidget(control)
    return pair


def in_window(policy: Policy, window: int) -> Policy:
    """The policy with a smaller window, in proportion to which its sizes shrink; a larger one
    changes nothing else."""
    sizes = policy.settings
    part = min(1.0, window / sizes.context_window)
    return replace(
        policy,
        settings=replace(
            sizes,
            context_window=window,
            keep_recent_tokens=max(1, round(sizes.keep_recent_tokens * part)),
            reserve_tokens=max(1, round(sizes.reserve_tokens * part)),
        ),
    )


class WindowBox(QWidget):
    """The window that all walks have."""

    changed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = number("Context window of all walks", LEAST_WINDOW, MOST_WINDOW, self)
        self.box.valueChanged.connect(self.changed)
        self.box.setToolTip("Sizes shrink in proportion with a smaller window")
        row = QVBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(named("&Window", self.box, self))

    def show_window(self, tokens: int) -> None:
        """Show a window without telling of it."""
        self.box.blockSignals(True)
        self.box.setValue(tokens)
        self.box.blockSignals(False)


class OwnRules(QWidget):
    """A profile and two sizes, drawn as a line of their own."""

    added = Signal(object)
    """A ``Policy``."""
    cleared = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._profiles: list[Profile] = []
        self._window = 0
        self.profile = Choice(self)
        self.profile.setAccessibleName("Profile of another line")
        self.profile.activated.connect(lambda _row: self._fill())
        self.keep = number("Keep recent of another line", 1, MOST_WINDOW, self)
        self.reserve = number("Reserve of another line", 1, MOST_WINDOW, self)
        self.add = QPushButton("&Draw another line", self)
        self.add.setAutoDefault(False)
        self.add.setToolTip("Walk the session under this profile with these sizes, too")
        self.add.clicked.connect(lambda: self.added.emit(self.policy()))
        self.clear = QPushButton("&Remove own lines", self)
        self.clear.setAutoDefault(False)
        self.clear.clicked.connect(self.cleared)
        self.clear.setVisible(False)
        line = QWidget(self)
        row = FlowLayout(line, across=S8, down=S4)
        keep, reserve = named("&Keep", self.keep, line), named("R&eserve", self.reserve, line)
        for part in (self.profile, keep, reserve, self.add, self.clear):
            row.addWidget(part)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(line)

    def show_profiles(self, profiles: Sequence[Profile], own: Policy) -> None:
        """Offer these profiles, the one in force first chosen."""
        fresh = not self._profiles or self._window != own.settings.context_window
        self._profiles = list(profiles)
        self._window = own.settings.context_window
        chosen = self.profile.currentData() or own.profile.name
        self.profile.clear()
        for profile in profiles:
            self.profile.addItem(profile.title, profile.name)
        self.profile.setCurrentIndex(max(0, self.profile.findData(chosen)))
        if fresh:
            self._fill()

    def show_own(self, lines: int) -> None:
        """How many lines of one's own there are."""
        self.clear.setVisible(lines > 0)

    def _fill(self) -> None:
        """Another profile: its own sizes."""
        policy = in_window(Policy.of(self._profiles[self.profile.currentIndex()]), self._window)
        self.keep.setValue(policy.settings.keep_recent_tokens)
        self.reserve.setValue(policy.settings.reserve_tokens)

    def policy(self) -> Policy:
        """The rules that the row shows."""
        profile = self._profiles[max(0, self.profile.currentIndex())]
        settings = replace(
            Settings.of(profile),
            context_window=self._window,
            keep_recent_tokens=self.keep.value(),
            reserve_tokens=self.reserve.value(),
        )
        sizes = (
            f"keep {round_short(self.keep.value())}, reserve {round_short(self.reserve.value())}"
        )
        return Policy(profile, settings, f"{profile.title}: {sizes}")
