"""Talking to the agent: one turn at a time, stopped at any moment."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from explorer.agent.loop import TurnEvent
from explorer.agent.workspace import Workspace
from explorer.compaction.triggers import manual_now
from explorer.models.door import Cancelled, CancelToken
from explorer.models.retry import Retry
from explorer.session.describe import text_of
from explorer.session.kinds import Kind, selector
from explorer.store.rows import StoreError
from explorer.work.automatic import AutomaticCompaction, NotNow
from explorer.work.document import Document
from explorer.work.talk import start_turn
from ui.control.automatic import AutomaticControl
from ui.control.desk import AGENT_MODEL, Desk
from ui.widgets.notice import Notice

COMPACT = "/compact"
"""Typed instead of a message: compact here, with the rest of the line as instructions (A9)."""
_USER = selector(frozenset({Kind.USER}))
MOST_HISTORY = 50


class AgentControl(QObject):
    """Sends what the composer holds and shows what comes back."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._desk = desk
        self._cancel: CancelToken | None = None
        self._failure: Notice | None = None
        """What was told of the last turn that failed."""
        self._shown: Document | None = None
        self._offered: tuple[list[tuple[str, str]], str] = ([], "")
        self._then: Callable[[], None] = lambda: None
        """What is to follow once the session stands still."""
        self.automatic = AutomaticControl(desk, self.stop)
        pane = desk.window.agent
        pane.send_requested.connect(self.send)
        pane.stop_requested.connect(self.stop)
        pane.model_chosen.connect(self._model_chosen)
        pane.workspace_requested.connect(self._choose_workspace)
        desk.document_changed.connect(self.stop)
        desk.fillers += [self._document_changed, self._fill_history]

    @property
    def running(self) -> bool:
        return self._cancel is not None

    def ready(self) -> None:
        """The workbench is there: offer its models."""
        self._desk.models_changed.connect(self._show_models)
        self._show_models()
        self._show_workspace()
        self.automatic.ready()

    def _show_models(self) -> None:
        """Offer the models, with the one that is to answer."""
        offered, chosen = self._desk.models("agent"), self._desk.agent_model()
        if (offered, chosen) != self._offered:
            self._offered = offered, chosen
            self._desk.window.agent.set_models(offered, chosen)

    def _show_workspace(self) -> None:
        folder = self._desk.preferences.workspace
        self._desk.window.agent.set_workspace(folder or "")

    def _model_chosen(self, model: str) -> None:
        self._desk.choose_model(AGENT_MODEL, model)
        self._offered = self._desk.models("agent"), model

    def _choose_workspace(self) -> None:
        dialog = QFileDialog(self._desk.window, "Folder that the agent may look into")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(self._workspace_chosen)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _workspace_chosen(self, folder: str) -> None:
        self._desk.preferences.workspace = folder
        self._show_workspace()

    def keep_unsent(self) -> None:
        """What stands in the box is kept with the session that it was written in."""
        if self._shown is not None:
            text = self._desk.window.agent.composer.toPlainText()
            self._shown.choose("unsent", text or None)

    def _document_changed(self) -> None:
        document = self._desk.document
        if self._shown is not document:
            self.keep_unsent()
            self._shown = document
            self._show_models()
            unsent = document.choices().get("unsent") if document is not None else ""
            composer = self._desk.window.agent.composer
            composer.setPlainText(unsent if isinstance(unsent, str) else "")
        self._desk.window.agent.show_document(document)

    def _fill_history(self) -> None:
        """What was asked on the path can be called back into the box."""
        document = self._desk.document
        if document is not None:
            columns = document.tree.columns
            asked = document.tree.path(document.leaf).select(columns.kind, _USER)[-MOST_HISTORY:]
            texts = [
                text_of(e.get("message", {}).get("content"))
                for e in document.payloads.entries(asked)
            ]
            self._desk.window.agent.composer.set_history([text for text in texts if text])

    def send(self, text: str, model: str) -> None:
        """Send what was typed, or compact where that is asked for."""
        if self._cancel is not None or self._desk.document is None:
            return
        command, _, instructions = text.partition(" ")
        if command == COMPACT:
            self._desk.window.agent.composer.taken(text)
            self.compact_now(instructions.strip())
        else:
            self._start("The agent's turn", lambda cancel: self._send(text, model, cancel))

    def _start(self, what: str, work: Callable[[CancelToken], Coroutine[Any, Any, None]]) -> None:
        """Work on the session, which nothing else does meanwhile."""
        self._cancel = cancel = CancelToken()
        if self._failure is not None and self._desk.window.notices.notice is self._failure:
            # What did not work is being tried again.
            self._desk.window.notices.dismiss()
        self._desk.agent_running = True
        self._desk.state_changed.emit()
        self._desk.tasks.start(what, self._working(work, cancel))

    async def _working(
        self, work: Callable[[CancelToken], Coroutine[Any, Any, None]], cancel: CancelToken
    ) -> None:
        document, pane = self._desk.document, self._desk.window.agent
        try:
            await work(cancel)
        finally:
            then, self._then = self._then, lambda: None
            self._cancel = None
            self._desk.agent_running = False
            self._desk.state_changed.emit()
            self.automatic.goes_on()
            pane.set_running(False)
            if self._desk.document is document:
                pane.refresh()
                then()

    def compact_now(self, instructions: str = "") -> None:
        """Compact at the leaf without a review. While the agent answers, the profile says whether
        that stops it or is refused; then it can follow the turn (A9)."""
        desk = self._desk
        if desk.document is None:
            return
        todo = manual_now(desk.profile, self.running)
        if todo == "refuse":
            automatic = self.automatic.of(desk.document)
            desk.notice(
                "warning", "The agent is still answering; nothing was compacted.",
                todo="It can be compacted as soon as the turn is over.",
                action="After this turn",
                on_action=lambda: self._after_turn(automatic, instructions),
            )  # fmt: skip
        elif todo == "abort":
            self._then = lambda: self.compact_now(instructions)
            self.stop()
        else:
            self._start("Compacting", lambda cancel: self._compact(instructions, cancel))

    def _after_turn(self, automatic: AutomaticCompaction, instructions: str) -> None:
        self._desk.window.notices.dismiss()
        if self.running:
            automatic.request_compaction(instructions)
        else:
            self.compact_now(instructions)

    async def _compact(self, instructions: str, cancel: CancelToken) -> None:
        document, pane = self._desk.document, self._desk.window.agent
        assert document is not None
        pane.set_running(True)
        try:
            await self.automatic.of(document).compact_now(instructions, pane.model, cancel)
        except NotNow as error:
            self._desk.say(str(error))
        except (Cancelled, ValueError):
            # What came of it was told as the change that ended it.
            return

    def stop(self) -> None:
        """Stop the running turn, if there is one."""
        if self._cancel is not None:
            self._cancel.cancel()

    def _workspace(self) -> Workspace | None:
        folder = self._desk.preferences.workspace
        return Workspace(Path(folder)) if folder and Path(folder).is_dir() else None

    async def _send(self, text: str, model: str, cancel: CancelToken) -> None:
        document, pane = self._desk.document, self._desk.window.agent
        assert document is not None
        workspace = self._workspace()
        pane.composer.taken(text)
        self.automatic.show()
        pane.set_running(True, f"{model} is answering…")

        def on_event(event: TurnEvent) -> None:
            if isinstance(event, Retry):
                self.automatic.waiting(event)
            else:
                self.automatic.goes_on()
            pane.turn_event(event)

        try:
            result = await start_turn(
                document, model, workspace, text, cancel, on_event, self.automatic.of(document)
            )
        except StoreError as error:
            self._desk.notice("error", str(error), "What was stored before stays.")
            pane.composer.setPlainText(text)
            return
        if result.end == "cut_short":
            self._desk.notice("warning", result.error, "What had arrived is kept.")
        elif result.error:
            self._desk.notice(
                "error", result.error, "What had arrived is kept and marked.",
                "Send again, or choose another model.",
            )  # fmt: skip
            self._failure = self._desk.window.notices.notice
        elif result.end == "stopped":
            self._desk.say("Stopped; what had arrived is kept.")
