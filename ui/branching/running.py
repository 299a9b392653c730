"""Asking several models side by side, from the dialog to the branch that is gone on with."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from PySide6.QtCore import QObject

from explorer.agent.events import TurnEvent
from explorer.agent.limits import TurnLimits
from explorer.agent.prompt import Prompt
from explorer.agent.workspace import Workspace
from explorer.models.door import CancelToken
from explorer.models.thinking import ThinkingLevel, levels_of
from explorer.work.document import Document
from explorer.work.parallel_runs import ParallelRuns, RunOrder
from ui.branching.comparing import DifferenceControl
from ui.branching.runs_dialog import RunsDialog
from ui.branching.runs_window import RunsWindow
from ui.control.desk import Desk
from ui.control.navigating import NavigationControl
from ui.control.talking.control import AgentControl


class RunsControl(QObject):
    """One set of runs at a time; the window's agent rests meanwhile."""

    def __init__(
        self,
        desk: Desk,
        agent: AgentControl,
        navigation: NavigationControl,
        differences: DifferenceControl,
    ) -> None:
        super().__init__(desk)
        self._desk, self._agent = desk, agent
        self._navigation, self._differences = navigation, differences
        self.dialog: RunsDialog | None = None
        self.window: RunsWindow | None = None
        desk.document_changed.connect(self._other_document)

    @property
    def is_running(self) -> bool:
        return self.window is not None and not self.window.is_over

    def ask(self) -> None:
        """Ask what to send to whom; while models are answering, show them instead."""
        if self.window is not None and self.is_running:
            self._raise(self.window)
            return
        if self._desk.document is not None:
            self._navigation.still.then("ask several models", self._ask)

    def _ask(self) -> None:
        models = self._desk.models("agent")
        if self._desk.document is None or self.dialog is not None or not models:
            return
        prompt = self._desk.window.agent.prompt
        dialog = RunsDialog(
            models, self._proposed(models), self._levels, self._facts(),
            prompt.text, len(prompt.images), self._desk.window,
        )  # fmt: skip
        self.dialog = dialog
        dialog.run_chosen.connect(
            lambda words, orders: self._start(Prompt(words, prompt.images), orders)
        )
        dialog.finished.connect(lambda _result: self._closed(dialog))
        dialog.open()

    def _closed(self, dialog: RunsDialog) -> None:
        if self.dialog is dialog:
            self.dialog = None
        dialog.deleteLater()

    def _proposed(self, models: list[tuple[str, str]]) -> list[str]:
        """The model that answers, and the next one in the list."""
        first = self._desk.agent_model()
        second = next((model for model, _ in models if model != first), first)
        return [first, second]

    def _levels(self, model: str) -> Sequence[ThinkingLevel]:
        assert self._desk.bench is not None
        return levels_of(self._desk.bench.door.info(model))

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

    def _start(self, prompt: Prompt, orders: list[RunOrder]) -> None:
        desk, document = self._desk, self._desk.document
        if document is None or desk.agent_running:
            return
        folder = self._agent.folder.folder
        try:
            runs = ParallelRuns(
                document, orders, prompt, Workspace(folder) if folder is not None else None,
                profile=desk.profile, limits=TurnLimits.of(desk.values),
                date=date.today().isoformat(),
            )  # fmt: skip
        except ValueError as error:
            desk.say(str(error))
            return
        if desk.window.agent.prompt.text == prompt.text:
            self._agent.history.remember(prompt.text)
            desk.window.agent.taken(prompt.text)
        self._let_go()
        self.window = window = RunsWindow(runs, desk.window)
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
        self._desk.window.agent.set_running(True, "asking several models…")
        forget = cancel.add_callback(lambda: runs.stop())

        def on_event(number: int, event: TurnEvent) -> None:
            window.columns[number].take(event)

        try:
            await runs.run(on_event, lambda _number: window.show_state())
        finally:
            forget()
        if self._desk.document is not document or self.window is not window:
            return
        if not window.isVisible():
            self._desk.notice(
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
