"""Several models that answer one message: the question, their window, and their controller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from explorer.agent.loop import TurnLimits
from explorer.agent.turn_interface import (
    RoundStarted,
    ToolEnded,
    ToolStarted,
    TurnEvent,
    UserPrompt,
)
from explorer.agent.workspace import Workspace
from explorer.models.catalogue import levels_of
from explorer.models.client import CancelToken, Silence, TextDelta, ThinkingDelta, UsageReport
from explorer.models.request import ThinkingLevel, as_level
from explorer.models.retry import Retry
from explorer.services.agent_turns import FEWEST, MOST, ParallelRun, ParallelRuns, RunOrder
from explorer.services.document import Document
from explorer.session.branch_difference import (
    duration,
)
from explorer.session.text import call_title, first_line
from ui import theme
from ui.app_state import (
    AppState,
)
from ui.branching.difference import DifferenceController
from ui.conversation.controller import (
    AgentController,
)
from ui.map.navigation import (
    NavigationController,
)
from ui.widgets.choice import ChoiceBox
from ui.widgets.comparison import ComparisonWindow
from ui.widgets.dialogs import fit
from ui.widgets.figures import count
from ui.widgets.labels import Caption, ElidedLabel, Hairline, LinkButton
from ui.widgets.model_box import ModelBox
from ui.widgets.panels import enable_unless, push_button, row
from ui.widgets.plain_text import StreamView

Levels = Callable[[str], Sequence[ThinkingLevel]]
"""The thinking levels that mean something for a model."""


class RunsDialog(QDialog):
    """Escape closes without starting a run."""

    run_chosen = Signal(str, list)
    """(words, list of ``RunOrder``)"""

    def __init__(
        self,
        models: list[tuple[str, str]],
        chosen: Sequence[str],
        levels: Levels,
        facts: str,
        text: str,
        pictures: int,
        parent: QWidget,
    ) -> None:
        """``models``: (id, label); ``chosen``: those that stand there at first; ``facts``: what
        the models may do; ``text`` and ``pictures``: what stands in the message box."""
        super().__init__(parent)
        self.setWindowTitle("Ask several models side by side")
        self._models, self._levels = models, levels
        self.rows: list[tuple[ModelBox, ChoiceBox, LinkButton]] = []
        self._labels: list[QLabel] = []
        self.words = QPlainTextEdit(text, self)
        self._make_head(pictures)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(theme.S8)
        self._grid.setVerticalSpacing(theme.S8)
        self._grid.setColumnStretch(1, 1)
        self.add = LinkButton("&Add a model", self)
        self.add.clicked.connect(lambda: self._add_row(self._models[0][0]))
        self._lay_out(facts)
        for model in chosen:
            self._add_row(model)
        fit(self, 600, 440)
        self.words.setFocus()
        self.words.moveCursor(self.words.textCursor().MoveOperation.End)
        self._follow()

    def _make_head(self, pictures: int) -> None:
        self.title = QLabel("The same message to several models at once", self)
        theme.bind_font(self.title, lambda: theme.ui_font(1, bold=True))
        with_them = f" with {count(pictures, 'picture')}" if pictures else ""
        self.label = QLabel(f"&Message{with_them}", self)
        self.label.setBuddy(self.words)
        self.words.setAccessibleName("Message to all models")
        self.words.setPlaceholderText("What they are asked")
        self.words.setTabChangesFocus(True)
        self.words.textChanged.connect(self._follow)
        self._has_pictures = bool(pictures)

    def _lay_out(self, facts: str) -> None:
        self.facts = QLabel(facts, self)
        self.facts.setWordWrap(True)
        self.facts.setTextFormat(Qt.TextFormat.PlainText)
        theme.set_tone(self.facts, "dim")
        self.run = QPushButton("Ask &them", self)
        self.run.setProperty("kind", "primary")
        self.run.setDefault(True)
        self.run.setToolTip("Ask all of them at once (Ctrl+Enter)")
        self.run.clicked.connect(self._run)
        cancel = push_button("Cancel", self)
        cancel.clicked.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.S24, theme.S24, theme.S24, theme.S16)
        column.setSpacing(theme.S12)
        column.addWidget(self.title)
        column.addWidget(self.label)
        column.addWidget(self.words, 1)
        column.addLayout(self._grid)
        column.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.facts)
        column.addLayout(row(1, cancel, self.run))
        enter = QShortcut(QKeySequence("Ctrl+Return"), self)
        enter.activated.connect(self._run)

    def _add_row(self, model: str) -> None:
        number = len(self.rows)
        box, level = ModelBox(self), ChoiceBox(self)
        box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.set_models(self._models, model)
        remove = LinkButton("Remove", self)
        label = QLabel(self)
        self._labels.append(label)
        self.rows.append((box, level, remove))
        box.activated.connect(lambda _row: self._offer_levels(box, level))
        remove.clicked.connect(lambda: self._remove(box))
        for column, part in enumerate((label, box, level, remove)):
            self._grid.addWidget(part, number, column)
        self._offer_levels(box, level)
        self._follow()

    def _offer_levels(self, box: ModelBox, level: ChoiceBox) -> None:
        wanted = level.currentData()
        offered = self._levels(str(box.currentData()))
        level.clear()
        for one in offered:
            level.addItem(f"thinking: {one}" if len(offered) > 1 else "does not think", one)
        level.setCurrentIndex(max(0, level.findData(wanted)))
        level.setEnabled(len(offered) > 1)

    def _remove(self, box: ModelBox) -> None:
        number = next(at for at, (one, _, _) in enumerate(self.rows) if one is box)
        parts: tuple[QWidget, ...] = (self._labels.pop(number), *self.rows.pop(number))
        for part in parts:
            self._grid.removeWidget(part)
            part.hide()
            part.deleteLater()
        for at, (label, row_parts) in enumerate(zip(self._labels, self.rows, strict=True)):
            for column, other in enumerate((label, *row_parts)):
                self._grid.addWidget(other, at, column)
        self._follow()
        self.add.setFocus()

    def _follow(self) -> None:
        """Names by number, and only what can be done."""
        for number, (label, (box, level, remove)) in enumerate(
            zip(self._labels, self.rows, strict=True), 1
        ):
            label.setText(f"{number}")
            box.setAccessibleName(f"Model {number}")
            level.setAccessibleName(f"Thinking level of model {number}")
            remove.setAccessibleName(f"Remove model {number}")
            remove.setEnabled(len(self.rows) > FEWEST)
        self.add.setEnabled(len(self.rows) < MOST)
        has_words = bool(self.words.toPlainText().strip()) or self._has_pictures
        enable_unless(self.run, "" if has_words else "Write the message to the models first.")

    def orders(self) -> list[RunOrder]:
        """Whom to ask."""
        return [
            RunOrder(
                str(box.currentData()),
                as_level(level.currentData()) if level.count() > 1 else None,
            )
            for box, level, _ in self.rows
        ]

    def _run(self) -> None:
        if self.run.isEnabled():
            self.run_chosen.emit(self.words.toPlainText().strip(), self.orders())
            self.accept()


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
    """Can be stopped alone while it runs; afterwards its branch can be continued."""

    stop_pressed = Signal()
    go_pressed = Signal()

    def __init__(self, number: int, run: ParallelRun, parent: QWidget | None = None) -> None:
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
        self.stop = push_button("Stop", self)
        self.stop.setAccessibleName(f"Stop {self._name}")
        self.stop.clicked.connect(self.stop_pressed)
        self.go = push_button("Go on with this", self)
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
        """Take in what a run reports."""
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
            self._say(event.sentence)
            return
        else:
            return
        self._say(STATES["running"][1])

    def _line(self, text: str) -> None:
        self.stream.add(f"{'' if not self.stream.characters() else chr(10)}{text}\n")

    def _say(self, words: str) -> None:
        sign = STATES[self.run.state][0]
        line = f"{sign} {words}".strip()
        if self.state.text() != line:
            self.state.setText(line)
            self.state.setAccessibleName(f"{self._name} {words}")

    def show_state(self, has_answer: bool) -> None:
        """The run is as far as it is. ``has_answer``: its branch can be continued."""
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


class RunsWindow(ComparisonWindow):
    """Closed, the models go on, and it can be shown again."""

    go_requested = Signal(int)
    """The last entry of the branch to go on with."""
    compare_requested = Signal(int, int)

    def __init__(self, runs: ParallelRuns, parent: QWidget | None = None) -> None:
        super().__init__("Side by side", parent, ElidedLabel(runs.prompt.text or "Pictures"))
        self.runs = runs
        self._start = f"#{runs.start}" if runs.start >= 0 else "the start"
        self.columns = [RunColumn(at, run, self) for at, run in enumerate(runs.runs, 1)]
        beside = QHBoxLayout()
        beside.setContentsMargins(0, 0, 0, 0)
        beside.setSpacing(0)
        for number, column in enumerate(self.columns):
            if number:
                beside.addWidget(Hairline(vertical=True, parent=self))
            beside.addWidget(column, 1)
            column.stop_pressed.connect(lambda at=number: runs.stop(at))
            column.go_pressed.connect(lambda at=number: self.go_requested.emit(runs.runs[at].leaf))
        self.stop_all = self.button("&Stop all")
        self.stop_all.clicked.connect(lambda: runs.stop())
        self.compare = self.button("C&ompare", "The first two that have an answer, in every detail")
        self.compare.clicked.connect(self._compare)
        parts = QVBoxLayout()
        parts.setSpacing(0)
        parts.addWidget(Hairline(parent=self))
        parts.addLayout(beside, 1)
        self.lay_out(self.head(), parts, row(self.stop_all, self.compare, 1, self.closing_button()))
        self.show_state()
        fit(self, 480 * len(self.columns), 620)

    @property
    def is_over(self) -> bool:
        return all(run.is_over for run in self.runs.runs)

    def show_state(self) -> None:
        """Some run is farther than before."""
        over = self.is_over
        for number, column in enumerate(self.columns):
            # While others still work nothing else may move the leaf.
            column.show_state(over and self.runs.has_answer(number))
        self.stop_all.setVisible(not over)
        self.compare.setVisible(over)
        self.compare.setEnabled(len(self._answers()) > 1)
        self.facts.setText(
            f"Each is a branch of its own below {self._start}. "
            + (
                "Choose the one to go on with; the others stay as branches."
                if over
                else "They look into the folder and change nothing."
            )
        )

    def _answers(self) -> list[int]:
        return [run.leaf for at, run in enumerate(self.runs.runs) if self.runs.has_answer(at)]

    def _compare(self) -> None:
        one, two, *_ = self._answers()
        self.compare_requested.emit(one, two)


class RunsController(QObject):
    """One set of runs at a time; the window's agent rests meanwhile."""

    def __init__(
        self,
        state: AppState,
        agent: AgentController,
        navigation: NavigationController,
        differences: DifferenceController,
    ) -> None:
        super().__init__(state)
        self._state, self._agent = state, agent
        self._navigation, self._differences = navigation, differences
        self.dialog: RunsDialog | None = None
        self.window: RunsWindow | None = None
        state.document_changed.connect(self._other_document)

    @property
    def is_running(self) -> bool:
        return self.window is not None and not self.window.is_over

    def ask(self) -> None:
        """Ask what to send to whom; while models answer, show them instead."""
        if self.window is not None and self.is_running:
            self._raise(self.window)
            return
        if self._state.document is not None:
            self._navigation.agent_stop.then("ask several models", self._ask)

    def _ask(self) -> None:
        models = self._state.models("agent")
        if self._state.document is None or self.dialog is not None or not models:
            return
        prompt = self._state.window.agent.prompt
        dialog = RunsDialog(
            models, self._proposed(models), self._levels, self._facts(),
            prompt.text, len(prompt.images), self._state.window,
        )  # fmt: skip
        self.dialog = dialog
        dialog.run_chosen.connect(
            lambda words, orders: self._start(UserPrompt(words, prompt.images), orders)
        )
        dialog.finished.connect(lambda _result: self._closed(dialog))
        dialog.open()

    def _closed(self, dialog: RunsDialog) -> None:
        if self.dialog is dialog:
            self.dialog = None
        dialog.deleteLater()

    def _proposed(self, models: list[tuple[str, str]]) -> list[str]:
        """The model that answers, and the next one in the list."""
        first = self._state.agent_model()
        second = next((model for model, _ in models if model != first), first)
        return [first, second]

    def _levels(self, model: str) -> Sequence[ThinkingLevel]:
        assert self._state.bench is not None
        return levels_of(self._state.bench.client.info(model))

    def _facts(self) -> str:
        folder = self._agent.folder.folder
        if folder is None:
            return (
                "No folder is chosen, so they have no tools. Each answer becomes a branch of its "
                "own below the leaf; the leaf stays where it is until you choose."
            )
        return (
            f"They may read and search {folder} and change nothing there: writing and commands are "
            "not offered to them. So what each branch tells is true of the folder, whichever you "
            "go on with. Each becomes a branch of its own below the leaf; the leaf stays where it "
            "is until you choose."
        )

    def _start(self, prompt: UserPrompt, orders: list[RunOrder]) -> None:
        state, document = self._state, self._state.document
        if document is None or state.agent_running:
            return
        folder = self._agent.folder.folder
        try:
            runs = ParallelRuns(
                document, orders, prompt, Workspace(folder) if folder is not None else None,
                profile=state.profile, limits=TurnLimits.of(state.values),
                date=date.today().isoformat(),
            )  # fmt: skip
        except ValueError as error:
            state.say(str(error))
            return
        if state.window.agent.prompt.text == prompt.text:
            self._agent.history.remember(prompt.text)
            state.window.agent.taken(prompt.text)
        self._let_go()
        self.window = window = RunsWindow(runs, state.window)
        window.go_requested.connect(self._go_on)
        window.compare_requested.connect(self._differences.compare)
        self._agent.turns.start(
            "Asking several models", lambda cancel: self._run(document, window, cancel)
        )
        self._raise(window)

    def _raise(self, window: RunsWindow) -> None:
        window.show()
        window.raise_()
        window.activateWindow()

    async def _run(self, document: Document, window: RunsWindow, cancel: CancelToken) -> None:
        runs = window.runs
        self._state.window.agent.set_running(True, "asking several models…")
        forget = cancel.add_callback(lambda: runs.stop())

        def on_event(number: int, event: TurnEvent) -> None:
            window.columns[number].take(event)

        try:
            await runs.run(on_event, lambda _number: window.show_state())
        finally:
            forget()
        if self._state.document is not document or self.window is not window:
            return
        if not window.isVisible():
            self._state.notice(
                "info", f"{len(runs.runs)} models have answered side by side.",
                "Each answer is a branch; the leaf is where it was.",
                action="Show them", on_action=lambda: self._raise(window),
            )  # fmt: skip

    def _go_on(self, leaf: int) -> None:
        if self.window is not None:
            self.window.close()
        self._navigation.go_to(leaf)

    def _other_document(self) -> None:
        if self.dialog is not None:
            self.dialog.reject()
        self._let_go()

    def _let_go(self) -> None:
        if self.window is not None:
            self.window.runs.stop()
            self.window.close()
            self.window.deleteLater()
            self.window = None
