"""Turns of the agent in an opened session: one, or one prompt to several models at once, each on a
separate branch below the same entry.

The models side by side may read the workspace and change nothing in it. Two that changed the same
folder at the same time would undo each other's work; and after changes in copies of it, every
branch but one would describe files that are not there. So each branch is true of the folder, and
the one that is continued then makes the changes that it proposed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from explorer.agent.approval import Approvals
from explorer.agent.loop import AgentTurn, SessionPort, TurnLimits
from explorer.agent.tools.port import ToolSet
from explorer.agent.turn_interface import MessageQueue, Steered, TurnEvent, TurnResult, UserPrompt
from explorer.agent.workspace import Workspace
from explorer.compaction.profile import Profile
from explorer.models.client import Cancelled, CancelToken, ChatMessage, ToolCall
from explorer.models.request import ThinkingLevel, as_level
from explorer.models.retry import RetryPolicy
from explorer.services.agent import system_prompt
from explorer.services.auto_compaction.controller import AutomaticCompaction
from explorer.services.document import Document
from explorer.services.extension_review import notify_turn_ended
from explorer.services.session_files import tools_of
from explorer.session.entries import Body, ModelChange, ThinkingLevelChange
from explorer.session.kinds import Kind
from explorer.settings.prompt_templates import load_prompt
from explorer.store.rows import StoreError

NOTHING_LEFT = "There is nothing to go on with: the agent's last answer is complete."


class TurnPort:
    """What a turn needs of a session: at its leaf, or on a branch that leaves the leaf alone."""

    def __init__(
        self,
        document: Document,
        model: str = "",
        profile: Callable[[], Profile | None] = lambda: None,
        at: int | None = None,
    ) -> None:
        """``model`` and ``profile``: see ``Agent.messages``. ``at``: the entry at which the branch
        begins; None: at the leaf, which follows."""
        self._document = document
        self._model = model
        self._profile = profile
        self._at = at

    @property
    def at(self) -> int:
        """The entry below which the next message goes."""
        return self._document.leaf if self._at is None else self._at

    async def append(self, body: Body) -> int:
        """Append an entry; returns it. See ``SessionPort``. Raises StoreError."""
        writer = self._document.writer
        if self._at is None:
            return await writer.append(body, self._document.leaf)
        self._at = await writer.append_beside(body, self._at)
        return self._at

    def chat_messages(self) -> Sequence[ChatMessage]:
        """See ``SessionPort``."""
        return self._document.agent.messages(self._profile(), self.at, self._model)

    def open_calls(self) -> Sequence[ToolCall]:
        """See ``SessionPort``."""
        return self._document.agent.open_calls(self.at)

    def now_ms(self) -> int:
        """Milliseconds since 1970, by the clock of the session."""
        return self._document.writer.now_ms()

    async def note_model(self, thinking: ThinkingLevel | None = None) -> tuple[int, ...]:
        """Append which model answers from here on, and how long it may think, where the path does
        not say so already: so that a reader of the session knows.

        ``thinking`` None leaves the level as the path has it. Call it before the first message
        that is sent so. Returns the entries: at most a ``model_change`` and a
        ``thinking_level_change``. Raises StoreError.
        """
        context = self._document.context(self.at)
        appended: list[int] = []
        provider, _, name = self._model.partition("/")
        name = name or provider  # as a reply of such a model is stored
        if self._model and context.model != f"{provider}/{name}":
            appended.append(await self.append(ModelChange(f"{provider}/{name}")))
        if thinking is not None and context.thinking_level != thinking:
            appended.append(await self.append(ThinkingLevelChange(thinking)))
        return tuple(appended)


class SessionTurns(Struct, frozen=True):
    """Turns of one session with everything that they need."""

    document: Document
    model: str
    tools: ToolSet | Workspace | None
    """A workspace alone gives the tools that only read it."""
    cancel: CancelToken
    on_event: Callable[[TurnEvent], None]
    automatic: AutomaticCompaction | None = None
    """Makes room in the context before, during and after a turn; without it nothing is compacted
    automatically."""
    retry: RetryPolicy | None = None
    """How often a transient failure of a call is retried."""
    thinking: str | None = None
    """A level's name."""
    queue: MessageQueue | None = None
    """What the user sends meanwhile."""
    limits: TurnLimits | None = None
    port: SessionPort | None = None
    """Where the messages go; by default the document's leaf."""
    date: str = ""
    """Today's, for the system prompt."""

    def port_of(self) -> SessionPort:
        """Where the messages go."""
        automatic = self.automatic
        return self.port or TurnPort(
            self.document, self.model, lambda: automatic.rules.profile if automatic else None
        )

    def turn(self) -> AgentTurn:
        """A turn that has done nothing yet."""
        document = self.document
        tools = self.tools
        if isinstance(tools, Workspace):
            tools = tools_of(document, tools, Approvals("read-only"))
        system = system_prompt(document.shared.agent_prompt, tools, self.date)
        return AgentTurn(
            self.port_of(), document.models, self.model, system, tools, self.automatic,
            self.retry, thinking=self.thinking, queue=self.queue, limits=self.limits,
        )  # fmt: skip

    async def say(self, prompt: UserPrompt | str) -> TurnResult:
        """Send a message of the user's at the leaf, and work until the agent is done. Raises
        StoreError."""
        return await self._follow(await self._send(prompt))

    async def resume(self) -> TurnResult:
        """Go on at the leaf without a new message: after a stop, an error, a limit or a crash.

        An answer that was cut short at its length is asked to be continued; where nothing is
        left to do, the result says so. Raises StoreError.
        """
        if self.automatic is not None:
            await self.automatic.before_message(self.model, self.cancel)
        turn = self.turn()
        sent = await asyncio.to_thread(self.port_of().chat_messages)
        if sent and sent[-1].role != "assistant":
            await self._note_model()
            return await self._follow(await turn.resume(self.cancel, self.on_event))
        if not sent or not self.document.agent.was_cut_short():
            return TurnResult("done", NOTHING_LEFT)
        await self._note_model()
        return await self._follow(await self._continued())

    async def _send(self, prompt: UserPrompt | str, *, waited: bool = False) -> TurnResult:
        if self.automatic is not None:
            self.automatic.person_spoke()
            await self.automatic.before_message(self.model, self.cancel)
        await self._note_model()
        return await self.turn().run(prompt, self.cancel, self.on_event, waited=waited)

    async def _continued(self) -> TurnResult:
        profile = self.automatic.rules.profile if self.automatic is not None else None
        is_omp = profile is not None and profile.sections == "omp"
        prompt = load_prompt("omp-continue" if is_omp else "continue")
        return await self.turn().run(prompt, self.cancel, self.on_event, synthetic=True)

    async def _note_model(self) -> None:
        if self.port is None:
            await TurnPort(self.document, self.model).note_model(as_level(self.thinking))

    async def _follow(self, result: TurnResult) -> TurnResult:
        """What comes after a turn: room is made and the agent prompted to go on; then the next
        message that waited for the end is sent."""
        entries = result.entries
        while True:
            await self._notify_extensions(result)
            if self.automatic is not None and await self.automatic.after_turn(
                self.model, _ended(result), result.finished, self.cancel
            ):
                result = await self._continued()
            elif (follow_up := self._next_follow_up(result)) is not None:
                result = await self._followed_up(follow_up)
            else:
                return replace(result, entries=entries)
            entries += result.entries

    async def _notify_extensions(self, result: TurnResult) -> None:
        """Tell extensions that a turn is over, which may ask for a compaction of it."""
        automatic = self.automatic
        if automatic is None or self.cancel.cancelled:
            return
        tokens = self.document.tokens.context_size(automatic.rules.profile).tokens
        try:
            await notify_turn_ended(self.document, result.end, tokens, self.cancel)
        except Cancelled:
            return  # what follows a turn is not begun after a stop

    def _next_follow_up(self, result: TurnResult) -> UserPrompt | None:
        if self.queue is None or self.cancel.cancelled or result.end not in ("done", "cut_short"):
            return None
        return next(iter(self.queue.take_follow_up()), None)

    async def _followed_up(self, prompt: UserPrompt) -> TurnResult:
        """Send what waited; it waits again where it could not be stored."""
        assert self.queue is not None
        stored = False

        def watch(event: TurnEvent) -> None:
            nonlocal stored
            stored = stored or isinstance(event, Steered)
            self.on_event(event)

        try:
            return await replace(self, on_event=watch)._send(prompt, waited=True)
        finally:
            if not stored:
                self.queue.put_back([prompt], "follow-up")


def _ended(result: TurnResult) -> Literal["went-well", "failed", "stopped"]:
    if result.end in ("failed", "stopped"):
        return result.end
    return "went-well"


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
