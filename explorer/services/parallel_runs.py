"""One prompt to several models at once, each on a separate branch below the same entry.

The models may read the workspace and change nothing in it. Two that changed the same folder at the
same time would undo each other's work; and after changes in copies of it, every branch but one
would describe files that are not there. So each branch is true of the folder, and the one that is
continued then makes the changes that it proposed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct, field

from explorer.agent.events import TurnEvent, TurnResult
from explorer.agent.loop import TurnLimits
from explorer.agent.prompt import UserPrompt
from explorer.agent.workspace import Workspace
from explorer.compaction.profile import Profile
from explorer.models.client import CancelToken
from explorer.models.request import ThinkingLevel
from explorer.services.agent_turns import SessionTurns, TurnPort
from explorer.services.document import Document
from explorer.session.kinds import Kind
from explorer.store.rows import StoreError

ParallelState = Literal["waiting", "running", "done", "stopped", "failed"]
FEWEST, MOST = 2, 4
"""How many models are asked side by side."""


class RunOrder(Struct, frozen=True):
    """A model to ask; ``thinking`` None leaves the level as the path has it."""

    model: str
    thinking: ThinkingLevel | None = None


class ParallelRun(Struct):
    """One of the models at its work. ``problem`` is the sentence for the user where it did not end
    well."""

    order: RunOrder
    port: TurnPort
    cancel: CancelToken = field(default_factory=CancelToken)
    state: ParallelState = "waiting"
    problem: str = ""
    started_ms: int = 0
    ended_ms: int = 0

    @property
    def leaf(self) -> int:
        """The last entry of its branch, so far."""
        return self.port.at

    @property
    def is_over(self) -> bool:
        return self.state in ("done", "stopped", "failed")


class ParallelRuns:
    """Runs of one prompt below one entry. What becomes of one does not touch the others."""

    def __init__(
        self,
        document: Document,
        orders: Sequence[RunOrder],
        prompt: UserPrompt | str,
        workspace: Workspace | None = None,
        *,
        profile: Profile | None = None,
        limits: TurnLimits | None = None,
        date: str = "",
    ) -> None:
        """The runs begin at the document's leaf, which stays there. ``profile``: whose words a
        summary is sent in; ``date``: today's, for the system prompt.

        Raises ValueError for too few or too many models, or nothing to send.
        """
        prompt = UserPrompt.of(prompt)
        if not FEWEST <= len(orders) <= MOST:
            raise ValueError(f"Choose {FEWEST} to {MOST} models, not {len(orders)}.")
        if not (prompt.text.strip() or prompt.images):
            raise ValueError("Write what the models are to be asked.")
        self.document, self.prompt, self.start = document, prompt, document.leaf
        self._workspace, self._limits, self._date = workspace, limits, date
        self.runs = tuple(
            ParallelRun(order, TurnPort(document, order.model, lambda: profile, document.leaf))
            for order in orders
        )

    async def run(
        self,
        on_event: Callable[[int, TurnEvent], None],
        on_state: Callable[[int], None] = lambda _number: None,
    ) -> None:
        """Ask all models at once and wait for the last. ``on_event`` gets what arrives,
        with the number of its run; ``on_state`` the number of a run whose state changed.

        What fails in an expected way is in ``ParallelRun.problem``. When cancelled all runs are
        stopped, and what had arrived is kept. Raises unexpected errors after the others have ended.
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
            run.state, run.problem = _state(result), result.error
        except StoreError as error:
            run.state, run.problem = "failed", str(error)
        finally:
            if not run.is_over:
                run.state = "failed"
                run.problem = run.problem or "It ended in a way that nobody expected."
            run.ended_ms = run.port.now_ms()
            on_state(number)

    async def _turn(self, run: ParallelRun, on_event: Callable[[TurnEvent], None]) -> TurnResult:
        await run.port.note_model(run.order.thinking)
        return await SessionTurns(
            self.document, run.order.model, self._workspace, run.cancel, on_event,
            thinking=run.order.thinking, limits=self._limits, port=run.port, date=self._date,
        ).say(self.prompt)  # fmt: skip

    def has_answer(self, number: int) -> bool:
        """Whether a run got so far that its branch can be continued."""
        run = self.runs[number]
        kinds = self.document.tree.columns.kind
        return run.leaf != self.start and kinds[run.leaf] in (Kind.ASSISTANT, Kind.TOOL_RESULT)


def _state(result: TurnResult) -> ParallelState:
    if result.end == "stopped":
        return "stopped"
    return "failed" if result.end == "failed" else "done"
