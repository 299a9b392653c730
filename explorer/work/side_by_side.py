"""One prompt to several models at once, each on a branch of its own below the same entry.

The models may look into the workspace and change nothing there. Two that changed the same folder
at the same time would undo each other's work; and of changes in copies of it every branch but one
would tell of files that are not as it says. So what a branch tells is true of the folder whichever
one is gone on with, and that one then changes what it proposed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from explorer.agent.events import TurnEvent, TurnResult
from explorer.agent.limits import TurnLimits
from explorer.agent.prompt import Prompt
from explorer.agent.workspace import Workspace
from explorer.compaction.profile import Profile
from explorer.models.client import CancelToken, ChatMessage, ToolCall
from explorer.models.request import ThinkingLevel
from explorer.session.kinds import Kind
from explorer.store.rows import StoreError
from explorer.work.chat import chat_messages
from explorer.work.document import Document
from explorer.work.talk import open_calls, start_turn

RunState = Literal["waiting", "running", "done", "stopped", "failed"]
FEWEST, MOST = 2, 4
"""How many models are asked side by side."""


class BranchPort:
    """What a turn needs of a session, on a branch of its own: the document's leaf stays."""

    def __init__(
        self, document: Document, at: int, model: str = "", profile: Profile | None = None
    ) -> None:
        """``at``: where the branch begins; ``model`` and ``profile``: see ``chat_messages``."""
        self._document, self._model, self._profile = document, model, profile
        self.at = at
        """The end of the branch."""

    async def append(self, entry_type: str, **fields: Any) -> int:
        """Append an entry at the end of the branch. Raises StoreError."""
        self.at = await self._document.writer.append_beside(entry_type, self.at, **fields)
        return self.at

    async def append_message(self, message: Mapping[str, Any]) -> int:
        """See ``SessionPort``. Raises StoreError."""
        return await self.append("message", message=dict(message))

    def chat_messages(self) -> Sequence[ChatMessage]:
        """See ``SessionPort``."""
        return chat_messages(self._document, self._profile, self.at, self._model)

    def open_calls(self) -> Sequence[ToolCall]:
        """See ``SessionPort``."""
        return open_calls(self._document, self.at)

    def now_ms(self) -> int:
        """See ``SessionPort``."""
        return self._document.writer.now_ms()

    async def note_model(self, thinking: ThinkingLevel | None) -> None:
        """Say in the session which model answers from here on, and how long it may think, where
        the branch does not say so already. Raises StoreError."""
        context = self._document.context(self.at)
        provider, _, name = self._model.partition("/")
        name = name or provider
        if context.model != f"{provider}/{name}":
            await self.append("model_change", provider=provider, model_id=name)
        if thinking is not None and context.thinking_level != thinking:
            await self.append("thinking_level_change", thinking_level=thinking)


@dataclass(frozen=True, slots=True)
class RunOrder:
    """A model to ask; ``thinking`` None leaves the level as the path has it."""

    model: str
    thinking: ThinkingLevel | None = None


@dataclass(slots=True)
class Run:
    """One of the models at its work. ``told`` is the sentence for the person where it did not end
    well."""

    order: RunOrder
    port: BranchPort
    cancel: CancelToken = field(default_factory=CancelToken)
    state: RunState = "waiting"
    told: str = ""
    started_ms: int = 0
    ended_ms: int = 0

    @property
    def leaf(self) -> int:
        """The last entry of its branch, so far."""
        return self.port.at

    @property
    def is_over(self) -> bool:
        return self.state in ("done", "stopped", "failed")


class SideBySide:
    """Runs of one prompt below one entry. What becomes of one does not touch the others."""

    def __init__(
        self,
        document: Document,
        orders: Sequence[RunOrder],
        prompt: Prompt | str,
        workspace: Workspace | None = None,
        *,
        profile: Profile | None = None,
        limits: TurnLimits | None = None,
        date: str = "",
    ) -> None:
        """The runs begin at the document's leaf, which stays there. ``profile``: whose words a
        summary is sent in; ``date``: today's, as the models are told it.

        Raises ValueError for too few or too many models, or nothing to send.
        """
        prompt = Prompt.of(prompt)
        if not FEWEST <= len(orders) <= MOST:
            raise ValueError(f"Choose {FEWEST} to {MOST} models, not {len(orders)}.")
        if not (prompt.text.strip() or prompt.images):
            raise ValueError("Write what the models are to be asked.")
        self.document, self.prompt, self.start = document, prompt, document.leaf
        self._workspace, self._limits, self._date = workspace, limits, date
        self.runs = tuple(
            Run(order, BranchPort(document, document.leaf, order.model, profile))
            for order in orders
        )

    async def run(
        self,
        on_event: Callable[[int, TurnEvent], None],
        on_state: Callable[[int], None] = lambda _number: None,
    ) -> None:
        """Ask all models at once and wait for the last. ``on_event`` is told what arrives for the
        run of a number, ``on_state`` that its state is another.

        What fails in an expected way is in ``Run.told``. When cancelled all runs are stopped, and
        what had arrived is kept. Raises what nobody expected, after the others have ended.
        """
        tasks = [
            asyncio.ensure_future(self._run(number, on_event, on_state))
            for number in range(len(self.runs))
        ]
        try:
            await asyncio.wait(tasks)
        except asyncio.CancelledError:
            # They are not cancelled themselves: each stores what had arrived.
            self.stop()
            await asyncio.wait(tasks)
            raise
        errors = [error for task in tasks if (error := task.exception()) is not None]
        if errors:
            raise errors[0]

    def stop(self, number: int | None = None) -> None:
        """Stop one run, or all of them; what has arrived is kept and marked."""
        for at, run in enumerate(self.runs):
            if number in (None, at):
                run.cancel.cancel()

    async def _run(
        self,
        number: int,
        on_event: Callable[[int, TurnEvent], None],
        on_state: Callable[[int], None],
    ) -> None:
        run = self.runs[number]
        run.state, run.started_ms = "running", run.port.now_ms()
        on_state(number)
        try:
            result = await self._turn(run, lambda event: on_event(number, event))
            run.state, run.told = _state(result), result.error
        except StoreError as error:
            run.state, run.told = "failed", str(error)
        finally:
            if not run.is_over:
                run.state = "failed"
                run.told = run.told or "It ended in a way that nobody expected."
            run.ended_ms = run.port.now_ms()
            on_state(number)

    async def _turn(self, run: Run, on_event: Callable[[TurnEvent], None]) -> TurnResult:
        await run.port.note_model(run.order.thinking)
        return await start_turn(
            self.document, run.order.model, self._workspace, self.prompt, run.cancel, on_event,
            thinking=run.order.thinking, limits=self._limits, port=run.port, date=self._date,
        )  # fmt: skip

    def has_answer(self, number: int) -> bool:
        """Whether a run got so far that its branch can be gone on with."""
        run = self.runs[number]
        kinds = self.document.tree.columns.kind
        return run.leaf != self.start and kinds[run.leaf] in (Kind.ASSISTANT, Kind.TOOL_RESULT)


def _state(result: TurnResult) -> RunState:
    if result.end == "stopped":
        return "stopped"
    return "failed" if result.end == "failed" else "done"
