"""Taking back what happened by itself: alone, or so that the agent goes on without it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject

from explorer.agent.turn_interface import UserPrompt
from explorer.compaction.triggers import (
    limits_of,
)
from explorer.models.request import ImagePart
from explorer.services.document import Document
from explorer.services.edits import NothingToUndo, Undone
from explorer.session.entries import UserMessage, images_of, text_of
from explorer.session.kinds import Kind
from explorer.store.rows import StoreError
from ui.app_state import AppState
from ui.conversation.controller import AgentController
from ui.widgets.figures import count, full
from ui.widgets.notice import Notice

STAYS = "Its entry stays in the session."


class AutomaticUndoController(QObject):
    """Undoes a compaction or prune that the line above the message box shows."""

    def __init__(self, state: AppState, agent: AgentController) -> None:
        super().__init__(state)
        self._state = state
        self._turns = agent.turns
        self._line = agent.automatic.line
        self._line.undo_asked.connect(self.undo)
        self._line.undo_and_go_on_asked.connect(self.undo_and_go_on)
        self._notice: Notice | None = None
        """Why the agent did not go on; void once it works again."""
        state.state_changed.connect(self._follow)

    def _follow(self) -> None:
        notices = self._state.window.notices
        if self._state.agent_running and self._notice is not None:
            if notices.notice is self._notice:
                notices.dismiss()
            self._notice = None

    @property
    def is_offered(self) -> bool:
        """Whether something that happened by itself can be taken back from the line."""
        return self._line.offered >= 0

    def undo(self, entry: int) -> None:
        """Take it back; the agent must stand still."""
        if self._state.agent_running:
            self._state.say("The agent is still answering; stop it first, or undo and go on.")
        elif self._state.document is not None:
            self._state.tasks.start("Undoing", self._alone(self._state.document, entry))

    def undo_and_go_on(self, entry: int = -1) -> None:
        """Take it back, by default what is offered, and let the agent go on without it; a turn
        that runs is stopped first."""
        document = self._state.document
        entry = self._line.offered if entry < 0 else entry
        if document is None or entry < 0:
            return
        if self._turns.running:
            self._turns.stop_then(partial(self._begin, document, entry))
        else:
            self._begin(document, entry)

    def _begin(self, document: Document, entry: int) -> None:
        self._state.tasks.start("Undoing", self._and_go_on(document, entry))

    # doing ---------------------------------------------------------------------------------------

    async def _alone(self, document: Document, entry: int) -> None:
        if await self._undone(document, entry) is not None:
            self._state.say("It was taken back; its entry stays in the session.")

    async def _and_go_on(self, document: Document, entry: int) -> None:
        state = self._state
        prompts = prompts_after(document, entry)
        undone = await self._undone(document, entry)
        if undone is None or state.document is not document or self._turns.running:
            return
        left = prompts if undone.kind == "compaction" else []
        if len(left) > 1:
            state.notice(
                "info", "It was taken back.",
                f"{count(len(left), 'message')} came after it; they are on the branch that was"
                " left, and nothing was sent again.",
                "Your next message goes on with all of the context.",
            )  # fmt: skip
        elif left or document.agent.unfinished():
            self._if_it_fits(document, left)
        else:
            state.notice(
                "done", "It was taken back; the turn was complete.", STAYS,
                "Your next message goes on with all of the context.",
            )  # fmt: skip

    def _if_it_fits(self, document: Document, left: list[UserPrompt]) -> None:
        state = self._state
        window = document.models.info(state.agent_model()).window
        taken = document.tokens.context_size(state.profile).tokens
        most = limits_of(state.profile, state.settings, window).window
        if taken <= most:
            state.say("It was taken back; the agent goes on with all of the context.")
            self._go_on(left)
            return

        def all_the_same() -> None:
            state.window.notices.dismiss()
            if state.document is document and not self._turns.running:
                self._go_on(left)

        state.notice(
            "warning",
            f"It was taken back. The context takes {full(taken)} tokens, more than the window of"
            f" {full(most)}: the agent did not go on.",
            STAYS, "Compact with changes on the tab Compaction, or choose a larger model.",
            action="Go on all the same", on_action=all_the_same,
        )  # fmt: skip
        self._notice = state.window.notices.notice

    def _go_on(self, left: list[UserPrompt]) -> None:
        if left:
            self._turns.send(left[0])
        else:
            self._turns.go_on()

    async def _undone(self, document: Document, entry: int) -> Undone | None:
        """What was undone; None where nothing could be, which is reported."""
        state = self._state
        try:
            if document.tree.kind(entry) is Kind.COMPACTION:
                undone = await self._undo_compaction(document, entry)
            else:
                undone = await document.edits.undo_prune(entry)
        except NothingToUndo as error:
            state.say(str(error))
            return None
        except StoreError as error:
            state.notice("error", str(error), "Nothing was changed.")
            return None
        state.state_changed.emit()
        state.select(undone.leaf)
        self._line.show()
        return undone

    @staticmethod
    async def _undo_compaction(document: Document, entry: int) -> Undone:
        if document.context().compaction != entry:
            raise NothingToUndo(
                "The session has moved on: that compaction is not the latest any more."
            )
        return await document.edits.undo_compaction()


def prompts_after(document: Document, entry: int) -> list[UserPrompt]:
    """The user's messages on the active path after an entry, in order."""
    path = document.tree.path(document.leaf)
    start = path.position(entry) + 1
    found: list[UserPrompt] = []
    for at in path[start:]:
        message = (
            document.payloads.stored.entry(at).body if document.tree.kind(at) is Kind.USER else None
        )
        if isinstance(message, UserMessage) and not message.synthetic:
            images = [ImagePart(image.mime, image.data) for image in images_of(message.content)]
            found.append(UserPrompt(text_of(message.content), tuple(images)))
    return found
