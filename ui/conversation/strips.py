"""The strips above the message box: what compaction does by itself, and messages that wait."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from explorer.agent.turn_interface import (
    Queued,
)
from explorer.models.retry import Retry
from ui import theme
from ui.widgets.figures import count
from ui.widgets.labels import Caption, ElidedLabel, LinkButton
from ui.widgets.panels import row_in

_TICK_MS = 250


class StripState(Struct, frozen=True):
    """What the line says, and what its buttons are called; an empty name is no button."""

    words: str
    icon: str = "compaction"
    tint: str = "comp"
    first: str = ""
    second: str = ""
    third: str = ""
    tips: tuple[str, ...] = ()
    """What each button does, with its keys."""


class AutomaticStrip(QFrame):
    """One line with at most three buttons; hidden while there is nothing to say."""

    first_pressed = Signal()
    second_pressed = Signal()
    third_pressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("strip", True)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.state: StripState | None = None
        self._wait: Retry | None = None
        self._left_ms = 0.0
        self._sign = QLabel(self)
        self._words = ElidedLabel("", self)
        self._first = LinkButton("", self)
        self._second = LinkButton("", self)
        self._third = LinkButton("", self)
        self._first.clicked.connect(self.first_pressed)
        self._second.clicked.connect(self.second_pressed)
        self._third.clicked.connect(self.third_pressed)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.S16, 2, theme.S16, 3)
        row.setSpacing(theme.S8)
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self._words, 1)
        for button in self._buttons:
            row.addWidget(button)
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self._tick)
        theme.on_theme_changed(self._restyle)
        self.hide()

    @property
    def _buttons(self) -> tuple[LinkButton, ...]:
        return self._first, self._second, self._third

    @property
    def words(self) -> str:
        """What it says now, or nothing."""
        return self.state.words if self.state is not None else ""

    def say(self, state: StripState | None) -> None:
        """Show a state, or hide the line."""
        self._timer.stop()
        self._wait = None
        self._show(state)

    def count_down(self, wait: Retry) -> None:
        """Say why a call is made again, and count the seconds until then."""
        self._wait, self._left_ms = wait, wait.wait_s * 1000
        self._timer.start()
        self._show_wait()

    @property
    def is_waiting(self) -> bool:
        """Counting the seconds until a call is made again."""
        return self._wait is not None

    def _tick(self) -> None:
        self._left_ms -= _TICK_MS
        self._show_wait()
        if self._left_ms <= 0:
            self._timer.stop()

    def _show_wait(self) -> None:
        wait = self._wait
        if wait is None:
            return
        seconds = max(0, -int(-self._left_ms // 1000))
        when = f"Trying again in {seconds} s" if seconds else "Trying again now"
        reason = wait.error.message.rstrip(".")
        words = f"{reason}. {when} ({wait.failed + 1} of {wait.of})."
        self._show(StripState(words, "history", "dim", first="Stop waiting"))

    def _show(self, state: StripState | None) -> None:
        self.state = state
        if state is not None:
            self._words.setText(state.words)
            names = (state.first, state.second, state.third)
            tips = (*state.tips, "", "", "")
            for button, name, tip in zip(self._buttons, names, tips, strict=False):
                self._name(button, name, tip)
            self.setAccessibleName(state.words)
            self._restyle()
        self.setVisible(state is not None)

    @staticmethod
    def _name(button: QPushButton, words: str, tip: str) -> None:
        button.setText(words)
        button.setToolTip(tip)
        button.setAccessibleDescription(tip)
        button.setVisible(bool(words))

    def _restyle(self) -> None:
        if self.state is not None:
            size = theme.scaled(16)
            pixmap = theme.icon_pixmap(
                self.state.icon, self.state.tint, size, self.devicePixelRatioF()
            )
            self._sign.setPixmap(pixmap)


MOST_LINES = 3
_WHEN = {"steering": "Next", "follow-up": "Then"}
_TIPS = {
    "steering": "The agent reads it in this turn, after the tools that run now",
    "follow-up": "The agent reads it when this turn is done",
}


class QueueStrip(QFrame):
    """One line per message, each of which can be taken back into the box."""

    taken_back = Signal(object)
    """``Queued``"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("strip", True)
        self.setAccessibleName("Messages that wait")
        self._rows: list[QWidget] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(theme.S16, theme.S4, theme.S16, theme.S4)
        self._column.setSpacing(0)
        self.hide()

    @property
    def lines(self) -> list[str]:
        """The line of each message."""
        return [row.accessibleName() for row in self._rows]

    def show_waiting(self, waiting: Sequence[Queued]) -> None:
        """Show what waits; nothing is shown while nothing does."""
        had_keys = any(row.isAncestorOf(self.focusWidget() or self) for row in self._rows)
        for row in self._rows:
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._rows = [self._line(one) for one in waiting[:MOST_LINES]]
        if len(waiting) > MOST_LINES:
            self._rows.append(self._more(len(waiting) - MOST_LINES))
        for row in self._rows:
            self._column.addWidget(row)
        self.setVisible(bool(waiting))
        if had_keys and self._rows and (button := self._rows[0].findChild(LinkButton)):
            button.setFocus()

    def _line(self, one: Queued) -> QWidget:
        row = QWidget(self)
        when = Caption(f"{_WHEN[one.kind]}:", row)
        words = one.prompt.text
        if one.prompt.images:
            pictures = count(len(one.prompt.images), "picture")
            words = f"{words} ({pictures})" if words else pictures
        when.setToolTip(_TIPS[one.kind])
        text = ElidedLabel(words, row)
        row.setAccessibleName(f"{when.text()} {text.text()}")
        row.setAccessibleDescription(_TIPS[one.kind])
        back = LinkButton("Take back", row)
        back.setToolTip("Put this message back into the box; the agent does not get it")
        back.setAccessibleName(f"Take back: {text.text()[:60]}")
        back.clicked.connect(self._taker(one))
        line = row_in(row, theme.S8)
        line.addWidget(when, 0, Qt.AlignmentFlag.AlignVCenter)
        line.addWidget(text, 1)
        line.addWidget(back)
        return row

    def _taker(self, one: Queued) -> Callable[[], None]:
        return lambda: self.taken_back.emit(one)

    def _more(self, others: int) -> QWidget:
        caption = Caption(f"and {count(others, 'more', 'more')}", self)
        caption.setAccessibleName(caption.text())
        return caption
