"""Turns of the agent in an opened session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from explorer.agent.approval import Approvals
from explorer.agent.loop import AgentTurn, SessionPort, Steered, TurnEvent, TurnLimits, TurnResult
from explorer.agent.prompt import MessageQueue, UserPrompt
from explorer.agent.tools.port import ToolSet
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
from explorer.settings.prompt_templates import load_prompt

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
