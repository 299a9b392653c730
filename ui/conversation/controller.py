"""What the message box and the line below it ask for."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject

from explorer.agent.tools.port import OutputFiles
from explorer.agent.turn_interface import UserPrompt
from explorer.compaction.triggers import manual_now
from explorer.models.client import Cancelled, CancelToken
from explorer.models.request import ThinkingLevel, as_level
from explorer.services.auto_compaction.controller import AutomaticCompaction, SessionBusy
from explorer.services.changes import EntriesAppended, LeafMoved
from explorer.services.session_files import outputs_folder
from ui.app_state import AGENT_MODEL, AppState
from ui.compaction.automatic import AutomaticController
from ui.conversation.message_box import (
    AttachmentController,
    CompletionController,
    HistoryController,
)
from ui.conversation.permissions import PermissionController
from ui.conversation.slash_commands import CommandCall, CommandMistake, SlashCommands
from ui.conversation.turns import TurnController
from ui.conversation.usage_label import UsageLabelController
from ui.conversation.workspace import FolderController, ToolsController

THINKING = "thinking"
"""Under which a session keeps how long its model may think."""


class AgentController(QObject):
    """Sends what the message box holds, or does what its command says."""

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._state = state
        self._offered: tuple[list[tuple[str, str]], str] = ([], "")
        self._thinking: ThinkingLevel = "off"
        self._can_go_on = False
        self.commands = SlashCommands()
        """Filled by the window once all of its parts are there."""
        self.folder = FolderController(state)
        self.permission = PermissionController(state)
        self.history = HistoryController(state)
        self.attachments = AttachmentController(state, self.folder)
        self.completion = CompletionController(state, self.folder, self.commands)
        self.tools = ToolsController(state, self.folder, self.permission)
        self.turns = TurnController(
            state, self.tools, self.history, self.attachments,
            lambda: self.thinking if self.thinks else None,
        )  # fmt: skip
        self.spending = UsageLabelController(state)
        self._pane = pane = state.window.agent
        pane.send_requested.connect(self.send)
        pane.stop_requested.connect(self.stop)
        pane.model_chosen.connect(self.choose_model)
        pane.bar.thinking_chosen.connect(self.choose_thinking)
        pane.bar.go_on.clicked.connect(self.go_on_pressed)
        pane.file_requested.connect(self._offer_file)
        pane.reported.connect(state.say)
        self._fill_menu()
        state.document_changed.connect(self.stop)
        state.state_changed.connect(self._offer_going_on)
        state.opened.connect(self._ready)
        for kind in (LeafMoved, EntriesAppended):
            state.bus.on_shown(kind, lambda _change: self._path_changed())
        state.fillers += [self._document_changed, self.history.fill]

    def _offer_file(self, path: str) -> None:
        """Only a whole output that this program's tools wrote for the open session is opened."""
        document = self._state.document
        if document is not None:
            folder = outputs_folder(document.shared.store.path, document.header.session_id)
            self._pane.offer_file(path, OutputFiles(folder).is_output(Path(path).resolve()))

    def _fill_menu(self) -> None:
        pane, menu = self._pane, self._pane.bar.menu
        menu.addAction("Add &pictures or files…", self.attachments.look_for)
        menu.addAction("&Mention a file (@)", lambda: self._begin("@"))
        menu.addAction("&Commands (/)", lambda: self._begin("/"))
        menu.addSeparator()
        menu.addAction(pane.bar.send_after)
        menu.setAccessibleName("Add to the message")
        menu.aboutToHide.connect(pane.focus_composer)

    def _begin(self, sign: str) -> None:
        """Type a sign, whose suggestions come up then."""
        composer = self._pane.composer
        composer.setFocus()
        if sign == "/":
            if composer.toPlainText().strip():
                self._state.say("A command is the first thing in the box; see /help.")
                return
            composer.insertPlainText(sign)
        else:
            before = composer.before_cursor()
            composer.insertPlainText(f" {sign}" if before and not before[-1].isspace() else sign)

    @property
    def running(self) -> bool:
        return self.turns.running

    @property
    def automatic(self) -> AutomaticController:
        return self.turns.automatic

    def _ready(self) -> None:
        self._state.models_changed.connect(self._show_models)
        self._show_models()

    def stop(self) -> None:
        """Stop the running turn, if there is one."""
        self.turns.stop()

    def keep_unsent(self) -> None:
        """Store the composer's text with the session that it was written in."""
        self.history.keep_unsent()

    def _document_changed(self) -> None:
        if self.history.document_changed():
            document = self._state.document
            stored = document.choices.all().get(THINKING) if document is not None else None
            self._thinking = as_level(stored) or "off"
            self._show_models()
        self._pane.show_document(self._state.document)
        self._offer_going_on()

    @property
    def can_go_on(self) -> bool:
        """Whether continuing is offered now."""
        return self._can_go_on

    def _path_changed(self) -> None:
        if not self.running:
            self._offer_going_on()

    def _offer_going_on(self) -> None:
        """Offer to continue where the path ends in the middle of a turn."""
        document = self._state.document
        idle = document is not None and not self.running
        why = document.agent.unfinished() if document is not None and idle else ""
        self._can_go_on = bool(why)
        self._pane.bar.offer_going_on(
            f"{why} Go on from there without a new message (/continue)." if why else ""
        )

    # model and thinking --------------------------------------------------------------------------

    def _show_models(self) -> None:
        """Offer the models, with the one that is to answer."""
        offered, chosen = self._state.models("agent"), self._state.agent_model()
        if (offered, chosen) != self._offered:
            self._offered = offered, chosen
            self._pane.set_models(offered, chosen)
        self._show_thinking()
        self.attachments.show_warning()

    def choose_model(self, model: str) -> None:
        """Let a model answer from the next message on."""
        self._state.choose_model(AGENT_MODEL, model)
        self._show_models()

    @property
    def thinks(self) -> bool:
        """Whether the chosen model has something to think with."""
        bench = self._state.bench
        return bench is not None and bool(bench.client.info(self._state.agent_model()).reasoning)

    @property
    def thinking(self) -> ThinkingLevel:
        """How long the model may think, as chosen for the session shown."""
        return self._thinking

    def choose_thinking(self, level: str) -> None:
        """Let the model think so long from the next message on."""
        self._thinking = as_level(level) or "off"
        if self._state.document is not None:
            self._state.document.choices.set(THINKING, self._thinking)
        self._show_thinking()

    def _show_thinking(self) -> None:
        self._pane.bar.set_thinking(self.thinking, self.thinks)

    # sending -------------------------------------------------------------------------------------

    def send(self, prompt: UserPrompt, after: bool = False) -> None:
        """Do what was typed: a command, a message into or after the running turn, or a new one."""
        if self._state.document is None:
            return
        meant = self.commands.read(prompt.text)
        if isinstance(meant, CommandMistake):
            self._state.say(meant.reason)
            return
        if isinstance(meant, CommandCall):
            self._call(meant, prompt)
            return
        if prompt.images and self.attachments.model_is_blind:
            self._state.notice(
                "warning", f"{self._state.agent_model()} takes no pictures; nothing was sent.",
                "Message and pictures are in the box as before.",
                "Choose a model that takes pictures, or remove them.",
            )  # fmt: skip
            return
        message = UserPrompt(meant.text, prompt.images)
        if self.running and not self.turns.takes_messages:
            self._state.say("The session is being worked on; send the message after that.")
            return
        self.history.remember(prompt.text)
        self._pane.taken(prompt.text)
        if self.running:
            self.turns.add(message, after)
        else:
            self.turns.send(message)

    def _call(self, meant: CommandCall, prompt: UserPrompt) -> None:
        """Run a command; what was typed stays in the box where it cannot be."""
        try:
            meant.command.run(meant.argument)
        except ValueError as error:
            self._state.say(str(error))
            return
        self.history.remember(prompt.text)
        self._pane.composer.taken(prompt.text)

    def go_on(self) -> None:
        """Go on where the path ends in the middle of a turn. Raises ValueError where it does not,
        or while the agent works."""
        document = self._state.document
        if document is None or self.running:
            raise ValueError("The agent is still at work.")
        if not document.agent.unfinished():
            raise ValueError("There is nothing to continue: the last answer is complete.")
        self.turns.go_on()

    def go_on_pressed(self) -> None:
        """The same, with a message where it cannot be."""
        try:
            self.go_on()
        except ValueError as error:
            self._state.say(str(error))

    # compaction ----------------------------------------------------------------------------------

    def compact_now(self, instructions: str = "") -> None:
        """Compact at the leaf without a review. While the agent answers, the profile says whether
        that stops it or is refused; then it can follow the turn (A9)."""
        state = self._state
        if state.document is None or self.automatic.compact(instructions):
            return
        todo = manual_now(state.profile, self.running)
        if todo == "refuse":
            automatic = self.automatic.of(state.document)
            state.notice(
                "warning", "The agent is still answering; nothing was compacted.",
                todo="It can be compacted as soon as the turn is over.",
                action="After this turn",
                on_action=lambda: self._after_turn(automatic, instructions),
            )  # fmt: skip
        elif todo == "abort":
            self.turns.stop_then(lambda: self.compact_now(instructions))
        else:
            self.turns.start("Compacting", lambda cancel: self._compact(instructions, cancel))

    def _after_turn(self, automatic: AutomaticCompaction, instructions: str) -> None:
        self._state.window.notices.dismiss()
        if self.running:
            automatic.request_compaction(instructions)
        else:
            self.compact_now(instructions)

    async def _compact(self, instructions: str, cancel: CancelToken) -> None:
        document, pane = self._state.document, self._pane
        assert document is not None
        pane.set_running(True)
        try:
            await self.automatic.of(document).compact_now(instructions, pane.model, cancel)
        except SessionBusy as error:
            self._state.say(str(error))
        except (Cancelled, ValueError):
            # The result was reported as the change that ended it.
            return
