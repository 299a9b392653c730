"""One of several models at its work: who it is, what it writes, how it ended."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from explorer.agent.events import RoundStarted, ToolEnded, ToolStarted, TurnEvent
from explorer.models.door import Silence, TextDelta, ThinkingDelta, UsageReport
from explorer.models.retry import Retry
from explorer.session.difference_text import duration
from explorer.session.text import call_title, first_line
from explorer.work.parallel_runs import Run
from ui import theme
from ui.widgets.labels import Caption, ElidedLabel
from ui.widgets.panels import row
from ui.widgets.plain_text import StreamView

STATES = {
    "waiting": ("", "waits"),
    "running": ("●", "is answering…"),
    "done": ("✓", "is done"),
    "stopped": ("■", "was stopped; what had arrived is kept"),
    "failed": ("✗", "failed"),
}
"""A sign and words for how far a run is."""
_TICK_MS = 200


class RunColumn(QWidget):
    """Can be stopped alone while it runs; afterwards its branch can be gone on with."""

    stop_pressed = Signal()
    go_pressed = Signal()

    def __init__(self, number: int, run: Run, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.run = run
        self._tokens = 0
        self._tools = 0
        self._name = run.order.model
        self.name = ElidedLabel(self._name, self)
        theme.bind_font(self.name, lambda: theme.ui_font(0.5, bold=True))
        thinking = f"thinking: {run.order.thinking}" if run.order.thinking else ""
        self.thinking = Caption(thinking, self)
        self.state = QLabel(self)
        self.state.setWordWrap(True)
        self.stream = StreamView(self)
        self.stream.setAccessibleName(f"Answer {number} by {self._name}")
        self.figures = Caption("", self)
        self.stop = QPushButton("Stop", self)
        self.stop.setAutoDefault(False)
        self.stop.setAccessibleName(f"Stop {self._name}")
        self.stop.clicked.connect(self.stop_pressed)
        self.go = QPushButton("Go on with this", self)
        self.go.setAutoDefault(False)
        self.go.setAccessibleName(f"Go on with the answer of {self._name}")
        self.go.clicked.connect(self.go_pressed)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.S16, theme.S12, theme.S16, theme.S12)
        column.setSpacing(theme.S8)
        head = row(self.name, self.thinking)
        head.setStretch(0, 1)
        self.thinking.setVisible(bool(thinking))
        column.addLayout(head)
        column.addWidget(self.state)
        column.addWidget(self.stream, 1)
        self.figures.setWordWrap(True)
        self.figures.setMinimumWidth(1)
        foot = row(self.figures, self.stop, self.go)
        foot.setStretch(0, 1)
        column.addLayout(foot)
        self._clock = QTimer(self)
        self._clock.setInterval(_TICK_MS)
        self._clock.timeout.connect(self._show_figures)
        self.show_state(False)

    def take(self, event: TurnEvent) -> None:
        """What arrives."""
        if isinstance(event, TextDelta):
            self.stream.add(event.text)
        elif isinstance(event, ThinkingDelta):
            self._say("is thinking…")
            return
        elif isinstance(event, ToolStarted):
            self._tools += 1
            self._line(f"→ {call_title(event.call.name, dict(event.call.arguments))}")
        elif isinstance(event, ToolEnded) and event.outcome.is_error:
            self._line(f"✗ {event.call.name}: {first_line(event.outcome.text)}")
        elif isinstance(event, RoundStarted) and event.number > 1:
            self.stream.add("\n")
        elif isinstance(event, UsageReport):
            self._tokens += event.usage.output
        elif isinstance(event, Retry | Silence):
            self._say(event.told)
            return
        else:
            return
        self._say(STATES["running"][1])

    def _line(self, text: str) -> None:
        self.stream.add(f"{'' if not self.stream.characters() else chr(10)}{text}\n")

    def _say(self, words: str) -> None:
        sign = STATES[self.run.state][0]
        told = f"{sign} {words}".strip()
        if self.state.text() != told:
            self.state.setText(told)
            self.state.setAccessibleName(f"{self._name} {words}")

    def show_state(self, has_answer: bool) -> None:
        """The run is as far as it is. ``has_answer``: its branch can be gone on with."""
        run = self.run
        words = STATES[run.state][1]
        if run.problem and run.state in ("failed", "done"):
            words = f"{words}: {run.problem}"
        self._say(words)
        theme.set_tone(self.state, "lost" if run.state == "failed" else "dim")
        running = run.state == "running"
        had_keys = self.stop.hasFocus()
        self.stop.setVisible(not run.is_over)
        self.stop.setEnabled(running)
        self.go.setVisible(run.is_over)
        self.go.setEnabled(has_answer)
        self.go.setToolTip(
            "Make its last entry the leaf; the others stay as branches"
            if has_answer
            else "When all have ended, and this one has an answer"
        )
        if had_keys and run.is_over:
            self.go.setFocus()
        if running:
            self._clock.start()
        else:
            self._clock.stop()
        if run.is_over:
            self.stream.finish()
        self._show_figures()

    def _show_figures(self) -> None:
        run = self.run
        parts = []
        if run.started_ms:
            parts.append(duration((run.ended_ms or run.port.now_ms()) - run.started_ms))
        if self._tokens:
            parts.append(f"{self._tokens:,} tokens written")
        if self._tools:
            parts.append(f"{self._tools} tool call{'s' if self._tools != 1 else ''}")
        self.figures.setText(" · ".join(parts))
