"""What is played, how fast, and in how large a context window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from ui import theme
from ui.widgets.choice import ChoiceBox
from ui.widgets.dialogs import fit
from ui.widgets.number_slider import NumberSlider

SPEEDS: tuple[tuple[str, float], ...] = (
    ("To read along, 60 tokens a second", 60.0),
    ("Brisk, 300 tokens a second", 300.0),
    ("Fast, 2,000 tokens a second", 2000.0),
    ("All at once", 0.0),
)
BRISK = 1
LEAST, MOST = 4_000, 1_000_000
WORDS = (
    "All messages are replayed in a new session: tools give the results that were "
    "recorded, no model is called and nothing leaves this machine. When the context grows too full "
    "it is compacted or pruned by the profile chosen above the map, and by the numbers on the tab "
    "Compaction; both can be changed while it plays."
)


class PlayableSession(NamedTuple):
    """A session that can be played."""

    key: int
    title: str


class ReplayDialog(QDialog):
    """Closes itself when a play was chosen."""

    chosen = Signal(int, int, bool, float)
    """(key of the session, context window in tokens, whether the sizes shrink with it, tokens a
    second)"""

    def __init__(
        self,
        sessions: Sequence[PlayableSession],
        key: int,
        window: int,
        profile: str,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Replay a session")
        words = QLabel(WORDS, self)
        words.setWordWrap(True)
        theme.set_tone(words, "dim")
        self.sessions = ChoiceBox(self)
        self.sessions.setAccessibleName("Session to replay")
        for each in sessions:
            self.sessions.addItem(each.title, each.key)
        self.sessions.setCurrentIndex(max(0, self.sessions.findData(key)))
        self.window_size = NumberSlider("Context &window", LEAST, MOST, self)
        self.window_size.set_value(window)
        self.shrinks = QCheckBox("Keep &recent and reserve shrink with the window", self)
        self.shrinks.setToolTip("Otherwise they are as the tab Compaction has them")
        self.shrinks.setChecked(True)
        self.speed = ChoiceBox(self)
        self.speed.setAccessibleName("Speed of the replay")
        for name, tokens in SPEEDS:
            self.speed.addItem(name, tokens)
        self.speed.setCurrentIndex(BRISK)
        form = QFormLayout()
        form.setHorizontalSpacing(theme.S16)
        form.setVerticalSpacing(theme.S12)
        form.addRow("&Session", self.sessions)
        form.addRow(self.window_size)
        form.addRow("", self.shrinks)
        form.addRow("S&peed", self.speed)
        form.addRow("Profile", QLabel(profile, self))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.play = buttons.addButton("&Play", QDialogButtonBox.ButtonRole.AcceptRole)
        self.play.setDefault(True)
        buttons.accepted.connect(self._play)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.S24, theme.S24, theme.S24, theme.S16)
        layout.setSpacing(theme.S16)
        layout.addWidget(words)
        layout.addLayout(form)
        layout.addStretch(1)
        layout.addWidget(buttons)
        fit(self, 560, 380)

    def _play(self) -> None:
        self.accept()
        self.chosen.emit(
            int(self.sessions.currentData()),
            self.window_size.value(),
            self.shrinks.isChecked(),
            float(self.speed.currentData()),
        )
