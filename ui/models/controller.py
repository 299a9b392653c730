"""Models in the window: their dialog, what follows when one changes, and the tip on the box."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QWidget

from explorer.models.servers import USUAL_ADDRESSES
from ui.app_state import AGENT_MODEL, MODEL_KEYS, SUMMARY_MODEL, AppState
from ui.conversation.controller import AgentController
from ui.models.dialog import ModelsDialog, ModelsSurroundings, Page, Purpose
from ui.models.words import is_too_small, tip, too_small_words

CHOICES = {"agent": AGENT_MODEL, "summary": SUMMARY_MODEL}
DOES = {"agent": "answers from the next message on", "summary": "writes the summaries"}


class ModelsController(QObject):
    """Opens the dialog, and tells the window when a figure, a key or a server is another one."""

    def __init__(self, state: AppState, agent: AgentController) -> None:
        super().__init__(state)
        self._state = state
        self._agent = agent
        self._take: Callable[[str], None] | None = None
        self._purpose: Purpose = "agent"
        self._tasks: set[asyncio.Task[Any]] = set()
        self._stop_watching: Callable[[], None] = lambda: None
        self.addresses: Sequence[str] = USUAL_ADDRESSES
        """Where servers are looked for when a person asks for it."""
        self.dialog: ModelsDialog | None = None
        """The dialog, while it is open."""
        window = state.window
        window.agent.models_requested.connect(self.open)
        window.compaction.models_requested.connect(lambda: self.open(purpose="summary"))
        state.opened.connect(self._ready)
        state.models_changed.connect(self._show_tips)
        state.document_changed.connect(self._show_tips)

    def _ready(self) -> None:
        """Follow the figures that the user states of models."""
        assert self._state.bench is not None
        loop = asyncio.get_running_loop()

        def follow() -> None:
            loop.call_soon_threadsafe(self._changed)

        self._stop_watching = self._state.bench.client.user_models.subscribe(follow)
        self._show_tips()

    def stop(self) -> None:
        """Follow it no more."""
        self._stop_watching()

    def _changed(self) -> None:
        """A figure, a server or a key is another one: the gauge and the boxes follow."""
        self._state.models_changed.emit()
        if self.dialog is not None:
            self.dialog.show_surroundings(self._around())

    def _show_tips(self) -> None:
        """What is known of the model that answers stands in the tip of its box."""
        if self._state.bench is None:
            return
        info = self._state.bench.client.info(self._state.agent_model())
        words = tip(info)
        if is_too_small(info, self._context()):
            words = f"{words}\n{too_small_words(info, self._context())}"
        box = self._state.window.agent.models
        box.setToolTip(words)
        box.setAccessibleDescription(words)

    # the dialog ----------------------------------------------------------------------------------

    def open(self, purpose: Purpose = "agent", page: Page = "models") -> None:
        """Choose a model for the agent or for summaries; set keys and add servers."""
        self._open(purpose, page, self._state.window)

    def pick(self, take: Callable[[str], None]) -> None:
        """Choose any model; ``take`` is given its name."""
        self._take = take
        self._open("setting", "models", QApplication.activeModalWidget() or self._state.window)

    def _open(self, purpose: Purpose, page: Page, parent: QWidget) -> None:
        bench = self._state.bench
        if bench is None:
            return
        if self.dialog is not None:
            self.dialog.show_page(page)
            self.dialog.activateWindow()
            return
        self._purpose = purpose
        dialog = ModelsDialog(bench.client, self._start, self._around(), parent)
        dialog.model_chosen.connect(self._chosen)
        dialog.models_changed.connect(self._keys_changed)
        dialog.renamed.connect(self._renamed)
        dialog.finished.connect(self._closed)
        self.dialog = dialog
        dialog.show_page(page)
        dialog.open()

    def _start(self, what: str, work: Coroutine[Any, Any, None]) -> None:
        task = self._state.tasks.start(what, work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _closed(self) -> None:
        dialog, self.dialog, self._take = self.dialog, None, None
        if dialog is not None:
            dialog.stop()
            # It outlives the dialog that it was opened over, until nothing works for it any more.
            dialog.setParent(self._state.window, dialog.windowFlags())
            self._state.tasks.start("Closing the models", self._let_go(dialog))

    async def _let_go(self, dialog: ModelsDialog) -> None:
        """What is still under way for the dialog ends before it is deleted."""
        try:
            if self._tasks:
                await asyncio.wait(set(self._tasks))
        finally:
            dialog.deleteLater()

    def _context(self) -> int:
        document = self._state.document
        return (
            document.tokens.context_size(self._state.profile).tokens if document is not None else 0
        )

    def _around(self) -> ModelsSurroundings:
        return ModelsSurroundings(
            self._purpose, self._state.agent_model(), self._state.summary_models()[0],
            self._context(), self.addresses,
        )  # fmt: skip

    # what is chosen ------------------------------------------------------------------------------

    def _chosen(self, purpose: str, model: str) -> None:
        if purpose not in CHOICES:
            if self._take is not None:
                self._take(model)
            return
        if purpose == "agent":
            self._agent.choose_model(model)
        else:
            self._state.choose_model(SUMMARY_MODEL, model)
        self._state.say(f"{model} {DOES[purpose]}.")

    def _keys_changed(self) -> None:
        self._state.models_changed.emit()
        if self.dialog is not None:
            self.dialog.refresh()

    def _renamed(self, old: str, new: str) -> None:
        """Where a model of the server was chosen, it is chosen by its new name."""
        for choice, now in (
            (AGENT_MODEL, self._state.agent_model()),
            (SUMMARY_MODEL, self._state.summary_models()[0]),
        ):
            provider, _, name = now.partition("/")
            if provider == old and not self._state.values.get(MODEL_KEYS[choice]):
                self._state.choose_model(choice, f"{new}/{name}")
