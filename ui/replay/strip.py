"""The line that steers a replay: how far it is, pause, step, speed, end."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QWidget

from ui import theme
from ui.replay.dialog import SPEEDS
from ui.widgets.choice import ChoiceBox
from ui.widgets.labels import ElidedLabel, LinkButton


class ReplayStrip(QFrame):
    """Hidden while nothing is played."""

    paused = Signal(bool)
    stepped = Signal()
    stopped = Signal()
    speed_chosen = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("strip", True)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._title, self._paused = "", False
        self._sign = QLabel(self)
        self.words = ElidedLabel("", self)
        self.speed = ChoiceBox(self)
        self.speed.setAccessibleName("Speed of the replay")
        for name, tokens in SPEEDS:
            self.speed.addItem(name.partition(",")[0], tokens)
        self.pause = LinkButton("Pause", self)
        self.step = LinkButton("Next message", self)
        self.stop = LinkButton("End", self)
        self.step.setToolTip("Play to the person's next message and stand still there")
        self.stop.setToolTip("End the replay; what was played is kept as a session")
        self.pause.clicked.connect(lambda: self.paused.emit(not self._paused))
        self.step.clicked.connect(self.stepped)
        self.stop.clicked.connect(self.stopped)
        self.speed.activated.connect(
            lambda _row: self.speed_chosen.emit(float(self.speed.currentData()))
        )
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.S16, 2, theme.S16, 3)
        row.setSpacing(theme.S8)
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.words, 1)
        for part in (self.speed, self.pause, self.step, self.stop):
            row.addWidget(part)
        theme.on_theme_changed(self._restyle)
        self._restyle()
        self.hide()

    def _restyle(self) -> None:
        size = theme.scaled(14)
        ratio = self.devicePixelRatioF()
        self._sign.setPixmap(theme.icon_pixmap("history", "dim", size, ratio))

    def begin(self, title: str, speed: float) -> None:
        """Show that a replay begins."""
        self._title = title
        self.speed.setCurrentIndex(max(0, self.speed.findData(speed)))
        self.show_paused(False)
        self.show()

    def show_progress(self, done: int, total: int) -> None:
        """Show how many messages of the recording were played."""
        self.words.setText(f"Replaying {self._title}: {done:,} of {total:,} messages")

    def show_paused(self, paused: bool) -> None:
        """Show whether it is paused."""
        self._paused = paused
        self.pause.setText("Play on" if paused else "Pause")
