"""Turns of the agent, one at a time: from the message to the sentence about how the turn ended."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from datetime import date
from typing import Any

from PySide6.QtCore import QObject

from explorer.agent.loop import TurnLimits
from explorer.agent.turn_interface import (
    MessageQueue,
    Queued,
    Steered,
    TurnEvent,
    TurnResult,
    UserPrompt,
)
from explorer.models.client import CancelToken
from explorer.models.request import ThinkingLevel
from explorer.models.retry import Retry
from explorer.services.agent_turns import SessionTurns
from explorer.services.document import Document
from explorer.store.rows import StoreError
from ui.app_state import AppState
from ui.compaction.automatic import AutomaticController
from ui.conversation.message_box import AttachmentController, HistoryController
from ui.conversation.workspace import ToolsController
from ui.widgets.notice import Notice

KEPT = "What had arrived is kept."
ENDS = {
    "cut_short": ("warning", "Continue goes on where it ended."),
    "limit": ("warning", "Continue goes on from there."),
    "looping": ("warning", "Tell the agent what to do differently, or let it continue."),
    "failed": ("error", "Continue tries again; or choose another model."),
}
"""The level of the notice when a turn did not end well, and what to do."""


def today() -> str:
    """The date in the agent's prompt."""
    return date.today().isoformat()


class TurnController(QObject):
    """Runs what works on the session, keeps what waits for the running turn, and tells the end."""

    def __init__(
        self,
        state: AppState,
        tools: ToolsController,
        history: HistoryController,
        attachments: AttachmentController,
        thinking: Callable[[], ThinkingLevel | None],
    ) -> None:
        """``thinking``: how long the model may think; None for one that cannot."""
        super().__init__(state)
        self._state = state
        self._tools = tools
        self._history = history
        self._attachments = attachments
        self._cancel: CancelToken | None = None
        self._queue: MessageQueue | None = None
        self._failure: Notice | None = None
        """The notice on the last turn that failed."""
        self._then: Callable[[], None] = lambda: None
        """What is to follow once the session stands still."""
        self._thinking = thinking
        self.automatic = AutomaticController(state, self.stop)
        state.window.agent.queue.taken_back.connect(self._take_back)

    @property
    def running(self) -> bool:
        return self._cancel is not None

    @property
    def takes_messages(self) -> bool:
        """Whether a turn runs that a message can be put into."""
        return self._queue is not None

    def stop(self) -> None:
        """Stop what runs, if something does."""
        if self._cancel is not None:
            self._cancel.cancel()

    def stop_then(self, follow: Callable[[], None]) -> None:
        """Stop what runs, and call ``follow`` once the session stands still."""
        self._then = follow
        self.stop()

    # running -------------------------------------------------------------------------------------

    def start(self, what: str, work: Callable[[CancelToken], Coroutine[Any, Any, None]]) -> None:
        """Work on the session, which nothing else does meanwhile."""
        self._cancel = cancel = CancelToken()
        notice = self._state.window.notices.notice
        if notice is not None and (notice is self._failure or notice.level in ("info", "done")):
            # What did not work is being tried again, and what went well is over.
            self._state.window.notices.dismiss()
        self._state.agent_running = True
        self._state.state_changed.emit()
        self._state.tasks.start(what, self._working(work, cancel))

    async def _working(
        self, work: Callable[[CancelToken], Coroutine[Any, Any, None]], cancel: CancelToken
    ) -> None:
        document, pane = self._state.document, self._state.window.agent
        try:
            await work(cancel)
        finally:
            then, self._then = self._then, lambda: None
            self._cancel = None
            self._state.agent_running = False
            self._state.state_changed.emit()
            self.automatic.goes_on()
            pane.set_running(False)
            if self._state.document is document:
                pane.refresh()
                then()

    # turns ---------------------------------------------------------------------------------------

    def send(self, prompt: UserPrompt) -> None:
        """Begin a turn with a message."""
        self.start("The agent's turn", lambda cancel: self._send(prompt, cancel))

    def go_on(self) -> None:
        """Go on at the leaf without a message."""
        self.start("The agent's turn", self._resume)

    async def _send(self, prompt: UserPrompt, cancel: CancelToken) -> None:
        document = self._state.document
        assert document is not None

        async def turn(queue: MessageQueue, on_event: Callable[[TurnEvent], None]) -> TurnResult:
            return await SessionTurns(
                document, self._state.agent_model(), self._tools.tool_set(), cancel, on_event,
                self.automatic.of(document),
                thinking=self._thinking(), queue=queue, limits=self._limits(), date=today(),
            ).say(prompt)  # fmt: skip

        if not await self._turn(document, turn):
            self._return(document, [prompt])

    async def _resume(self, cancel: CancelToken) -> None:
        document = self._state.document
        assert document is not None

        async def turn(queue: MessageQueue, on_event: Callable[[TurnEvent], None]) -> TurnResult:
            return await SessionTurns(
                document, self._state.agent_model(), self._tools.tool_set(),
                cancel, on_event, self.automatic.of(document),
                thinking=self._thinking(), queue=queue, limits=self._limits(), date=today(),
            ).resume()  # fmt: skip

        await self._turn(document, turn)

    async def _turn(
        self,
        document: Document,
        turn: Callable[[MessageQueue, Callable[[TurnEvent], None]], Awaitable[TurnResult]],
    ) -> bool:
        """Run a turn and tell its end; False where it could not be stored."""
        pane, queue = self._state.window.agent, MessageQueue()
        self._queue = queue
        self.automatic.show()
        pane.set_running(True, "answering…")
        stop_watching = queue.subscribe(lambda: pane.queue.show_waiting(queue.waiting))

        def on_event(event: TurnEvent) -> None:
            if isinstance(event, Retry):
                self.automatic.waiting(event)
            else:
                self.automatic.goes_on()
            if isinstance(event, Steered):
                self._history.remember(event.prompt.text)
            pane.turn_event(event)

        try:
            result = await turn(queue, on_event)
        except StoreError as error:
            self._state.notice("error", str(error), "What was stored before stays.")
            return False
        finally:
            self._queue = None
            if left := queue.take_back():
                self._return(document, left)
            stop_watching()
        self._tell(result, bool(left))
        return True

    def _tell(self, result: TurnResult, came_back: bool) -> None:
        if result.end in ENDS and result.error:
            level, todo = ENDS[result.end]
            self._state.notice(level, result.error, KEPT, todo)
            self._failure = self._state.window.notices.notice
        elif result.end == "stopped":
            back = " What waited is in the box again." if came_back else ""
            self._state.say(f"Stopped; what had arrived is kept.{back}")

    def _limits(self) -> TurnLimits:
        self._state.live.refresh()
        return TurnLimits.of(self._state.values)

    # what waits ----------------------------------------------------------------------------------

    def add(self, prompt: UserPrompt, after: bool) -> None:
        """Put a message into the turn that runs, or behind it."""
        assert self._queue is not None
        if after:
            self._queue.follow_up(prompt)
        else:
            self._queue.steer(prompt)

    def _take_back(self, queued: Queued) -> None:
        if self._queue is None or queued not in self._queue.waiting:
            return
        self._queue.remove(queued)
        if self._state.document is not None:
            self._return(self._state.document, [queued.prompt])
            self._state.window.agent.focus_composer()

    def _return(self, document: Document, prompts: list[UserPrompt]) -> None:
        """What the agent did not get is in the box again, to be changed or sent anew."""
        self._history.put_back(document, prompts)
        if document is self._state.document:
            self._attachments.take_back([part for prompt in prompts for part in prompt.images])
